package logfile

import (
	"cmp"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/statements"
)

// SectionShapes shows which statements stand out by how they are sent. A slow log's document
// also has [report.SectionQueries], [statements.SectionTransactions],
// [report.SectionTimeline], [SectionLogs] and [SectionNotes].
const SectionShapes = "shapes"

// A SlowLog is what was read of logs of statements.
type SlowLog struct {
	Classes      []slowlog.Class
	By           string // what a row is: "" is a statement, else user, db, host or tables
	Transactions []kasoku.Transaction
	Saves        []kasoku.SaveShape
	Connections  uint64
	Statements   uint64 // administrator commands not included
	Admin        uint64
	Logs         []kasoku.LogWindow
	Started      time.Time      // wall time of offset 0
	Zone         *time.Location // nil: UTC
	Stopped      string         // why reading ended early; empty when it did not
	Of           *SlowLog       // the log that these rows were chosen from, of which shares are; nil: they are all
}

// SlowOptions configure how a slow log is shown.
type SlowOptions struct {
	report.Options
	Sort    string // name of a column; empty is total
	Reverse bool
	Limit   int  // rows that are shown; 0 is all
	Machine bool // for programs: every column, all of them in base units
}

// Slow returns the document of logs of statements.
func Slow(l *SlowLog, o SlowOptions) (*report.Document, error) {
	t, err := newSlowTable(l, o)
	if err != nil {
		return nil, err
	}
	head := logHead{
		kind: report.KindSlowLog, what: "slow log", name: l.name(), verdict: l.verdict(), when: l.stretch(o.Options),
		lines: l.equation(), stopped: l.Stopped, logs: l.Logs,
	}
	d := head.document(o.Options)
	if len(l.Classes) > 0 {
		d.PutSection(o.Options, "queries", func() report.Section {
			return report.Section{ID: report.SectionQueries, Title: l.rowsName(),
				Sub:   report.Prose(t.order() + t.precision() + "."),
				Count: len(l.Classes), Blocks: []report.Block{t.table()}}
		})
	}
	d.PutSection(o.Options, "shapes", l.shapesSection)
	d.PutSection(o.Options, "transactions", l.transactionsSection)
	d.PutSection(o.Options, "timeline", func() report.Section { return l.timelineSection(o.Options) })
	if len(l.Logs) > 1 {
		d.PutSection(o.Options, "logs", func() report.Section {
			return report.Section{ID: SectionLogs, Title: "Logs", Count: len(l.Logs),
				Blocks: []report.Block{logsTable(l.Logs, report.Column{Key: "records", Head: "statements",
					Align: report.Right})}}
		})
	}
	d.PutSection(o.Options, "notes", func() report.Section { return notesSection(notesOf(l.Logs)) })
	return d, nil
}

// rowsName names what a row is.
func (l *SlowLog) rowsName() string {
	if l.By == "" {
		return "Statements"
	}
	return "By " + l.By
}

// transactionsSection is that of a run, with what the log's times are good for.
func (l *SlowLog) transactionsSection() report.Section {
	queries := make([]kasoku.Query, len(l.Classes))
	for i := range l.Classes {
		queries[i] = l.Classes[i].Query
	}
	s := statements.TransactionsSection(l.Transactions, queries, report.MostRows)
	if strings.Contains(formatsOf(l.Logs), "mariadb") {
		s.Sub += " MariaDB logs whole seconds: a single time can be off by one."
	}
	return s
}

// name is the file, or how many there are.
func (l *SlowLog) name() string { return nameOf(l.Logs, "slow log", "logs") }

// totals adds up the rows, or all those of the log that they were chosen from.
func (l *SlowLog) totals() (calls uint64, total time.Duration) {
	if l.Of != nil {
		return l.Of.totals()
	}
	for i := range l.Classes {
		calls += l.Classes[i].Calls
		total += l.Classes[i].Total
	}
	return calls, total
}

// span returns when the first and the last statement started, offsets both. It is
// not ok when the logs have no times.
func (l *SlowLog) span() (from, to time.Duration, ok bool) {
	for i := range l.Classes {
		c := &l.Classes[i]
		if c.Calls == 0 || l.Started.IsZero() || c.Last == 0 {
			continue
		}
		if !ok {
			from, to, ok = c.First, c.Last, true
		}
		from, to = min(from, c.First), max(to, c.Last)
	}
	return from, to, ok
}

// Wall returns the wall time of an offset, in the zone that is shown.
func (l *SlowLog) Wall(at time.Duration, o report.Options) time.Time {
	zone := cmp.Or(o.Location, l.Zone, time.UTC)
	return l.Started.Add(at).In(zone)
}

// stretch prints the time that the log covers.
func (l *SlowLog) stretch(o report.Options) string {
	from, to, ok := l.span()
	if !ok {
		return ""
	}
	return stretch(l.Wall(from, o), l.Wall(to, o), covered(from, to))
}

// equation describes what became of the lines, if there are any.
func (l *SlowLog) equation() string {
	if sumOf(l.Logs).Lines == 0 {
		return ""
	}
	n, _ := l.totals()
	return equation(l.Logs, n, "statement", "statements")
}

// verdict names what took the most time; without times, what came most often.
func (l *SlowLog) verdict() string {
	calls, total := l.totals()
	if calls == 0 {
		return "No statement in " + l.name() + "."
	}
	most := &l.Classes[0]
	for i := range l.Classes {
		if c := &l.Classes[i]; cmp.Or(cmp.Compare(c.Total, most.Total), cmp.Compare(c.Calls, most.Calls)) > 0 {
			most = c
		}
	}
	name := l.short(most)
	if total == 0 {
		return name + " is " + unit.Percent(float64(most.Calls)/float64(calls)) + " of " +
			unit.Counted(calls, "statement", "statements") + ". The log reports no times."
	}
	return name + " takes " + unit.Percent(float64(most.Total)/float64(total)) + " of the statements' time: " +
		unit.Counted(most.Calls, "call", "calls") + ", mean " + unit.Duration(most.Latency.Mean()) + ", p99 " +
		unit.Duration(most.Latency.Quantile(0.99)) + "."
}

// short names a row in prose: SELECT of items, COMMIT of RegisterScores, user app.
func (l *SlowLog) short(c *slowlog.Class) string {
	if l.By != "" {
		return l.By + " " + cmp.Or(c.Key, "(none)")
	}
	return cmp.Or(statements.Item(&c.Query), c.Fingerprint)
}
