package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
)

// A Client sends one request at a time. Each worker of a [Driver] has its own.
type Client interface {
	// Do sends the request that hit names and fills in Code, BytesIn, BytesOut
	// and Err. It returns soon after ctx is cancelled. All calls are given the
	// same ctx.
	Do(ctx context.Context, hit *Hit)
}

// The errors of requests that the end of a load cut off or that never had a
// slot, as they stand in [Hit.Err].
var (
	ErrDrained     = errors.New("stopped: no answer in the time left to drain")
	ErrAborted     = errors.New("stopped at once")
	ErrBug         = errors.New("a bug of kasoku ended the request")
	ErrNotSentStop = errors.New("not sent: the load was stopped while the request waited for a free slot")
	ErrNotSentLate = errors.New("not sent: no slot was free before the timeout")
)

// The values of [kasoku.LoadSummary.Model].
const (
	ModelOpen   = "open loop"
	ModelClosed = "closed loop"
)

// DefaultDrain is how long requests in flight may go on after a stop.
const DefaultDrain = 2 * time.Second

// A Driver paces a load. One goroutine takes the requests from the schedule in
// order, waits until each is due and hands it to a worker that is free. There
// are as many workers as were ever needed at once, up to MaxInFlight. Above
// that, requests wait, and their wait counts in their latency.
//
// A Driver may be used for several loads, one after the other.
type Driver struct {
	MaxInFlight int           // requests in flight at once; must be positive
	GiveUp      time.Duration // a request that waited so long for a slot is not sent and counts as failed; 0: it waits on
	Drain       time.Duration // what requests in flight get after a stop; 0 means DefaultDrain

	// Hard, when not nil, aborts the requests in flight at once when cancelled.
	Hard context.Context

	NewClient func() Client

	newAlarm func(context.Context) alarm // overridable in tests, whose clock a timerfd does not follow
}

// Run drives the plan and returns the summary without the engine's name. See
// [Engine].
func (d *Driver) Run(ctx context.Context, p Plan, start time.Time, sink Sink) (kasoku.LoadSummary, error) {
	if err := p.Validate(); err != nil {
		return kasoku.LoadSummary{}, err
	}
	if d.MaxInFlight <= 0 {
		return kasoku.LoadSummary{}, fmt.Errorf("drive load: bad cap on requests in flight %d", d.MaxInFlight)
	}
	reqCtx, abort := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abort(nil)
	issueCtx, stopIssue := context.WithCancelCause(ctx)
	defer stopIssue(nil)
	if d.Hard != nil {
		defer context.AfterFunc(d.Hard, func() {
			stopIssue(context.Cause(d.Hard))
			abort(ErrAborted)
		})()
	}
	l := &drive{
		d: d, plan: p, start: start, sink: sink, order: NewOrder(p.Targets), names: newNames(p),
		issueCtx: issueCtx, stopIssue: stopIssue, reqCtx: reqCtx, abort: abort,
		jobs: make(chan Hit),
	}
	l.closed, _ = p.Schedule.(*ClosedLoop)
	l.aimCtx = issueCtx
	if p.Stream != nil {
		l.ahead = readAhead(p.Stream)
		defer l.ahead.stop()
		if l.closed != nil && l.closed.End < Forever {
			var cancel context.CancelFunc
			l.aimCtx, cancel = context.WithDeadline(issueCtx, start.Add(l.closed.End))
			defer cancel()
		}
	}
	meter := StartMeter()
	l.pace()
	close(l.jobs)
	l.drain()
	sum := l.summary()
	meter.Stop(&sum)
	return sum, nil
}

// A drive is one load under way.
type drive struct {
	d     *Driver
	plan  Plan
	start time.Time
	sink  Sink
	order *Order
	ahead *ahead // nil without a stream

	closed *ClosedLoop // nil in an open loop

	issueCtx  context.Context // cancelled: issue no more
	stopIssue context.CancelCauseFunc
	aimCtx    context.Context // cancelled: wait for no target
	reqCtx    context.Context // cancelled: abort what is in flight
	abort     context.CancelCauseFunc

	jobs    chan Hit // unbuffered: a send succeeds only when a worker is free
	workers sync.WaitGroup
	started int // workers; only pace touches it
	flights inFlight
	stopped atomic.Int64 // when issuing ended early, or draining did; 0: neither did

	next atomic.Uint64 // number of the next request of a closed loop without a stream

	mu    sync.Mutex
	names *names // of the targets
}

func (l *drive) now() time.Duration { return time.Since(l.start) }

// pace issues the requests, each not before it is due.
func (l *drive) pace() {
	wake := newAlarm
	if l.d.newAlarm != nil {
		wake = l.d.newAlarm
	}
	al := wake(l.issueCtx)
	defer al.close()
	if l.closed != nil {
		l.wait(al, 0)
		l.startUsers()
		return
	}
	arrivals := l.plan.Arrivals()
	for n := uint64(0); ; n++ {
		due, step, ok := arrivals.Next()
		if !ok {
			return
		}
		h := Hit{N: l.plan.Share.Number(n), Step: step, Due: due}
		if !l.aim(&h) {
			return
		}
		l.wait(al, due)
		if l.issueCtx.Err() != nil || !l.issue(h) {
			l.abandon(arrivals, h)
			return
		}
	}
}

// aim gives a request its target. It returns false when the stream of targets
// has ended, or the load before the stream gave one.
func (l *drive) aim(h *Hit) bool {
	if l.ahead == nil {
		h.Target = l.order.Target(h.N)
		return true
	}
	n, own, err := l.ahead.next(l.aimCtx)
	switch {
	case err == nil:
		h.N, h.Own = n, own
		l.nameOf(h)
		return true
	case errors.Is(err, io.EOF):
	case l.aimCtx.Err() != nil && l.issueCtx.Err() == nil: // a closed loop has come to its end
	default:
		l.stopIssue(err)
		l.endEarly()
	}
	return false
}

func (l *drive) nameOf(h *Hit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names.of(h)
}

// wait sleeps until due or until issuing is stopped.
func (l *drive) wait(al alarm, due time.Duration) {
	for l.issueCtx.Err() == nil {
		left := due - l.now()
		if left <= 0 {
			return
		}
		al.sleep(l.issueCtx, left)
	}
}

// issue hands the request to a worker. It waits when the cap is reached, and
// returns false when issuing was stopped before a worker was free.
func (l *drive) issue(h Hit) bool {
	if l.handOver(h) {
		return true
	}
	var late <-chan time.Time
	if l.d.GiveUp > 0 {
		left := h.Due + l.d.GiveUp - l.now()
		if left <= 0 {
			l.notSent(h, ErrNotSentLate)
			return true
		}
		t := time.NewTimer(left)
		defer t.Stop()
		late = t.C
	}
	l.flights.takeOff(l.d.MaxInFlight)
	select {
	case l.jobs <- h:
		return true
	case <-late:
		l.flights.now.Add(-1)
		l.notSent(h, ErrNotSentLate)
		return true
	case <-l.issueCtx.Done():
		l.flights.now.Add(-1)
		return false
	}
}

// handOver gives the request to a free worker, or to a new one below the cap.
func (l *drive) handOver(h Hit) bool {
	l.flights.takeOff(l.d.MaxInFlight)
	select {
	case l.jobs <- h:
		return true
	default:
	}
	if l.started < l.d.MaxInFlight {
		l.started++
		l.workers.Add(1)
		go l.work(h)
		return true
	}
	l.flights.now.Add(-1)
	return false
}

// inFlight counts the requests in flight.
type inFlight struct {
	now  atomic.Int64
	peak atomic.Int64
}

// takeOff counts a request that is about to be sent. One that waits for a slot is
// counted already, hence the most.
func (f *inFlight) takeOff(most int) {
	n := min(f.now.Add(1), int64(most))
	for peak := f.peak.Load(); n > peak && !f.peak.CompareAndSwap(peak, n); peak = f.peak.Load() {
	}
}

// abandon accounts for the requests from h on that were due when issuing was
// stopped but had not been sent.
func (l *drive) abandon(arrivals Arrivals, h Hit) {
	l.endEarly()
	at := l.now()
	batch := make([]Hit, 0, 256)
	for ok := true; ok && h.Due <= at; h.N += l.plan.Share.stride() {
		h.Sent, h.Done, h.Err = at, at, ErrNotSentStop.Error()
		if l.ahead == nil {
			h.Target = l.order.Target(h.N)
		}
		batch = append(batch, h)
		if l.ahead != nil {
			break // the others have no target
		}
		if len(batch) == cap(batch) {
			l.sink.Hits(batch)
			batch = batch[:0]
		}
		h.Due, h.Step, ok = arrivals.Next()
	}
	if len(batch) > 0 {
		l.sink.Hits(batch)
	}
}

func (l *drive) notSent(h Hit, err error) {
	h.Sent = l.now()
	h.Done, h.Err = h.Sent, err.Error()
	l.sink.Hits([]Hit{h})
}

// work sends requests one after the other until there are no more. It is there for the
// next one whatever becomes of this: a load whose workers have gone would wait for ever.
func (l *drive) work(h Hit) {
	defer l.workers.Done()
	w := worker{drive: l}
	for ok := true; ok; h, ok = <-l.jobs {
		w.one[0] = h
		w.serve()
	}
}

// A worker sends one request after the other. It is for one goroutine.
type worker struct {
	*drive
	client Client // nil before the first request, and after one that made it panic
	one    [1]Hit
}

// serve sends a request and hands on what came of it.
func (w *worker) serve() {
	h := &w.one[0]
	h.Sent = w.now()
	if w.closed != nil {
		h.Due = h.Sent
	}
	if contain.Run(enginePart, w.send) != nil {
		h.Err = ErrBug.Error()
		w.client = nil // it may be in the middle of an answer
	}
	h.Done = w.now()
	w.flights.now.Add(-1)
	_ = contain.Run(hitsPart, w.hand)
}

func (w *worker) hand() { w.sink.Hits(w.one[:]) }

// enginePart names an engine where an answer makes it panic: the request has failed, and
// the load goes on. hitsPart is what takes the requests that have ended: this one is lost
// there.
var (
	enginePart = contain.Part{Kind: contain.Engine, Name: "answer"}
	hitsPart   = contain.Part{Kind: contain.Engine, Name: "count of answers"}
)

func (w *worker) send() {
	h := &w.one[0]
	if w.reqCtx.Err() != nil {
		h.Err = context.Cause(w.reqCtx).Error()
		return
	}
	if w.client == nil {
		w.client = w.d.NewClient()
	}
	w.client.Do(w.reqCtx, h)
}

// drain waits for the workers. Once issuing is stopped it waits no longer than
// Drain and then aborts what is in flight.
func (l *drive) drain() {
	done := make(chan struct{})
	go func() {
		l.workers.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-l.issueCtx.Done():
	}
	l.endEarly()
	d := l.d.Drain
	if d == 0 {
		d = DefaultDrain
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return
	case <-t.C:
		l.abort(ErrDrained)
	case <-l.reqCtx.Done():
	}
	<-done
}

func (l *drive) summary() kasoku.LoadSummary {
	targets := l.names.list
	if l.ahead == nil {
		targets = l.plan.Names()
	}
	slices.Sort(targets)
	sum := kasoku.LoadSummary{
		Model:        ModelOpen,
		Targets:      slices.Compact(targets),
		MaxInFlight:  l.d.MaxInFlight,
		PeakInFlight: int(l.flights.peak.Load()),
	}
	if l.closed != nil {
		sum.Model = ModelClosed
	}
	if at := l.stopped.Load(); at != 0 {
		sum.Stopped, sum.StoppedAt = StopReason(l.issueCtx), time.Duration(at)
	}
	return sum
}

// endEarly notes the time of a stop.
func (l *drive) endEarly() { l.stopped.CompareAndSwap(0, int64(max(l.now(), 1))) }

// StopReason describes in a few words why a context ended, for
// [kasoku.LoadSummary.Stopped].
func StopReason(ctx context.Context) string {
	switch err := context.Cause(ctx); {
	case errors.Is(err, context.Canceled):
		return "interrupt"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline"
	default:
		return err.Error()
	}
}
