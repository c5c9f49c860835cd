package html

import (
	"fmt"
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

// TestBrowserAccessible: axe-core finds nothing wrong in any report, folded or not, by day and by night.
func TestBrowserAccessible(t *testing.T) {
	logs, moved := analysed(t)
	docs := map[string]*report.Document{
		"analysed": logs, "moved": moved, "show": recording.Show(sample.Before(), options()),
		"stopped": recording.Show(sample.Stopped(), options()), "command": recording.Show(sample.Command(), options()),
		"services": recording.Show(sample.Services(), options()), "story": storyDocument(t),
		"compare": comparison.Compare(compared(t), options()), "groups": comparison.Compare(grouped(t), options()),
		"list":      runlist.List(sample.Contest(), runlist.ListOptions{Options: options()}),
		"accesslog": accessPage(t), "logdiff": diffPage(t),
	}
	var b *browsertest.Browser
	for name, d := range docs {
		if !turn.Takes(t.Name() + name) {
			continue
		}
		if b == nil {
			b = browsertest.Start(t)
		}
		url := file(t, d)
		for _, v := range []browsertest.View{{Width: 390, Height: 800, Mobile: true}, {Width: 390, Height: 800, Mobile: true, Dark: true},
			{Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true}} {
			p := b.Open(t, v)
			p.Go(url)
			said := fmt.Sprintf("%s at %d px, dark: %v", name, v.Width, v.Dark)
			p.Accessible(said)
			p.Do(chromedp.Evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })", nil))
			p.Accessible(said + ", all unfolded")
			p.Quiet()
		}
	}
}
