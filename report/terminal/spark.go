package terminal

import (
	"math"
	"strings"

	"github.com/kasoku/kasoku/report"
)

// levels are the heights of a sparkline, the lowest for 0.
var levels = []rune("▁▂▃▄▅▆▇█")

// nameRoom is how wide the names of sparklines are.
const nameRoom = 14

func (p *printer) timeline(t *report.Timeline) {
	if t.Title != "" {
		p.gap()
		p.line(piece{"  " + p.text(lower(t.Title)), bold})
	}
	room := 0
	for _, s := range t.Sparks {
		room = max(room, width(p.text(s.Peak)))
	}
	columns := (t.Seconds + t.Column - 1) / t.Column
	most := max(8, p.o.Width-2-nameRoom-2-2-room)
	each := (columns + most - 1) / most
	p.para(2, t.Legend(each), dim)
	for _, s := range t.Sparks {
		p.spark(s, each)
	}
	p.stepLabels(t, each)
	if t.Note != "" {
		p.para(2, t.Note, dim)
	}
}

// spark writes one line: the name, the drawing and its peak.
func (p *printer) spark(s report.Spark, each int) {
	name := cut(p.text(s.Name), nameRoom, p.tail())
	st := cyan
	if s.Tone == report.Bad {
		st = red
	}
	drawn := p.text(spark(s, each))
	peak := cut(p.text(s.Peak), p.o.Width-2-nameRoom-2-width(drawn)-2, p.tail())
	p.line(piece{"  " + name + strings.Repeat(" ", nameRoom-width(name)+2), plain}, piece{drawn, st},
		piece{"  " + peak, dim})
}

// mostSteps is how many steps a trend draws one by one, however wide the terminal.
const mostSteps = 60

// trend draws the figures of runs in one line, one character a step, or for several.
func (p *printer) trend(t *report.Trend) {
	if t.Title != "" {
		p.para(2, t.Title, dim)
	}
	s := report.Spark{Name: t.Name, Log: t.Log, Peak: t.Peak}
	for _, x := range t.Points {
		s.Values = append(s.Values, x.Value)
	}
	most := min(max(8, p.o.Width-2-nameRoom-2-2-width(p.text(t.Peak))), mostSteps)
	p.spark(s, (len(s.Values)+most-1)/most)
	p.gap()
}

// barRoom is how wide the longest bar of a column is.
const barRoom = 8

// eighths are the ends of a bar, from none to seven eighths of a cell.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar draws a share; nothing when it is not known. What is above 0 is seen.
func bar(share *float64) string {
	if share == nil || math.IsNaN(*share) || *share <= 0 {
		return ""
	}
	n := max(int(math.Round(min(*share, 1)*barRoom*8)), 1)
	return strings.Repeat("█", n/8) + eighths[n%8]
}

// spark draws one character for each columns of the series: the highest of them, or
// · where none is known.
func spark(s report.Spark, each int) string {
	top, low := 0.0, math.Inf(1)
	for _, v := range s.Values {
		if !math.IsNaN(v) {
			top = max(top, v)
			if v > 0 {
				low = min(low, v)
			}
		}
	}
	var b strings.Builder
	for i := 0; i < len(s.Values); i += each {
		v := math.NaN()
		for _, x := range s.Values[i:min(i+each, len(s.Values))] {
			if !math.IsNaN(x) && (math.IsNaN(v) || x > v) {
				v = x
			}
		}
		b.WriteRune(level(v, low, top, s.Log))
	}
	return b.String()
}

func level(v, low, top float64, log bool) rune {
	switch {
	case math.IsNaN(v):
		return '·'
	case v <= 0 || top <= 0:
		return levels[0]
	}
	share := v / top
	if log && top > low {
		share = math.Log(v/low) / math.Log(top/low)
	}
	n := len(levels)
	return levels[min(max(int(math.Ceil(share*float64(n)))-1, 0), n-1)]
}

// stepLabels writes the rate of each step under the middle of it.
func (p *printer) stepLabels(t *report.Timeline, each int) {
	line, used := "", 0
	for _, s := range t.Steps {
		label := p.text(s.Label)
		if label == "" {
			continue
		}
		mid := (s.From + s.To) / 2 / float64(t.Column*each)
		at := int(mid) - width(label)/2
		if used > 0 && at < used+1 {
			continue
		}
		at = max(at, 0)
		line += strings.Repeat(" ", at-used) + label
		used = at + width(label)
	}
	if line != "" {
		p.line(piece{strings.Repeat(" ", 2+nameRoom+2) + line, dim})
	}
}
