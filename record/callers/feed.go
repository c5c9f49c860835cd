package callers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/join"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/mysql"
)

// A feed is the statements of a run with their times, as they are read from the
// slow log, and later the requests.
type feed struct {
	clock  func(time.Time) time.Duration
	stamps *stamps         // of the slow log; nil when it was not looked at
	window kasoku.Interval // that is looked at
	source string

	events   []join.Event // Query is the number of a class until settle
	seq      int64        // of the next statement
	literals []uint64     // of the events
	gaps     []time.Duration
	coarse   uint64 // statements whose time is not known better than to a second
	full     bool   // there were more than are looked at
	queries  []join.QueryInfo
	ids      []string // by index of a query

	requests  []join.Request
	untimed   uint64 // requests without a request time
	unstamped uint64 // requests whose time is not known better than to a second
	late      uint64 // requests that were seen long after they were logged: a buffer
	seen      uint64
	counts    []uint64 // requests that ended in the run, by endpoint
}

// Where the times of statements are from.
const (
	sourceFile  = "slow log"
	sourceTail  = "slow log, looked at every 5 ms"
	sourceTable = "slow log's table"
)

// newFeed returns the feed of a slow log. The access logs were read.
func (j *Joiner) newFeed(run *Run, mark lines.Mark) *feed {
	f := &feed{clock: run.Clock.Wall, source: sourceFile, window: busiest(run.Endpoints, run.Length)}
	if f.stamps = j.tail.of(mark, run.Start); f.stamps != nil && !j.times.Fine {
		f.source = sourceTail
	}
	if j.times.Table {
		f.source = sourceTable
	}
	return f
}

// busiest returns the part of a run that is looked at: the 30 s in which the most
// endpoints have enough requests, of equal ones those with the most requests.
func busiest(endpoints []kasoku.Endpoint, length time.Duration) kasoku.Interval {
	whole := kasoku.Interval{To: length}
	if length <= joinWindow {
		return whole
	}
	n := int(joinWindow / time.Second)
	counts := make([]uint64, len(endpoints))
	best, bestEnough, bestAll := 0, -1, uint64(0)
	for from := 0; from+n <= int(length/time.Second); from++ {
		enough, all := 0, uint64(0)
		for i := range endpoints {
			seconds := endpoints[i].Seconds
			if from == 0 {
				for k := range n {
					counts[i] += seconds[k].Count
				}
			} else {
				counts[i] += seconds[from+n-1].Count - seconds[from-1].Count
			}
			all += counts[i]
			if counts[i] >= join.LeastRequests {
				enough++
			}
		}
		if enough > bestEnough || enough == bestEnough && all > bestAll {
			best, bestEnough, bestAll = from, enough, all
		}
	}
	return kasoku.Interval{From: time.Duration(best) * time.Second, To: time.Duration(best)*time.Second + joinWindow}
}

// loggedLate is how long after a statement has ended its line may be written.
const loggedLate = time.Millisecond

// add takes a statement, with the number of its class.
func (f *feed) add(e *slowlog.Event, class int) {
	if e.Admin {
		return
	}
	f.seq++
	x := join.Event{Seq: f.seq, Conn: e.ThreadID, Query: int32(class), RowsSent: e.RowsSent, RowsExamined: e.RowsExamined}
	switch {
	case e.Resolution < time.Second:
		x.Start = f.clock(e.Start).Microseconds()
		x.End = x.Start + e.QueryTime.Microseconds()
	case f.stamps == nil:
		f.coarse++
		return
	default:
		from, to, ok := f.stamps.when(e.Offset)
		if !ok {
			f.coarse++
			return
		}
		x.End, x.Slack = to.Microseconds(), (to - from + loggedLate).Microseconds()
		x.Start = x.End - e.QueryTime.Microseconds()
	}
	if x.End < f.window.From.Microseconds() || x.Start > f.window.To.Microseconds() {
		return
	}
	if len(f.events) >= mostJoined {
		f.full = true
		return
	}
	if x.Slack > 0 {
		f.gaps = append(f.gaps, time.Duration(x.Slack)*time.Microsecond)
	}
	from := len(f.literals)
	f.literals = join.Literals(f.literals, e.Statement)
	x.Literals = f.literals[from:len(f.literals):len(f.literals)]
	f.events = append(f.events, x)
}

// settle gives the statements the queries that their classes are: those of one id
// are one.
func (f *feed) settle(classes []slowlog.Class) {
	index := map[string]int32{}
	numbers := make([]int32, len(classes)+1)
	for i := range classes {
		c := &classes[i]
		q, known := index[c.ID]
		if !known {
			q = int32(len(f.ids))
			index[c.ID] = q
			f.ids, f.queries = append(f.ids, c.ID), append(f.queries, join.InfoOf([]byte(c.Fingerprint)))
		}
		if c.Number > 0 && c.Number < len(numbers) {
			numbers[c.Number] = q
		}
	}
	for i := range f.events {
		f.events[i].Query = numbers[f.events[i].Query]
	}
}

// tablePart is the reading of MariaDB's slow log table, a file of CSV on the server.
var tablePart = contain.Part{Kind: contain.Log, Name: "row of the slow log's table"}

// readTable reads the statements of the window from the slow log's table. After a panic in
// one of its rows, which is returned, the others are left out: it is caught in the row, so
// that the connection is sound, by which the server's settings are put back.
func (f *feed) readTable(ctx context.Context, run *Run) error {
	o := slowlog.Options{Clock: run.Clock.Wall, Interval: f.window, Each: f.add, Kind: slowlog.Slow, Trailers: true}
	t := slowlog.NewTable(o)
	at := func(d time.Duration) time.Time { return run.Start.Add(d).Round(0) }
	var bug error
	err := run.SlowTable(ctx, at(f.window.From), at(f.window.To), mostJoined+1, func(e *mysql.TableEntry) {
		if bug != nil {
			return
		}
		bug = contain.Run(tablePart, func() {
			t.Add(&slowlog.Event{
				Start: e.Start, Resolution: time.Microsecond, Client: slowlog.Client{ThreadID: e.ThreadID},
				Cost:      slowlog.Cost{QueryTime: e.QueryTime, RowsSent: e.RowsSent, RowsExamined: e.RowsExamined},
				Statement: e.Statement,
			})
		})
	})
	if bug != nil {
		return bug
	}
	f.settle(t.Classes())
	return err
}

// resolution returns how well the times of nine in ten statements are known.
func (f *feed) resolution() time.Duration {
	if f.coarse > uint64(len(f.events)) {
		return time.Second
	}
	if len(f.gaps) == 0 {
		return time.Microsecond
	}
	slices.Sort(f.gaps)
	return f.gaps[len(f.gaps)*9/10].Round(100 * time.Microsecond)
}

// input reads the requests, and returns what the join is made of.
func (f *feed) input(tail *tailer, run *Run) (*join.Input, error) {
	names := make([]string, len(run.Endpoints))
	index := map[string]int32{}
	for i := range run.Endpoints {
		names[i] = run.Endpoints[i].Method + " " + run.Endpoints[i].Route
		index[names[i]] = int32(i)
	}
	f.counts = make([]uint64, len(names))
	for _, l := range run.Access {
		if err := f.readRequests(tail, run, l, index); err != nil {
			return nil, err
		}
		if run.Doubled && len(f.requests) > 0 {
			break
		}
	}
	if f.full { // the statements of the rest are not there
		last := slices.MaxFunc(f.events, func(a, b join.Event) int { return cmp.Compare(a.End, b.End) })
		f.window.To = min(f.window.To, time.Duration(last.End)*time.Microsecond)
	}
	return &join.Input{
		Endpoints: names, Queries: f.queries, Requests: f.requests, Events: f.events, Resolution: f.resolution(),
		From: f.window.From.Microseconds(), To: f.window.To.Microseconds(),
	}, nil
}

// readRequests reads the requests of an access log again, now that it is known
// which endpoints there are.
func (f *feed) readRequests(tail *tailer, run *Run, l AccessLog, index map[string]int32) (err error) {
	if run.Table == nil {
		return nil
	}
	src, err := lines.Since(l.Mark)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	stamps, place, locator := tail.of(l.Mark, run.Start), l.Zone.Place(run.Clock), run.Table.Locator()
	r := accessformat.NewReader(src, nil)
	for r.Scan() {
		rec := r.Record()
		x, ok := f.request(rec, stamps, place)
		if !ok {
			continue
		}
		end := time.Duration(x.End) * time.Microsecond
		method, route := locator.Locate(rec)
		if x.Endpoint, ok = index[method+" "+route]; !ok {
			if x.Endpoint, ok = index[" "+accesslog.Other]; !ok {
				continue
			}
		}
		if end >= 0 && end <= run.Length {
			f.counts[x.Endpoint]++
		}
		if end < f.window.From || x.Start > f.window.To.Microseconds() {
			continue
		}
		x.Literals = join.LiteralsOfURI(nil, rec.Path)
		f.requests = append(f.requests, x)
	}
	return nil // a log that cannot be read said so when it was read
}

// request returns a request whose time is known.
func (f *feed) request(rec *accessformat.Record, stamps *stamps, place func(time.Time) time.Duration) (x join.Request, ok bool) {
	f.seen++
	if !rec.Timed() {
		f.untimed++
		return x, false
	}
	var from, to time.Duration
	switch {
	case rec.Stamped() && rec.Resolution < time.Second:
		to = place(rec.Time())
		from = to
	case stamps != nil:
		if from, to, ok = stamps.when(rec.Offset); !ok {
			f.unstamped++
			return x, false
		}
		if rec.Stamped() && to-place(rec.Time()) > 2*time.Second+rec.Resolution {
			f.late++
		}
	default:
		f.unstamped++
		return x, false
	}
	from -= rec.Latency
	return join.Request{Start: from.Microseconds(), End: to.Microseconds(), Status: rec.Status}, true
}

// refused describes why the times of requests and statements cannot be joined.
func (f *feed) refused() string {
	switch {
	case f.untimed*2 > f.seen:
		return "the access log has no request times; nginx writes $request_time"
	case f.late*20 > f.seen:
		return "the access log is written late: nginx keeps it in a buffer (access_log … buffer=), or the times are " +
			"of another clock"
	case f.unstamped*2 > f.seen:
		return "the access log reports whole seconds, and no one looked at it while it was written; nginx writes $msec"
	case f.resolution() >= time.Second:
		return "time stamps 1 s: the slow log reports whole seconds, and no one looked at it while it was written"
	}
	if r := f.resolution(); r > join.MaxResolution {
		return fmt.Sprintf("time stamps %s, finer than %s are needed: this host had no time to look at the slow log "+
			"more often", r, join.MaxResolution)
	}
	return ""
}

// take fills in what the join says of itself, and returns the callers that it
// names.
func (f *feed) take(j *kasoku.Join, r *join.Result, run *Run) []kasoku.Caller {
	j.Refused, j.Requests, j.Statements, j.Background = r.Refused, r.Requests, r.Events, r.Background
	j.Connections, j.Busy, j.Saturated = r.Connections, r.Busy, r.Saturated
	if r.To > r.From {
		j.Interval = kasoku.Interval{From: time.Duration(r.From) * time.Microsecond, To: time.Duration(r.To) * time.Microsecond}
	}
	for _, l := range r.Loops {
		loop := kasoku.QueryLoop{Runs: l.Runs, Calls: l.Calls, Longest: l.Longest,
			Known: l.Known, Different: l.Different}
		for _, q := range l.Queries {
			loop.QueryIDs = append(loop.QueryIDs, f.ids[q])
		}
		j.Loops = append(j.Loops, loop)
	}
	classes := map[join.Class]kasoku.CallerClass{join.High: kasoku.CallerHigh, join.Possible: kasoku.CallerPossible, join.Group: kasoku.CallerGroup}
	var out []kasoku.Caller
	for _, p := range r.Pairs {
		if f.ids[p.Query] == "" {
			continue // rare statements together
		}
		e := &run.Endpoints[p.Endpoint]
		c := kasoku.Caller{
			Host: run.Host, QueryID: f.ids[p.Query], Method: e.Method, Route: e.Route, Class: classes[p.Class], Source: kasoku.FromOverlap,
			PerRequest: p.PerRequest, Least: p.Least, Most: p.Most, Requests: p.Requests, Calls: p.Calls, Share: p.Share,
			Likelihood: p.Likelihood, Decisive: p.Decisive, Loop: p.Loop, Slope: p.Slope, Correlation: p.Correlation,
		}
		if p.List >= 0 {
			c.List = f.ids[p.List]
		}
		if p.Group >= 0 {
			for _, other := range r.Groups[p.Group] {
				if other != p.Endpoint {
					c.With = append(c.With, run.Endpoints[other].Method+" "+run.Endpoints[other].Route)
				}
			}
			c.Note = "these endpoints are always called together"
		}
		out = append(out, c)
	}
	return out
}

// counted returns the endpoints with the requests that ended in the run, as their
// statements do: a log that has whole seconds has some of the second in which it
// ended. Where not all times are known the log's own counts are left.
func (f *feed) counted(endpoints []kasoku.Endpoint) []kasoku.Endpoint {
	if f.unstamped > 0 || f.untimed > 0 || len(f.counts) != len(endpoints) {
		return endpoints
	}
	out := slices.Clone(endpoints)
	for i := range out {
		out[i].Count = f.counts[i]
	}
	return out
}
