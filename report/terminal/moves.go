package terminal

import (
	"math"
	"strings"

	"github.com/kasoku/kasoku/report"
)

// drawRoom is how wide the drawing of a comparison is. It is drawn only where all
// columns of the table leave room for it.
const drawRoom = 33

// moves writes a comparison as a table and, where there is room, draws the changes
// with their intervals on the axis of their group.
func (p *printer) moves(m *report.Moves) {
	p.para(0, m.Label, dim)
	t := m.Table()
	t.Note = ""
	g := newGrid(p.sheet, t, p.o.Width)
	var beside func(string, int) []piece
	if room := p.o.Width - tableWidth(g.cols) - 3; room >= drawRoom && len(g.cols) == len(t.Columns) {
		beside = p.drawing(m)
	}
	g.write(beside)
	if m.Note != "" {
		p.para(0, prose(m.Note), dim)
	}
	if m.Legend != "" {
		p.para(0, prose(m.Legend), dim)
	}
}

// drawing returns what stands beside the rows of a comparison.
func (p *printer) drawing(m *report.Moves) func(string, int) []piece {
	var marks []*report.Interval
	var zeros []float64
	var tones []report.Tone
	groups := map[string]*report.MoveGroup{}
	for i := range m.Groups {
		g := &m.Groups[i]
		groups[g.Title] = g
		for _, r := range g.Rows {
			marks, zeros, tones = append(marks, r.Mark), append(zeros, g.Zero), append(tones, r.Tone)
		}
	}
	return func(group string, row int) []piece {
		if row < 0 {
			return []piece{{"   " + p.text(ticks(groups[group])), dim}}
		}
		return []piece{{"   " + p.text(draw(marks[row], zeros[row])), toneStyle(tones[row], plain)}}
	}
}

// at is the cell of a place 0..1.
func at(place float64) int {
	return min(max(int(math.Round(place*float64(drawRoom-1))), 0), drawRoom-1)
}

// ticks writes the labels of an axis, each centred on its place, those that would
// touch left out.
func ticks(g *report.MoveGroup) string {
	line := []rune(strings.Repeat(" ", drawRoom+4))
	free := 0
	for _, t := range g.Ticks {
		label := []rune(t.Label)
		from := max(at(t.Value)-len(label)/2, 0)
		if from < free {
			continue
		}
		copy(line[from:], label)
		free = from + len(label) + 1
	}
	return string(line)
}

// draw writes a dot with the ends of its interval: ● moved, ○ unsure, ◀ and ▶
// beyond the axis.
func draw(m *report.Interval, zero float64) string {
	line := []rune(strings.Repeat(" ", drawRoom))
	line[at(zero)] = '│'
	if m == nil {
		return string(line)
	}
	if m.Ends {
		lo, hi := at(m.Low), at(m.High)
		for i := lo; i <= hi && hi > lo; i++ {
			if line[i] == '│' {
				line[i] = '┼'
			} else {
				line[i] = '─'
			}
		}
		if hi > lo {
			line[lo], line[hi] = '├', '┤'
		}
	}
	dot := '○'
	if m.Filled {
		dot = '●'
	}
	switch {
	case m.Beyond < 0:
		dot = '◀'
	case m.Beyond > 0:
		dot = '▶'
	}
	line[at(m.At)] = dot
	return string(line)
}
