package ptquerydigest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/logs/buckets"
)

// A digest is what a report is about: the classes of one grouping and all of them
// together.
type digest struct {
	groupBy string // fingerprint, distill, user …
	orderBy order
	files   []file
	overall class
	classes []*class // in the order of the report
	unique  int      // classes, also those without what classes are ordered by
	notice  string   // printed before the report
}

// A file is an input as the report names it.
type file struct {
	name string
	size int64 // bytes; -1 when it is no file
}

// A class is what events have in common, and what they add up to.
type class struct {
	key    string // the value that they are grouped by
	item   string // verbs and tables
	calls  uint64
	ranked uint64 // of them, those that have what classes are ordered by: a report counts no others
	span   span
	worst  sample
	last   int64       // greatest offset of an event
	attrs  []attribute // by name
	rank   int
	reason string // limit or outliers, empty when the class is not reported
}

// A span is the first and the last time in a log, as the log writes them.
type span struct {
	first, last         time.Time
	firstText, lastText string
}

// seconds is how long it is, 0 when there is no time.
func (s *span) seconds() float64 { return s.last.Sub(s.first).Seconds() }

// A sample is the event that stands for a class.
type sample struct {
	statement string
	at        time.Time
	ts        string // as logged, empty when the log has none
	time      time.Duration
	queryTime string  // as logged
	db        string  // default database, empty when not logged
	offset    int64   // bytes, as pt-query-digest counts them
	value     float64 // by which the samples are compared
	seen      bool
}

// A kind is what the values of an attribute are.
type kind uint8

// The kinds of attributes.
const (
	isNumber kind = iota
	isYesNo
	isText
)

// An attribute is a named value of the events of a class.
type attribute struct {
	name   string
	kind   kind
	stats  *buckets.Stats // of numbers
	sum    buckets.Summary
	yes, n uint64 // of Yes and No
	values []value
}

// A value is a text and how many events have it.
type value struct {
	text string
	n    uint64
}

// find returns an attribute, nil when no event has it.
func (c *class) find(name string) *attribute {
	i, ok := slices.BinarySearchFunc(c.attrs, name, func(a attribute, name string) int {
		return strings.Compare(a.name, name)
	})
	if !ok {
		return nil
	}
	return &c.attrs[i]
}

// number returns the figures of a numeric attribute.
func (c *class) number(name string) (buckets.Summary, bool) {
	if a := c.find(name); a != nil && a.kind == isNumber {
		return a.sum, true
	}
	return buckets.Summary{}, false
}

// ofKind returns the attributes of a kind, in order of their names.
func (c *class) ofKind(k kind) []*attribute {
	var out []*attribute
	for i := range c.attrs {
		if c.attrs[i].kind == k {
			out = append(out, &c.attrs[i])
		}
	}
	return out
}

// qps is how many events there were per second.
func (c *class) qps() float64 {
	if s := c.span.seconds(); s > 0 {
		return float64(c.ranked) / s
	}
	return 0
}

// concurrency is the sum of an attribute, which should be the time, per second.
func (c *class) concurrency(attr string) float64 {
	t, _ := c.number(attr)
	if s := c.span.seconds(); s > 0 {
		return t.Sum / s
	}
	return 0
}

// vm is the variance-to-mean ratio of Query_time.
func (c *class) vm() float64 {
	t, _ := c.number(queryTime)
	if t.Mean > 0 {
		return t.Stddev * t.Stddev / t.Mean
	}
	return 0
}

// The attributes that rules know by name.
const (
	queryTime   = "Query_time"
	queryLength = "Query_length"
	rateLimit   = "rate_limit" // such as session:10, of a server that logs one in ten
)

// An order says by what classes are ranked: a figure of an attribute.
type order struct {
	attr, figure string
}

var defaultOrder = order{queryTime, "sum"}

// of returns the figure of a class.
func (o order) of(c *class) float64 {
	if o.figure == "cnt" {
		return float64(c.ranked)
	}
	s, _ := c.number(o.attr)
	switch o.figure {
	case "min":
		return s.Min
	case "max":
		return s.Max
	}
	return s.Sum
}

// orderedBy sets what classes are ordered by. One that has none of it is left out, and
// when no event has, it is Query_time.
func (d *digest) orderedBy(o order) {
	d.orderBy, d.unique = o, len(d.classes)
	if _, ok := d.overall.number(o.attr); !ok {
		d.orderBy.attr = queryTime
		d.notice = fmt.Sprintf("--order-by attribute %s doesn't exist, using %s:%s", o.attr, defaultOrder.attr,
			defaultOrder.figure)
	}
	for _, c := range append(d.classes, &d.overall) {
		s, _ := c.number(d.orderBy.attr)
		c.ranked = s.Count
	}
	d.classes = slices.DeleteFunc(d.classes, func(c *class) bool { return c.ranked == 0 })
}

// sort ranks the classes. Of equal ones the greatest offset of an event decides, as text
// from the greatest, as in pt-query-digest; then the key.
func (d *digest) sort() {
	slices.SortStableFunc(d.classes, func(a, b *class) int {
		return cmp.Or(cmp.Compare(d.orderBy.of(b), d.orderBy.of(a)),
			strings.Compare(formatInt(b.last), formatInt(a.last)),
			strings.Compare(b.key, a.key))
	})
	for i, c := range d.classes {
		c.rank = i + 1
	}
}
