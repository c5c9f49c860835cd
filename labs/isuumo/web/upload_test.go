package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
)

// send puts a file with that content into a form of the upload page and sends it.
func send(t *testing.T, p *browsertest.Page, form string, content []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	p.Do(chromedp.SetUploadFiles("#"+form+"-file", []string{file}, chromedp.ByQuery))
	p.Click("#" + form + " button")
}

func uploads(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	chairs, estates := s.Data.VerifyChairs[:20], s.Data.VerifyEstates[:20]
	p.Go(s.URL + "/upload.html")
	send(t, p, "chairs", data.ChairCSV(nil, chairs))
	p.WaitText("#chairs [role=status]", "rows.csv を登録しました。")
	send(t, p, "estates", data.EstateCSV(nil, estates))
	p.WaitText("#estates [role=status]", "rows.csv を登録しました。")
	p.Click("#chairs .outcome a")
	p.WaitText("h1", chairs[0].Name)
	p.Go(fmt.Sprintf("%s/estate.html?id=%d", s.URL, estates[19].ID))
	p.WaitText("h1", estates[19].Name)
	p.Quiet()
}

func refusedUploads(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	p.Go(s.URL + "/upload.html")
	chair := s.Data.VerifyChairs[30]
	row := string(data.ChairCSV(nil, []isuumo.Chair{chair}))
	for _, c := range []struct{ content, want string }{
		{"1,2,3\n", "(400)"},
		{strings.Replace(row, fmt.Sprint(chair.ID), "abc", 1), "(400)"},
		{row + "1,2\n", "(500)"},
		{row + row, "(500)"},
		{"", "ファイルに行がありません"},
		{"\n\r\n", "ファイルに行がありません"},
		{"\x83\x60\x83\x46\x83\x41", "UTF-8 ではありません"}, // チェア in Shift_JIS
	} {
		send(t, p, "chairs", []byte(c.content))
		p.WaitText("#chairs [role=alert]", c.want)
	}
	for code, want := range map[int]string{413: "大きすぎます", 503: "混み合っている"} {
		mend := s.fault("/api/estate", status(code))
		send(t, p, "estates", []byte(row))
		p.WaitText("#estates [role=alert]", want)
		mend()
	}
	p.Quiet("/api/")
	p.Go(fmt.Sprintf("%s/chair.html?id=%d", s.URL, chair.ID))
	p.WaitText("[role=alert]", "登録がありません") // no row of a file that was refused
}

// hostileRows: what a row says is text, wherever it is shown.
func hostileRows(t *testing.T, s *site, b *browsertest.Browser) {
	const markup = `<img src=x onerror="console.error(1)"><script>console.error(2)</script>`
	chair := isuumo.Chair{
		ID: 900001, Name: markup, Description: markup, Thumbnail: "javascript:console.error(3)", Price: 1, Height: 40, Width: 40, Depth: 40,
		Color: "赤<b>", Features: "<i>x</i>," + `"quoted"`, Kind: "座<b>", Popularity: 1, Stock: 1,
	}
	estate := isuumo.Estate{
		ID: 900001, Name: markup[:60], Description: markup, Thumbnail: "//elsewhere.invalid/x.png", Address: markup,
		Latitude: 35.1, Longitude: 138.1, Rent: 1, DoorHeight: 190, DoorWidth: 90, Features: "<i>", Popularity: 9_999_999,
	}
	chair.Name = markup[:60]
	p := b.Open(t, browsertest.View{})
	p.Go(s.URL + "/upload.html")
	send(t, p, "chairs", data.ChairCSV(nil, []isuumo.Chair{chair}))
	p.WaitText("#chairs [role=status]", "rows.csv を登録しました。")
	send(t, p, "estates", data.EstateCSV(nil, []isuumo.Estate{estate}))
	p.WaitText("#estates [role=status]", "rows.csv を登録しました。")
	for page, place := range map[string]string{
		"/":                          "#chairs .name",
		"/chairs.html?color=赤<b>":    "#result .name",
		"/chair.html?id=900001":      "h1",
		"/chair.html?id=900001#":     "#estates .name",
		"/estate.html?id=900001":     "#estate p",
		"/estates.html?features=<i>": "#result .line",
		"/map.html#a=35,138;35.2,138;35.2,138.2;35,138.2": "#list .name",
	} {
		p.Go("about:blank")
		p.Go(s.URL + page)
		p.WaitText(place, "<img src=x")
		if n := browsertest.Eval[int](p, "document.querySelectorAll('main b, main i, main script, main [onerror], main [src=x], main [src*=elsewhere]').length"); n != 0 {
			t.Errorf("%s: %d elements come from a row", page, n)
		}
	}
	p.Quiet()
}
