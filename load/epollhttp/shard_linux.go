//go:build amd64 || arm64

package epollhttp

import (
	"math"
	"runtime"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
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
	exchanges
	napped bool // answers may have come since they were looked for

	due    due   // the requests that come next
	users  users // of a closed loop
	held   heldSlots
	outbox outbox
	ending ending
}

// ending is how far the end of the load has come.
type ending struct {
	ordered int32         // of run.orders, as obeyed
	drainAt time.Duration // when what is in flight is aborted; never before a stop
}

func newShard(r *run, id, of int) (*shard, error) {
	p, err := newPoller()
	if err != nil {
		return nil, err
	}
	s := &shard{ending: ending{drainAt: never}}
	s.init(r, p, id, of)
	s.ended = s.finish
	s.outbox = outbox{sink: r.sink, hits: make([]load.Hit, 0, hitBuffer)}
	s.held.shared = r.slots
	s.due.stride, s.due.economical = of, r.opts.Pacing == load.Economical
	share := r.plan.Share
	s.due.apart = share.Number(1) - share.Number(0)
	if r.users != nil {
		s.due.next.N, s.due.sendAt = share.Number(uint64(id)), never
		s.users = users{loop: r.users, ready: shareOf(r.opts.MaxInFlight, id, of)}
		return s, nil
	}
	s.due.next.N = share.Number(0) - s.due.apart // of the one before the first
	s.due.arrivals = r.plan.Arrivals()
	s.due.skip(id + 1)
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

// main runs the shard on a thread of its own to the end of the load.
func (s *shard) main() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	slack := setTimerSlack(1)
	defer setTimerSlack(slack)
	slice := setSlice(shortSlice)
	defer setSlice(slice)
	_ = contain.Run(shardPart, s.loop)
	for _, c := range s.conns.all {
		if c.state != connClosed {
			s.conns.closeConn(c)
		}
	}
	s.outbox.flush()
	s.run.slots.give(s.held.unused)
}

func (s *shard) loop() {
	for {
		s.clock.now()
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
			if s.due.sendAt <= s.clock.at {
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
	if order > s.ending.ordered {
		s.ending.ordered = order
		s.abandon()
		s.users.stop()
		s.ending.drainAt = s.clock.at + load.DefaultDrain
		if order == stopAtNow {
			s.abortAll(load.ErrAborted)
		}
	}
	if s.clock.at >= s.ending.drainAt {
		s.abortAll(load.ErrDrained)
	}
}

// abandon accounts for the requests that were due when the load was stopped but
// had not been sent.
func (s *shard) abandon() {
	for s.due.more && s.due.next.Due <= s.run.stopAt {
		s.notSent(load.ErrNotSentStop)
		s.due.skip(s.due.stride)
	}
	s.due.more, s.due.capped, s.due.sendAt = false, false, never
}

// done reports whether the shard has nothing more to do.
func (s *shard) done() bool {
	return !s.due.more && s.users.ready == 0 && len(s.users.thinking) == 0 && s.held.flying == 0 && len(s.flights.failed) == 0
}

// issue sends what is due.
func (s *shard) issue() {
	if s.run.users != nil {
		s.issueUsers()
		return
	}
	s.due.capped = false
	for range sendBurst {
		if s.due.sendAt > s.clock.at {
			return
		}
		if s.napped && s.short() {
			s.reap()
		}
		if !s.held.take() {
			s.giveUp()
			return
		}
		f := s.flights.next()
		f.hit = s.due.next
		s.begin(f)
		s.due.skip(s.due.stride)
		s.clock.now()
	}
}

// giveUp reports the requests that waited too long for a slot.
func (s *shard) giveUp() {
	s.due.capped = true
	t := s.run.opts.Timeout
	for s.due.more && t > 0 && s.due.next.Due+t <= s.clock.at && len(s.outbox.hits) < hitBuffer {
		s.notSent(load.ErrNotSentLate)
		s.due.skip(s.due.stride)
	}
}

func (s *shard) notSent(err error) {
	h := s.due.next
	h.Target = s.run.order.Target(h.N)
	h.Sent = max(s.clock.at, h.Due)
	h.Done, h.Err = h.Sent, err.Error()
	s.outbox.report(&h)
}

// issueUsers lets the users send that are ready.
func (s *shard) issueUsers() {
	end := s.run.users.End
	s.users.wake(s.clock.at)
	if s.clock.at < 0 {
		return
	}
	if s.clock.at >= end {
		s.users.stop()
		return
	}
	for n := 0; s.users.ready > 0 && n < sendBurst; n++ {
		if !s.held.take() {
			return
		}
		s.users.ready--
		f := s.flights.next()
		f.hit.N, f.hit.Step, f.hit.Due = s.due.next.N, 1, s.clock.at
		s.due.next.N += uint64(s.due.stride) * s.due.apart
		s.begin(f)
	}
}

// finish ends a flight that has its answer. Users that are ready send at once.
func (s *shard) finish(f *flight) {
	s.end(f)
	if s.users.ready > 0 {
		s.issueUsers()
	}
}

// reportFailed ends the flights that have failed since it was called last. This
// is not done in fail: who sends must not begin to send again in the middle of it.
func (s *shard) reportFailed() {
	n := len(s.flights.failed)
	for _, f := range s.flights.failed[:n] {
		s.end(f)
	}
	s.flights.failed = s.flights.failed[:copy(s.flights.failed, s.flights.failed[n:])]
}

// land ends the flights whose redirects have come to their end.
func (s *shard) land() {
	for _, f := range s.follows.take() {
		f.hit.Done = s.clock.now()
		s.end(f)
	}
}

// end reports the hit of a flight, which is complete, and frees the flight.
func (s *shard) end(f *flight) {
	if s.run.users != nil && s.ending.ordered == goOn {
		s.users.think(f.hit.N, s.clock.at)
	}
	s.outbox.report(&f.hit)
	s.held.give()
	s.flights.free(f)
}

// expire ends what has taken too long.
func (s *shard) expire() {
	t := s.run.opts.Timeout
	if t == 0 {
		return
	}
	for f := s.flights.ages.first; f != nil && f.hit.Sent+t <= s.clock.at; f = s.flights.ages.first {
		s.cut(f, nethttp.ErrTimeout, nethttp.ErrBodyTimeout)
	}
	for c := s.conns.dialing.head; c != nil && c.began+t <= s.clock.at; c = s.conns.dialing.head {
		// Whoever waited for it as long has timed out. Others try again.
		h := c.host
		s.conns.closeConn(c)
		s.dial(h)
	}
}

// abortAll ends all that is in flight.
func (s *shard) abortAll(cause error) {
	s.ending.drainAt = never
	s.abort(cause)
}

// until returns when there is something to do if no event comes before.
func (s *shard) until() time.Duration {
	if len(s.flights.failed) > 0 || len(s.conns.unread) > 0 {
		return s.clock.at
	}
	at := s.ending.drainAt
	if s.run.users != nil {
		at = min(at, s.users.next(s.clock.at))
	}
	t := s.run.opts.Timeout
	switch {
	case !s.due.capped:
		at = min(at, s.due.sendAt)
	case s.due.stride > 1:
		at = min(at, s.clock.at+slotRetry)
	case t > 0:
		at = min(at, s.due.next.Due+t)
	}
	if t > 0 {
		if f := s.flights.ages.first; f != nil {
			at = min(at, f.hit.Sent+t)
		}
		if c := s.conns.dialing.head; c != nil {
			at = min(at, c.began+t)
		}
	}
	if len(s.outbox.hits) > 0 {
		at = min(at, s.outbox.handOver)
	}
	return at
}

// handOverHits gives hits to the sink when it is time and nothing is due.
func (s *shard) handOverHits() {
	if len(s.outbox.hits) >= hitBatch || len(s.outbox.hits) > 0 && s.clock.at >= s.outbox.handOver {
		if s.due.sendAt-s.clock.at > sinkTime || s.due.capped || len(s.outbox.hits) >= hitBuffer/2 {
			s.outbox.flush()
			s.clock.now()
		}
	}
}
