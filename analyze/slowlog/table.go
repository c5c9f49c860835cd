package slowlog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/analyze"
	"github.com/kasoku/kasoku/analyze/sqlshape"
	"github.com/kasoku/kasoku/histogram"
	"github.com/kasoku/kasoku/lines"
)

// Bounds of what a table keeps. The first three bound its memory, whatever the
// log holds; the others bound what one class keeps, in bytes.
const (
	defaultMaxQueries = 10_000
	defaultMaxPending = 64 << 10 // 64 s of saves at 1,000/s; a save takes milliseconds
	maxConnections    = 1 << 20  // connection ids that are told apart
	maxFingerprint    = 4 << 10
	maxSample         = 1 << 10
)

// Other is the fingerprint of the class that takes the statements of all
// classes beyond the bound. Its id is empty.
const Other = "(other statements)"

// own marks the statements of kasoku itself, which are no part of the load.
const own = "/* kasoku */"

// A Table adds up entries. It is not safe for concurrent use.
type Table struct {
	opts        Options
	shaper      sqlshape.Shaper
	classes     map[string]*class // by fingerprint, NUL, tag
	key         []byte
	saves       saves
	connections map[uint64]struct{}
	crowded     bool // more connections than are told apart
	seconds     map[int]uint64
	statements  uint64
	admin       uint64
	outside     uint64
	own         uint64
	folded      uint64
}

// A class is one row, with what it needs to be added to.
type class struct {
	query kasoku.Query
	write bool // a statement that can affect rows
}

// NewTable returns an empty table.
func NewTable(o Options) *Table {
	if o.MaxQueries <= 0 {
		o.MaxQueries = defaultMaxQueries
	}
	if o.MaxPending <= 0 {
		o.MaxPending = defaultMaxPending
	}
	return &Table{
		opts: o, classes: map[string]*class{}, saves: newSaves(o.MaxPending),
		connections: map[uint64]struct{}{}, seconds: map[int]uint64{},
	}
}

// Add adds an entry.
func (t *Table) Add(e *Event) {
	at, inside := t.place(e)
	switch {
	case !inside:
		t.outside++
		return
	case bytes.Contains(e.Statement, []byte(own)):
		t.own++
		return
	case e.Admin:
		t.admin++
	default:
		t.statements++
		t.seconds[int(at/time.Second)]++
	}
	t.connect(e.ThreadID)
	c := t.class(e.Statement)
	c.add(e, at)
	t.saves.add(e, c)
}

func (t *Table) place(e *Event) (at time.Duration, inside bool) {
	if t.opts.Clock == nil {
		return 0, true
	}
	length := max(e.QueryTime, e.Resolution)
	if e.Resolution == time.Second {
		length = e.QueryTime + e.Resolution
	}
	return analyze.Place(t.opts.Interval, t.opts.Clock(e.Start), length)
}

func (t *Table) connect(id uint64) {
	if _, known := t.connections[id]; known {
		return
	}
	if len(t.connections) >= maxConnections {
		t.crowded = true
		return
	}
	t.connections[id] = struct{}{}
}

// class returns the class of a statement.
func (t *Table) class(sql []byte) *class {
	fingerprint := t.shaper.Fingerprint(sql)
	tag := sqlshape.Tag(sql)
	t.key = append(append(append(t.key[:0], fingerprint...), 0), tag...)
	if c, ok := t.classes[string(t.key)]; ok {
		return c
	}
	if len(t.classes) >= t.opts.MaxQueries {
		t.folded++
		return t.other()
	}
	c := newClass(sql, fingerprint, tag)
	t.classes[string(t.key)] = c
	return c
}

// other returns the class of all that is beyond the bound.
func (t *Table) other() *class {
	c := t.classes[Other]
	if c == nil {
		c = &class{query: kasoku.Query{Fingerprint: Other, Latency: histogram.New()}}
		t.classes[Other] = c
	}
	return c
}

func newClass(sql, fingerprint, tag []byte) *class {
	c := &class{query: kasoku.Query{
		ID:          sqlshape.ID(fingerprint),
		Fingerprint: text(fingerprint, maxFingerprint),
		Tag:         text(tag, len(tag)),
		Verb:        sqlshape.Verb(sql),
		Tables:      sqlshape.Tables(sql),
		Sample:      text(sqlshape.AppendMasked(nil, sql, maxSample), 2*maxSample),
		Latency:     histogram.New(),
	}}
	switch c.query.Verb {
	case "INSERT", "UPDATE", "DELETE", "REPLACE":
		c.write = true
	}
	return c
}

// text returns bytes of a log as a string that is valid and safe to show.
func text(b []byte, limit int) string {
	s := strings.ToValidUTF8(string(b[:min(len(b), limit)]), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

func (c *class) add(e *Event, at time.Duration) {
	q := &c.query
	if q.Calls == 0 {
		q.First, q.Last = at, at
	}
	q.First, q.Last = min(q.First, at), max(q.Last, at)
	q.Calls++
	q.Total += e.QueryTime
	q.Lock += e.LockTime
	q.Latency.Record(e.QueryTime)
	q.RowsExamined += e.RowsExamined
	q.RowsSent += e.RowsSent
	if e.HasAffected {
		q.HasAffected = true
		q.RowsAffected += e.RowsAffected
		if c.write && e.RowsAffected == 0 {
			q.NoneAffected++
		}
	}
}

// Merge adds another table, of another log or of a later part of the same one.
// A save whose statements lie in both parts is not seen.
func (t *Table) Merge(o *Table) {
	for key, from := range o.classes {
		to := t.classes[key]
		switch {
		case to == nil && (len(t.classes) < t.opts.MaxQueries || key == Other):
			to = &class{query: from.query, write: from.write}
			to.query.Latency = histogram.New()
			to.query.Latency.Merge(from.query.Latency)
			t.classes[key] = to
			continue
		case to == nil:
			t.folded += from.query.Calls
			to = t.other()
		}
		to.merge(&from.query)
	}
	t.saves.merge(&o.saves)
	for id := range o.connections {
		t.connect(id)
	}
	for s, n := range o.seconds {
		t.seconds[s] += n
	}
	t.crowded = t.crowded || o.crowded
	t.statements += o.statements
	t.admin += o.admin
	t.outside += o.outside
	t.own += o.own
	t.folded += o.folded
}

func (c *class) merge(o *kasoku.Query) {
	q := &c.query
	if q.Calls == 0 {
		q.First, q.Last = o.First, o.Last
	}
	q.First, q.Last = min(q.First, o.First), max(q.Last, o.Last)
	q.Calls += o.Calls
	q.Total += o.Total
	q.Lock += o.Lock
	q.Latency.Merge(o.Latency)
	q.RowsExamined += o.RowsExamined
	q.RowsSent += o.RowsSent
	q.RowsAffected += o.RowsAffected
	q.NoneAffected += o.NoneAffected
	q.HasAffected = q.HasAffected || o.HasAffected
}

// Queries returns the classes, the one that took the most time first. They share
// nothing with the table that changes.
func (t *Table) Queries() []kasoku.Query {
	out := make([]kasoku.Query, 0, len(t.classes))
	for _, c := range t.classes {
		q := c.query
		q.Latency = q.Latency.Clone()
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b kasoku.Query) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Calls, a.Calls),
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.Tag, b.Tag))
	})
	return out
}

// Classes returns the classes in the order of Queries.
func (t *Table) Classes() []Class {
	var out []Class
	for _, q := range t.Queries() {
		out = append(out, Class{Query: q})
	}
	return out
}

// Overall returns what all classes hold together; it has no fingerprint.
func (t *Table) Overall() Class {
	all := &class{query: kasoku.Query{Latency: histogram.New()}}
	for _, c := range t.classes {
		all.merge(&c.query)
	}
	return Class{Query: all.query}
}

// Transactions returns the classes of transactions, the one that took the most
// time first.
func (t *Table) Transactions() []kasoku.Transaction { return nil }

// Saves returns the tables with the trail of an ORM's save, the most frequent
// first.
func (t *Table) Saves() []kasoku.SaveShape { return t.saves.shapes() }

// Statements returns how many statements the log tells, administrator commands
// not included: what the server counts as Questions, when it logs them all.
func (t *Table) Statements() uint64 { return t.statements }

// Admin returns how many administrator commands, such as Prepare or Quit, the
// log tells. MariaDB logs none.
func (t *Table) Admin() uint64 { return t.admin }

// Connections returns how many connections the statements came over. It is a
// lower bound when there are more than a million.
func (t *Table) Connections() uint64 { return uint64(len(t.connections)) }

// Outside returns how many entries lie outside of the run's interval and were
// left out.
func (t *Table) Outside() uint64 { return t.outside }

// Own returns how many statements of kasoku itself were left out.
func (t *Table) Own() uint64 { return t.own }

// Seconds returns the number of statements that started in each second of the
// run. The map is the table's.
func (t *Table) Seconds() map[int]uint64 { return t.seconds }

// notes says what a reader of the table has to know.
func (t *Table) notes() []string {
	var out []string
	add := func(n uint64, format string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, n))
		}
	}
	add(t.outside, "%d entries outside the run were left out")
	add(t.own, "%d statements of kasoku itself were left out")
	add(t.folded, "%d calls of rare statements were folded into "+Other)
	if t.crowded {
		out = append(out, fmt.Sprintf("more than %d connections", maxConnections))
	}
	return out
}

// Collect reads the lines to their end into a table, and describes what it
// read. On an error, both hold what was read before.
func Collect(src *lines.Window, o Options) (*Table, kasoku.LogWindow, error) {
	t, r := NewTable(o), NewReader(src)
	for r.Scan() {
		t.Add(r.Event())
	}
	w := r.Account().Window("slowlog", r.Format(), src, t.notes()...)
	if err := r.Err(); err != nil {
		return t, w, fmt.Errorf("slow log: %w", err)
	}
	return t, w, nil
}
