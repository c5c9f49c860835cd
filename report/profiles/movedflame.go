package profiles

import (
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/report"
)

// movedFlame draws the stacks of both sides as one graph, coloured by how much each share moved; nil when they are
// not kept.
func movedFlame(p *compare.ProfileChange, id string) *report.Flame {
	root, err := p.Stacks()
	if err != nil || root == nil {
		return nil
	}
	f := &movedFlaming{of: p}
	f.Flame = report.Flame{ID: id, Title: profileWords[p.Kind].stacks, Total: "before and after",
		Open: p.Kind == kasoku.ProfileCPU,
		Read: "Callers above, what they call below; the width is the mean of both sides' shares. Share of the whole, before → after:",
		Legend: []report.FlameClass{{Class: "less-3", Name: "15 points less"}, {Class: "less-2", Name: "5 less"},
			{Class: "less-1", Name: "less"},
			{Class: "same", Name: "as before"},
			{Class: "more-1", Name: "more"}, {Class: "more-2", Name: "5 more"}, {Class: "more-3", Name: "15 points more"}},
	}
	f.add(root, 0, 0)
	if f.cut {
		f.Left = "Frames below " + unit.Percent(leastFlame) + " of the whole are left out."
	}
	return &f.Flame
}

// movedFlaming draws one.
type movedFlaming struct {
	report.Flame
	of  *compare.ProfileChange
	cut bool
}

// add draws what a function calls.
func (f *movedFlaming) add(n *profile.MovedNode, row int, left float64) {
	for _, c := range n.Children {
		width := c.Mean()
		if width < leastFlame || row >= mostRowsUp || len(f.Frames) >= mostFlame {
			f.cut = true
		} else {
			f.Depth = max(f.Depth, row+1)
			title := c.Name + ": " + unit.Percent(c.Before) + " → " + unit.Percent(c.After) + ", " +
				signedPoints(c.Points()) + " points"
			if name, _, scale := profilePerSecond(f.of); scale > 0 {
				title += "; " + unit.Sig3(c.Before*profileRate(f.of.Before, f.of.BeforeTime)*scale) + " → " +
					unit.Sig3(c.After*profileRate(f.of.After, f.of.AfterTime)*scale) + " " + name
			}
			class, moved := f.class(c)
			frame := report.FlameFrame{Name: profile.Short(c.Name), Class: class, Row: row, Left: left, Width: width, Title: title}
			if moved {
				frame.Name += " " + signedPoints(c.Points())
			}
			f.Frames = append(f.Frames, frame)
		}
		f.add(c, row+1, left)
		left += width
	}
}

// class returns by how much a share moved. What moved by less than a point, or by less than two samplings of the same
// thing differ, did not.
func (f *movedFlaming) class(n *profile.MovedNode) (class string, moved bool) {
	points := math.Abs(n.Points())
	if !f.of.Shown(profile.Moved{BeforeFlat: n.Before, AfterFlat: n.After}) {
		return "same", false
	}
	side := "more-"
	if n.Points() < 0 {
		side = "less-"
	}
	switch {
	case points >= 0.15:
		return side + "3", true
	case points >= 0.05:
		return side + "2", true
	}
	return side + "1", true
}
