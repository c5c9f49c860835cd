package html

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/runlist"
)

func file(t *testing.T, d *report.Document) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, render(t, d), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

func TestBrowserRunsThePage(t *testing.T) {
	turn.Wait(t)
	logs, moved := analysed(t)
	for name, d := range map[string]*report.Document{
		"analysed": logs, "analysed-moved": moved,
		"show": recording.Show(sample.Before(), options()), "stopped": recording.Show(sample.Stopped(), options()),
		"command": recording.Show(sample.Command(), options()), "compare": comparison.Compare(compared(t), options()),
		"groups": comparison.Compare(grouped(t), options()), "story": storyDocument(t), "accesslog": accessPage(t),
	} {
		t.Run(name, func(t *testing.T) {
			dom := browsertest.DumpDOM(t, file(t, d)+"#t=33")
			if !strings.Contains(dom, `class="js"`) {
				t.Error("the script did not run")
			}
			if strings.Contains(dom, `class="ax"`) && !strings.Contains(dom, `class="cur"`) {
				t.Error("there is no cursor")
			}
			if name == "show" && !strings.Contains(dom, "values at 14:02:44, 33 s") {
				t.Error("the cursor in the address was not taken")
			}
			if name == "show" && !regexp.MustCompile(`class="rv">309<`).MatchString(dom) {
				t.Error("the readout does not show the value at the cursor")
			}
		})
	}
}

func TestBrowserDrawsThePage(t *testing.T) {
	turn.Wait(t)
	img := browsertest.Screenshot(t, file(t, recording.Show(sample.Before(), options())), 1280, 2600)
	// The reds and blues of the bars are colours that nothing else has so much of.
	colours := map[string]int{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 3 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 3 {
			r, g, bl, _ := img.At(x, y).RGBA()
			colours[fmt.Sprintf("%02X%02X%02X", r>>8, g>>8, bl>>8)]++
		}
	}
	for name, colour := range map[string]string{"errors": "A81A0C", "2xx": "1463DE", "database": "C97C10"} {
		if colours[colour] < 200 {
			t.Errorf("%d pixels of %s in #%s, want bars of it", colours[colour], name, colour)
		}
	}
}

// The page itself never scrolls sideways, however narrow: tables and code scroll in
// their boxes.
func TestBrowserFitsNarrowPages(t *testing.T) {
	turn.Wait(t)
	docs := map[string]*report.Document{"show": recording.Show(sample.Before(), options()), "compare": comparison.Compare(compared(t), options()),
		"groups": comparison.Compare(grouped(t), options()), "story": storyDocument(t), "list": runlist.List(sample.Contest(), runlist.ListOptions{Options: options()}),
		"accesslog": accessPage(t), "logdiff": diffPage(t)}
	var page strings.Builder
	want := map[string]bool{}
	for name, d := range docs {
		url := file(t, d)
		for _, width := range []int{320, 390, 760, 761, 1280} {
			fmt.Fprintf(&page, "<iframe id=\"%s-%d\" src=%q style=\"width:%dpx;height:800px;border:0\"></iframe>\n", name, width, url, width)
			want[fmt.Sprintf("%s-%d is %d wide", name, width, width)] = true
		}
	}
	page.WriteString(`<pre></pre><script>onload=()=>{document.querySelector('pre').textContent=[...document.querySelectorAll('iframe')].map(f=>f.id+' is '+f.contentDocument.documentElement.scrollWidth+' wide').join('\n')}</script>`)
	frame := filepath.Join(t.TempDir(), "frames.html")
	if err := os.WriteFile(frame, []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	dom := browsertest.DumpDOM(t, "file://"+frame, "--allow-file-access-from-files")
	got := regexp.MustCompile(`(?m)\w+-\d+ is \d+ wide`).FindAllString(dom, -1)
	if len(got) != len(want) {
		t.Errorf("measured %d pages, want %d:\n%s", len(got), len(want), dom)
	}
	for _, g := range got {
		if !want[g] {
			t.Errorf("a page scrolls sideways: %s", g)
		}
	}
}

// TestBrowserZoomsFlames: a frame that is clicked is as wide as the graph, Esc goes back, and a word finds frames.
func TestBrowserZoomsFlames(t *testing.T) {
	logs, _ := analysed(t)
	p := browsertest.Start(t).Open(t, browsertest.View{})
	p.Go(file(t, logs))
	p.Do(chromedp.Evaluate("document.querySelector('details.fl').open = true", nil))
	narrow := "[...document.querySelector('svg.flame').children].find(f => parseFloat(f.getAttribute('width')) < 60)"
	p.Do(chromedp.Evaluate("globalThis.narrow = "+narrow+"; narrow.dispatchEvent(new MouseEvent('click'))", nil))
	if w := browsertest.Eval[string](p, "narrow.getAttribute('width')"); w != "100%" {
		t.Errorf("the frame is %s wide", w)
	}
	p.Do(chromedp.Evaluate("narrow.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))", nil))
	if w := browsertest.Eval[float64](p, "parseFloat(narrow.getAttribute('width'))"); w >= 60 {
		t.Errorf("the frame is %v %% wide after Esc", w)
	}
	p.Type("details.fl .seek", browsertest.Eval[string](p, "narrow.querySelector('title').textContent.slice(0, 4)"))
	p.Wait("document.querySelectorAll('svg.flame .hit').length > 0")
	p.Quiet()
}

// TestBrowserSortsRuns: the head of a column sorts its table, again the other way round.
func TestBrowserSortsRuns(t *testing.T) {
	logs, _ := analysed(t)
	p := browsertest.Start(t).Open(t, browsertest.View{})
	p.Go(file(t, logs))
	cells := "[...document.querySelectorAll('table[data-sort=endpoints] tbody tr')].map(r => +r.cells[1].dataset.v)"
	for _, order := range []string{"b - a", "a - b"} {
		p.Click("table[data-sort=endpoints] th:nth-child(2) button")
		if !browsertest.Eval[bool](p,
			"(c => c.length > 1 && String(c) === String([...c].sort((a, b) => "+order+")))("+cells+")") {
			t.Errorf("not by %s", order)
		}
	}
	p.Quiet()
}
