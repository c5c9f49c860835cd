package recording

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku/compare/part"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
)

// ShowParts returns the difference of two stretches of runs, before and after. There is no test of significance in
// it: seconds of one run are no independent runs.
func ShowParts(before, after *part.Part, o report.Options) *report.Document {
	stretch := func(p *part.Part) string {
		return unit.Exact(p.Interval.From) + " to " + unit.Exact(p.Interval.To)
	}
	b, a := stretch(before), stretch(after)
	if before.Of != after.Of {
		b, a = recorded.Of(before.Of, o).Name()+" "+b, recorded.Of(after.Of, o).Name()+" "+a
	}
	d := &report.Document{
		Kind: report.KindCompare, Project: after.Of.Run.Project, Name: b + " → " + a, File: o.File,
		Title:  b + " → " + a,
		Head:   []string{b + " → " + a},
		Footer: report.FooterOf(o, after.Of.Run.Version),
	}
	t := partsTables{before, after, o.Rows()}
	d.Fill("verdict", func() { d.Verdict = t.verdict() })
	d.Alerts = append(d.Alerts, report.Alert{Tone: report.Mark,
		Text: "Stretches of runs: no test says whether a difference is more than chance.",
		Hint: "`kasoku compare` of runs that were repeated has one"})
	if !before.Complete() || !after.Complete() {
		d.Alerts = append(d.Alerts, notBySecond())
	}
	d.PutSection(o, "endpoints", t.endpoints)
	d.PutSection(o, "queries", t.queries)
	d.PutSection(o, "messages", t.messages)
	return d
}

// notBySecond says why times are missing.
func notBySecond() report.Alert {
	return report.Alert{Tone: report.Mark,
		Text: "Not all times are kept by the second: where there is –, these seconds have counts alone.",
		Hint: "so it is in run files of before schema 18, and for statement digests"}
}

// partsTables shows the difference of two stretches.
type partsTables struct {
	before, after *part.Part
	rows          int // of a table at the most
}

func (t partsTables) verdict() string {
	rate := func(p *part.Part) float64 {
		var n uint64
		for i := range p.Endpoints {
			n += p.Endpoints[i].Count
		}
		if p.Load != nil && p.Load.Asked > 0 {
			n = p.Load.Success
		}
		return float64(n) / p.Interval.Len().Seconds()
	}
	b, a := rate(t.before), rate(t.after)
	what := "Requests"
	if t.after.Load != nil && t.after.Load.Asked > 0 {
		what = "Successful requests"
	}
	return fmt.Sprintf("%s a second: %s → %s.", what, unit.Sig3(b), unit.Sig3(a))
}

// A moved is one thing on both sides: how often a second, and how long.
type moved struct {
	key, name     string
	before, after float64 // a second
	busy          [2]float64
	latency       [2]*histogram.Histogram
}

// pair joins what both sides have by key, the one whose time a second moved most first.
func pair[T any](before, after []T, key func(*T) string, add func(m *moved, side int, x *T)) []*moved {
	var out []*moved
	by := map[string]*moved{}
	for side, all := range [][]T{before, after} {
		for i := range all {
			k := key(&all[i])
			m := by[k]
			if m == nil {
				m = &moved{key: k}
				by[k] = m
				out = append(out, m)
			}
			add(m, side, &all[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *moved) int {
		return cmp.Or(cmp.Compare(math.Abs(b.busy[1]-b.busy[0]), math.Abs(a.busy[1]-a.busy[0])),
			cmp.Compare(math.Abs(b.after-b.before), math.Abs(a.after-a.before)))
	})
	return out
}

// count sets how often a second.
func (m *moved) count(side int, n uint64, over time.Duration) {
	v := float64(n) / over.Seconds()
	if side == 0 {
		m.before = v
	} else {
		m.after = v
	}
}

func (t partsTables) over(side int) time.Duration {
	return [2]*part.Part{t.before, t.after}[side].Interval.Len()
}

func (t partsTables) endpoints() report.Section {
	all := pair(t.before.Endpoints, t.after.Endpoints,
		func(e *part.Endpoint) string { return report.EndpointKey(e.Host, e.Method, e.Route) },
		func(m *moved, side int, e *part.Endpoint) {
			m.name = e.Method + " " + e.Route
			m.count(side, e.Count, t.over(side))
			m.latency[side] = e.Latency
			m.busy[side] = e.Latency.Sum().Seconds() / t.over(side).Seconds()
		})
	return t.section(report.SectionEndpoints, "Endpoints", "endpoint", "requests", all)
}

func (t partsTables) queries() report.Section {
	all := pair(t.before.Queries, t.after.Queries,
		func(q *part.Query) string { return report.StatementKey(q.Host, q.ID) },
		func(m *moved, side int, q *part.Query) {
			m.name = q.Fingerprint
			m.count(side, q.Calls, t.over(side))
			m.latency[side] = q.Latency
			m.busy[side] = q.Total.Seconds() / t.over(side).Seconds()
		})
	return t.section(report.SectionQueries, "Queries", "query", "calls", all)
}

func (t partsTables) messages() report.Section {
	all := pair(t.before.Messages, t.after.Messages,
		func(m *part.Message) string { return m.Host + " " + m.Level + " " + m.Pattern },
		func(m *moved, side int, x *part.Message) {
			m.name = x.Pattern
			m.count(side, x.Count, t.over(side))
		})
	for _, m := range all {
		m.key = ""
	}
	return t.section(report.SectionMessages, "Messages", "message", "messages", all)
}

// section is a table of what moved; columns that nothing has are left out.
func (t partsTables) section(id, title, name, counted string, all []*moved) report.Section {
	s := report.Section{ID: id, Title: title, Count: len(all)}
	if len(all) == 0 {
		return s
	}
	s.Sub = "Before → after, a second; what moved most comes first."
	var ds []time.Duration
	for _, m := range all[:min(len(all), t.rows)] {
		for _, h := range m.latency {
			if h != nil {
				ds = append(ds, h.Quantile(0.99))
			}
		}
	}
	u := cell.CommonUnit(ds...)
	table := &report.Table{ID: id, Columns: []report.Column{
		{Key: name, Head: name, Code: true, Cut: true},
		{Key: "before_per_second", Head: counted, Unit: "a second", Align: report.Decimal, Drop: 2},
		{Key: "after_per_second", Head: "after", Unit: "a second", Align: report.Decimal},
		{Key: "change", Head: "change", Align: report.Right, Drop: 1},
		{Key: "before_busy", Head: "in progress", Unit: "on average", Align: report.Decimal, Drop: 5},
		{Key: "after_busy", Head: "after", Unit: "on average", Align: report.Decimal, Drop: 4},
		{Key: "before_p50_s", Head: "p50", Unit: unit.Name(u), Align: report.Decimal, Drop: 7},
		{Key: "after_p50_s", Head: "after", Unit: unit.Name(u), Align: report.Decimal, Drop: 6},
		{Key: "before_p99_s", Head: "p99", Unit: unit.Name(u), Align: report.Decimal, Drop: 3},
		{Key: "after_p99_s", Head: "after", Unit: unit.Name(u), Align: report.Decimal},
	}}
	for _, m := range all[:min(len(all), t.rows)] {
		change := cell.None()
		switch {
		case m.before > 0 && m.after > 0:
			change = cell.Text(unit.Change(m.before, m.after))
		case m.before > 0:
			change = cell.Text("gone")
		case m.after > 0:
			change = cell.Text("new")
		}
		row := report.Row{Key: m.key, Cells: []report.Cell{cell.Text(m.name), cell.Number(m.before),
			cell.Number(m.after), change}}
		for _, busy := range m.busy {
			if m.latency[0] == nil && m.latency[1] == nil && busy == 0 {
				row.Cells = append(row.Cells, cell.None())
			} else {
				row.Cells = append(row.Cells, cell.Number(busy))
			}
		}
		for _, q := range []float64{0.5, 0.99} {
			for _, h := range m.latency {
				if h == nil || h.Count() == 0 {
					row.Cells = append(row.Cells, cell.None())
				} else {
					row.Cells = append(row.Cells, cell.Duration(h.Quantile(q), u))
				}
			}
		}
		table.Rows = append(table.Rows, row)
	}
	if n := len(all) - t.rows; n > 0 {
		table.More = unit.Count(n) + " more"
	}
	s.Blocks = []report.Block{table.WithoutEmpty()}
	return s
}
