package logfile

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// The sections of a log's document, with [report.SectionEndpoints] and
// [report.SectionTimeline].
const (
	SectionSlowest = "slowest"
	SectionLogs    = "logs"
	SectionNotes   = "notes"
	SectionSides   = "sides" // of a difference
)

// An AccessLog is what was read of access logs.
type AccessLog struct {
	Rows    []accesslog.Row
	By      []string // what the values of a row's key are: method, route …
	Slowest []kasoku.SlowRequest
	Logs    []kasoku.LogWindow
	Started time.Time      // wall time of offset 0
	Zone    *time.Location // in which the logs are written
	Step    time.Duration  // how long the steps of the rows' Seconds are; 0 is a second
	Exact   time.Duration  // the percentiles are exact to this unit; 0 when they are within 0.4 %
	Notes   []report.Note  // what a reader has to know
	Stopped string         // why reading ended early; empty when it did not
	Live    *Live          // while the logs are followed; nil otherwise
}

// A Live is what came since the table was drawn last.
type Live struct {
	Now    map[string]uint64 // requests by the key of their row, see [LiveKey]
	Said   string            // in one sentence
	During time.Duration     // how long that was
}

// LiveKey is the key of a row in a [Live].
func LiveKey(key []string) string { return strings.Join(key, "\x00") }

// AccessOptions configure how access logs are shown.
type AccessOptions struct {
	report.Options
	Columns     []string  // names, as [CheckAccess] takes them; none are those that fit best
	Percentiles []float64 // 0 to 100; none are 50, 90, 95 and 99
	Sort        string    // name of a column; empty is total
	Reverse     bool
	Limit       int  // rows that are shown; 0 is all
	Machine     bool // for programs: every column, all of them in base units
}

// span returns the first and the last second in which a request was logged.
func (a *AccessLog) span() (from, to time.Duration, ok bool) {
	for i := range a.Rows {
		r := &a.Rows[i]
		if r.Count == 0 || !Stamped(r) {
			continue
		}
		if !ok {
			from, to, ok = r.First, r.Last, true
		}
		from, to = min(from, r.First), max(to, r.Last)
	}
	return from, to, ok
}

// Stamped reports whether the log says when the requests of a row were logged.
func Stamped(r *accesslog.Row) bool { return len(r.Seconds) > 0 || r.Last > 0 }

// requests counts those in the rows, and those of them that have a request time.
func (a *AccessLog) requests() (all, timed uint64, total time.Duration) {
	for i := range a.Rows {
		all += a.Rows[i].Count
		timed += a.Rows[i].Latency.Count()
		total += a.Rows[i].Total
	}
	return all, timed, total
}

// Access returns the document of access logs.
func Access(a *AccessLog, o AccessOptions) (*report.Document, error) {
	t, err := newAccessTable(a, o)
	if err != nil {
		return nil, err
	}
	head := logHead{
		kind: report.KindAccessLog, what: "access log", name: a.name(), verdict: a.verdict(), when: a.stretch(o.Options),
		lines: a.equation(), stopped: a.Stopped, logs: a.Logs,
	}
	d := head.document(o.Options)
	if len(a.Rows) > 0 {
		d.PutSection(o.Options, "endpoints", func() report.Section {
			return report.Section{ID: report.SectionEndpoints, Title: a.rowsName(),
				Sub:   report.Prose(t.order() + a.precision() + "."),
				Count: len(a.Rows), Blocks: []report.Block{t.table()}}
		})
	}
	d.PutSection(o.Options, "timeline", func() report.Section { return a.timelineSection(o.Options) })
	d.PutSection(o.Options, "slowest", func() report.Section { return a.SlowestSection(o.Options) })
	if len(a.Logs) > 1 {
		d.PutSection(o.Options, "logs", func() report.Section {
			return report.Section{ID: SectionLogs, Title: "Logs", Count: len(a.Logs),
				Blocks: []report.Block{logsTable(a.Logs, report.Column{Key: "requests", Head: "requests",
					Align: report.Right})}}
		})
	}
	d.PutSection(o.Options, "notes", func() report.Section { return notesSection(a.notes()) })
	return d, nil
}

// rowsName names what a row is.
func (a *AccessLog) rowsName() string {
	if a.routed() {
		return "Endpoints"
	}
	return "By " + report.JoinWords(a.By)
}

// routed reports whether the rows are methods and routes.
func (a *AccessLog) routed() bool { return slices.Equal(a.By, []string{"method", "route"}) }

// name is the file, or how many there are.
func (a *AccessLog) name() string { return nameOf(a.Logs, "access log", "access logs") }

// stretch prints the time that the log covers.
func (a *AccessLog) stretch(o report.Options) string {
	from, to, ok := a.span()
	if !ok {
		return ""
	}
	return stretch(a.Wall(from, o), a.Wall(to, o), covered(from, to))
}

// Wall returns the wall time of an offset, in the zone asked for, else that of the
// logs.
func (a *AccessLog) Wall(at time.Duration, o report.Options) time.Time {
	t := a.Started.Add(at)
	if zone := cmp.Or(o.Location, a.Zone); zone != nil {
		t = t.In(zone)
	}
	return t
}

// equation describes what became of the lines.
func (a *AccessLog) equation() string {
	n, _, _ := a.requests()
	return equation(a.Logs, n, "request", "requests")
}

// verdict names what took the most time; without times, what came most often.
func (a *AccessLog) verdict() string {
	if a.Live != nil {
		return a.Live.Said
	}
	n, timed, total := a.requests()
	if n == 0 {
		return "No request in " + a.name() + "."
	}
	most := slices.MaxFunc(a.Rows, func(x, y accesslog.Row) int {
		return cmp.Or(cmp.Compare(x.Total, y.Total), cmp.Compare(x.Count, y.Count))
	})
	name := KeyText(a.By, most.Key)
	if timed == 0 || total == 0 {
		return name + " is " + unit.Percent(float64(most.Count)/float64(n)) + " of " +
			unit.Counted(n, "request", "requests") + ". The log reports no request times."
	}
	h := most.Latency
	return name + " takes " + unit.Percent(float64(most.Total)/float64(total)) + " of the request time: " +
		unit.Counted(most.Count, "request", "requests") + ", mean " + unit.Duration(h.Mean()) + ", p99 " +
		unit.Duration(h.Quantile(0.99)) + "."
}

// KeyText names a row in prose: GET /users, or host a.example, status 500.
func KeyText(by, key []string) string {
	var out []string
	for i, k := range key {
		switch by[i] {
		case "method", "route":
			if k != "" {
				out = append(out, k)
			}
		default:
			out = append(out, by[i]+" "+cmp.Or(k, "(none)"))
		}
	}
	return strings.Join(out, " ")
}

// precision describes how exact the percentiles are.
func (a *AccessLog) precision() string {
	switch _, timed, _ := a.requests(); {
	case timed == 0:
		return ""
	case a.Exact > 0:
		return "; percentiles are nearest rank and exact, in steps of " + unit.Exact(a.Exact)
	}
	return "; percentiles are nearest rank, within 0.4 %"
}

// SlowestSection lists the slowest requests of the log, one in a row.
func (a *AccessLog) SlowestSection(o report.Options) report.Section {
	s := report.Section{ID: SectionSlowest, Title: "Slowest requests", Count: len(a.Slowest)}
	if len(a.Slowest) == 0 {
		return s
	}
	var ds []time.Duration
	upstream := false
	_, _, stamped := a.span()
	stamped = stamped || len(a.Rows) == 0 // the rows are shown elsewhere
	for _, r := range a.Slowest {
		ds = append(ds, r.Latency)
		upstream = upstream || r.Upstream > 0
	}
	u := cell.CommonUnit(ds...)
	t := &report.Table{ID: "slowest", Columns: []report.Column{
		{Key: "method", Head: "method", Code: true},
		{Key: "uri", Head: "request", Code: true, Cut: true, Least: leastKey},
		{Key: "latency_s", Head: "latency", Unit: unit.Name(u), Align: report.Decimal},
		{Key: "upstream_s", Head: "upstream", Unit: unit.Name(u), Align: report.Decimal, Drop: 2},
		{Key: "status", Head: "status", Align: report.Right, Drop: 1},
		{Key: "body_bytes", Head: "body", Unit: "bytes", Align: report.Right, Drop: 4},
		{Key: "at", Head: "logged at", Align: report.Right, Drop: 3},
	}}
	const upstreamColumn = 3
	if !upstream {
		t.Columns = slices.Delete(t.Columns, upstreamColumn, upstreamColumn+1)
	}
	for _, r := range a.Slowest {
		cells := []report.Cell{cell.Text(r.Method), cell.Text(r.URI), cell.Duration(r.Latency, u),
			cell.Duration(r.Upstream, u), status(r.Status), cell.Count(r.Bytes), cell.None()}
		if stamped {
			cells[len(cells)-1] = a.when(r.At, o)
		}
		if !upstream {
			cells = slices.Delete(cells, upstreamColumn, upstreamColumn+1)
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	s.Blocks = []report.Block{t}
	return s
}

// when prints a moment of the log.
func (a *AccessLog) when(at time.Duration, o report.Options) report.Cell {
	t := a.Wall(at, o)
	return report.Cell{Text: t.Format("15:04:05"), Raw: t.Format(time.RFC3339Nano)}
}

func status(code int) report.Cell {
	c := cell.Count(uint64(max(code, 0)))
	if code >= 500 {
		c.Tone = report.Bad
	}
	return c
}

// notes describe what a reader has to know, and quote lines that were not understood.
func (a *AccessLog) notes() []report.Note { return append(slices.Clone(a.Notes), notesOf(a.Logs)...) }

// A SelectedAccess is what a document says of access logs, for programs.
type SelectedAccess struct {
	Document *report.Document
	Rows     []*accesslog.Row // sorted and limited as asked
	Requests uint64
	Total    time.Duration
	From, To *time.Duration // of the first and the last request; nil without one
	table    *accessTable
}

// SelectAccess is [Access] for programs.
func SelectAccess(a *AccessLog, o AccessOptions) (*SelectedAccess, error) {
	d, err := Access(a, o)
	if err != nil {
		return nil, err
	}
	t, err := newAccessTable(a, o)
	if err != nil {
		return nil, err
	}
	out := &SelectedAccess{Document: d, Rows: t.shown(), Requests: t.all, Total: t.total, table: t}
	if from, to, ok := a.span(); ok {
		out.From, out.To = &from, &to
	}
	return out, nil
}

// Share is the part of the request time that a row takes; without times, of the
// requests.
func (t *SelectedAccess) Share(r *accesslog.Row) float64 { return t.table.share(r) }

// Deviation is the standard deviation of a row's request times, in s.
func (t *SelectedAccess) Deviation(r *accesslog.Row) float64 { return t.table.deviation(r) }
