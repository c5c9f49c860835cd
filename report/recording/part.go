package recording

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare/part"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/timeline"
)

// ShowPart returns the document of some seconds of a run.
func ShowPart(p *part.Part, o report.Options) *report.Document {
	whole := recorded.Of(p.Of, o)
	stretch := unit.Exact(p.Interval.From) + " to " + unit.Exact(p.Interval.To)
	d := &report.Document{
		Kind: report.KindRun, Project: p.Of.Run.Project, Name: whole.Name() + ", " + stretch, File: o.File,
		Title: whole.Title() + ", " + stretch,
		Head: []string{whole.Title(), stretch + " of " + whole.Lasted(),
			whole.Clock(p.Interval.From) + " to " + whole.Clock(p.Interval.To)},
		Footer: report.FooterOf(o, p.Of.Run.Version),
	}
	tables := partTables{p, o.Rows()}
	for _, what := range p.Of.Damage {
		d.Alerts = append(d.Alerts, report.Alert{Tone: report.Mark, Text: "The run file is damaged: " + what})
	}
	if !p.Complete() {
		d.Alerts = append(d.Alerts, notBySecond())
	}
	d.Fill("verdict", func() { d.Verdict = tables.verdict() })
	d.Fill("facts", func() { d.Facts = tables.facts() })
	if o.Wants(report.SectionTimeline) { // what it draws takes longer to cut out than the tables do
		d.PutSection(o, "timeline", func() report.Section { return timeline.Section(recorded.Of(p.Run(), o)) })
	}
	d.PutSection(o, "endpoints", tables.endpoints)
	d.PutSection(o, "queries", tables.queries)
	d.PutSection(o, "messages", tables.messages)
	return d
}

// partTables shows some seconds of a run.
type partTables struct {
	*part.Part
	rows int // of a table at the most
}

// verdict says how much there was.
func (p partTables) verdict() string {
	seconds := unit.Exact(p.Interval.Len())
	if t := p.Load; t != nil && t.Asked > 0 {
		return fmt.Sprintf("%s in %s, %s of them answered well; p99 %s.",
			unit.Counted(t.Asked, "request", "requests"), seconds, unit.Percent(float64(t.Success)/float64(t.Asked)), unit.Duration(t.Latency.Quantile(0.99)))
	}
	var logged, calls uint64
	for i := range p.Endpoints {
		logged += p.Endpoints[i].Count
	}
	for i := range p.Queries {
		calls += p.Queries[i].Calls
	}
	return fmt.Sprintf("%s and %s in %s.", unit.Counted(logged, "request", "requests"),
		unit.Counted(calls, "statement", "statements"), seconds)
}

// facts are of kasoku's own load.
func (p partTables) facts() []report.Fact {
	t := p.Load
	if t == nil || t.Asked == 0 {
		return nil
	}
	seconds := p.Interval.Len().Seconds()
	facts := []report.Fact{
		{Label: "Asked", Value: fmt.Sprintf("%s requests, %s a second", unit.Count(t.Asked),
			unit.Sig3(float64(t.Asked)/seconds))},
		{Label: "Success", Value: unit.Percent(float64(t.Success) / float64(t.Asked))},
	}
	if t.Latency.Count() > 0 {
		facts = append(facts, report.Fact{Label: "Latency", Value: fmt.Sprintf("p50 %s, p95 %s, p99 %s, longest %s",
			unit.Duration(t.Latency.Quantile(0.5)), unit.Duration(t.Latency.Quantile(0.95)),
			unit.Duration(t.Latency.Quantile(0.99)), unit.Duration(t.Latency.Max()))})
	}
	return facts
}

// percentiles are the columns of times, in one unit.
func percentiles(u string) []report.Column {
	return []report.Column{
		{Key: "mean_s", Head: "mean", Unit: u, Align: report.Decimal, Drop: 4},
		{Key: "p50_s", Head: "p50", Unit: u, Align: report.Decimal, Drop: 2},
		{Key: "p95_s", Head: "p95", Unit: u, Align: report.Decimal, Drop: 5},
		{Key: "p99_s", Head: "p99", Unit: u, Align: report.Decimal},
		{Key: "max_s", Head: "max", Unit: u, Align: report.Decimal, Drop: 3},
	}
}

// timesOf are the cells of percentiles; of nil, which is not known, there are none.
func timesOf(h *histogram.Histogram, u time.Duration) []report.Cell {
	if h == nil || h.Count() == 0 {
		return []report.Cell{cell.None(), cell.None(), cell.None(), cell.None(), cell.None()}
	}
	return []report.Cell{cell.Duration(h.Mean(), u), cell.Duration(h.Quantile(0.5), u),
		cell.Duration(h.Quantile(0.95), u), cell.Duration(h.Quantile(0.99), u), cell.Duration(h.Max(), u)}
}

func (p partTables) endpoints() report.Section {
	s := report.Section{ID: report.SectionEndpoints, Title: "Endpoints", Count: len(p.Endpoints)}
	if len(p.Endpoints) == 0 {
		return s
	}
	s.Sub = "From the access log, of requests that it has in these seconds."
	var ds []time.Duration
	var all time.Duration
	for i := range p.Endpoints {
		all += p.Endpoints[i].Latency.Sum()
		ds = append(ds, p.Endpoints[i].Latency.Quantile(0.99))
	}
	u := cell.CommonUnit(ds...)
	t := &report.Table{ID: "endpoints", Columns: append([]report.Column{
		{Key: "endpoint", Head: "endpoint", Code: true, Cut: true},
		{Key: "requests", Head: "requests", Align: report.Right},
		{Key: "requests_per_second", Head: "per second", Align: report.Decimal, Drop: 6},
		{Key: "server_errors", Head: "5xx", Align: report.Right},
		{Key: "share_ratio", Head: "share of time", Unit: "%", Align: report.Decimal, Drop: 1},
	}, percentiles(unit.Name(u))...)}
	left := uint64(0)
	for i := range p.Endpoints {
		e := &p.Endpoints[i]
		if i >= p.rows {
			left += e.Count
			continue
		}
		share := cell.None()
		if e.Latency != nil && all > 0 {
			share = cell.Percent(float64(e.Latency.Sum()) / float64(all))
		}
		cells := []report.Cell{cell.Text(e.Method + " " + e.Route), cell.Count(e.Count),
			cell.Number(float64(e.Count) / p.Interval.Len().Seconds()), cell.Count(e.Failed), share}
		t.Rows = append(t.Rows, report.Row{Cells: append(cells, timesOf(e.Latency, u)...),
			Key: report.EndpointKey(e.Host, e.Method, e.Route)})
	}
	if n := len(p.Endpoints) - p.rows; n > 0 {
		t.More = fmt.Sprintf("%d more, %s requests", n, unit.Count(left))
	}
	s.Blocks = []report.Block{t.WithoutEmpty()}
	return s
}

func (p partTables) queries() report.Section {
	s := report.Section{ID: report.SectionQueries, Title: "Queries", Count: len(p.Queries)}
	if len(p.Queries) == 0 {
		return s
	}
	s.Sub = report.Prose("From " + queriesSource(p.Of) + ", of statements that ended in these seconds.")
	var ds []time.Duration
	var all, left time.Duration
	for i := range p.Queries {
		all += p.Queries[i].Total
		ds = append(ds, p.Queries[i].Latency.Quantile(0.99))
	}
	u, totals := cell.CommonUnit(ds...), cell.CommonUnit(p.Queries[0].Total)
	t := &report.Table{ID: "queries", Columns: append([]report.Column{
		{Key: "query", Head: "query", Code: true, Cut: true},
		{Key: "calls", Head: "calls", Align: report.Right},
		{Key: "total_s", Head: "total", Unit: unit.Name(totals), Align: report.Decimal},
		{Key: "share_ratio", Head: "share of time", Unit: "%", Align: report.Decimal, Drop: 1},
		{Key: "rows_sent", Head: "rows sent", Align: report.Right, Drop: 6},
	}, percentiles(unit.Name(u))...)}
	for i := range p.Queries {
		q := &p.Queries[i]
		if i >= p.rows {
			left += q.Total
			continue
		}
		t.Rows = append(t.Rows, report.Row{Cells: append([]report.Cell{cell.Text(q.Fingerprint), cell.Count(q.Calls),
			cell.Duration(q.Total, totals), cell.Percent(float64(q.Total) / float64(max(all, 1))), cell.Count(q.Rows)},
			timesOf(q.Latency, u)...), Key: report.StatementKey(q.Host, q.ID)})
	}
	if n := len(p.Queries) - p.rows; n > 0 {
		t.More = report.LeftOut(n, float64(left)/float64(max(all, 1)), "time")
	}
	s.Blocks = []report.Block{t.WithoutEmpty()}
	return s
}

func queriesSource(rec *kasoku.Recording) string {
	switch rec.StatementSource() {
	case kasoku.CodeDigests:
		return "statement digests"
	case kasoku.FromTrace:
		return "a trace"
	}
	return "the slow log"
}

func (p partTables) messages() report.Section {
	s := report.Section{ID: report.SectionMessages, Title: "Messages", Count: len(p.Messages)}
	if len(p.Messages) == 0 {
		return s
	}
	t := &report.Table{ID: "messages", Columns: []report.Column{
		{Key: "message", Head: "message", Code: true, Cut: true},
		{Key: "count", Head: "count", Align: report.Right},
		{Key: "level", Head: "level", Drop: 1},
	}}
	var left uint64
	for i, m := range p.Messages {
		if i >= p.rows {
			left += m.Count
			continue
		}
		level := cell.Text(m.Level)
		if m.Level == "" {
			level = cell.None()
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(m.Pattern), cell.Count(m.Count), level}})
	}
	if n := len(p.Messages) - p.rows; n > 0 {
		t.More = fmt.Sprintf("%d more, %s messages", n, unit.Count(left))
	}
	s.Blocks = []report.Block{t}
	return s
}
