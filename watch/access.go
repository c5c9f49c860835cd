package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/lines"
)

// accessName is the source of what access logs gain.
const accessName = "accesslog"

const (
	// accessPerSec bounds what is read of access logs, in bytes a second: some 15,000
	// lines, which take a hundredth of a core.
	accessPerSec = 3 << 20
	// accessBurst is for how many seconds what was not used of it is kept: a log that is
	// written once a second is as well read as one that is written all the time.
	accessBurst = 2
	// sliceLong is the stretch in which requests are added up by route, two of which are
	// what a screen shows.
	sliceLong = 5 * time.Second
	// mostRoutes is how many routes are distinguished, mostLooked how many a screen shows.
	mostRoutes = 200
	mostLooked = 100
	// mostLooks bounds how many stretches can be scrolled back to: an hour and a half.
	mostLooks = 1000
	// anewAfter is how long routes that are gone keep others from a row of their own.
	anewAfter = 5 * time.Minute
	// pasts is in how many parts what is older than what rules look at is kept: each has
	// histograms of all routes.
	pasts = 2
	// buffered is from how long after its own time on a line came out of a buffer.
	buffered = 2 * time.Second
	// lateFor is how long after the last such line that is reported.
	lateFor = time.Minute
	// longestBuffer is what servers keep lines back at most.
	longestBuffer = time.Minute
)

// tooFast is the reason of the gap in which a log is not read whole.
var tooFast = fmt.Sprintf("the access logs grow by more than %d MiB/s, and no more is read: rates are scaled up, routes are of a part", accessPerSec>>20)

// An access follows access logs from where they end when it begins. It is a source:
// what came since the last tick, by class of status. And it adds up what came by route,
// as a run does, in stretches that can be forgotten. Memory is bounded by the routes
// that are distinguished.
//
// A request counts when its line comes, or at its own time when that shows that the
// server kept it back in a buffer.
type access struct {
	start   time.Time // of the clock, with monotonic reading
	base    time.Time // without
	keep    time.Duration
	host    string
	missing func(kasoku.Gap)
	logs    []*accessFile

	mu    sync.Mutex // guards the fields below
	at    time.Duration
	spare float64 // bytes that may be read
	total accessCount
	now   *accesslog.Table // of the stretch that began at begun
	begun time.Duration
	fresh time.Duration // when the tables began to decide about routes anew
	last  []stretch     // the closed ones that rules look at, oldest first
	past  []stretch     // those before, in longer ones
	looks []routeLook
	cut   time.Duration // when a part was skipped last; 0: never
	late  time.Duration // when a line came last that had waited in a buffer; 0: never
}

// accessFile is one of the logs.
type accessFile struct {
	path string
	gone int         // ticks since it was there
	cut  int64       // bytes that were skipped
	tail *lines.Tail // nil until it could be opened
	read *accessformat.Follower
}

// accessCount is what lines said.
type accessCount struct {
	class [6]float64 // requests by the first digit of their status; 0: another one, or none
	bytes float64
}

// A stretch is what came in a part of the time.
type stretch struct {
	from, to time.Duration
	table    *accesslog.Table
}

// A routeLook is what routes did in the seconds (from, to].
type routeLook struct {
	from, to int
	rows     []routeRow
}

// A routeRow is one of them.
type routeRow struct {
	method, route         string
	count, client, failed uint64 // client: 4xx, failed: 5xx
	bytes                 uint64
	timed                 bool
	middle, slow          time.Duration // half and 99 % of the requests were as fast
}

// newAccess follows the logs from now on, on the clock of start.
func newAccess(paths []string, start time.Time, keep time.Duration, missing func(kasoku.Gap)) *access {
	a := &access{start: start, base: start.Round(0), keep: keep, missing: missing, spare: accessPerSec}
	a.now = a.newTable()
	for _, path := range paths {
		l := &accessFile{path: path, read: a.now.Follower(path, nil)}
		_ = l.open() // what it lacks is reported at each tick
		a.logs = append(a.logs, l)
	}
	return a
}

// newTable returns a table that decides about routes anew.
func (a *access) newTable() *accesslog.Table {
	return accesslog.NewTable(accesslog.Options{
		Detail: true, MaxRoutes: mostRoutes, Clock: func(t time.Time) time.Duration { return t.Sub(a.base) },
	})
}

// open begins at the end of the log, which may not be there yet.
func (l *accessFile) open() (err error) {
	if l.tail != nil {
		return nil
	}
	if l.tail, err = lines.NewTail(l.path); err != nil {
		return err
	}
	l.read.Peek(&lines.Input{Path: l.path})
	return nil
}

// Name returns "accesslog".
func (a *access) Name() string { return accessName }

// Close closes the logs.
func (a *access) Close() error {
	var errs []error
	for _, l := range a.logs {
		if l.tail != nil {
			errs = append(errs, l.tail.Close())
		}
	}
	return errors.Join(errs...)
}

// Collect reads what the logs gained. One that cannot be read is a gap by itself.
func (a *access) Collect(_ context.Context, f *kasoku.Frame) error {
	for _, g := range a.take(time.Now(), f) {
		a.missing(g)
	}
	return nil
}

// take reads at a moment, and returns what is missing.
func (a *access) take(now time.Time, f *kasoku.Frame) (gaps []kasoku.Gap) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := now.Sub(a.start)
	took := max(at-a.at, 0)
	a.spare = min(a.spare+took.Seconds()*accessPerSec, max(accessBurst, took.Seconds())*accessPerSec)
	gap := func(reason string) {
		gaps = append(gaps, kasoku.Gap{Host: a.host, Source: accessName, Reason: reason,
			Interval: kasoku.Interval{From: at - took, To: at}})
	}
	a.at = at
	latency := histogram.NewExact(time.Millisecond)
	var skipped int64
	for i, l := range a.logs {
		var came accessCount
		each := func(r *accessformat.Record) { came.add(r, latency); a.add(r, now) }
		// One that grows fast leaves the others their share.
		n, beyond, err := l.next(int64(a.spare)/int64(len(a.logs)-i), each)
		a.spare = max(a.spare-float64(n), 0)
		scale := 1.0
		if skipped += beyond; beyond > 0 && n > 0 {
			scale = float64(n+beyond) / float64(n)
		}
		a.total.merge(&came, scale)
		if err != nil {
			gap(err.Error())
		}
	}
	if skipped > 0 {
		a.cut = at
		gap(tooFast)
	}
	a.total.samples(f)
	if latency.Count() > 0 {
		f.Gauge("p50", "", "s", latency.Quantile(0.5).Seconds())
		f.Gauge("p99", "", "s", latency.Quantile(0.99).Seconds())
	}
	if at.Round(time.Second)-a.begun.Round(time.Second) >= sliceLong {
		a.turn(at)
	}
	return gaps
}

// next reads what the log gained, at most so many bytes, and returns how many those
// were and how many there were beyond.
func (l *accessFile) next(most int64, each func(*accessformat.Record)) (read, skipped int64, err error) {
	if err := l.open(); err != nil {
		return 0, 0, err
	}
	dropped, records := l.read.Account().Dropped, l.read.Account().Records
	_, skipped, err = l.tail.NextWithin(most, func(line []byte) {
		read += int64(len(line)) + 1
		l.read.Line(line, each)
	})
	l.cut += skipped
	l.read.Settle(each)
	l.read.Note(l.tail.Note())
	if err != nil {
		return read, skipped, err
	}
	_, missing := pathwalk.Stat(l.path)
	if refused := new(pathwalk.RefusedError); errors.As(missing, &refused) {
		return read, skipped, missing
	}
	if missing == nil || read > 0 {
		l.gone = 0
	} else if l.gone++; l.gone > 1 { // once it may be between two steps of a rotation
		return 0, skipped, fmt.Errorf("%s is missing", l.path)
	}
	if n := l.read.Account(); n.Dropped > dropped && n.Records == records {
		return read, skipped, fmt.Errorf("%s: lines of an unknown format", l.path)
	}
	return read, skipped, nil
}

// add counts a request.
func (c *accessCount) add(r *accessformat.Record, latency *histogram.Histogram) {
	class := r.Status / 100
	if class < 0 || class >= len(c.class) {
		class = 0
	}
	c.class[class]++
	c.bytes += float64(r.Bytes)
	if r.Timed() {
		latency.Record(r.Latency)
	}
}

func (c *accessCount) merge(o *accessCount, scale float64) {
	for i := range c.class {
		c.class[i] += o.class[i] * scale
	}
	c.bytes += o.bytes * scale
}

// classes are the names of the classes of status.
var classes = [6]string{"other", "1xx", "2xx", "3xx", "4xx", "5xx"}

// samples appends the counters; those of rare classes once there is something.
func (c *accessCount) samples(f *kasoku.Frame) {
	for i, name := range classes {
		if i >= 2 || c.class[i] > 0 {
			f.Counter("requests", name, "count", c.class[i])
		}
	}
	f.Counter("bytes", "", "bytes", c.bytes)
}

// add adds a request to its route, at the second in which its line came: the one that
// ends now. mu is held.
func (a *access) add(r *accessformat.Record, now time.Time) {
	at := a.at - time.Second/2
	if r.Stamped() {
		late := now.Sub(r.Time())
		late -= late.Round(15 * time.Minute) // the zones of the world
		if late >= buffered+r.Resolution && late <= longestBuffer {
			at, a.late = a.at-late, a.at
		}
	}
	r.Unix, r.Resolution, r.Has = a.base.Add(max(at, 0)).UnixNano(), 0, r.Has|accessformat.HasTime
	a.now.Add(r)
}

// turn closes the stretch. mu is held.
func (a *access) turn(at time.Duration) {
	done := stretch{a.begun, at, a.now}
	next := a.now.Next()
	look := next
	a.now, a.begun = next.Next(), at
	from := done.from
	if n := len(a.last); n > 0 && done.from == a.last[n-1].to {
		look.Merge(a.last[n-1].table)
		from = a.last[n-1].from
	}
	look.Merge(done.table)
	a.looks = append(a.looks, lookOf(look, int(from.Round(time.Second)/time.Second),
		int(at.Round(time.Second)/time.Second)))
	if look.Folded() > 0 && at-a.fresh > anewAfter { // routes of before make room
		a.now, a.fresh = a.newTable(), at
	}
	a.join()
	a.last = append(a.last, done)
	if len(a.looks) > mostLooks || len(a.looks) > 0 && at-time.Duration(a.looks[0].to)*time.Second > a.keep+
		time.Minute {
		a.looks = slices.Clone(a.looks[1:])
	}
	for len(a.last) > 0 && a.last[0].from < at-rulesWindow-sliceLong {
		a.retire(a.last[0])
		a.last = slices.Delete(a.last, 0, 1)
	}
}

// join makes one of the last two stretches when both are short, which needs half the
// room. mu is held.
func (a *access) join() {
	n := len(a.last)
	if n > 1 && a.last[n-1].to-a.last[n-2].from <= 2*sliceLong+time.Second {
		a.last[n-2].table.Merge(a.last[n-1].table)
		a.last[n-2].to = a.last[n-1].to
		a.last = a.last[:n-1]
	}
}

// retire adds a stretch to those that only a run file shows. mu is held.
func (a *access) retire(s stretch) {
	n := len(a.past)
	if n > 0 && s.to-a.past[n-1].from <= max(a.keep/pasts, time.Minute) {
		a.past[n-1].table.Merge(s.table)
		a.past[n-1].to = s.to
	} else {
		a.past = append(a.past, s)
	}
	for len(a.past) > 0 && a.past[0].to < s.to-a.keep {
		a.past = slices.Delete(a.past, 0, 1)
	}
}

// lookOf takes of a table what a screen shows: the routes with the most requests.
func lookOf(t *accesslog.Table, from, to int) routeLook {
	l := routeLook{from: from, to: to}
	all := t.Endpoints()
	slices.SortStableFunc(all, func(x, y kasoku.Endpoint) int {
		return int(min(max(int64(y.Count)-int64(x.Count), -1),
			1))
	})
	for i := range all[:min(len(all), mostLooked)] {
		e := &all[i]
		r := routeRow{method: e.Method, route: e.Route, count: e.Count, bytes: e.Bytes, failed: e.Failed()}
		for code, n := range e.Codes {
			if code/100 == 4 {
				r.client += n
			}
		}
		if r.timed = e.Latency != nil && e.Latency.Count() > 0; r.timed {
			r.middle, r.slow = e.Latency.Quantile(0.5), e.Latency.Quantile(0.99)
		}
		l.rows = append(l.rows, r)
	}
	return l
}

// endpoints returns the routes of the stretches since a moment, as a run that begins
// there has them, and whether they are all that came.
func (a *access) endpoints(from time.Duration) (out []kasoku.Endpoint, whole bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := a.now.Next()
	for _, s := range slices.Concat(a.past, a.last) {
		if (s.from+s.to)/2 >= from { // the more of it lies within
			sum.Merge(s.table)
		}
	}
	sum.Merge(a.now)
	out = sum.Endpoints()
	by := int(from / time.Second)
	for i := range out {
		e := &out[i]
		e.Host, e.First, e.Last = a.host, max(e.First-from, 0), max(e.Last-from, 0)
		seconds := make(map[int]kasoku.EndpointSecond, len(e.Seconds))
		for at, s := range e.Seconds {
			if at >= by {
				seconds[at-by] = s
			}
		}
		e.Seconds = seconds
	}
	return out, a.cut == 0 || a.cut < from
}

// snapshot returns what there is to be drawn.
func (a *access) snapshot() (looks []routeLook, late bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.looks), a.late > 0 && a.at-a.late <= lateFor
}

// windows describes the logs.
func (a *access) windows() (out []kasoku.LogWindow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.logs {
		w := l.read.Window()
		w.Host = a.host
		if l.cut > 0 {
			w.Note = strings.TrimPrefix(w.Note+"; "+unit.Bytes(uint64(l.cut))+
				" were skipped: it grew faster than it is read", "; ")
		}
		out = append(out, w)
	}
	return out
}
