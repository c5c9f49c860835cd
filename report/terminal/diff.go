package terminal

import (
	"strings"

	"github.com/kasoku/kasoku/report"
)

// diff writes a unified diff. Its lines are not cut: they are there to be read whole,
// or to be pasted.
func (p *printer) diff(d *report.Diff) {
	p.gap()
	p.line(piece{p.text(d.Name), bold}, piece{"  " + p.text(d.What), dim})
	for _, l := range d.Lines {
		p.line(piece{clean(strings.ReplaceAll(l.Text, "\t", "    ")), codeStyle(l.Sign)})
	}
	if d.More != "" {
		p.para(2, d.More, dim)
	}
}
