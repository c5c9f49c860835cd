package serve_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/serve"
	"github.com/kasoku/kasoku/store"
)

// themes are a telephone and a desk, by day and by night.
func themes() []browsertest.View {
	return []browsertest.View{{Width: 390, Height: 800, Mobile: true}, {Width: 390, Height: 800, Mobile: true, Dark: true},
		{Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true}}
}

// TestAccessible: axe-core finds nothing wrong in any view of the page, with all that its owner may allow.
func TestAccessible(t *testing.T) {
	turn.Wait(t)
	before, after := newRun("before", 15, 2), newRun("after", 15, 2)
	after.Run.Started = began.Add(time.Hour)
	after.Diagnosis.Findings = append(after.Diagnosis.Findings, diagnosed("x", began, "t1").Diagnosis.Findings...)
	running := newRun("running", 3, 2)
	running.Run.State, running.Run.Length, running.Run.Started = kasoku.Running, 0, time.Now()
	dir := write(t, before, after)
	w, err := store.Create(filepath.Join(dir, "running"+store.Extension), running.Run)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Finish(running.Run); err != nil {
			t.Error(err)
		}
	}()
	o := options(dir)
	o.Note = func(string, string) error { return nil }
	o.Score = func(string, *float64) error { return nil }
	o.Marked, o.Starter = func(serve.Mark) {}, &fakeStarter{}
	base, empty := serving(t, o), serving(t, options(t.TempDir()))
	b := browsertest.Start(t)
	for _, v := range themes() {
		p := b.Open(t, v)
		see := func(base, path string) {
			enter(p, base, path)
			accessible(p, v, path)
		}
		see(empty, "/")
		see(empty, "/live")
		see(empty, "/runs/nothing")
		see(base, "/runs/running")
		see(base, "/compare?a=before&b=after")
		enter(p, base, "/runs/after?f=e%3Dweb+GET+%2Fr0")
		p.WaitText("aside h2", "GET /r0")
		accessible(p, v, "an endpoint")
		p.Click("aside table[data-sort=queries] button.lead")
		p.WaitText("aside h2", "calls")
		p.Do(chromedp.Evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })", nil))
		accessible(p, v, "a statement, all unfolded")
		see(base, "/")
		p.Click("input[aria-label='compare after']")
		p.Click("input[aria-label='compare before']")
		p.Wait("document.querySelector('.pair a')")
		accessible(p, v, "two ticks")
		enter(p, base, "/runs/after?t=20-40&b=0-20")
		p.WaitText("#endpoints", "0 s to 20 s → 20 s to 40 s")
		p.Click(".marks button:nth-child(2)")
		p.Wait("document.querySelector('.mark')?.textContent === 'not now'")
		accessible(p, v, "a run with two stretches and a mark")
		p.Click(".marks button[aria-pressed=true]")
		p.Wait("!document.querySelector('.mark')")
		p.Quiet("/runs/nothing")
	}
}

func accessible(p *browsertest.Page, v browsertest.View, name string) {
	p.Accessible(fmt.Sprintf("%s at %d px, dark: %v", name, v.Width, v.Dark))
}
