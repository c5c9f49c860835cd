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
	if s.napped || until <= s.clock.at {
		s.napped = false
		if events := s.poll(); len(events) > 0 || until <= s.clock.at {
			return events
		}
	}
	if s.run.users != nil {
		return s.waitUsers(until)
	}
	precise := s.due.sendAt == until && s.run.opts.Pacing == load.Precise
	switch {
	case s.defers():
		s.napped = true
		s.clock.sleep(until, precise)
		return nil
	case precise && until-s.clock.at <= spinTime:
		for s.clock.now() < until {
			if events := s.poll(); len(events) > 0 {
				return events
			}
		}
		return nil
	}
	from := until
	if precise {
		from = s.clock.wakeFor(until)
	}
	events := s.poller.block(from - s.clock.at)
	s.clock.readWall()
	if precise && len(events) == 0 {
		s.clock.learn(s.clock.at - from)
	}
	return events
}

// waitUsers is wait for a closed loop. It sleeps until the next answer comes. When
// answers follow one another faster than it can sleep and wake up, it sleeps until
// a few are there, and mostly finds as many again when it has taken those.
func (s *shard) waitUsers(until time.Duration) []unix.EpollEvent {
	if crowd, worth := s.users.crowd(s.clock.at, until, s.count.answers, s.held.flying); worth {
		if events := s.poller.poll(); len(events) > 0 {
			return events
		}
		sleepFor(crowd)
		return s.poller.poll()
	}
	return s.poller.block(until - s.clock.at)
}

func (s *shard) poll() []unix.EpollEvent {
	events := s.poller.poll()
	if len(events) > 0 {
		s.clock.readWall()
	}
	return events
}

// defers reports whether answers can wait until the next request is sent.
func (s *shard) defers() bool {
	return s.due.sendAt-s.clock.at < deferredTime && s.inbox.stamped && !s.inbox.big && !s.due.capped &&
		s.conns.dialing.head == nil && s.waiting == 0 && s.conns.rests == 0
}

// longIdle is how long a connection may be idle before it is looked at once more
// when it is used: servers close idle connections after seconds.
const longIdle = 500 * time.Millisecond

// short reports whether the next request needs what may have come during a nap:
// a slot, a connection, or the end of one that is idle for long.
func (s *shard) short() bool {
	h := &s.hosts[s.run.sites.of[s.run.order.Target(s.due.next.N)]]
	c := h.free.head
	return s.held.unused == 0 || c == nil || c.idle && s.clock.at-c.since > longIdle
}

// reap takes the answers that came during a nap.
func (s *shard) reap() {
	s.napped = false
	for _, ev := range s.poll() {
		s.handle(&ev)
	}
}
