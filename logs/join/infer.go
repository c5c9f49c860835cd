package join

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// edge is how far a statement may lie outside its request's times in µs: access
// logs have milliseconds, and the clocks are read at different moments.
const edge = 2000

// givenUp is nginx's status for a request whose client went away. What it runs
// goes on after its end.
const givenUp = 499

// work is what Infer holds while it runs.
type work struct {
	in        *Input
	endpoints int
	requests  []Request // of the window, by start
	events    []Event   // of the window, by connection and in its order
	count     []uint64  // of requests, by endpoint
	exact     bool      // all events' times are known to the µs
	chunks    []chunk
	member    []int32 // indexes into events, chunk by chunk
	kinds     []kind
	runType   []bool // by query
	reqValues values
	res       *Result
}

func inferPairs(ctx context.Context, in Input, o Options) (*Result, error) {
	w := &work{in: &in, endpoints: len(in.Endpoints), res: &Result{}}
	if in.Resolution > MaxResolution {
		w.res.Refused = "the statements' times are known to " + in.Resolution.String() + " only"
		return w.res, ctx.Err()
	}
	w.window(o)
	if w.res.Refused != "" {
		return w.res, ctx.Err()
	}
	w.sharpen()
	w.connections()
	w.loops()
	w.group()
	w.chunk()
	w.reqValues = rareValues(w.requests)
	fit := w.candidates()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := fit.run(ctx); err != nil {
		return nil, err
	}
	w.pairs(fit)
	w.links()
	return w.res, ctx.Err()
}

// window chooses the time that is looked at and takes what lies in it.
func (w *work) window(o Options) {
	in, most := w.in, o.MaxEvents
	if most <= 0 {
		most = 100_000
	}
	from, to := in.From, in.To
	if from == 0 && to == 0 {
		from, to = w.both()
	}
	starts := make([]int64, 0, len(in.Events))
	for i := range in.Events {
		if e := &in.Events[i]; w.sane(e) && e.Start-e.Slack >= from && e.End <= to {
			starts = append(starts, e.Start)
		}
	}
	if len(starts) > most {
		slices.Sort(starts)
		first := (len(starts) - most) / 2
		from, to = starts[first], starts[first+most-1]
	}
	w.res.From, w.res.To = from, to
	w.count = make([]uint64, w.endpoints)
	for i := range in.Requests {
		r := in.Requests[i]
		if r.Endpoint < 0 || int(r.Endpoint) >= w.endpoints || r.End < r.Start || r.Start <= -latest ||
			r.End >= latest ||
			r.End < from || r.Start > to {
			continue
		}
		if r.Status == givenUp {
			w.res.GivenUp++
			continue
		}
		w.requests = append(w.requests, r)
		w.count[r.Endpoint]++
	}
	for i := range in.Events {
		if e := &in.Events[i]; w.sane(e) && e.Start-e.Slack >= from && e.End <= to {
			w.events = append(w.events, *e)
		}
	}
	w.res.Requests, w.res.Events = uint64(len(w.requests)), uint64(len(w.events))
	switch {
	case len(w.requests) == 0:
		w.res.Refused = "there is no request at the time of the statements"
	case len(w.events) == 0:
		w.res.Refused = "there is no statement at the time of the requests"
	}
	slices.SortFunc(w.requests, compareRequests)
	slices.SortFunc(w.events, compareEvents)
}

// latest bounds times so that no sum of them overflows: 30,000 years.
const latest = 1 << 60

// sane reports whether an event can be used.
func (w *work) sane(e *Event) bool {
	return e.Query >= 0 && int(e.Query) < len(w.in.Queries) && e.Start > -latest && e.End >= e.Start &&
		e.End < latest &&
		e.Slack >= 0 && e.Slack <= 2*MaxResolution.Microseconds()
}

// both is the time that has requests and events.
func (w *work) both() (from, to int64) {
	var r, e span
	for i := range w.in.Requests {
		r.add(w.in.Requests[i].Start, w.in.Requests[i].End)
	}
	for i := range w.in.Events {
		e.add(w.in.Events[i].Start-w.in.Events[i].Slack, w.in.Events[i].End)
	}
	return max(r.from, e.from) - edge, min(r.to, e.to) + edge
}

// span is a time that grows.
type span struct {
	from, to int64
	any      bool
}

func (s *span) add(from, to int64) {
	if !s.any {
		*s = span{from, to, true}
	}
	s.from, s.to = min(s.from, from), max(s.to, to)
}

func compareRequests(a, b Request) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Endpoint, b.Endpoint),
		slices.Compare(a.Literals, b.Literals))
}

// compareEvents orders a connection's events as they came. It is total but for
// events that nothing distinguishes, so that the order of the input does not matter.
func compareEvents(a, b Event) int {
	if c := cmp.Or(cmp.Compare(a.Conn, b.Conn), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Start, b.Start)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Slack, b.Slack), cmp.Compare(a.Query, b.Query),
		cmp.Compare(a.RowsSent, b.RowsSent), slices.Compare(a.Literals, b.Literals))
}

// sharpen narrows when events can have been: on a connection one ends before the
// next begins. What contradicts that is left as it was.
func (w *work) sharpen() {
	w.exact = true
	for i := range w.events {
		if w.events[i].Slack > 0 {
			w.exact = false
		}
	}
	if w.exact {
		return
	}
	ev := w.events
	w.rank()
	for i := len(ev) - 2; i >= 0; i-- {
		if ev[i].Conn != ev[i+1].Conn || ev[i].Conn == 0 {
			continue
		}
		if late := ev[i].End - ev[i+1].Start; late > 0 && late <= ev[i].Slack {
			ev[i].Start, ev[i].End, ev[i].Slack = ev[i].Start-late, ev[i].End-late, ev[i].Slack-late
		}
	}
	for i := 1; i < len(ev); i++ {
		if ev[i].Conn != ev[i-1].Conn || ev[i].Conn == 0 {
			continue
		}
		earliest := ev[i-1].End - ev[i-1].Slack
		if early := earliest - (ev[i].Start - ev[i].Slack); early > 0 && early <= ev[i].Slack {
			ev[i].Slack -= early
		}
	}
}

// rank narrows the times of events that were seen at one look: the log has them in
// the order of their ends, so that the tenth of twenty ended about half-way since
// the look before. Of n, a uniform one's place is known to 1/√n of the time.
func (w *work) rank() {
	order := make([]int32, 0, len(w.events))
	for i := range w.events {
		if w.events[i].Slack > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &w.events[a], &w.events[b]
		return cmp.Or(cmp.Compare(x.End, y.End), cmp.Compare(x.Seq, y.Seq), cmp.Compare(a, b))
	})
	for i := 0; i < len(order); {
		first := &w.events[order[i]]
		stamp, slack := first.End, first.Slack
		n, seqs := 1, first.Seq
		distinct := true
		for i+n < len(order) && w.events[order[i+n]].End == stamp && w.events[order[i+n]].Slack == slack {
			distinct = distinct && w.events[order[i+n]].Seq > seqs
			seqs = w.events[order[i+n]].Seq
			n++
		}
		wide := int64(float64(slack) / math.Sqrt(float64(n)))
		for k := 0; distinct && k < n; k++ {
			e := &w.events[order[i+k]]
			middle := stamp - slack + slack*int64(2*k+1)/int64(2*n)
			latest, earliest := min(middle+wide, stamp), max(middle-wide, stamp-slack)
			e.Start, e.End, e.Slack = e.Start-(stamp-latest), latest, latest-earliest
		}
		i += n
	}
}
