package browsertest

import (
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"

	"github.com/kasoku/kasoku/internal/test/peertest"
)

// breaches asks axe-core for all that it finds wrong, a line for each element: its rule, where it stands, and what to
// do. A rule for which an element is hidden from it, or scrolled out of sight, decides nothing there.
const breaches = `axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.flatMap(v =>
	v.nodes.map(n => v.id + ' (' + v.impact + ') at ' + n.target.join(' ') + ': ' +
		n.failureSummary.replace(/\s+/g, ' ') + ' ' + n.html.slice(0, 160))))`

// Accessible fails the test with each element of the page that axe-core, with all its rules for WCAG and good
// practice, finds hard to reach for people who do not see it well, or have no mouse.
func (p *Page) Accessible(name string) {
	p.t.Helper()
	if !Eval[bool](p, "!!globalThis.axe") {
		file := filepath.Join(peertest.Dir(p.t, "axe"), "node_modules", "axe-core", "axe.min.js")
		script, err := os.ReadFile(file)
		if err != nil {
			p.t.Fatal(err)
		}
		p.Do(chromedp.Evaluate(string(script)+";0", nil)) // as one who types it there: the page's policy allows no script
	}
	for _, line := range Eval[[]string](p, breaches) {
		p.t.Errorf("%s: %s", name, line)
	}
}
