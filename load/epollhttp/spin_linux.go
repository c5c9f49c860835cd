//go:build amd64 || arm64

package epollhttp

import (
	"time"

	"github.com/kasoku/kasoku/load"
	"golang.org/x/sys/unix"
)

// Going to sleep and waking up is most of what a request costs in an open loop:
// 20 µs of CPU were measured in a virtual machine, against 6 µs for sending a
// request and reading its answer. So a shard sleeps once for each request, until
// the next one is due, and not once more until the answer comes: the kernel notes
// when that was (SO_TIMESTAMPNS in socket(7)), and it is read after the next
// request was sent. Nothing of it shows in the latency.
//
// It must not show in the answer either: one that does not fit into the receive
// buffer would stop its server until it is read, and who waits for a connection
// waits for an answer.

const (
	// deferredBody is the largest body that is left to the kernel for a while. The
	// window that Linux offers first is 64 KiB (tcp_rmem in tcp(7)).
	deferredBody = 16 << 10

	// deferredTime is for how long. Requests that are due less often have their
	// answers read at once.
	deferredTime = 2 * time.Millisecond

	// spinTime is the longest wait that is not slept.
	spinTime = 20 * time.Microsecond
)

// wait returns events. It returns without any when there is something to do.
func (s *shard) wait() []unix.EpollEvent {
	until := s.until()
	if s.napped || until <= s.clock {
		s.napped = false
		if events := s.poll(); len(events) > 0 || until <= s.clock {
			return events
		}
	}
	if s.run.users != nil {
		return s.waitUsers(until)
	}
	precise := s.sendAt == until && s.run.opts.Pacing == load.Precise
	switch {
	case s.defers():
		s.sleep(until, precise)
		return nil
	case precise && until-s.clock <= spinTime:
		for s.now() < until {
			if events := s.poll(); len(events) > 0 {
				return events
			}
		}
		return nil
	}
	from := until
	if precise {
		from = s.wakeFor(until)
	}
	events := s.poller.block(from - s.clock)
	s.readWall()
	if precise && len(events) == 0 {
		s.learn(s.clock - from)
	}
	return events
}

const (
	// crowdShare is the part of a user's round, from one request to the next, that
	// answers are given to come together, and crowdTime the most. A server that is
	// the bottleneck does not notice, as it has other requests to do; one that is
	// not loses half of it, 3 % of the throughput.
	crowdShare = 16
	crowdTime  = 100 * time.Microsecond

	// crowdLeast is how many answers must be expected.
	crowdLeast = 3

	// paceTime is over how long the pace of answers is measured.
	paceTime = time.Millisecond
)

// waitUsers is wait for a closed loop. It sleeps until the next answer comes. When
// answers follow one another faster than it can sleep and wake up, it sleeps until
// a few are there, and mostly finds as many again when it has taken those.
func (s *shard) waitUsers(until time.Duration) []unix.EpollEvent {
	if d := s.clock - s.paced.at; d >= paceTime {
		n := s.count.answers - s.paced.answers
		s.paced.gap = d / time.Duration(max(n, 1))
		s.paced.at, s.paced.answers = s.clock, s.count.answers
	}
	crowd := min(time.Duration(s.flying)*s.paced.gap/crowdShare, crowdTime, until-s.clock)
	if crowd >= crowdLeast*s.paced.gap && s.paced.gap > 0 {
		if events := s.poller.poll(); len(events) > 0 {
			return events
		}
		sleepFor(crowd)
		return s.poller.poll()
	}
	return s.poller.block(until - s.clock)
}

// sleep lets answers come until then.
func (s *shard) sleep(until time.Duration, precise bool) {
	s.napped = true
	if !precise {
		sleepFor(until - s.clock)
		return
	}
	for until-s.clock > spinTime { // again when a signal ended it
		from := s.wakeFor(until)
		sleepFor(max(from-s.clock, 1))
		s.learn(s.now() - from)
	}
	for s.now() < until {
	}
}

func (s *shard) poll() []unix.EpollEvent {
	events := s.poller.poll()
	if len(events) > 0 {
		s.readWall()
	}
	return events
}

// readWall reads both clocks.
func (s *shard) readWall() {
	now := time.Now()
	s.clock = s.offset + now.Sub(s.base)
	s.wall = now.UnixNano() - int64(s.clock)
}

// defers reports whether answers can wait until the next request is sent.
func (s *shard) defers() bool {
	return s.sendAt-s.clock < deferredTime && s.stamped && !s.big && !s.capped &&
		s.dialing.head == nil && s.waiting == 0 && s.rests == 0
}

const (
	// maxLead bounds what is taken for the time of a wake-up. What is longer was
	// somebody else's turn.
	maxLead = 30 * time.Microsecond

	// leadStep is by how much the lead follows what is seen.
	leadStep = 250 * time.Nanosecond

	// leadShare of a wait at most is spent being on time: at high rates that would
	// be much CPU for few microseconds.
	leadShare = 12
)

// wakeFor returns when to wake up to be there at a time.
func (s *shard) wakeFor(at time.Duration) time.Duration {
	return at - min(s.lead, (at-s.clock)/leadShare)
}

// learn takes how late the thread woke up, and lets the lead go to where one
// wake-up in four is earlier. What then still has to be waited is little, and
// spent looking at the clock.
func (s *shard) learn(late time.Duration) {
	switch {
	case late < 0: // a signal, or a wait in two parts
	case late < s.lead:
		s.lead -= 3 * leadStep
	default:
		s.lead = min(s.lead+leadStep, maxLead)
	}
}

// longIdle is how long a connection may be idle before it is looked at once more
// when it is used: servers close idle connections after seconds.
const longIdle = 500 * time.Millisecond

// short reports whether the next request needs what may have come during a nap:
// a slot, a connection, or the end of one that is idle for long.
func (s *shard) short() bool {
	h := &s.hosts[s.run.sites.of[s.run.order.Target(s.next.N)]]
	c := h.free.head
	return s.slots == 0 || c == nil || c.idle && s.clock-c.since > longIdle
}

// reap takes the answers that came during a nap.
func (s *shard) reap() {
	s.napped = false
	for _, ev := range s.poll() {
		s.handle(&ev)
	}
}
