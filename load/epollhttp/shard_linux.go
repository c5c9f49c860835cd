//go:build amd64 || arm64

package epollhttp

import (
	"math"
	"runtime"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/http1"
	"github.com/kasoku/kasoku/load/nethttp"
)

const (
	// never is later than any load, and can be added to.
	never = time.Duration(math.MaxInt64 / 2)

	// tick is how often the economical pacing sends.
	tick = time.Millisecond

	// sendBurst is how many requests are sent before answers are looked at again.
	sendBurst = 64

	// readSize is how much is read at once, into one buffer for all connections.
	readSize = 64 << 10

	// Hits are given to the sink when so many have come, or after so long; and
	// when requests are due without a pause, no earlier than the buffer is full.
	hitBatch  = 128
	hitBuffer = 512
	hitAge    = 20 * time.Millisecond

	// sinkTime is what giving a batch to the sink takes at most when all is well:
	// it is done when nothing is due for so long.
	sinkTime = 25 * time.Microsecond

	// slotRetry is how often a shard that is at the cap looks whether another one
	// has given slots back.
	slotRetry = time.Millisecond
)

// A shard is one thread with connections of its own. It sends every k-th request
// of the plan. Nothing of it is touched by other threads but where it says so.
type shard struct {
	run      *run
	stride   int // number of shards
	poller   *poller
	buf      []byte   // what was read last
	receiver receiver // into buf
	out      []byte   // the request that is sent, when it must be made

	base   time.Time     // offset of clock readings, with a monotonic reading
	offset time.Duration // of base after the start of the load
	clock  time.Duration // the newest reading

	// When answers came, which may be some time before they are read.
	wall    int64         // what the wall clock showed at the start of the load, by the clock's newest reading with both
	came    time.Duration // when the bytes in buf had come; never: not known
	stamped bool          // the kernel said when
	big     bool          // an answer was too large to be left to the kernel for a while
	napped  bool          // answers may have come since they were looked for
	lead    time.Duration // by which naps are cut short, as the thread wakes up late

	hosts []host
	conns []*conn      // by slot; nil or closed ones are in unused
	idle  []int32      // slots without connection
	memos []http1.Memo // by target, whose answers look alike

	// The schedule: the next request of this shard.
	arrivals load.Arrivals // nil in a closed loop
	more     bool          // there is a next one
	next     load.Hit      // N, Step, Due of it
	sendAt   time.Duration // when it is sent: when due, or at a tick
	capped   bool          // it is due but at the cap

	// The users of a closed loop.
	ready    int      // could send now
	thinking thoughts // when the others have thought enough

	slots  int64 // held without use
	flying int64
	peak   int64

	waiting int // flights without connection
	rests   int // connections whose socket did not take all

	ages     ages      // of all flights but the redirected ones
	dialing  connList  // handshakes under way, in the order of their beginning
	failed   []*flight // whose end is to be reported
	unread   []connRef // connections that had more to read than their turn allows
	spare    *flight
	hits     []load.Hit // for the sink
	handOver time.Duration
	follows  follows

	ordered int32         // of run.orders, as obeyed
	aborted error         // why all in flight is aborted; nil: it is not
	drainAt time.Duration // when what is in flight is aborted; never before a stop

	paced struct { // of a closed loop: how fast answers came when they were last counted
		at, gap time.Duration
		answers uint64
	}

	count struct{ answers, connections, resent, redirected uint64 }
}

func newShard(r *run, id, of int) (*shard, error) {
	p, err := newPoller()
	if err != nil {
		return nil, err
	}
	s := &shard{run: r, stride: of, poller: p, buf: make([]byte, readSize), hits: make([]load.Hit, 0, hitBuffer),
		drainAt: never}
	s.receiver.init(s.buf)
	s.came = never
	s.base = time.Now()
	s.offset = s.base.Sub(r.start)
	s.memos = make([]http1.Memo, len(r.templates))
	s.hosts = make([]host, len(r.sites.list))
	for i := range s.hosts {
		s.hosts[i] = host{site: &r.sites.list[i], turn: id,
			maxOpen: shareOf(r.opts.MaxConnections, id, of), maxIdle: max(shareOf(r.opts.IdleConns, id, of), 1)}
	}
	if r.users != nil {
		s.next.N, s.sendAt = uint64(id), never
		s.ready = shareOf(r.opts.MaxInFlight, id, of)
		return s, nil
	}
	s.next.N--
	s.arrivals = r.plan.Schedule.Arrivals()
	s.skip(id + 1)
	return s, nil
}

// shareOf returns what part of a total belongs to one of so many.
func shareOf(total, id, of int) int {
	n := total / of
	if id < total%of {
		n++
	}
	return n
}

// now reads the clock.
func (s *shard) now() time.Duration {
	s.clock = s.offset + time.Since(s.base)
	return s.clock
}

// main runs the shard on a thread of its own to the end of the load.
func (s *shard) main() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	slack := setTimerSlack(1)
	defer setTimerSlack(slack)
	slice := setSlice(shortSlice)
	defer setSlice(slice)
	_ = contain.Run(shardPart, s.loop)
	for _, c := range s.conns {
		if c.state != connClosed {
			s.closeConn(c)
		}
	}
	s.flush()
	s.run.slots.give(s.slots)
}

func (s *shard) loop() {
	for {
		s.now()
		s.obey()
		s.reportFailed()
		s.issue()
		s.expire()
		if s.done() {
			return
		}
		s.handOverHits()
		for _, ev := range s.wait() {
			s.handle(&ev)
			// One batch of answers can take longer than requests may wait.
			if s.sendAt <= s.clock {
				s.issue()
			}
		}
		s.readOn()
		s.land()
	}
}

// obey looks for orders.
func (s *shard) obey() {
	order := s.run.orders.Load()
	if order > s.ordered {
		s.ordered = order
		s.abandon()
		s.ready, s.thinking = 0, s.thinking[:0]
		s.drainAt = s.clock + load.DefaultDrain
		if order == stopAtNow {
			s.abortAll(load.ErrAborted)
		}
	}
	if s.clock >= s.drainAt {
		s.abortAll(load.ErrDrained)
	}
}

// abandon accounts for the requests that were due when the load was stopped but
// had not been sent.
func (s *shard) abandon() {
	for s.more && s.next.Due <= s.run.stopAt {
		s.notSent(load.ErrNotSentStop)
		s.skip(s.stride)
	}
	s.more, s.capped, s.sendAt = false, false, never
}

// skip goes on to the n-th request from the present one.
func (s *shard) skip(n int) {
	s.next.N += uint64(n)
	for range n {
		if s.next.Due, s.next.Step, s.more = s.arrivals.Next(); !s.more {
			s.sendAt, s.capped = never, false
			return
		}
	}
	s.sendAt = s.next.Due
	if s.run.opts.Pacing == load.Economical && s.sendAt < never-tick {
		s.sendAt = (s.sendAt + tick - 1) / tick * tick
	}
}

// done reports whether the shard has nothing more to do.
func (s *shard) done() bool {
	return !s.more && s.ready == 0 && len(s.thinking) == 0 && s.flying == 0 && len(s.failed) == 0
}

// issue sends what is due.
func (s *shard) issue() {
	if s.run.users != nil {
		s.issueUsers()
		return
	}
	s.capped = false
	for range sendBurst {
		if s.sendAt > s.clock {
			return
		}
		if s.napped && s.short() {
			s.reap()
		}
		if !s.takeSlot() {
			s.giveUp()
			return
		}
		f := s.newFlight()
		f.hit = s.next
		s.begin(f)
		s.skip(s.stride)
		s.now()
	}
}

// giveUp reports the requests that waited too long for a slot.
func (s *shard) giveUp() {
	s.capped = true
	t := s.run.opts.Timeout
	for s.more && t > 0 && s.next.Due+t <= s.clock && len(s.hits) < hitBuffer {
		s.notSent(load.ErrNotSentLate)
		s.skip(s.stride)
	}
}

func (s *shard) notSent(err error) {
	h := s.next
	h.Target = s.run.order.Target(h.N)
	h.Sent = max(s.clock, h.Due)
	h.Done, h.Err = h.Sent, err.Error()
	s.report(&h)
}

// issueUsers lets the users send that are ready.
func (s *shard) issueUsers() {
	end := s.run.users.End
	for len(s.thinking) > 0 && s.thinking[0] <= s.clock {
		s.thinking.pop()
		s.ready++
	}
	if s.clock < 0 {
		return
	}
	if s.clock >= end {
		s.ready, s.thinking = 0, s.thinking[:0]
		return
	}
	for n := 0; s.ready > 0 && n < sendBurst; n++ {
		if !s.takeSlot() {
			return
		}
		s.ready--
		f := s.newFlight()
		f.hit.N, f.hit.Step, f.hit.Due = s.next.N, 1, s.clock
		s.next.N += uint64(s.stride)
		s.begin(f)
	}
}

// begin sends a request, or lets it wait for a connection.
func (s *shard) begin(f *flight) {
	f.hit.Target = s.run.order.Target(f.hit.N)
	f.hit.Sent = s.clock
	f.t = &s.run.templates[f.hit.Target]
	f.host = &s.hosts[s.run.sites.of[f.hit.Target]]
	s.ages.push(f)
	s.submit(f)
}

// end reports the hit of a flight, which is complete, and frees the flight.
func (s *shard) end(f *flight) {
	if s.run.users != nil && s.ordered == goOn {
		s.think(f.hit.N)
	}
	s.report(&f.hit)
	s.giveSlot()
	s.freeFlight(f)
}

// think lets the user that sent request n think, or be ready again.
func (s *shard) think(n uint64) {
	d := s.run.users.Think(n)
	if d == 0 {
		s.ready++
		return
	}
	if at := s.clock + d; at < s.run.users.End {
		s.thinking.push(at)
	}
}

// expire ends what has taken too long.
func (s *shard) expire() {
	t := s.run.opts.Timeout
	if t == 0 {
		return
	}
	for f := s.ages.first; f != nil && f.hit.Sent+t <= s.clock; f = s.ages.first {
		s.cut(f, nethttp.ErrTimeout, nethttp.ErrBodyTimeout)
	}
	for c := s.dialing.head; c != nil && c.began+t <= s.clock; c = s.dialing.head {
		// Whoever waited for it as long has timed out. Others try again.
		h := c.host
		s.closeConn(c)
		s.dial(h)
	}
}

// abortAll ends all that is in flight.
func (s *shard) abortAll(cause error) {
	s.drainAt, s.aborted = never, cause
	s.run.abort(cause)
	for f := s.ages.first; f != nil; f = s.ages.first {
		s.cut(f, cause, cause)
	}
}

// until returns when there is something to do if no event comes before.
func (s *shard) until() time.Duration {
	if len(s.failed) > 0 || len(s.unread) > 0 {
		return s.clock
	}
	at := s.drainAt
	if s.run.users != nil {
		if s.ready > 0 {
			at = min(at, max(s.clock, 0))
		}
		if len(s.thinking) > 0 {
			at = min(at, s.thinking[0])
		}
	}
	t := s.run.opts.Timeout
	switch {
	case !s.capped:
		at = min(at, s.sendAt)
	case s.stride > 1:
		at = min(at, s.clock+slotRetry)
	case t > 0:
		at = min(at, s.next.Due+t)
	}
	if t > 0 {
		if f := s.ages.first; f != nil {
			at = min(at, f.hit.Sent+t)
		}
		if c := s.dialing.head; c != nil {
			at = min(at, c.began+t)
		}
	}
	if len(s.hits) > 0 {
		at = min(at, s.handOver)
	}
	return at
}

// report puts a hit by for the sink.
func (s *shard) report(h *load.Hit) {
	if len(s.hits) == cap(s.hits) {
		s.flush()
	}
	if len(s.hits) == 0 {
		s.handOver = h.Done + hitAge
	}
	s.hits = append(s.hits, *h)
}

// handOverHits gives hits to the sink when it is time and nothing is due.
func (s *shard) handOverHits() {
	if len(s.hits) >= hitBatch || len(s.hits) > 0 && s.clock >= s.handOver {
		if s.sendAt-s.clock > sinkTime || s.capped || len(s.hits) >= hitBuffer/2 {
			s.flush()
			s.now()
		}
	}
}

func (s *shard) flush() {
	if len(s.hits) > 0 {
		s.run.sink.Hits(s.hits)
		clear(s.hits) // the texts in them
		s.hits = s.hits[:0]
	}
}
