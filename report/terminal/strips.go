package terminal

import (
	"math"
	"strings"

	"github.com/kasoku/kasoku/report"
)

// stripRoom is the widest that a strip of runs is drawn.
const stripRoom = 48

// strips draws the runs of each figure on an axis from the least to the most: ○
// before, ● after. Dots that fall on one place are one.
func (p *printer) strips(s *report.Strips) {
	names := 0
	for _, x := range s.List {
		names = max(names, width(p.label(stripName(x))))
	}
	names = max(names, width("  before"))
	room := min(stripRoom, p.o.Width-indent-names-2)
	if room < 16 {
		return // the table beside it has the figures
	}
	for _, x := range s.List {
		ends := p.text(x.Low) + strings.Repeat(" ", max(1, room-width(p.text(x.Low))-width(p.text(x.High)))) +
			p.text(x.High)
		p.line(piece{p.beside(stripName(x), names) + ends, dim})
		p.line(piece{p.beside("  before", names), plain}, piece{p.text(dots(x.Before, '○', room)), dim})
		p.line(piece{p.beside("  after", names), plain}, piece{p.text(dots(x.After, '●', room)),
			toneStyle(x.Tone, plain)})
	}
}

func stripName(x report.Strip) string {
	return strings.TrimSuffix(x.Name+", "+x.Unit, ", ")
}

func (p *printer) beside(name string, names int) string {
	name = p.label(name)
	return strings.Repeat(" ", indent) + name + strings.Repeat(" ", max(0, names-width(name))+2)
}

// dots places runs in a line of that many cells.
func dots(runs []report.Dot, mark rune, room int) string {
	line := []rune(strings.Repeat("·", room))
	for _, d := range runs {
		line[min(max(int(math.Round(d.At*float64(room-1))), 0), room-1)] = mark
	}
	return string(line)
}
