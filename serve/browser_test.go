package serve_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/serve"
	"github.com/kasoku/kasoku/store"
)

// enter opens a page as who has the address with the token.
func enter(p *browsertest.Page, base, path string) {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	p.Go(base + path + separator + "token=" + token)
	p.Wait("document.documentElement.dataset.ready === ''")
}

// drag draws over the charts from one share of their width to another.
func drag(p *browsertest.Page, from, to float64, keys ...input.Modifier) {
	p.Do(chromedp.ScrollIntoView(".ax .p[role=img]", chromedp.ByQuery))
	box := browsertest.Eval[[]float64](p, `(() => {const r = document.querySelector('.ax .p[role=img]').getBoundingClientRect();
		return [r.left, r.width, r.top + r.height / 2]})()`)
	modifier := input.ModifierNone
	for _, k := range keys {
		modifier |= k
	}
	at := func(kind input.MouseType, share float64) *input.DispatchMouseEventParams {
		return input.DispatchMouseEvent(kind, box[0]+share*box[1],
			box[2]).WithButton(input.Left).WithClickCount(1).WithModifiers(modifier)
	}
	p.Do(at(input.MousePressed, from), at(input.MouseMoved, (from+to)/2), at(input.MouseMoved, to),
		at(input.MouseReleased, to))
}

// TestBrush: a drag over the charts makes the tables those of its seconds, a second one a difference, and the address
// shows another reader the same.
func TestBrush(t *testing.T) {
	base := serving(t, options(write(t, newRun("run", 15, 3))))
	b := browsertest.Start(t)
	p := b.Open(t, browsertest.View{})
	enter(p, base, "/runs/run")
	drag(p, 0.505, 0.99)
	p.WaitText("#endpoints", "20 s to 40 s")
	first := "document.querySelector('table[data-sort=endpoints] tbody tr')"
	if text := browsertest.Eval[string](p, first+".textContent"); !strings.Contains(text, "GET /r0") ||
		!strings.Contains(text, "100") {
		t.Errorf("the first row is %q", text)
	}
	if at := browsertest.Eval[string](p, "location.search"); at != "?t=20-40" {
		t.Errorf("the address is %s", at)
	}
	drag(p, 0.005, 0.49, input.ModifierShift)
	p.WaitText("#endpoints", "0 s to 20 s → 20 s to 40 s")
	address := browsertest.Eval[string](p, "location.pathname + location.search")
	if address != "/runs/run?t=20-40&b=0-20" {
		t.Errorf("the address is %s", address)
	}
	other := b.Open(t, browsertest.View{})
	enter(other, base, address)
	other.WaitText("#endpoints", "0 s to 20 s → 20 s to 40 s")
	other.Quiet()
	for range 2 {
		p.Do(chromedp.KeyEvent("\x1b"))
	}
	p.Wait("document.querySelector('#endpoints').textContent === 'Endpoints'")
	if took := browsertest.Eval[float64](p, "performance.getEntriesByName('brush to tables')[0].duration"); took <= 0 {
		t.Errorf("not measured: %v", took)
	} else {
		t.Logf("brush to tables: %.0f ms", took)
	}
	p.Quiet()
}

// TestDrawer: from an endpoint to its statement, from that to the finding and its fix, without a dead end; closed, the
// page is as it was, and the way back of the browser goes the same steps.
func TestDrawer(t *testing.T) {
	base := serving(t, options(write(t, newRun("run", 3, 3))))
	p := browsertest.Start(t).Open(t, browsertest.View{Width: 1400, Height: 900})
	enter(p, base, "/runs/run")
	p.Click("table[data-sort=endpoints] button.lead")
	p.WaitText("aside", "select * from t0 where id = ?")
	p.WaitText("aside", "t0 is read without an index")
	p.Click("aside table[data-sort=queries] button.lead")
	p.WaitText("aside h2", "calls")
	p.WaitText("aside", "ALTER TABLE t0 ADD INDEX (id);")
	p.Back()
	p.WaitText("aside h2", "GET /r0")
	p.Do(chromedp.KeyEvent("\x1b"))
	p.Wait("!document.querySelector('aside')")
	p.Quiet()
}

// TestFilter: a long table is folded, and a text narrows it.
func TestFilter(t *testing.T) {
	base := serving(t, options(write(t, newRun("run", 30, 2))))
	p := browsertest.Start(t).Open(t, browsertest.View{})
	enter(p, base, "/runs/run")
	shown := "[...document.querySelectorAll('table[data-sort=endpoints] tbody tr')].filter(r => !r.hidden).length"
	if n := browsertest.Eval[int](p, shown); n != 12 {
		t.Errorf("%d rows are shown", n)
	}
	// The protocol sends the letter that follows a key whatever the page says of the key.
	p.Do(chromedp.Evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}))", nil))
	p.Type(".find input:focus", "r29")
	p.Wait(shown + " === 1")
	if at := browsertest.Eval[string](p, "location.search"); at != "?q=r29" {
		t.Errorf("the address is %s", at)
	}
	p.Quiet()
}

// TestTwoTicksCompare: two ticks on the first page lead to a comparison.
func TestTwoTicksCompare(t *testing.T) {
	after := newRun("after", 2, 3)
	after.Run.Started = began.Add(time.Hour)
	base := serving(t, options(write(t, newRun("before", 2, 3), after)))
	p := browsertest.Start(t).Open(t, browsertest.View{})
	enter(p, base, "/")
	p.Click("input[aria-label='compare after']")
	p.Click("input[aria-label='compare before']")
	p.Click(".pair a")
	p.Wait("location.pathname === '/compare'")
	if at := browsertest.Eval[string](p, "location.search"); at != "?a=before&b=after" {
		t.Errorf("the address is %s", at)
	}
	p.Quiet()
}

// TestHostileRunInABrowser: no text of a run becomes anything but text, and nothing breaks the policy.
func TestHostileRunInABrowser(t *testing.T) {
	base := serving(t, options(write(t, newHostileRun())))
	p := browsertest.Start(t).Open(t, browsertest.View{})
	for _, path := range []string{"/", "/runs/hostile", "/runs/hostile?t=2-9&b=0-2", "/compare?a=hostile&b=hostile"} {
		enter(p, base, path)
		if n := browsertest.Eval[int](p,
			"document.querySelectorAll('main img, main script:not([type]), main a[href^=javascript]').length"); n > 0 {
			t.Errorf("%s: %d elements of a stranger's", path, n)
		}
	}
	enter(p, base, "/runs/hostile")
	p.Click("table[data-sort=endpoints] button.lead")
	p.WaitText("aside", "<img src=x")
	if title := browsertest.Eval[string](p, "document.title"); strings.Contains(title, "owned") &&
		!strings.Contains(title, "<img") {
		t.Error("a script of a stranger's ran")
	}
	p.Quiet()
}

// TestLive: a run that begins is seen on the first page, its seconds on its own, and its verdict when it ends, without
// a click.
func TestLive(t *testing.T) {
	dir := t.TempDir()
	base := serving(t, options(dir))
	p := browsertest.Start(t).Open(t, browsertest.View{})
	enter(p, base, "/live")
	p.WaitText("h1", "No run is being recorded.")
	p.Wait("performance.getEntriesByType('resource').length > 0")
	rec := newRun("live", 2, 3)
	rec.Run.State, rec.Run.Length, rec.Run.Started = kasoku.Running, 0, time.Now()
	file := filepath.Join(dir, "live"+store.Extension)
	w, err := store.Create(file, rec.Run)
	if err != nil {
		t.Fatal(err)
	}
	p.Wait("location.pathname === '/runs/live'")
	p.WaitText(".alert", "Still running")
	for i := range 3 {
		rec.Run.Note = fmt.Sprintf("change %d", i)
		if err := w.SaveRun(rec.Run); err != nil {
			t.Fatal(err)
		}
		p.WaitText(".facts", rec.Run.Note)
	}
	rec.Run.State, rec.Run.Length = kasoku.Finished, seconds*time.Second
	if err := w.Finish(rec.Run); err != nil {
		t.Fatal(err)
	}
	p.Wait("!document.querySelector('main').hasAttribute('data-running')")
	p.Quiet()
}

// TestCatchesUp: a page whose server was away, as a tab that slept, shows what came meanwhile.
func TestCatchesUp(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	serveOnce := func(l net.Listener) (stop func()) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- serve.New(options(dir)).Serve(ctx, l, nil) }()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	stop := serveOnce(l)
	p := browsertest.Start(t).Open(t, browsertest.View{})
	enter(p, "http://"+address, "/")
	p.WaitText("h1", "No runs yet.")
	stop()
	if err := store.Write(filepath.Join(dir, "meanwhile"+store.Extension), newRun("meanwhile", 2, 3)); err != nil {
		t.Fatal(err)
	}
	if l, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	defer serveOnce(l)()
	p.WaitText("table", "meanwhile")
	p.Quiet("/api/v1/events")
}

// TestNarrow: no page scrolls sideways, from a telephone to a large screen, light and dark.
func TestNarrow(t *testing.T) {
	base := serving(t, options(write(t, newRun("before", 15, 2), newRun("after", 15, 2))))
	b := browsertest.Start(t)
	for _, v := range []browsertest.View{{Width: 390, Height: 800, Mobile: true}, {Width: 768, Height: 1000},
		{Width: 1440, Height: 900, Dark: true}, {Width: 2560, Height: 1300}} {
		p := b.Open(t, v)
		for _, path := range []string{"/", "/runs/before?t=2-9", "/runs/before?f=e%3Dweb+GET+%2Fr0",
			"/compare?a=before&b=after", "/runs/nothing"} {
			enter(p, base, path)
			if over := browsertest.Eval[float64](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%s at %d px: %.0f px too wide", path, v.Width, over)
			}
		}
		p.Quiet("/runs/nothing")
	}
}
