package profiles

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/report"
)

// What a page can show of a flame graph: narrower frames are thinner than a line.
const (
	leastFlame = 0.0015
	mostFlame  = 4000
	mostRowsUp = 60
)

// classNames are the classes in the order of the legend.
var classNames = []struct {
	class profile.Class
	name  string
}{{profile.Own, "own code"}, {profile.Database, "database driver"}, {profile.Library, "libraries"},
	{profile.Runtime, "Go runtime"}, {profile.Kernel, "kernel, reasons of waits"}}

// flame draws the stacks of a profile; nil when they are not kept.
func flame(p *kasoku.Profile, id, title string) *report.Flame {
	if len(p.Data) == 0 || p.Total <= 0 {
		return nil
	}
	root, err := profile.Tree(p)
	if err != nil || root.Value <= 0 {
		return nil
	}
	f := &flaming{whole: float64(root.Value), p: p, by: map[profile.Class]int64{}}
	f.Flame = report.Flame{ID: id, Title: title, Total: profileValue(p, root.Value),
		Read: "Callers above, what they call below; the width is the share. In functions of each kind themselves:"}
	f.add(root, 0, 0)
	for _, c := range classNames {
		if v, ok := f.by[c.class]; ok {
			f.Legend = append(f.Legend, report.FlameClass{Class: string(c.class), Name: c.name, Share: unit.Percent(float64(v) / f.whole)})
		}
	}
	if f.cut {
		f.Flame.Left = "Frames below " + unit.Percent(leastFlame) + " of the whole are left out."
	}
	return &f.Flame
}

// flaming draws one.
type flaming struct {
	report.Flame
	p     *kasoku.Profile
	whole float64
	cut   bool
	by    map[profile.Class]int64 // what functions of a class used themselves, of those that are drawn
}

// add draws what a node calls.
func (f *flaming) add(n *profile.Node, row int, left float64) {
	for _, c := range n.Children {
		f.by[c.Class] += c.Own
		width := float64(c.Value) / f.whole
		drawn := width >= leastFlame && row < mostRowsUp && len(f.Frames) < mostFlame
		if drawn {
			f.Depth = max(f.Depth, row+1)
			title := c.Name + ": " + profileValue(f.p, c.Value) + ", " + unit.Percent(width)
			if c.Own > 0 && len(c.Children) > 0 {
				title += "; itself " + unit.Percent(float64(c.Own)/f.whole)
			}
			f.Frames = append(f.Frames, report.FlameFrame{Name: profile.Short(c.Name), Title: title, Class: string(c.Class),
				Row:  row,
				Left: left, Width: width})
		} else {
			f.cut = true
		}
		f.add(c, row+1, left)
		left += width
	}
}
