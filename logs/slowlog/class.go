package slowlog

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// Bounds of what one class keeps, in bytes.
const (
	maxFingerprint = 4 << 10
	maxSample      = 1 << 10
	maxRaw         = 16 << 10
	maxExplain     = 2 << 10
)

// A Class is all that a table knows of one class of statements.
type Class struct {
	kasoku.Query
	Number  int      // from 1, in the order in which Options.Each saw them; 0 without it
	Key     string   // what the class has in common, where that is not the fingerprint
	Worst   Sample   // the entry with the longest Query_time, the first of equal ones
	Users   []Count  // the most frequent first, as all counts
	Hosts   []Count  // that clients connected from
	Schemas []Count  // default databases; entries that name none count for the one of the entry before
	Tags    []Count  // what comments say of where the statements come from
	Explain []string // the EXPLAIN rows that the log holds of one entry, with their header

	// FirstLogged and LastLogged are the least and the greatest time that a
	// "# Time:" line gives, inherited by the entries after it. The digits are as
	// logged, without regard to a zone. Zero when there is none.
	FirstLogged, LastLogged time.Time

	Attributes []Attribute // by name; empty without Options.Attributes
}

// A Count is a value and how many entries have it.
type Count struct {
	Value string
	N     uint64
}

// A Sample is one entry of a log, as it was.
type Sample struct {
	Input        int   // number of the input, from 0
	Line, Offset int64 // in the input; lines from 1, bytes
	Start        time.Time
	Logged       time.Time // as [Class.FirstLogged]
	ThreadID     uint64
	User, Host   string
	Schema       string
	QueryTime    time.Duration
	Statement    string // cut at 16 KiB
	Truncated    bool   // it was cut
}

// A class is one row, with what it needs to be added to.
type class struct {
	number int
	query  kasoku.Query
	key    string
	write  bool // a statement that can affect rows
	rows   bool // an INSERT or REPLACE
	role   role

	series  series
	variety variety
	users   tally
	hosts   tally
	schemas tally
	tags    tally
	single  uint64
	explain []byte

	firstLogged, lastLogged time.Time
	attributes              []*attribute // by number of the name

	worst Sample
	raw   []byte // the worst statement

	bySecond histogram.BySecond // with Options.Seconds
}

// newClass returns the class of a statement. What a table is grouped by is its
// key; a key that is empty means the fingerprint.
func newClass(sql, fingerprint, tag []byte, key string) *class {
	c := &class{key: key, query: kasoku.Query{
		ID:          sqlshape.ID(fingerprint),
		Fingerprint: textOf(fingerprint, maxFingerprint),
		Tag:         textOf(tag, len(tag)),
		Verb:        sqlshape.Verb(sql),
		Tables:      sqlshape.Tables(sql),
		Sample:      textOf(sqlshape.AppendMasked(nil, sql, maxSample), 2*maxSample),
		Numbers:     numbersOf(sql),
		Latency:     histogram.New(),
	}}
	if key != "" {
		c.query.ID = sqlshape.ID([]byte(key))
		c.query.Fingerprint = textOf([]byte(key), maxFingerprint)
	}
	switch c.query.Verb {
	case "INSERT", "REPLACE":
		c.rows, c.write = true, true
	case "UPDATE", "DELETE":
		c.write = true
	}
	c.role = roleOf(&c.query, fingerprint)
	return c
}

// numbersOf returns the columns that a statement compares with numbers, safe to show.
func numbersOf(sql []byte) []string {
	columns := sqlshape.Numbers(sql)
	for i, c := range columns {
		columns[i] = textOf([]byte(c), len(c))
	}
	return columns
}

// textOf returns bytes of a log as a string that is valid and safe to show.
func textOf(b []byte, limit int) string {
	s := strings.ToValidUTF8(string(b[:min(len(b), limit)]), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// add adds an entry. It returns false when its second was not counted.
func (c *class) add(e *Event, at time.Duration, second int64, left *room) bool {
	q := &c.query
	if q.Calls == 0 {
		q.First, q.Last = at, at
	} else if at < q.First {
		q.First = at
	} else if at > q.Last {
		q.Last = at
	}
	if e.QueryTime > c.worst.QueryTime || q.Calls == 0 {
		c.setWorst(e)
	}
	q.Calls++
	q.Total += e.QueryTime
	q.Lock += e.LockTime
	q.Latency.Record(e.QueryTime)
	s := e.QueryTime.Seconds()
	q.Squares += s * s
	q.RowsExamined += e.RowsExamined
	q.RowsSent += e.RowsSent
	q.BytesSent += e.BytesSent
	if e.HasAffected {
		q.HasAffected = true
		q.RowsAffected += e.RowsAffected
		if c.write && e.RowsAffected == 0 {
			q.NoneAffected++
		}
	}
	if c.rows && e.single {
		c.single++
	}
	c.variety.add(e.identity)
	c.users.add(e.User)
	c.hosts.add(e.Host)
	c.schemas.add(e.database)
	if len(e.tags) > 0 {
		c.tags.add(e.tags)
	}
	c.logged(e.Logged)
	if len(e.explain) > 0 && len(c.explain) == 0 {
		c.explain = bytes.Clone(e.explain[:min(len(e.explain), maxExplain)])
	}
	return c.series.add(moment{second, 1, e.QueryTime, e.RowsSent}, left)
}

func (c *class) setWorst(e *Event) {
	w := &c.worst
	w.Input, w.Line, w.Offset = e.Input, e.Line, e.Offset
	w.Start, w.Logged, w.ThreadID, w.QueryTime = e.Start, e.Logged, e.ThreadID, e.QueryTime
	w.Truncated = e.Truncated || len(e.Statement) > maxRaw
	c.raw = append(c.raw[:0], e.Statement[:min(len(e.Statement), maxRaw)]...)
	setString(&w.User, e.User)
	setString(&w.Host, e.Host)
	setString(&w.Schema, e.Schema)
}

// setString sets a string to bytes, and keeps it when it is the same.
func setString(s *string, b []byte) {
	if *s != string(b) {
		*s = string(b)
	}
}

func (c *class) logged(t time.Time) {
	if t.IsZero() || t == c.lastLogged { // most have that of the entry before
		return
	}
	if c.firstLogged.IsZero() || t.Before(c.firstLogged) {
		c.firstLogged = t
	}
	if t.After(c.lastLogged) {
		c.lastLogged = t
	}
}

// merge adds what another class holds. It returns how many of its calls were not counted in their
// seconds.
func (c *class) merge(o *class, left *room) (missed uint64) {
	q, p := &c.query, &o.query
	if p.Calls == 0 {
		return 0
	}
	if q.Calls == 0 {
		q.First, q.Last = p.First, p.Last
	}
	if o.worst.QueryTime > c.worst.QueryTime || q.Calls == 0 {
		c.worst = o.worst
		c.raw = append(c.raw[:0], o.raw...)
	}
	q.First, q.Last = min(q.First, p.First), max(q.Last, p.Last)
	q.Calls += p.Calls
	q.Total += p.Total
	q.Lock += p.Lock
	q.Squares += p.Squares
	q.Latency.Merge(p.Latency)
	q.RowsExamined += p.RowsExamined
	q.RowsSent += p.RowsSent
	q.BytesSent += p.BytesSent
	q.RowsAffected += p.RowsAffected
	q.NoneAffected += p.NoneAffected
	q.HasAffected = q.HasAffected || p.HasAffected
	q.Streak = max(q.Streak, p.Streak)
	q.Streaks += p.Streaks
	c.single += o.single
	c.variety.merge(&o.variety)
	for to, from := range map[*tally]*tally{&c.users: &o.users, &c.hosts: &o.hosts, &c.schemas: &o.schemas,
		&c.tags: &o.tags} {
		to.merge(from)
	}
	c.logged(o.firstLogged)
	c.logged(o.lastLogged)
	if len(c.explain) == 0 {
		c.explain = o.explain
	}
	return c.series.merge(&o.series, left)
}

// result returns what the class holds, so that it shares nothing that changes.
func (c *class) result(keepRaw bool) Class {
	q := c.query
	q.Latency = q.Latency.Clone()
	q.Seconds = c.series.seconds()
	q.Distinct, q.Repeated = c.variety.distinct(), c.variety.most()
	q.SingleRow = c.single
	out := Class{
		Query: q, Number: c.number, Key: c.key, Worst: c.worst,
		Users: c.users.counts(), Hosts: c.hosts.counts(), Schemas: c.schemas.counts(), Tags: c.tags.counts(),
		Explain:     explainRows(c.explain),
		FirstLogged: c.firstLogged, LastLogged: c.lastLogged,
	}
	out.Worst.Statement = string(c.raw)
	out.Query.Schema = c.worst.Schema
	if keepRaw {
		out.Query.Raw = out.Worst.Statement
	}
	return out
}

// explainRows returns the rows of "# explain: …" lines, tabs between their fields.
func explainRows(b []byte) []string {
	var out []string
	for line := range bytes.Lines(b) {
		row := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("# explain:")))
		if bytes.IndexByte(row, '\t') < 0 { // cut, or no row
			continue
		}
		fields := bytes.Split(row, []byte("\t"))
		for i := range fields {
			fields[i] = []byte(textOf(bytes.TrimSpace(fields[i]), maxTallied))
		}
		out = append(out, string(bytes.Join(fields, []byte("\t"))))
	}
	return slices.Clip(out)
}
