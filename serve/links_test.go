package serve_test

import (
	"testing"

	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/test/browsertest"
)

// TestLinks: pages of the owner's own are asked for the time of the run, and for the seconds that are selected; what
// stands in a run chooses no other host and no script.
func TestLinks(t *testing.T) {
	run := newRun("run", 2, 3)
	run.Run.Label = `/../"><script>&from=0#`
	o := options(write(t, run))
	for _, text := range []string{"Grafana=https://g.example/d/x?from={from_ms}&to={to_ms}&label={label}",
		"Mackerel=https://m.example/{host}?from={from_s}&to={to_s}"} {
		l, err := config.ParseLink(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Links = append(o.Links, l)
	}
	base := serving(t, o)
	p := browsertest.Start(t).Open(t, browsertest.View{})
	hrefs := func(want ...string) {
		t.Helper()
		for i, w := range want {
			got := browsertest.Eval[[]string](p, "[...document.querySelectorAll('[data-start] a')].map(a => a.href)")
			if len(got) != len(want) || got[i] != w {
				t.Errorf("links lead to %q, want %q", got, want)
			}
		}
	}
	const label = "&label=%2F..%2F%22%3E%3Cscript%3E%26from%3D0%23"
	enter(p, base, "/runs/run")
	// 2026-11-30 12:00:00 UTC is 1796040000.
	hrefs("https://g.example/d/x?from=1796040000000&to=1796040040000"+label,
		"https://m.example/web?from=1796040000&to=1796040040")
	enter(p, base, "/runs/run?t=10-25")
	p.WaitText("#endpoints", "10 s to 25 s")
	hrefs("https://g.example/d/x?from=1796040010000&to=1796040025000"+label,
		"https://m.example/web?from=1796040010&to=1796040025")
	p.Click("form.brush button[type=reset]")
	p.Wait("document.querySelector('#endpoints').textContent === 'Endpoints'")
	hrefs("https://g.example/d/x?from=1796040000000&to=1796040040000"+label,
		"https://m.example/web?from=1796040000&to=1796040040")
	p.Quiet()
}
