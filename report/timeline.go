package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

func (r rec) timelineSection() Section {
	s := Section{ID: SectionTimeline, Title: "Timeline"}
	t := r.timeline()
	if t == nil {
		return s
	}
	s.Sub = "One clock, one sample a second."
	switch {
	case t.Phased && len(t.Levels) > 0:
		s.Sub += " Shaded columns are initialize and every second level of the load."
	case t.Phased:
		s.Sub += " Shaded columns are initialize and load, as the traffic tells them."
	case len(t.Steps) > 0:
		s.Sub += " Shaded columns are load steps."
	}
	if len(t.Lane) > 0 {
		s.Sub += " Amber marks the interval that a finding quotes."
	}
	s.Blocks = []Block{t}
	return s
}

// timeline builds the charts of a run; nil when it recorded nothing over time.
func (r rec) timeline() *Timeline {
	g := newGrid(r.length())
	t := &Timeline{ID: "timeline", Seconds: g.seconds, Column: g.column, Started: r.wall(0)}
	for _, s := range r.Steps {
		t.Steps = append(t.Steps, Band{From: s.Interval.From.Seconds(), To: s.Interval.To.Seconds(),
			Label: stepLabel(s)})
	}
	r.phaseBands(t)
	r.levelBands(t)
	r.fillLane(t)
	whole := func(builds ...func(grid, *Timeline) *Chart) {
		for _, build := range builds {
			if c := build(g, t); c != nil {
				r.bands(c)
				t.Charts = append(t.Charts, *c)
			}
		}
	}
	whole(r.requestsChart, r.latencyChart)
	r.hostCharts(t, func(one rec) *Chart { return one.cpuChart(g, t) })
	r.goCharts(g, t)
	whole(r.connectionsChart, r.newConnectionsChart, r.transactionsChart, r.replicationChart)
	whole(r.serverCharts()...)
	whole(r.carbonChart, r.carbonCacheChart)
	r.hostCharts(t, func(one rec) *Chart { return one.diskChart(g, t) })
	r.hostCharts(t, func(one rec) *Chart { return one.pressureChart(g, t) })
	if len(t.Charts) == 0 {
		return nil
	}
	if g.column > 1 {
		t.Note = "Each column holds " + strconv.Itoa(g.column) +
			" s: bars show the second in which most failed, areas the busiest, lines their range, percentiles all requests."
	}
	return t
}

// phaseBands shows the phases of the traffic in place of steps. They follow each
// other without a gap, so only those in which much happened are shaded.
func (r rec) phaseBands(t *Timeline) {
	if len(r.Steps) > 0 || len(r.Phases) == 0 {
		return
	}
	t.Phased = true
	for _, p := range r.Phases {
		open := p.Kind != kasoku.PhaseInitialize && p.Kind != kasoku.PhaseLoad
		t.Steps = append(t.Steps, Band{p.Interval.From.Seconds(), min(p.Interval.To.Seconds(), float64(t.Seconds)),
			string(p.Kind), open})
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
func (r rec) fillLane(t *Timeline) {
	if r.Diagnosis == nil {
		return
	}
	const room = 0.1
	var rows [][]LaneMark
	end := func(m LaneMark) float64 { return max(m.To, m.From+room*float64(t.Seconds)) }
	for i := range r.Diagnosis.Findings {
		f := &r.Diagnosis.Findings[i]
		if f.Interval.Empty() {
			continue
		}
		m := LaneMark{Number: i + 1, ID: f.ID, From: f.Interval.From.Seconds(),
			To: min(f.Interval.To.Seconds(), float64(t.Seconds))}
		m.Row = slices.IndexFunc(rows, func(row []LaneMark) bool {
			return !slices.ContainsFunc(row, func(o LaneMark) bool { return o.From < end(m) && m.From < end(o) })
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

// A quote is a series by whose name a finding's evidence can quote a chart.
type quote struct{ source, name string }

// bands marks on a chart the intervals of the evidence that quotes it. One that
// takes the whole run would mark nothing and is left out.
func (r rec) bands(c *Chart) {
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
			if !iv.Empty() && c.quotedBy(e) && float64(iv.Len()) < 0.9*float64(r.length()) {
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
		c.Bands = append(c.Bands, Band{From: from, To: to})
	}
}

func (c *Chart) quotedBy(e kasoku.Evidence) bool {
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
func (r rec) gaps(c *Chart, source string) {
	var mine []kasoku.Gap
	for _, g := range r.Gaps {
		if g.Source == source {
			mine = append(mine, g)
		}
	}
	for i, g := range mine {
		at := g.Interval.From.Seconds()
		if i == 1 && len(mine) > 3 {
			c.Gaps = append(c.Gaps, GapNote{at, unit.Counted(len(mine)-1, "more gap", "more gaps")})
			return
		}
		text := "no sample at " + seconds(at)
		if g.Interval.Len() > 1500*time.Millisecond {
			text = "no sample " + unit.Plain(math.Round(at)) + " – " + seconds(g.Interval.To.Seconds())
		}
		c.Gaps = append(c.Gaps, GapNote{at, text})
	}
}

// seconds prints a time on the run's clock: 30 s.
func seconds(at float64) string { return unit.Plain(math.Round(at)) + " s" }

// peaks prints the peak of each series.
func (c *Chart) peaks() {
	for i := range c.Series {
		s := &c.Series[i]
		s.Peak = c.Print(most(s.Values))
	}
}

// Print prints a value of the chart as its readout does.
func (c *Chart) Print(v float64) string {
	switch {
	case math.IsNaN(v):
		return unit.Missing
	case c.Places < 0:
		return unit.Sig3(v) + c.Suffix
	case c.Places == 0:
		return unit.Count(int64(math.Round(v))) + c.Suffix
	case v == 0:
		return "0" + c.Suffix
	}
	return unit.Fixed(v, c.Places) + c.Suffix
}

// Table gives the numbers of all charts, a row a column of the readout.
func (t *Timeline) Table() *Table {
	out := &Table{ID: t.ID, Columns: []Column{{Key: "t_s", Head: "t", Unit: "s", Align: Right}}}
	n := 0
	for i := range t.Charts {
		for _, s := range t.Charts[i].Series {
			out.Columns = append(out.Columns, Column{Key: t.Charts[i].ID + "." + s.Name, Head: s.Name,
				Unit: t.Charts[i].Title, Align: Decimal})
			n = max(n, len(s.Values))
		}
	}
	for k := range n {
		cells := []Cell{text(strconv.Itoa(k * t.Column))}
		for i := range t.Charts {
			for _, s := range t.Charts[i].Series {
				if k >= len(s.Values) || math.IsNaN(s.Values[k]) {
					cells = append(cells, none())
					continue
				}
				cells = append(cells, Cell{Text: t.Charts[i].Print(s.Values[k]), Raw: raw(s.Values[k])})
			}
		}
		out.Rows = append(out.Rows, Row{Cells: cells})
	}
	return out
}
