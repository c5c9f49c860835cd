package accesslog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/analyze"
	"github.com/kasoku/kasoku/histogram"
	"github.com/kasoku/kasoku/lines"
)

// defaultMaxRoutes bounds the endpoints of a table, and so its memory.
const defaultMaxRoutes = 10_000

// The routes of records that have none of their own. Neither starts with a
// slash, as all others do.
const (
	Other     = "(other routes)" // of endpoints beyond the bound
	NoRequest = "(no request)"   // what came was no HTTP request
)

// Options say how a log becomes a table. The zero value keeps everything and
// places it at offset 0.
type Options struct {
	Clock     analyze.Clock   // nil: every time is offset 0
	Interval  kasoku.Interval // of the run; what lies outside is counted and left out. Empty: nothing is outside
	Location  *time.Location  // of times without an offset; nil means the local one
	MaxRoutes int             // endpoints; 0 means 10,000
}

// A Table adds up records. It is not safe for concurrent use.
type Table struct {
	opts      Options
	endpoints map[string]*kasoku.Endpoint // by method, blank, route
	key       []byte
	records   uint64
	outside   uint64
	untimed   uint64
	folded    uint64
}

// NewTable returns an empty table.
func NewTable(o Options) *Table {
	if o.MaxRoutes <= 0 {
		o.MaxRoutes = defaultMaxRoutes
	}
	return &Table{opts: o, endpoints: map[string]*kasoku.Endpoint{}}
}

// Add adds a record.
func (t *Table) Add(r *Record) {
	at, inside := t.place(r)
	if !inside {
		t.outside++
		return
	}
	t.records++
	e := t.endpoint(r)
	if e.Count == 0 {
		e.First, e.Last = at, at
	}
	e.First, e.Last = min(e.First, at), max(e.Last, at)
	e.Count++
	e.Codes[r.Status]++
	e.Bytes += r.Bytes
	if r.Timed() {
		e.Latency.Record(r.Latency)
		e.Total += r.Latency
	} else {
		t.untimed++
	}
	s := e.Seconds[int(at/time.Second)]
	s.Count++
	if r.Status >= 500 {
		s.Failed++
	}
	e.Seconds[int(at/time.Second)] = s
}

func (t *Table) place(r *Record) (at time.Duration, inside bool) {
	if t.opts.Clock == nil || !r.Stamped() {
		return 0, true
	}
	return analyze.Place(t.opts.Interval, t.opts.Clock(r.Time()), r.Resolution)
}

// endpoint returns the row of a record.
func (t *Table) endpoint(r *Record) *kasoku.Endpoint {
	t.key = append(append(t.key[:0], r.Method...), ' ')
	if len(r.Method) == 0 && len(r.Path) == 0 {
		t.key = append(t.key, NoRequest...)
	} else {
		t.key = appendRoute(t.key, r.Path)
	}
	if e, ok := t.endpoints[string(t.key)]; ok {
		return e
	}
	if len(t.endpoints) >= t.opts.MaxRoutes {
		t.folded++
		t.key = append(t.key[:0], ' ')
		t.key = append(t.key, Other...)
		if e, ok := t.endpoints[string(t.key)]; ok {
			return e
		}
	}
	return t.insert(string(t.key))
}

// insert adds an empty row. Hostile bytes of the path end here: two routes that
// differ only in them keep two rows of one name.
func (t *Table) insert(key string) *kasoku.Endpoint {
	i := 0
	for key[i] != ' ' {
		i++
	}
	e := &kasoku.Endpoint{
		Method:  key[:i],
		Route:   string(analyze.AppendSafe(nil, []byte(key[i+1:]), 2*maxRoute)),
		Codes:   map[int]uint64{},
		Latency: histogram.New(),
		Seconds: map[int]kasoku.EndpointSecond{},
	}
	t.endpoints[key] = e
	return e
}

// Merge adds another table, of another log or of a part of the same one.
func (t *Table) Merge(o *Table) {
	for key, from := range o.endpoints {
		to := t.endpoints[key]
		if to == nil && len(t.endpoints) >= t.opts.MaxRoutes && key != " "+Other {
			t.folded += from.Count
			key = " " + Other
			to = t.endpoints[key]
		}
		if to == nil {
			to = t.insert(key)
			to.First, to.Last = from.First, from.Last
		}
		merge(to, from)
	}
	t.records += o.records
	t.outside += o.outside
	t.untimed += o.untimed
	t.folded += o.folded
}

func merge(to, from *kasoku.Endpoint) {
	to.First, to.Last = min(to.First, from.First), max(to.Last, from.Last)
	to.Count += from.Count
	to.Bytes += from.Bytes
	to.Total += from.Total
	to.Latency.Merge(from.Latency)
	for code, n := range from.Codes {
		to.Codes[code] += n
	}
	for second, n := range from.Seconds {
		s := to.Seconds[second]
		s.Count += n.Count
		s.Failed += n.Failed
		to.Seconds[second] = s
	}
}

// Endpoints returns the rows, the one that took the most time first. They share
// nothing with the table.
func (t *Table) Endpoints() []kasoku.Endpoint {
	out := make([]kasoku.Endpoint, 0, len(t.endpoints))
	for _, e := range t.endpoints {
		c := *e
		c.Codes, c.Seconds, c.Latency = maps.Clone(e.Codes), maps.Clone(e.Seconds), e.Latency.Clone()
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b kasoku.Endpoint) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Route, b.Route), cmp.Compare(a.Method, b.Method))
	})
	return out
}

// Records returns how many requests were added up.
func (t *Table) Records() uint64 { return t.records }

// Outside returns how many entries lie outside of the run's interval and were
// left out.
func (t *Table) Outside() uint64 { return t.outside }

// Untimed returns how many requests have no request time.
func (t *Table) Untimed() uint64 { return t.untimed }

// notes says what a reader of the table has to know.
func (t *Table) notes() []string {
	var out []string
	add := func(n uint64, format string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, n))
		}
	}
	add(t.outside, "%d entries outside the run were left out")
	add(t.untimed, "%d requests have no request time")
	add(t.folded, "%d requests to rare routes were folded into "+Other)
	return out
}

// Collect reads the lines to their end into a table, and describes what it
// read. On an error, both hold what was read before.
func Collect(src *lines.Window, o Options) (*Table, kasoku.LogWindow, error) {
	t, r := NewTable(o), NewReader(src, o.Location)
	for r.Scan() {
		t.Add(r.Record())
	}
	return t, r.Account().Window("accesslog", r.Format(), src, t.notes()...), r.Err()
}
