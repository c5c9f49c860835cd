package part

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// A Part is what of a run lies in some of its seconds. It shares with the run what it does not change.
type Part struct {
	Of       *kasoku.Recording // the whole run
	Interval kasoku.Interval   // of the run's clock, whole seconds
	run      func() *kasoku.Recording

	Load      *kasoku.Tally // of kasoku's own load; nil without one
	Endpoints []Endpoint    // the one that took the most time first
	Queries   []Query       // the one that took the most time first
	Messages  []Message     // the most frequent first
}

// An Endpoint is what the access log holds of one endpoint.
type Endpoint struct {
	Host, Method, Route string
	Count               uint64
	Failed              uint64               // 5xx
	Latency             *histogram.Histogram // nil when it is not known by the second
}

// A Query is what is known of one class of statements.
type Query struct {
	Host, ID, Fingerprint string
	Calls                 uint64
	Total                 time.Duration
	Rows                  uint64               // sent
	Latency               *histogram.Histogram // nil when it is not known by the second
}

// A Message is a pattern of messages.
type Message struct {
	Host, Level, Pattern string
	Count                uint64
}

// An EmptyError is of a stretch that has no second of the run.
type EmptyError struct {
	Asked  kasoku.Interval
	Length time.Duration // of the run
}

func (e *EmptyError) Error() string {
	return fmt.Sprintf("no second of the run lies between %s and %s: it is %s long", e.Asked.From, e.Asked.To,
		e.Length.Round(time.Millisecond))
}

// Of cuts the seconds of an interval out of a run, which stays as it is. The interval is cut to the run's length
// and widened to whole seconds. It fails with an [EmptyError] where nothing is left.
func Of(rec *kasoku.Recording, length time.Duration, iv kasoku.Interval) (*Part, error) {
	asked := iv
	last := (length + time.Second - 1).Truncate(time.Second)
	iv.From = max(iv.From, 0).Truncate(time.Second)
	iv.To = min((min(iv.To, last) + time.Second - 1).Truncate(time.Second), last)
	if iv.Empty() {
		return nil, &EmptyError{asked, length}
	}
	short := excerpt(rec, iv)
	p := &Part{Of: rec, Interval: iv, run: sync.OnceValue(func() *kasoku.Recording { return charted(short, rec, iv) })}
	if len(rec.Seconds) > 0 {
		p.Load = short.Tally(0)
	}
	from, to := int(iv.From/time.Second), int(iv.To/time.Second)
	for i := range rec.Endpoints {
		if e := endpointIn(&rec.Endpoints[i], from, to); e.Count > 0 {
			p.Endpoints = append(p.Endpoints, e)
		}
	}
	for i := range rec.Queries {
		if q := queryIn(&rec.Queries[i], from, to); q.Calls > 0 {
			p.Queries = append(p.Queries, q)
		}
	}
	for i := range rec.Messages {
		m := &rec.Messages[i]
		one := Message{Host: m.Host, Level: m.Level, Pattern: m.Pattern}
		eachIn(m.Seconds, from, to, func(_ int, n uint64) { one.Count += n })
		if one.Count > 0 {
			p.Messages = append(p.Messages, one)
		}
	}
	p.sort()
	return p, nil
}

// Run returns the run as if it had been recorded in these seconds alone: its clock begins with them. It has what was
// sampled, events, load and counts of endpoints by the second; neither findings nor tables of logs. It is made when it
// is asked for first, since tables do without it.
func (p *Part) Run() *kasoku.Recording { return p.run() }

func (p *Part) sort() {
	slices.SortStableFunc(p.Endpoints, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(b.Latency.Sum(), a.Latency.Sum()), cmp.Compare(b.Count, a.Count))
	})
	slices.SortStableFunc(p.Queries, func(a, b Query) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Calls, a.Calls))
	})
	slices.SortStableFunc(p.Messages, func(a, b Message) int { return cmp.Compare(b.Count, a.Count) })
}

// eachIn calls f for the seconds from <= s < to that there are, in no order. It looks at no more of them than there
// are, or than lie in the stretch.
func eachIn[T any](seconds map[int]T, from, to int, f func(second int, one T)) {
	if to-from < len(seconds)/2 {
		for s := from; s < to; s++ {
			if one, ok := seconds[s]; ok {
				f(s, one)
			}
		}
		return
	}
	for s, one := range seconds {
		if s >= from && s < to {
			f(s, one)
		}
	}
}

// endpointIn adds up an endpoint's seconds from <= s < to.
func endpointIn(e *kasoku.Endpoint, from, to int) Endpoint {
	out := Endpoint{Host: e.Host, Method: e.Method, Route: e.Route}
	eachIn(e.Seconds, from, to, func(_ int, n kasoku.EndpointSecond) {
		out.Count, out.Failed = out.Count+n.Count, out.Failed+n.Failed
	})
	if e.BySecond != nil {
		out.Latency = e.BySecond.Between(int64(from), int64(to))
	}
	return out
}

// queryIn adds up the seconds from <= s < to of a class of statements.
func queryIn(q *kasoku.Query, from, to int) Query {
	out := Query{Host: q.Host, ID: q.ID, Fingerprint: q.Fingerprint}
	eachIn(q.Seconds, from, to, func(_ int, n kasoku.QuerySecond) {
		out.Calls, out.Total, out.Rows = out.Calls+n.Calls, out.Total+n.Total, out.Rows+n.Rows
	})
	if q.BySecond != nil {
		out.Latency = q.BySecond.Between(int64(from), int64(to))
	}
	return out
}

// Complete reports whether the times of all endpoints and all classes of statements are known by the second.
func (p *Part) Complete() bool {
	return !slices.ContainsFunc(p.Endpoints, func(e Endpoint) bool { return e.Latency == nil }) &&
		!slices.ContainsFunc(p.Queries, func(q Query) bool { return q.Latency == nil })
}
