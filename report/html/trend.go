package html

import (
	"math"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/report"
)

// A trend of the page.
type trend struct {
	*report.Trend
	Lines  []shape
	Ticks  []place
	Dots   []place
	Labels []pointLabel
	Aria   string
}

// A pointLabel names a point that was higher than all before.
type pointLabel struct {
	Left, Top, Text, Name string
	Far                   bool // at the end of the width: it stands to the left of the point
	Steep                 bool // the line comes from below: it stands beside the point
}

const (
	// mostDots is how many points a trend has at most for their numbers to be read.
	mostDots = 40
	// labelRoom is how much of the width a label takes, in percent.
	labelRoom = 16
	// steep is the rise, in percent of the height, from which a label below the point
	// would stand in the line.
	steep = 30
)

func trendView(t *report.Trend) trend {
	v := trend{Trend: t, Aria: t.Name + " by run: " + t.Peak}
	top := func(y float64) float64 { return 100 * (1 - min(max(t.Y(y), 0), 1)) }
	for _, k := range t.Axis.Ticks {
		v.Lines = append(v.Lines, shape{D: "M0 " + trim(top(k.Value)) + "H100", Stroke: "var(--line)", Width: "1"})
		v.Ticks = append(v.Ticks, place{Top: trim(top(k.Value)), Label: k.Label})
	}
	var line, ranges strings.Builder
	last, before := math.Inf(-1), 0.0
	for i, p := range t.Points {
		x, y := 3.0, top(p.Value)
		if n := len(t.Points); n > 1 {
			x += 94 * float64(i) / float64(n-1)
		}
		line.WriteString(map[bool]string{true: "M", false: "L"}[i == 0] + trim(x) + " " + trim(y))
		if p.High > p.Low {
			ranges.WriteString("M" + trim(x) + " " + trim(top(p.Low)) + "V" + trim(top(p.High)))
		}
		dot := place{Left: trim(x), Top: trim(y), Label: strconv.Itoa(p.Number), Class: "noise"}
		if p.Record {
			dot.Class = ""
		}
		if len(t.Points) > mostDots {
			dot.Label, dot.Class = "", strings.TrimSpace(dot.Class+" few")
		}
		v.Dots = append(v.Dots, dot)
		if p.Record && x-last >= labelRoom {
			v.Labels = append(v.Labels, pointLabel{trim(x), trim(y), p.Text, p.Name, x > 100-labelRoom, i > 0 &&
				before-y > steep})
			last = x
		}
		before = y
	}
	v.Lines = append(v.Lines, shape{D: line.String(), Stroke: "var(--s1)", Width: "1.75"})
	if ranges.Len() > 0 {
		v.Lines = append(v.Lines, shape{D: ranges.String(), Stroke: "var(--s5)", Width: "1.25"})
	}
	return v
}
