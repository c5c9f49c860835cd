package timeline

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// levelBands shows the levels of a benchmark in place of its one step, and its other
// phases beside them. Levels follow each other without a gap, so every second one is
// shaded.
func (r drawing) levelBands() {
	t := r.timeline
	if !r.Scored() {
		return
	}
	t.Phased, t.Steps = true, nil
	for _, p := range r.Phases {
		if p.Kind != kasoku.PhaseLoad {
			t.Steps = append(t.Steps, report.Band{From: p.Interval.From.Seconds(), To: p.Interval.To.Seconds(),
				Label: string(p.Kind), Open: p.Kind != kasoku.PhaseInitialize})
			continue
		}
		t.Levels = t.Levels[:0]
		level := report.Band{From: p.Interval.From.Seconds(), Label: "level 0"}
		for _, e := range r.Rises() {
			level.To = e.At.Seconds()
			t.Levels = append(t.Levels, level)
			name, _, _ := strings.Cut(e.Text, " at ")
			level = report.Band{From: level.To, Label: name, Open: !level.Open}
		}
		level.To = p.Interval.To.Seconds()
		t.Levels = append(t.Levels, level)
		t.Steps = append(t.Steps, t.Levels...)
	}
	for i := range t.Steps {
		t.Steps[i].To = min(t.Steps[i].To, float64(t.Seconds))
		t.Steps[i].Label = fitted(t.Steps[i], float64(t.Seconds))
	}
}

// fitted returns the label of a band as far as there is room: a word takes a tenth of
// the width, a level's number a thirtieth.
func fitted(b report.Band, seconds float64) string {
	number, isLevel := strings.CutPrefix(b.Label, "level ")
	switch wide := (b.To - b.From) / seconds; {
	case wide >= 0.1:
		return b.Label
	case isLevel && wide >= 1./30:
		return number
	}
	return ""
}

// phaseBands shows the phases of the traffic in place of steps. They follow each
// other without a gap, so only those in which much happened are shaded.
func (r drawing) phaseBands() {
	t := r.timeline
	if len(r.Steps) > 0 || len(r.Phases) == 0 {
		return
	}
	t.Phased = true
	for _, p := range r.Phases {
		open := p.Kind != kasoku.PhaseInitialize && p.Kind != kasoku.PhaseLoad
		t.Steps = append(t.Steps, report.Band{From: p.Interval.From.Seconds(),
			To: min(p.Interval.To.Seconds(), float64(t.Seconds)), Label: string(p.Kind), Open: open})
	}
	// A label takes a tenth of the width. Where two would meet, that of the load stays.
	room := 0.1 * float64(t.Seconds)
	var taken []float64
	for _, kind := range []kasoku.PhaseKind{kasoku.PhaseLoad, kasoku.PhaseInitialize, kasoku.PhaseVerify,
		kasoku.PhaseIdle} {
		for i := range t.Steps {
			b := &t.Steps[i]
			if r.Phases[i].Kind != kind {
				continue
			}
			mid := (b.From + b.To) / 2
			if slices.ContainsFunc(taken, func(other float64) bool { return math.Abs(other-mid) < room }) {
				b.Label = ""
				continue
			}
			taken = append(taken, mid)
		}
	}
}

func stepLabel(s kasoku.Step) string {
	if s.PerSec <= 0 {
		return "step " + unit.Count(s.Number)
	}
	return perSec(s.PerSec)
}

// fillLane places the intervals that findings quote in as few rows as keep them
// apart. A mark takes at least a tenth of the width, for its label.
func (r drawing) fillLane() {
	t := r.timeline
	if r.Diagnosis == nil {
		return
	}
	const room = 0.1
	var rows [][]report.LaneMark
	end := func(m report.LaneMark) float64 { return max(m.To, m.From+room*float64(t.Seconds)) }
	for i := range r.Diagnosis.Findings {
		f := &r.Diagnosis.Findings[i]
		if f.Interval.Empty() {
			continue
		}
		m := report.LaneMark{Number: i + 1, ID: f.ID, From: f.Interval.From.Seconds(),
			To: min(f.Interval.To.Seconds(), float64(t.Seconds))}
		m.Row = slices.IndexFunc(rows, func(row []report.LaneMark) bool {
			return !slices.ContainsFunc(row, func(o report.LaneMark) bool { return o.From < end(m) && m.From < end(o) })
		})
		if m.Row < 0 {
			m.Row = len(rows)
			rows = append(rows, nil)
		}
		rows[m.Row] = append(rows[m.Row], m)
		t.Lane = append(t.Lane, m)
	}
	t.Rows = len(rows)
}

// fillSaid places what the benchmark said went wrong.
func (r drawing) fillSaid() {
	for _, e := range r.Events {
		if e.Kind == kasoku.EventBenchmark {
			at := min(e.At.Seconds(), float64(r.timeline.Seconds))
			r.timeline.Said = append(r.timeline.Said, report.Moment{At: at, Text: e.Text})
		}
	}
}

// A quote is a series by whose name a finding's evidence can quote a chart.
type quote struct{ source, name string }

// bands marks on a chart the intervals of the evidence that quotes it. One that
// takes the whole run would mark nothing and is left out.
func (r drawing) bands(c *plot) {
	if r.Diagnosis == nil {
		return
	}
	var ivs []kasoku.Interval
	for i := range r.Diagnosis.Findings {
		f := &r.Diagnosis.Findings[i]
		for _, e := range f.Evidence {
			iv := e.Interval
			if iv.Empty() {
				iv = f.Interval
			}
			if !iv.Empty() && c.quotedBy(e) && float64(iv.Len()) < 0.9*float64(r.Length()) {
				ivs = append(ivs, iv)
			}
		}
	}
	slices.SortFunc(ivs, func(a, b kasoku.Interval) int { return cmp.Compare(a.From, b.From) })
	for _, iv := range ivs {
		from, to := iv.From.Seconds(), iv.To.Seconds()
		if n := len(c.Bands); n > 0 && from <= c.Bands[n-1].To {
			c.Bands[n-1].To = max(c.Bands[n-1].To, to)
			continue
		}
		c.Bands = append(c.Bands, report.Band{From: from, To: to})
	}
}

func (c *plot) quotedBy(e kasoku.Evidence) bool {
	for _, q := range c.quotes {
		if q.name == "" && q.source == e.Source {
			return true
		}
		for _, k := range e.Series {
			if k.Source == q.source && k.Name == q.name {
				return true
			}
		}
	}
	return false
}

// gaps notes on a chart what a source missed.
func (r drawing) gaps(c *plot, source string) {
	var mine []kasoku.Gap
	for _, g := range r.Gaps {
		if g.Source == source {
			mine = append(mine, g)
		}
	}
	for i, g := range mine {
		at := g.Interval.From.Seconds()
		if i == 1 && len(mine) > 3 {
			c.Gaps = append(c.Gaps, report.GapNote{At: at, Text: unit.Counted(len(mine)-1, "more gap", "more gaps")})
			return
		}
		text := "no sample at " + report.SecondsText(at)
		if g.Interval.Len() > 1500*time.Millisecond {
			text = "no sample " + unit.Plain(math.Round(at)) + " – " + report.SecondsText(g.Interval.To.Seconds())
		}
		c.Gaps = append(c.Gaps, report.GapNote{At: at, Text: text})
	}
}
