package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/command"
)

const (
	// maxIdle is how long the sampler goes on without being asked.
	maxIdle = 600 * time.Second
	// watchEvery is how often the sampler looks at its binary and its socket.
	watchEvery = 5 * time.Second
)

// A sampler reads the CPUs until it is asked to end, no client asks any more, or another
// one has taken over.
type sampler struct {
	read     func() (counters, error)
	replaced func() bool         // the binary is another one than at the start
	lost     func() bool         // the socket's path is not ours any more
	spawn    func(time.Duration) // starts the binary anew, with this interval; the new sampler takes over by itself

	mu       sync.Mutex // guards ring, interval
	ring     *ring
	interval time.Duration // between samples
	changed  chan struct{} // has one entry when interval is another one
	taken    chan struct{} // closed when another sampler has taken over
	once     sync.Once     // closes taken
}

// daemon is the sampler's process.
func daemon(ctx context.Context, socket string, interval time.Duration, self string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	read, end, err := statReader()
	if err != nil {
		return err
	}
	base, err := read()
	if err != nil {
		return errors.Join(err, end())
	}
	before := fileID(self)
	s := &sampler{
		interval: interval, changed: make(chan struct{}, 1), read: read, taken: make(chan struct{}),
		ring:     newRing(base, time.Now()),
		replaced: func() bool { now := fileID(self); return now != "" && now != before },
		spawn: func(interval time.Duration) {
			before = fileID(self)
			// When it does not start, this one goes on, and tries the next binary.
			_, _ = spawnDaemon(ctx, self, socket, interval)
		},
	}
	old, err := takeOver(socket, s)
	if err != nil {
		return errors.Join(err, end())
	}
	srv, err := listen(socket, s)
	if err != nil {
		return errors.Join(err, old.keep(), end())
	}
	s.lost = srv.lost
	old.dismiss()
	s.loop(ctx)
	return errors.Join(srv.close(), end())
}

// loop samples until the sampler ends.
func (s *sampler) loop(ctx context.Context) {
	tick, watch := time.NewTicker(s.every()), time.NewTicker(watchEvery)
	defer tick.Stop()
	defer watch.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.taken:
			return
		case <-s.changed:
			tick.Reset(s.every())
		case <-tick.C:
			s.sample()
		case <-watch.C:
			switch {
			case s.lost() || s.idle(time.Now()):
				return
			case s.replaced():
				s.spawn(s.every())
			}
		}
	}
}

// sample takes one reading. One that fails leaves its time to the next.
func (s *sampler) sample() {
	c, err := s.read()
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring.add(c, time.Now())
}

// idle reports whether no client has asked for long.
func (s *sampler) idle(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring.Heard = min(s.ring.Heard, now.UnixNano()) // the clock may have been set back
	return now.UnixNano()-s.ring.Heard > maxIdle.Nanoseconds()
}

// every is the interval between samples.
func (s *sampler) every() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interval
}

// ask answers one asker, and follows what it wants from now on.
func (s *sampler) ask(id string, interval time.Duration) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.ring.ask(id, interval, time.Now())
	if every := min(max(s.ring.interval(time.Now()), leastInterval), usualInterval); every != s.interval {
		s.interval = every
		select {
		case s.changed <- struct{}{}:
		default: // the loop has not yet seen the change before
		}
	}
	return a
}

// snapshot is what the next sampler goes on with.
func (s *sampler) snapshot() ring {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := *s.ring
	r.Samples = append([]sample(nil), r.Samples...)
	r.Askers = maps.Clone(r.Askers)
	return r
}

// yield ends this sampler: another one answers from now on.
func (s *sampler) yield() { s.once.Do(func() { close(s.taken) }) }

// fileID distinguishes one content of a file from the next; empty when there is none.
func fileID(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	inode := uint64(0)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = st.Ino
	}
	return fmt.Sprint(inode, info.Size(), info.ModTime().UnixNano())
}

// spawnDaemon starts the sampler as a process of its own: in its own session, with
// /dev/null for its three files, and not waited for.
func spawnDaemon(ctx context.Context, self, socket string, interval time.Duration) (*command.Process, error) {
	// What this process was given open, a pipe of the caller's, is not kept open by the
	// sampler. Before Linux 5.11 it is.
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	return command.Start(context.WithoutCancel(ctx), command.Spec{
		Path: self, Args: []string{"--as-daemon", "--socket", socket, "--interval", interval.String()}, Dir: "/",
		NewSession: true,
	})
}
