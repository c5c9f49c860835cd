package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// central is a view of the middle of Japan, with estates all over it.
const central = "/map.html#c=35.6,138,60"

type pixel struct{ X, Y float64 }

// middle returns where on the screen the middle of the map is.
func middle(p *browsertest.Page) pixel {
	return browsertest.Eval[pixel](p, "(() => { const r = document.querySelector('#atlas').getBoundingClientRect(); return {X: r.left + r.width / 2, Y: r.top + r.height / 2} })()")
}

// drag moves the pressed pointer along points that are relative to the middle.
func drag(p *browsertest.Page, points ...pixel) {
	m := middle(p)
	mouse := func(kind input.MouseType, at pixel) chromedp.Action {
		return chromedp.MouseEvent(kind, m.X+at.X, m.Y+at.Y, chromedp.ButtonLeft)
	}
	actions := []chromedp.Action{mouse(input.MousePressed, points[0])}
	for _, at := range points[1:] {
		actions = append(actions, mouse(input.MouseMoved, at))
	}
	p.Do(append(actions, mouse(input.MouseReleased, points[len(points)-1]))...)
}

// ring returns the corners that the address of the page holds, closed.
func ring(t *testing.T, p *browsertest.Page) []isuumo.Point {
	t.Helper()
	pairs := browsertest.Eval[[][2]float64](p, "(new URLSearchParams(location.hash.slice(1)).get('a') ?? '').split(';').filter(Boolean).map(p => p.split(',').map(Number))")
	var out []isuumo.Point
	for _, c := range pairs {
		out = append(out, isuumo.Point{Latitude: c[0], Longitude: c[1]})
	}
	if len(out) > 0 {
		out = append(out, out[0])
	}
	return out
}

// inside waits for the answer and holds the list against the model.
func inside(t *testing.T, s *site, p *browsertest.Page, what string) []isuumo.Point {
	t.Helper()
	p.Wait("location.hash.includes('&a=') && !document.querySelector('#list[aria-busy]')")
	corners := ring(t, p)
	want := estateIDs(model.InPolygon(model.Pointers(s.Data.Estates), corners))
	same(t, what, shown(p, "#list"), want)
	if len(want) == 0 {
		t.Errorf("%s: no one lives there, so nothing is tested", what)
	}
	return corners
}

func circle(radius float64, turns float64) (out []pixel) {
	for a := 0.0; a <= turns*2*math.Pi; a += math.Pi / 24 {
		out = append(out, pixel{radius * math.Cos(a), radius * math.Sin(a)})
	}
	return out
}

func freehand(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	p.Go(s.URL + central)
	drag(p, circle(60, 0.97)...)
	if corners := inside(t, s, p, "a circle"); len(corners) < 8 || len(corners) > 62 {
		t.Errorf("the circle has %d corners", len(corners))
	}
	before := shown(p, "#list")
	p.Click("#list li:nth-child(3) a")
	p.Wait("location.pathname == '/estate.html' && document.querySelector('form')")
	p.Back()
	p.Wait("document.querySelector('#list li')")
	same(t, "back from an estate", shown(p, "#list"), before)

	// A hand that goes on past where it began draws no second ring.
	drag(p, circle(40, 1.08)...)
	corners := inside(t, s, p, "a circle and a bit")
	if n := len(p.Text("#status")); n != 1 || slices.ContainsFunc(p.Text("#status"), crossed) {
		t.Errorf("the status is %q with %d corners", p.Text("#status"), len(corners))
	}
	// A horseshoe stays one.
	drag(p, pixel{-90, 40}, pixel{-90, -60}, pixel{90, -60}, pixel{90, 40}, pixel{60, 40}, pixel{60, -30}, pixel{-60, -30}, pixel{-60, 40})
	if corners := inside(t, s, p, "a horseshoe"); len(corners) != 9 {
		t.Errorf("the horseshoe has %d corners: %v", len(corners)-1, corners)
	}
	// Lines that cross each other are no ring: its outline is.
	drag(p, pixel{-80, -50}, pixel{80, 50}, pixel{80, -50}, pixel{-80, 50})
	if corners := inside(t, s, p, "an hourglass"); len(corners) != 5 || !slices.ContainsFunc(p.Text("#status"), crossed) {
		t.Errorf("the hourglass became %v, the status %q", corners, p.Text("#status"))
	}
	drag(p, pixel{0, 0}, pixel{30, 0}, pixel{60, 0})
	p.WaitText("#status", "小さすぎます")
	if n := len(shown(p, "#list")); n != 0 || ring(t, p) != nil {
		t.Errorf("a line finds %d estates", n)
	}
	drag(p, pixel{-230, 180}, pixel{-200, 180}, pixel{-200, 200})
	p.WaitText("#status", "この範囲に物件はありません")
	p.Click("#clear")
	p.WaitText("#status", "まだ囲んでいません")
	p.Quiet()
}

func crossed(text string) bool { return strings.Contains(text, "線が交わっていた") }

func corners(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	p.Go(s.URL + central)
	click := func(points ...pixel) {
		for _, at := range points {
			drag(p, at)
		}
	}
	click(pixel{-70, -60}, pixel{80, -50}, pixel{60, 70}, pixel{-70, -60})
	corners := inside(t, s, p, "three corners")
	if len(corners) != 4 {
		t.Errorf("three clicks made %v", corners)
	}
	// A click on a dot leads to its row in the list.
	first := s.Data.Estates[shown(p, "#list")[0]-1]
	m := pixel{(first.Longitude - 138) * 60 * math.Cos(36.5*math.Pi/180), (35.6 - first.Latitude) * 60}
	click(m)
	p.Wait("document.activeElement.closest('#list')")
	p.Click("#move")
	before := browsertest.Eval[string](p, "location.hash")
	drag(p, pixel{0, 0}, pixel{40, 0}, pixel{80, 30})
	p.Wait("location.hash != " + fmt.Sprintf("%q", before))
	if got := ring(t, p); !slices.Equal(got, corners) {
		t.Errorf("moving the map moved the ring to %v", got)
	}
	view := browsertest.Eval[[]float64](p, "new URLSearchParams(location.hash.slice(1)).get('c').split(',').map(Number)")
	if math.Abs(view[0]-(35.6+0.5)) > 0.01 || math.Abs(view[1]-(138-80.0/60/0.8039)) > 0.01 {
		t.Errorf("30 pixels down and 80 to the right led to %v", view)
	}
	at := middle(p)
	p.Do(chromedp.MouseEvent(input.MouseWheel, at.X, at.Y, func(e *input.DispatchMouseEventParams) *input.DispatchMouseEventParams {
		return e.WithDeltaX(0).WithDeltaY(-300)
	}))
	p.Wait("location.hash.includes(',120&')")
	p.Click("#visible")
	p.Wait("location.hash.split(';').length == 4")
	inside(t, s, p, "all that is visible")
	choose := `document.querySelector('#town').value = '福岡'; document.querySelector('#town').dispatchEvent(new Event('change'))`
	p.Do(chromedp.Evaluate(choose, nil))
	p.Wait("location.hash.startsWith('#c=33.59,130.4,300')")
	p.Quiet()
}

// fingers: one finger draws, two move and enlarge the map.
func fingers(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{Width: 375, Height: 812, Mobile: true})
	p.Go(s.URL + central)
	m := middle(p)
	touch := func(kind input.TouchType, at ...pixel) {
		points := []*input.TouchPoint{}
		for i, one := range at {
			points = append(points, &input.TouchPoint{X: m.X + one.X, Y: m.Y + one.Y, ID: float64(i + 1)})
		}
		p.Do(input.DispatchTouchEvent(kind, points))
	}
	touch(input.TouchStart, pixel{60, 0})
	for _, at := range circle(60, 0.97) {
		touch(input.TouchMove, at)
	}
	touch(input.TouchEnd)
	before := inside(t, s, p, "a circle")
	touch(input.TouchStart, pixel{-30, 0})
	touch(input.TouchStart, pixel{-30, 0}, pixel{30, 0})
	for i := range 10 {
		touch(input.TouchMove, pixel{-30 - 3*float64(i+1), 0}, pixel{30 + 3*float64(i+1), 0})
	}
	touch(input.TouchEnd)
	p.Wait("location.hash.includes(',120&')")
	if got := ring(t, p); !slices.Equal(got, before) {
		t.Errorf("two fingers changed the ring from %v to %v", before, got)
	}
	p.Quiet()
}

// mapKeys draws without a pointer.
func mapKeys(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	p.Go(s.URL + central)
	p.Do(chromedp.Focus("#atlas", chromedp.ByQuery))
	const left, up, right, down = "\u0302", "\u0304", "\u0303", "\u0301"
	keys := func(s string) { p.Do(chromedp.KeyEvent(s)) }
	keys("\r" + right + right + "\r" + down + "\r" + down + down + "\b" + left + "\r")
	if ring(t, p) != nil {
		t.Error("the ring is closed before it was asked for")
	}
	keys("f")
	if corners := inside(t, s, p, "three corners"); len(corners) != 4 {
		t.Errorf("the keys made %v", corners)
	}
	keys("\u001b")
	p.WaitText("#status", "まだ囲んでいません")
	keys("+" + "+" + "-" + up)
	p.Wait("location.hash.endsWith(',90')")
	p.Quiet()
}

// overtaken: of two searches under way, the answer to the last one counts, however
// late the other one comes.
func overtaken(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	p.Go(s.URL + central)
	asked, release := make(chan string, 1), make(chan struct{})
	mend := s.fault("/api/estate/nazotte", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- string(body)
		<-release
		_, _ = w.Write([]byte(`{"count":0,"estates":[]}`))
	})
	drag(p, circle(60, 0.97)...)
	body := <-asked
	var sent struct{ Coordinates []isuumo.Point }
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sent.Coordinates, ring(t, p)) {
		t.Errorf("the page sent %v, its address has %v", sent.Coordinates, ring(t, p))
	}
	mend()
	drag(p, circle(70, 0.97)...)
	p.Wait("document.querySelector('#list li')")
	close(release)
	p.Do(chromedp.Evaluate("fetch('/style.css').then(() => 1)", nil)) // the late answer has been read by then
	inside(t, s, p, "the second ring")
	p.Quiet()
}
