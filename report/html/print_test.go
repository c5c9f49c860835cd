package html

import (
	"context"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/runlist"
)

// A sheet of A4 less its margins, in CSS pixels.
const paperWidth, paperHeight = 710, 1016

// TestBrowserPrints: on A4 nothing is out of sight, also by night, and findings begin on the first of few sheets.
func TestBrowserPrints(t *testing.T) {
	turn.Wait(t)
	logs, moved := analysed(t)
	b := browsertest.Start(t)
	for name, x := range map[string]struct {
		d      *report.Document
		sheets int // at the most; "show" was ten, when parts that must stay whole left them half empty
	}{
		"show": {recording.Show(sample.Before(), options()), 4}, "analysed": {logs, 7}, "moved": {moved, 3},
		"compare": {comparison.Compare(compared(t), options()), 3}, "story": {storyDocument(t), 8}, "accesslog": {accessPage(t), 2},
		"list": {runlist.List(sample.Contest(), runlist.ListOptions{Options: options()}), 1},
	} {
		p := b.Open(t, browsertest.View{Width: paperWidth, Height: paperHeight, Dark: true})
		p.Go(file(t, x.d))
		var pdf []byte
		p.Do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			pdf, _, err = cdppage.PrintToPDF().WithPreferCSSPageSize(true).WithPrintBackground(true).Do(ctx)
			return err
		}))
		if n := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(pdf, -1)); n == 0 || n > x.sheets {
			t.Errorf("%s takes %d sheets, want %d", name, n, x.sheets)
		}
		p.Do(emulation.SetEmulatedMedia().WithMedia("print"))
		for _, cut := range browsertest.Eval[[]string](p, `[...document.querySelectorAll('.tw,.q,pre,main')]
			.filter(e => e.scrollWidth > e.clientWidth + 1 && e.checkVisibility())
			.map(e => e.className + ' ' + (e.closest('section')?.querySelector('h2').textContent || '') + ': ' + e.scrollWidth + ' of ' + e.clientWidth)`) {
			t.Errorf("%s: out of sight: %s", name, cut)
		}
		if heads := browsertest.Eval[int](p, "[...document.querySelectorAll('th')].filter(e => !e.innerText.trim()).length"); heads > 0 {
			t.Errorf("%s: %d columns without a head", name, heads)
		}
		if colour := browsertest.Eval[string](p, "getComputedStyle(document.body).backgroundColor"); colour != "rgb(255, 255, 255)" {
			t.Errorf("%s: the paper is %s", name, colour)
		}
		p.Quiet()
	}
}
