package slowlog

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/logs"
)

// Bounds of what a table keeps. They bound its memory, whatever the log holds.
const (
	defaultMaxQueries = 10_000
	defaultMaxPending = 64 << 10 // 64 s of saves at 1,000/s; a save takes milliseconds
	maxConnections    = 1 << 20  // connection ids that are distinguished
)

// Other is the fingerprint of the class that takes the statements of all
// classes beyond the bound. Its id is empty.
const Other = "(other statements)"

// A Table adds up entries. It is not safe for concurrent use.
type Table struct {
	opts    Options
	reg     *registry
	names   *names // of attributes; nil when they are not kept
	namer   *namer
	shapes  []*class          // by number in the registry; nil where the key of a class is not the fingerprint
	classes map[string]*class // by fingerprint, NUL, tag; or by key
	before  inherited

	saves        saves
	conns        conns
	transactions transactions
	seen         connectionSet
	series       series
	left         room
	counts       entryCounts
	numbered     int // classes that have a number
}

// entryCounts are what became of the entries of a table.
type entryCounts struct {
	statements uint64
	admin      uint64
	outside    uint64
	unwanted   uint64 // by Since, Until and Where
	own        uint64
	folded     uint64
	unseen     uint64 // calls whose second was not counted
	seconds    uint64 // of which classes keep the times
}

// A connectionSet holds the numbers of connections, up to a bound.
type connectionSet struct {
	ids     map[uint64]struct{}
	near    [256]uint64 // some that are in ids, by their low bits
	crowded bool        // there are more than are distinguished
}

func (s *connectionSet) add(id uint64) {
	near := &s.near[id&255]
	if *near == id && id != 0 {
		return
	}
	*near = id
	if _, known := s.ids[id]; known {
		return
	}
	if len(s.ids) >= maxConnections {
		s.crowded = true
		return
	}
	s.ids[id] = struct{}{}
}

// NewTable returns an empty table.
func NewTable(o Options) *Table {
	if o.MaxQueries <= 0 {
		o.MaxQueries = defaultMaxQueries
	}
	if o.MaxPending <= 0 {
		o.MaxPending = defaultMaxPending
	}
	t := &Table{
		opts: o, reg: &registry{ids: map[string]int32{}}, classes: map[string]*class{},
		shapes: make([]*class, 1), saves: newSaves(o.MaxPending), conns: newConns(),
		transactions: transactions{classes: map[string]*transaction{}},
		seen:         connectionSet{ids: map[uint64]struct{}{}}, left: maxMoments,
	}
	if o.Attributes {
		t.names = &names{ids: map[string]uint16{}}
		t.names.id([]byte(QuerySize))
	}
	t.namer = newNamer(o, t.reg)
	return t
}

// Add adds an entry.
func (t *Table) Add(e *Event) {
	t.namer.arena = t.namer.arena[:0]
	t.namer.name(e)
	t.add(e)
}

// add adds an entry that has a name.
func (t *Table) add(e *Event) {
	t.before.pass(e)
	if e.command != "" {
		t.general(e)
	}
	if !t.wanted(e) {
		t.counts.unwanted++
		return
	}
	at, inside := t.place(e)
	switch {
	case !inside:
		t.counts.outside++
		return
	case e.own && !t.opts.Own:
		t.counts.own++
		return
	case e.Admin:
		t.counts.admin++
	default:
		t.counts.statements++
		t.count(t.series.add(moment{second: int64(at / time.Second), calls: 1}, &t.left))
	}
	t.seen.add(e.ThreadID)
	c := t.class(e)
	if t.opts.Each != nil {
		t.passOn(e, c)
	}
	t.count(c.add(e, at, int64(at/time.Second), &t.left))
	if t.opts.Seconds && t.counts.seconds <= mostBySecond && c.bySecond.Record(int64(at/time.Second), e.QueryTime) {
		t.counts.seconds++
	}
	if t.names != nil {
		c.addValues(e)
	}
	if t.opts.By == ByFingerprint {
		t.follow(e, c)
	}
}

// passOn passes an entry to the caller's function Each.
func (t *Table) passOn(e *Event, c *class) {
	if c.number == 0 {
		t.numbered++
		c.number = t.numbered
	}
	t.opts.Each(e, c.number)
}

func (t *Table) count(counted bool) {
	if !counted {
		t.counts.unseen++
	}
}

// follow follows what statements mean to those before and after.
func (t *Table) follow(e *Event, c *class) {
	if e.Admin {
		if bytes.HasSuffix(e.Statement, []byte("Quit")) {
			t.conns.remove(e.ThreadID)
		}
		return
	}
	conn := t.conns.get(e.ThreadID)
	conn.count(c, e.single)
	if c.role != inside || conn.txn.on || conn.txn.manual {
		t.transactions.follow(&conn.txn, e, c)
	}
	t.saves.add(e, c)
}

// general gives an entry of the general log what its connection said before.
func (t *Table) general(e *Event) {
	c := t.conns.get(e.ThreadID)
	if len(e.User) > 0 {
		c.user, c.host = bytes.Clone(e.User), bytes.Clone(e.Host)
	}
	if e.hasSchema && string(c.schema) != string(e.Schema) {
		c.schema = bytes.Clone(e.Schema)
	}
	e.User, e.Host, e.Schema, e.database = c.user, c.host, c.schema, c.schema
}

// wanted reports whether the options keep the entry.
func (t *Table) wanted(e *Event) bool {
	o := &t.opts
	return (o.Since.IsZero() || !e.Start.Before(o.Since)) && (o.Until.IsZero() || e.Start.Before(o.Until)) &&
		(o.Where == nil || o.Where(e))
}

// place returns when the entry started. Without a clock that is counted from
// 1970.
func (t *Table) place(e *Event) (at time.Duration, inside bool) {
	if t.opts.Clock == nil {
		if e.Start.IsZero() {
			return 0, true
		}
		return time.Duration(e.Start.UnixNano()), true
	}
	length := max(e.QueryTime, e.Resolution)
	if e.Resolution == time.Second {
		length = e.QueryTime + e.Resolution
	}
	return logs.Place(t.opts.Interval, t.opts.Clock(e.Start), length)
}

// class returns the class of an event.
func (t *Table) class(e *Event) *class {
	switch t.opts.By {
	case ByUser:
		return t.keyed(e, e.User)
	case ByHost:
		return t.keyed(e, e.Host)
	case BySchema:
		return t.keyed(e, e.database)
	}
	if e.shape == unnamed {
		e.shape = t.shapeOf(e)
	}
	if c := t.shapes[e.shape]; c != nil {
		return c
	}
	t.counts.folded++
	return t.other()
}

// shapeOf adds the shape of an event's statement to the registry when there is
// room for it.
func (t *Table) shapeOf(e *Event) int32 {
	if id := t.reg.find(e.name); id != unnamed {
		return id
	}
	if len(t.shapes) > t.opts.MaxQueries {
		return others
	}
	id := int32(len(t.shapes))
	t.shapes = append(t.shapes, t.newClass(e))
	t.reg.add(e.name, id, len(t.shapes) > t.opts.MaxQueries)
	return id
}

// newClass returns the class that the shape of an event belongs to.
func (t *Table) newClass(e *Event) *class {
	fingerprint, tag := e.name[:e.print], e.name[e.print+1:]
	name, key := string(e.name), ""
	switch t.opts.By {
	case ByTables:
		key = strings.Join(newClass(e.Statement, fingerprint, nil, "").query.Tables, " ")
	case ByGroup:
		if t.opts.Group != nil {
			key = t.opts.Group(e.Statement)
		}
	}
	if t.opts.By != ByFingerprint {
		name = key
	}
	c := t.classes[name]
	if c == nil {
		c = newClass(e.Statement, fingerprint, tag, key)
		t.classes[name] = c
	}
	return c
}

// keyed returns the class of what an event itself says.
func (t *Table) keyed(e *Event, key []byte) *class {
	if c := t.classes[string(key)]; c != nil {
		return c
	}
	if len(t.classes) >= t.opts.MaxQueries {
		t.counts.folded++
		return t.other()
	}
	c := newClass(e.Statement, nil, nil, string(key))
	t.classes[string(key)] = c
	return c
}

// other returns the class of all that is beyond the bound.
func (t *Table) other() *class {
	c := t.classes[Other]
	if c == nil {
		c = &class{query: kasoku.Query{Fingerprint: Other, Latency: histogram.New()}, role: outside}
		t.classes[Other] = c
	}
	return c
}

// order returns the keys of the classes, the one that took the most time first.
func (t *Table) order() []string {
	keys := make([]string, 0, len(t.classes))
	for key := range t.classes {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, y := &t.classes[a].query, &t.classes[b].query
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(y.Calls, x.Calls), cmp.Compare(a, b))
	})
	return keys
}
