package accesslog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/logs"
)

// travelVersion is that of the encoding of tables, their first byte.
const travelVersion = 1

// maxLongKey is how long a key may be that travels.
const maxLongKey = 1<<24 - 1

// ErrStays is the error of a table that does not travel: one on the clock of a run, or with
// what only a diagnosis reads.
var ErrStays = errors.New("a table of a run does not travel")

// AppendBinary appends the table of one log as [Read] reads it: what [Table.Merge] takes of it,
// no line, and the same bytes whichever worker read which part.
func AppendBinary(dst []byte, t *Table) ([]byte, error) {
	if t.opts.Clock != nil || t.opts.Detail || t.opts.Seconds {
		return nil, ErrStays
	}
	t.refold()
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
	if o.Clock != nil || o.Detail || o.Seconds {
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

// code carries the table.
func (c tableCoder) code(input int) {
	t := c.t
	for _, n := range []*uint64{&t.counts.records, &t.counts.outside, &t.counts.unwanted, &t.counts.untimed,
		&t.counts.unstamped} {
		c.Uint(n, 1<<50)
	}
	for i := range t.withExtra {
		c.Flag(&t.withExtra[i])
	}
	step := uint64(slices.Index(steps, t.rows.step))
	c.Uint(&step, uint64(len(steps)-1))
	t.rows.step = steps[step]
	c.keys()
	c.rows()
	c.slow(input)
}

// keys carries the keys in the order in which they were met.
func (c tableCoder) keys() {
	t := c.t
	order := t.reg.order
	n := c.Len(len(order), t.opts.tracked())
	for i := range n {
		var key string
		if !c.Reads() {
			key = order[i]
		}
		c.key(&key)
		if c.Reads() {
			t.reg.add([]byte(key))
		}
	}
	t.keys.version = t.reg.version.Load()
}

// key carries a key, which has as many values as a row's.
func (c tableCoder) key(key *string) {
	c.Text(key, maxLongKey)
	if c.Reads() && *key != otherKey && strings.Count(*key, "\x00") < len(c.t.by.fields)-1 {
		c.Fail("the key of a row lacks a value")
	}
}

// rows carries the rows, sorted by key.
func (c tableCoder) rows() {
	t := c.t
	var rows []*row
	t.rows.each(func(w *row) {
		if w.count > 0 { // else frequent until its row was there
			rows = append(rows, w)
		}
	})
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.key, b.key) })
	n := c.Len(len(rows), t.opts.tracked()+t.opts.mostFrequent()+2*len(steps))
	var left uint64
	if c.Reads() {
		left = t.counts.records
	}
	before := ""
	for i := range n {
		w := newRow("", 0)
		if !c.Reads() {
			w = rows[i]
		}
		c.row(w)
		if !c.Reads() {
			continue
		}
		if i > 0 && w.key <= before || w.count > left {
			c.Fail("rows that do not add up")
			return
		}
		before, left = w.key, left-w.count
		w.hash = t.rows.hash([]byte(w.key))
		t.rows.put(w)
	}
	if c.Reads() && left > 0 {
		c.Fail("requests in no row")
	}
}

// row carries a row.
func (c tableCoder) row(w *row) {
	c.Flag(&w.frequent)
	key := strings.TrimPrefix(w.key, w.mark())
	c.key(&key)
	if c.Reads() {
		w.key = w.mark() + key
	}
	c.Uint(&w.count, 1<<50)
	for _, n := range []*uint64{&w.bytes, &w.minBytes, &w.maxBytes, &w.requestBytes, &w.upstream, &w.squares.hi,
		&w.squares.lo} {
		c.Uint(n, math.MaxUint64)
	}
	for _, n := range []*uint64{&w.upstreams, &w.bots, &w.timed} {
		c.Uint(n, w.count)
	}
	c.Int(&w.first)
	c.Int(&w.last)
	w.codeCodes(c.Coder)
	w.series.code(c.Coder, c.t.rows.most, w.count)
	w.codeLatency(c.Coder)
	if c.Reads() && (w.count == 0 || w.minBytes > w.maxBytes || (w.first <= w.last) != (len(w.series.buckets) > 0)) {
		c.Fail("a row that contradicts itself")
	}
}

// mark is what stands before the key of a row that is there because it is frequent.
func (w *row) mark() string {
	if w.frequent {
		return frequentMark
	}
	return ""
}

// codeCodes carries the status codes, sorted.
func (w *row) codeCodes(c *logs.Coder) {
	codes := slices.SortedFunc(slices.Values(w.codes), func(a, b codeCount) int { return cmp.Compare(a.code, b.code) })
	n := c.Len(len(codes), 1<<16)
	left, before := w.count, int64(math.MinInt64)
	for i := range n {
		var code int64
		var count uint64
		if !c.Reads() {
			code, count = int64(codes[i].code), codes[i].count
		}
		c.Int(&code)
		c.Uint(&count, left)
		if c.Reads() {
			if code <= before || count == 0 || int64(int(code)) != code {
				c.Fail("status codes that do not add up")
			}
			w.codes = append(w.codes, codeCount{int(code), count})
		}
		before, left = code, left-min(count, left)
	}
	if c.Reads() && left > 0 {
		c.Fail("requests without a status code")
	}
}

// code carries the buckets of a series, of which there are at most so many, with so many requests.
func (s *series) code(c *logs.Coder, most int, requests uint64) {
	n := c.Len(len(s.buckets), most)
	before := int64(math.MinInt64)
	for i := range n {
		var b bucket
		if !c.Reads() {
			b = s.buckets[i]
		}
		count, failed := uint64(b.count), uint64(b.failed)
		c.Int(&b.at)
		c.Uint(&count, min(requests, math.MaxUint32))
		c.Uint(&failed, count)
		if c.Reads() {
			if i > 0 && b.at <= before || count == 0 {
				c.Fail("a series out of order")
			}
			s.buckets = append(s.buckets, bucket{b.at, uint32(count), uint32(failed)})
		}
		before = b.at
	}
}

// codeLatency carries the request times: those of few as they are, of more as a histogram.
func (w *row) codeLatency(c *logs.Coder) {
	if w.timed <= fewLatencies {
		few := w.few[:w.timed]
		slices.Sort(few)
		for i := range few {
			u := uint64(few[i])
			c.Uint(&u, math.MaxInt64)
			few[i] = time.Duration(u)
		}
		if c.Reads() && !slices.IsSorted(few) {
			c.Fail("request times out of order")
		}
		return
	}
	var b []byte
	if !c.Reads() {
		b, _ = w.latency.AppendBinary(nil) // it never fails
	}
	c.Bytes(&b, maxEncoded)
	if !c.Reads() {
		return
	}
	w.latency = new(histogram.Histogram)
	if err := w.latency.UnmarshalBinary(b); err != nil {
		c.Fail("%s", err)
	} else if w.latency.Count() != w.timed {
		c.Fail("a histogram of %d of %d request times", w.latency.Count(), w.timed)
	}
}

// maxEncoded is more than the encoding of any histogram takes.
const maxEncoded = 256 << 10

// slow carries the slowest requests, the slowest first.
func (c tableCoder) slow(input int) {
	t := c.t
	all := t.slow.sorted()
	n := c.Len(len(all), t.slow.max)
	for i := range n {
		s := slow{place: place{input: input}}
		if !c.Reads() {
			s = all[i]
		}
		s.code(c.Coder)
		if !c.Reads() {
			continue
		}
		if i > 0 && !all[i-1].before(&s) {
			c.Fail("slow requests out of order")
			return
		}
		all = append(all, s)
		t.slow.add(s)
	}
}

func (s *slow) code(c *logs.Coder) {
	latency, upstream, status := int64(s.latency), int64(s.upstream), int64(s.status)
	for _, n := range []*int64{&latency, &upstream, &s.place.offset, &s.at, &status} {
		c.Int(n)
	}
	c.Flag(&s.stamped)
	c.Uint(&s.bytes, math.MaxUint64)
	c.Bytes(&s.route, maxLongKey)
	c.Bytes(&s.method, maxKeyPart)
	c.Bytes(&s.uri, maxSlowURI)
	if c.Reads() {
		s.latency, s.upstream, s.status = time.Duration(latency), time.Duration(upstream), int(status)
		if s.place.offset < 0 || bytes.IndexByte(s.route, separator) >= 0 {
			c.Fail("a slow request that stands nowhere")
		}
	}
}
