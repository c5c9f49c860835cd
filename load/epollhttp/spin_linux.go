//go:build amd64 || arm64

package epollhttp

import (
	"time"

	"golang.org/x/sys/unix"
)

// spinTime is how long a wait is spent looking for events before the thread goes
// to sleep. Going to sleep and waking up costs about as much.
const spinTime = 20 * time.Microsecond

// wait returns events. It returns without any when there is something to do.
func (s *shard) wait() []unix.EpollEvent {
	until := s.until()
	if until <= s.clock {
		return s.poller.poll()
	}
	for end := min(until, s.clock+spinTime); s.run.users == nil && s.flying > 0 && s.clock < end; s.now() {
		if events := s.poller.poll(); len(events) > 0 {
			return events
		}
	}
	if until <= s.clock {
		return nil
	}
	return s.poller.block(until - s.clock)
}
