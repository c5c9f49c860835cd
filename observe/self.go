package observe

import (
	"context"
	"errors"
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

// self is the source "self": cpu.user, cpu.system, rss, pid and disk I/O of this process; the
// lateness of the tick; how far the wall clock has moved against the run's clock since the
// start; and the CPU time of each source, and of the sink, so far.
type self struct {
	statm *os.File // nil when there is no procfs
	io    *os.File // nil when the kernel does not count it
	pid   float64  // distinguishes this process from others of its name
	buf   [256]byte
	usage unix.Rusage
	late  atomic.Int64 // of the latest tick since the last read, ns
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
	io, err := os.Open("/proc/self/io")
	if err != nil {
		io = nil
	}
	return &self{statm: statm, io: io, pid: float64(os.Getpid())}
}

// watch sets the workers whose cost is reported.
func (s *self) watch(workers []*worker) {
	s.costs = workers
	for _, w := range workers {
		s.names = append(s.names, SelfCostPrefix+w.source.Name())
	}
}

func (s *self) Name() string { return SelfName }

// Collect reads the process's own use.
//
// Source: getrusage(2), RUSAGE_SELF; proc(5), /proc/PID/statm and /proc/PID/io:
// read_bytes and write_bytes are what storage was made to do.
func (s *self) Collect(_ context.Context, f *kasoku.Frame) error {
	if err := unix.Getrusage(unix.RUSAGE_SELF, &s.usage); err != nil {
		return fmt.Errorf("own CPU time: %w", err)
	}
	f.Counter(SelfCPUUser, "", "s", time.Duration(s.usage.Utime.Nano()).Seconds())
	f.Counter(SelfCPUSystem, "", "s", time.Duration(s.usage.Stime.Nano()).Seconds())
	if rss, ok := s.rss(); ok {
		f.Gauge(SelfRSS, "", "bytes", rss)
	}
	if read, written, ok := s.disk(); ok {
		f.Counter(SelfIORead, "", "bytes", read)
		f.Counter(SelfIOWrite, "", "bytes", written)
	}
	f.Gauge(SelfPID, "", "count", s.pid)
	f.Gauge(SelfTickLate, "", "s", time.Duration(s.late.Swap(0)).Seconds())
	f.Gauge(SelfClockDrift, "", "s", time.Duration(s.drift.Load()).Seconds())
	for i, w := range s.costs {
		f.Counter(s.names[i], "", "s", time.Duration(w.cost.Load()).Seconds())
	}
	f.Counter(SelfCostSink, "", "s", time.Duration(s.sink.Load()).Seconds())
	return nil
}

// tick takes note of how late a tick is. Only the ticker calls it.
func (s *self) tick(late time.Duration) {
	if int64(late) > s.late.Load() {
		s.late.Store(int64(late))
	}
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

// disk returns the bytes that storage read and wrote for this process.
func (s *self) disk() (read, written float64, ok bool) {
	if s.io == nil {
		return 0, 0, false
	}
	n, err := unix.Pread(int(s.io.Fd()), s.buf[:], 0)
	if err != nil {
		return 0, 0, false
	}
	return parseIO(string(s.buf[:n]))
}

// parseIO returns read_bytes and write_bytes.
func parseIO(text string) (read, written float64, ok bool) {
	found := 0
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		var to *float64
		switch name {
		case "read_bytes":
			to = &read
		case "write_bytes":
			to = &written
		default:
			continue
		}
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return 0, 0, false
		}
		*to = float64(n)
		found++
	}
	if found != 2 {
		return 0, 0, false
	}
	return read, written, true
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
	var errs []error
	for _, f := range []*os.File{s.statm, s.io} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
