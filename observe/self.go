package observe

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
)

// SelfName is the name of the source that the sampler adds: what sampling, and
// this process, cost.
const SelfName = "self"

// self is the source "self": cpu.user, cpu.system, rss and pid of this process; the
// lateness of the tick; how far the wall clock has moved against the run's clock
// since the start; and the CPU time of each source, and of the sink, so far.
type self struct {
	statm *os.File // nil when there is no procfs
	pid   float64  // tells this process from others of its name
	buf   [128]byte
	usage unix.Rusage
	late  atomic.Int64 // of the present tick, ns
	drift atomic.Int64 // wall clock minus run's clock, ns
	sink  atomic.Int64 // CPU time in the sink, ns
	costs []*worker
	names []string // of their series
}

func newSelf() *self {
	statm, err := os.Open("/proc/self/statm")
	if err != nil {
		statm = nil
	}
	return &self{statm: statm, pid: float64(os.Getpid())}
}

// watch sets the workers whose cost is told.
func (s *self) watch(workers []*worker) {
	s.costs = workers
	for _, w := range workers {
		s.names = append(s.names, "cost."+w.source.Name())
	}
}

func (s *self) Name() string { return SelfName }

// Collect reads the process's own use.
//
// Source: getrusage(2), RUSAGE_SELF; proc(5), /proc/PID/statm.
func (s *self) Collect(_ context.Context, f *kasoku.Frame) error {
	if err := unix.Getrusage(unix.RUSAGE_SELF, &s.usage); err != nil {
		return fmt.Errorf("own CPU time: %w", err)
	}
	f.Counter("cpu.user", "", "s", time.Duration(s.usage.Utime.Nano()).Seconds())
	f.Counter("cpu.system", "", "s", time.Duration(s.usage.Stime.Nano()).Seconds())
	if rss, ok := s.rss(); ok {
		f.Gauge("rss", "", "bytes", rss)
	}
	f.Gauge("pid", "", "count", s.pid)
	f.Gauge("tick.late", "", "s", time.Duration(s.late.Load()).Seconds())
	f.Gauge("clock.drift", "", "s", time.Duration(s.drift.Load()).Seconds())
	for i, w := range s.costs {
		f.Counter(s.names[i], "", "s", time.Duration(w.cost.Load()).Seconds())
	}
	f.Counter("cost.sink", "", "s", time.Duration(s.sink.Load()).Seconds())
	return nil
}

// rss returns the resident memory in bytes.
func (s *self) rss() (float64, bool) {
	if s.statm == nil {
		return 0, false
	}
	n, err := unix.Pread(int(s.statm.Fd()), s.buf[:], 0)
	if err != nil {
		return 0, false
	}
	return parseStatm(string(s.buf[:n]))
}

// parseStatm returns the second field, resident pages, in bytes.
func parseStatm(text string) (bytes float64, ok bool) {
	_, rest, _ := strings.Cut(text, " ")
	word, _, ok := strings.Cut(rest, " ")
	if !ok {
		return 0, false
	}
	pages, err := strconv.ParseUint(word, 10, 64)
	return float64(pages) * float64(os.Getpagesize()), err == nil
}

func (s *self) Close() error {
	if s.statm == nil {
		return nil
	}
	return s.statm.Close()
}
