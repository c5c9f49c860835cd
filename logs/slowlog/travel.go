package slowlog

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/logs"
)

// travelVersion is that of the encoding of tables, their first byte.
const travelVersion = 1

// ErrStays is the error of a table that does not travel: one on the clock of a run, or with what
// only a peer's report has.
var ErrStays = errors.New("a table of a run does not travel")

func (o *Options) stays() bool {
	return o.Clock != nil || o.Seconds || o.Attributes || o.Each != nil || o.By == ByGroup
}

// AppendBinary appends the table of one log as [Read] reads it: what [Table.Merge] takes of it,
// which is no statement but the slowest of each class and what its values are masked in.
func AppendBinary(dst []byte, t *Table) ([]byte, error) {
	if t.opts.stays() {
		return nil, ErrStays
	}
	c := tableCoder{t, logs.NewWriter(append(dst, travelVersion))}
	c.code(0)
	out, err := c.Written()
	if err != nil {
		return nil, fmt.Errorf("write table: %w", err)
	}
	return out, nil
}

// Read returns the table that another reader with the same Options made of a log, which is the
// input of that number here. Nothing of it is believed: it takes no more memory than a table that
// was made here, and what contradicts itself is an error.
func Read(o Options, b []byte, input int) (*Table, error) {
	t := NewTable(o)
	if o.stays() {
		return nil, ErrStays
	}
	if len(b) == 0 || b[0] != travelVersion {
		return nil, errors.New("read table: it is of another release")
	}
	c := tableCoder{t, logs.NewReader(b[1:])}
	c.code(input)
	if err := c.End(); err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	return t, nil
}

// A tableCoder carries a table.
type tableCoder struct {
	t *Table
	*logs.Coder
}

// Bounds of what a table holds, in bytes and as numbers.
const (
	maxName    = 4 << 20 // what a line of the longest holds, each byte of it invalid and so three
	maxWordsOf = 1 << 20 // tables and columns that a statement names
	maxIDs     = 64      // bytes of an id
	mostOf     = 1 << 50
)

func (c tableCoder) code(input int) {
	n := &c.t.counts
	for _, v := range []*uint64{&n.statements, &n.admin, &n.outside, &n.unwanted, &n.own, &n.folded, &n.unseen} {
		c.Uint(v, mostOf)
	}
	c.classes(input)
	c.series(&c.t.series)
	c.transactions()
	c.saves()
	c.connections()
}

// inOrder returns the keys of a map, sorted, or as many empty ones as are to be read.
func inOrder[T any](c *logs.Coder, m map[string]T, most int) []string {
	keys := slices.Sorted(maps.Keys(m))
	n := c.Len(len(keys), most)
	if c.Reads() {
		keys = make([]string, n)
	}
	return keys
}

// key carries a key, which is greater than the one before.
func (c tableCoder) key(key *string, before string, first bool) {
	c.Text(key, maxName)
	if c.Reads() && !first && *key <= before {
		c.Fail("keys out of order")
	}
}

func (c tableCoder) classes(input int) {
	before := ""
	for i, key := range inOrder(c.Coder, c.t.classes, c.t.opts.MaxQueries+1) {
		c.key(&key, before, i == 0)
		x := c.t.classes[key]
		if c.Reads() {
			x = &class{}
			x.query.Latency = histogram.New()
		}
		c.class(x)
		if c.Failed() {
			return
		}
		if c.Reads() {
			x.worst.Input = input
			c.t.classes[key] = x
		}
		before = key
	}
}

// clean carries a text that is safe to show.
func (c tableCoder) clean(v *string, most int) {
	c.Text(v, most)
	if c.Reads() && textOf([]byte(*v), len(*v)) != *v {
		c.Fail("a text that is not safe to show")
	}
}

// cleans carries some of them.
func (c tableCoder) cleans(v *[]string, most int) {
	n := c.Len(len(*v), most)
	if c.Reads() && n > 0 {
		*v = make([]string, n)
	}
	for i := range *v {
		c.clean(&(*v)[i], maxName)
	}
}

func (c tableCoder) class(x *class) {
	q := &x.query
	c.Text(&x.key, maxName)
	c.clean(&q.ID, maxIDs)
	for _, text := range []*string{&q.Fingerprint, &q.Tag, &q.Verb, &q.Sample} {
		c.clean(text, maxName)
	}
	c.cleans(&q.Tables, maxWordsOf)
	c.cleans(&q.Numbers, maxWordsOf)
	c.Uint(&q.Calls, mostOf)
	for _, d := range []*time.Duration{&q.Total, &q.Lock, &q.First, &q.Last} {
		c.duration(d)
	}
	for _, n := range []*uint64{&q.RowsExamined, &q.RowsSent, &q.RowsAffected, &q.BytesSent} {
		c.Uint(n, math.MaxUint64)
	}
	for _, n := range []*uint64{&q.NoneAffected, &q.Streak, &q.Streaks, &x.single} {
		c.Uint(n, q.Calls)
	}
	for _, f := range []*bool{&q.HasAffected, &x.write, &x.rows} {
		c.Flag(f)
	}
	c.float(&q.Squares)
	c.histogram(q)
	c.variety(&x.variety)
	for _, t := range []*tally{&x.users, &x.hosts, &x.schemas, &x.tags} {
		c.tally(t)
	}
	c.Bytes(&x.explain, maxExplain)
	c.moment(&x.firstLogged)
	c.moment(&x.lastLogged)
	c.series(&x.series)
	c.worst(x)
	if c.Reads() && (q.First > q.Last || q.Calls == 0) {
		c.Fail("a class that contradicts itself")
	}
}

func (c tableCoder) duration(d *time.Duration) {
	n := int64(*d)
	c.Int(&n)
	*d = time.Duration(n)
}

func (c tableCoder) float(f *float64) {
	bits := math.Float64bits(*f)
	c.Uint(&bits, math.MaxUint64)
	if *f = math.Float64frombits(bits); c.Reads() && !(*f >= 0 && *f <= math.MaxFloat64) {
		c.Fail("a sum of squares that cannot be")
	}
}

// moment carries a time in its zone; what is kept of it is the moment and how far ahead it is.
func (c tableCoder) moment(t *time.Time) {
	set := !t.IsZero()
	c.Flag(&set)
	if !set {
		return
	}
	sec, nano := t.Unix(), uint64(t.Nanosecond())
	_, offset := t.Zone()
	ahead := int64(offset)
	c.Int(&sec)
	c.Uint(&nano, 1e9-1)
	c.Int(&ahead)
	if !c.Reads() {
		return
	}
	const year10000, day = 253402300800, 24 * 60 * 60
	if sec < -year10000 || sec >= year10000 || ahead <= -day || ahead >= day {
		c.Fail("a time that cannot be")
		return
	}
	if *t = time.Unix(sec, int64(nano)).In(zoneOf(int(ahead))); t.IsZero() {
		c.Fail("a time that cannot be")
	}
}

func zoneOf(ahead int) *time.Location {
	if ahead == 0 {
		return time.UTC
	}
	return time.FixedZone("", ahead)
}

func (c tableCoder) histogram(q *kasoku.Query) {
	var b []byte
	if !c.Reads() {
		b, _ = q.Latency.AppendBinary(nil) // it never fails
	}
	const most = 256 << 10 // more than any histogram takes
	c.Bytes(&b, most)
	if !c.Reads() || c.Failed() {
		return
	}
	if err := q.Latency.UnmarshalBinary(b); err != nil {
		c.Fail("%s", err)
	} else if q.Latency.Count() != q.Calls {
		c.Fail("a histogram of %d of %d calls", q.Latency.Count(), q.Calls)
	}
}

// variety carries the values that are counted in the order in which they are merged.
func (c tableCoder) variety(v *variety) {
	slots := slices.DeleteFunc(slices.Clone(v.slots), func(s frequency) bool { return s.n == 0 })
	c.Bytes(&v.regs, registers)
	most := maxExact
	if len(v.regs) > 0 {
		most = counters
	}
	n := c.Len(len(slots), most)
	if c.Reads() {
		slots = make([]frequency, n)
	}
	for i := range slots {
		s := &slots[i]
		count, over := uint64(s.n), uint64(s.over)
		c.Uint(&s.hash, math.MaxUint64)
		c.Uint(&count, math.MaxUint32)
		c.Uint(&over, count)
		s.n, s.over = uint32(count), uint32(over)
		if c.Reads() && s.n == 0 {
			c.Fail("a value that never came")
		}
	}
	if !c.Reads() {
		return
	}
	v.slots, v.used = slots, len(slots)
	if len(v.regs) == 0 {
		v.regs = nil
	} else if len(v.regs) != registers || slices.Max(v.regs) > 64-indexBits+1 {
		c.Fail("registers that cannot be")
	}
}

func (c tableCoder) tally(t *tally) {
	n := c.Len(len(t.values), maxTally)
	if c.Reads() {
		t.values = make([]Count, n)
	}
	for i := range t.values {
		c.Text(&t.values[i].Value, maxTallied)
		c.Uint(&t.values[i].N, mostOf)
	}
	c.Uint(&t.other, mostOf)
}

func (c tableCoder) series(s *series) {
	n := c.Len(len(s.moments), int(c.t.left)+len(s.moments))
	if c.Reads() {
		c.t.left -= room(n)
		s.moments = make([]moment, n)
	}
	for i := range s.moments {
		m := &s.moments[i]
		c.Int(&m.second)
		c.Uint(&m.calls, mostOf)
		c.duration(&m.total)
		c.Uint(&m.rows, math.MaxUint64)
		if c.Reads() && (i > 0 && m.second <= s.moments[i-1].second || m.calls == 0) {
			c.Fail("a series out of order")
		}
	}
}

func (c tableCoder) worst(x *class) {
	w := &x.worst
	for _, n := range []*int64{&w.Line, &w.Offset} {
		c.Int(n)
	}
	c.moment(&w.Start)
	c.moment(&w.Logged)
	c.Uint(&w.ThreadID, math.MaxUint64)
	for _, text := range []*string{&w.User, &w.Host, &w.Schema} {
		c.Text(text, maxName)
	}
	c.duration(&w.QueryTime)
	c.Flag(&w.Truncated)
	c.Bytes(&x.raw, maxRaw)
}

func (c tableCoder) transactions() {
	t := &c.t.transactions
	c.Uint(&t.folded, mostOf)
	before := ""
	for i, key := range inOrder(c.Coder, t.classes, maxTransactions) {
		c.key(&key, before, i == 0)
		x := t.classes[key]
		if c.Reads() {
			x = &transaction{}
			t.classes[key] = x
		}
		c.shape(x)
		c.clean(&x.tag, maxName)
		c.Flag(&x.cut)
		c.Flag(&x.readOnly)
		c.Uint(&x.count, mostOf)
		c.Uint(&x.rolledBack, x.count)
		c.Uint(&x.statements, mostOf)
		c.duration(&x.total)
		c.duration(&x.max)
		before = key
	}
}

// shape carries what is shown of the statements of a transaction.
func (c tableCoder) shape(x *transaction) {
	n := c.Len(len(x.shape), maxShape)
	if c.Reads() {
		x.shape = make([]*class, n)
	}
	for i := range x.shape {
		if c.Reads() {
			x.shape[i] = &class{}
		}
		q := &x.shape[i].query
		c.clean(&q.ID, maxIDs)
		c.clean(&q.Verb, maxName)
	}
}

func (c tableCoder) saves() {
	s := &c.t.saves
	before := ""
	for i, name := range inOrder(c.Coder, s.tables, maxSaveTables) {
		c.key(&name, before, i == 0)
		x := s.tables[name]
		if c.Reads() {
			x = &saveTable{name: name}
			s.tables[name] = x
		}
		c.Uint(&x.inserts, mostOf)
		c.Uint(&x.count, x.inserts)
		c.cleans(&x.sample, 3)
		before = name
	}
}

// connections carries the numbers of connections, each as what it is more than the one before.
func (c tableCoder) connections() {
	s := &c.t.seen
	c.Flag(&s.crowded)
	ids := slices.SortedFunc(maps.Keys(s.ids), cmp.Compare[uint64])
	n := c.Len(len(ids), maxConnections)
	var last uint64
	for i := range n {
		var more uint64
		if !c.Reads() {
			more = ids[i] - last
		}
		c.Uint(&more, math.MaxUint64-last)
		if c.Reads() {
			if i > 0 && more == 0 {
				c.Fail("a connection that is there twice")
			}
			s.ids[last+more] = struct{}{}
		}
		last += more
	}
}
