package report

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/analyze/slowlog"
	"github.com/kasoku/kasoku/unit"
)

// KindSlowLog is what logs of statements hold.
const KindSlowLog Kind = "slowlog"

// SectionShapes tells which statements stand out by how they are sent. A slow log's
// document has [SectionQueries], [SectionTransactions], [SectionTimeline],
// [SectionLogs] and [SectionNotes] beside it.
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
}

// SlowOptions says how a slow log is told.
type SlowOptions struct {
	Options
	Sort    string // name of a column; empty is total
	Reverse bool
	Limit   int  // rows that are shown; 0 is all
	Machine bool // for programs: every column, all of them in base units
}

// Slow tells of logs of statements.
func Slow(l *SlowLog, o SlowOptions) (*Document, error) {
	t, err := newSlowTable(l, o)
	if err != nil {
		return nil, err
	}
	d := &Document{
		Kind: KindSlowLog, Title: "slow log " + l.name(), Name: l.name(), Verdict: l.verdict(),
		Head:     []string{l.name(), l.formats(), l.stretch(o.Options), l.equation()},
		Commands: o.Commands, Footer: footer(o.Options, ""),
	}
	for _, f := range []Fact{{Label: "When", Value: l.stretch(o.Options)}, {Label: "Format", Value: l.formats()}, {Label: "Lines", Value: l.equation()}} {
		if f.Value != "" {
			d.Facts = append(d.Facts, f)
		}
	}
	if l.Stopped != "" {
		d.Alerts = append(d.Alerts, Alert{Tone: Mark, Text: l.Stopped})
	}
	if w := sumOf(l.Logs); w.Dropped > 0 && w.Dropped*100 >= w.Lines {
		d.Alerts = append(d.Alerts, Alert{Tone: Mark, Text: unit.Percent(float64(w.Dropped)/float64(w.Lines)) + " of the lines were not understood."})
	}
	if len(l.Classes) > 0 {
		s := Section{ID: SectionQueries, Title: l.rowsName(), Count: len(l.Classes), Blocks: []Block{t.table()}}
		s.Sub = Prose(t.order() + t.precision() + ".")
		d.add(o.Options, s)
	}
	d.add(o.Options, l.shapesSection())
	d.add(o.Options, l.transactionsSection())
	d.add(o.Options, l.timelineSection(o.Options))
	if len(l.Logs) > 1 {
		d.add(o.Options, Section{ID: SectionLogs, Title: "Logs", Count: len(l.Logs), Blocks: []Block{logsTable(l.Logs)}})
	}
	if notes := notesOf(l.Logs); len(notes.List) > 0 {
		d.add(o.Options, Section{ID: SectionNotes, Title: "Notes", Blocks: []Block{notes}})
	}
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
func (l *SlowLog) transactionsSection() Section {
	queries := make([]kasoku.Query, len(l.Classes))
	for i := range l.Classes {
		queries[i] = l.Classes[i].Query
	}
	s := transactionsSection(l.Transactions, queries, mostRows)
	if strings.Contains(l.formats(), "mariadb") {
		s.Sub += " MariaDB logs whole seconds: a single time can be off by one."
	}
	return s
}

// name is the file, or how many there are.
func (l *SlowLog) name() string {
	switch len(l.Logs) {
	case 0:
		return "slow log"
	case 1:
		if p := l.Logs[0].Path; p != "" && p != "-" {
			return filepath.Base(p)
		}
		return "standard input"
	}
	return unit.Count(len(l.Logs)) + " logs"
}

// formats names the formats of the logs, each once.
func (l *SlowLog) formats() string {
	var out []string
	for _, w := range l.Logs {
		if w.Format != "" && !slices.Contains(out, w.Format) {
			out = append(out, w.Format)
		}
	}
	return strings.Join(out, "; ")
}

// totals adds up the rows.
func (l *SlowLog) totals() (calls uint64, total time.Duration) {
	for i := range l.Classes {
		calls += l.Classes[i].Calls
		total += l.Classes[i].Total
	}
	return calls, total
}

// span returns when the first and the last statement started, offsets both. It is
// not ok when the logs tell no times.
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

// Wall returns the wall time of an offset, in the zone that is told.
func (l *SlowLog) Wall(at time.Duration, o Options) time.Time {
	zone := cmp.Or(o.Location, l.Zone, time.UTC)
	return l.Started.Add(at).In(zone)
}

// stretch prints the time that the log covers.
func (l *SlowLog) stretch(o Options) string {
	from, to, ok := l.span()
	if !ok {
		return ""
	}
	first, last := l.Wall(from, o), l.Wall(to, o)
	end := last.Format("15:04:05 MST")
	if first.Format(time.DateOnly) != last.Format(time.DateOnly) {
		end = day(last)
	}
	return first.Format("2 Jan 2006, 15:04:05") + " – " + end + ", " + unit.Exact(covered(from, to))
}

// sumOf adds up what became of the lines of logs.
func sumOf(logs []kasoku.LogWindow) (sum kasoku.LogWindow) {
	for _, w := range logs {
		sum.Lines += w.Lines
		sum.Records += w.Records
		sum.Continued += w.Continued
		sum.Blank += w.Blank
		sum.Dropped += w.Dropped
	}
	return sum
}

// equation says what became of the lines: 51 lines = 10 statements + 41 continued.
func (l *SlowLog) equation() string {
	s := sumOf(l.Logs)
	if s.Lines == 0 {
		return ""
	}
	calls, _ := l.totals()
	parts := []string{unit.Counted(calls, "statement", "statements")}
	add := func(n uint64, what string) {
		if n > 0 {
			parts = append(parts, unit.Count(n)+" "+what)
		}
	}
	if s.Records > calls {
		add(s.Records-calls, "left out")
	}
	add(s.Continued, "further lines")
	add(s.Blank, "blank")
	add(s.Dropped, "dropped")
	return unit.Counted(s.Lines, "line", "lines") + " = " + strings.Join(parts, " + ")
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
		return name + " is " + unit.Percent(float64(most.Calls)/float64(calls)) + " of " + unit.Counted(calls, "statement", "statements") + ". The log tells no times."
	}
	return name + " takes " + unit.Percent(float64(most.Total)/float64(total)) + " of the statements' time: " +
		unit.Counted(most.Calls, "call", "calls") + ", mean " + unit.Duration(most.Latency.Mean()) + ", p99 " + unit.Duration(most.Latency.Quantile(0.99)) + "."
}

// short names a row in prose: SELECT of items, COMMIT of RegisterScores, user app.
func (l *SlowLog) short(c *slowlog.Class) string {
	if l.By != "" {
		return l.By + " " + cmp.Or(c.Key, "(none)")
	}
	return cmp.Or(Item(&c.Query), c.Fingerprint)
}

// Item names a class of statements in a few words: its verb, its tables and its tag.
func Item(q *kasoku.Query) string {
	if command, ok := strings.CutPrefix(q.Fingerprint, "administrator command: "); ok {
		return command
	}
	out := q.Verb
	if len(q.Tables) > 0 {
		out += " " + strings.Join(q.Tables, " ")
	}
	if q.Tag != "" {
		out += " /* " + q.Tag + " */"
	}
	return strings.TrimSpace(out)
}

// shownID is the part of an id that people are shown.
const shownID = 8

// ShortID is the start of an id, enough to name it in one log.
func ShortID(id string) string { return id[:min(len(id), shownID)] }

func logsTable(logs []kasoku.LogWindow) *Table {
	t := &Table{ID: "logs", Narrow: true, Columns: []Column{
		{Key: "path", Head: "log", Code: true, Cut: true},
		{Key: "format", Head: "format", Drop: 1},
		{Key: "lines", Head: "lines", Align: Right},
		{Key: "records", Head: "statements", Align: Right},
		{Key: "dropped", Head: "dropped", Unit: "lines", Align: Right},
	}}
	for _, w := range logs {
		dropped := count(w.Dropped)
		if w.Dropped > 0 {
			dropped.Tone = Mark
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(w.Path), text(cmp.Or(w.Format, unit.Missing)), count(w.Lines), count(w.Records), dropped}})
	}
	return t
}

// notesOf quotes lines that were dropped and says what was unusual about logs.
func notesOf(logs []kasoku.LogWindow) *Notes {
	notes := &Notes{}
	for _, w := range logs {
		name := filepath.Base(cmp.Or(w.Path, "-"))
		for i, b := range w.BadSample[:min(len(w.BadSample), mostSamples)] {
			n := Note{Sign: "!", Tone: Mark, Label: name + ":" + unit.Plain(float64(b.Line)), Code: true, Text: "dropped, " + b.Why + ": " + b.Text}
			if more := w.Dropped - uint64(i) - 1; i == mostSamples-1 && more > 0 {
				n.Text += " (and " + unit.Count(more) + " more)"
			}
			notes.List = append(notes.List, n)
		}
		if w.Note != "" {
			notes.List = append(notes.List, Note{Sign: "·", Label: name, Code: true, Text: w.Note})
		}
	}
	return notes
}
