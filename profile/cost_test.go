package profile_test

import (
	"io"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSampled measures what it costs a program that its CPU time is sampled: the
// same work in turns with and without, by CPU time, and the median of the quotients,
// so that other load on the machine hardly shows.
func BenchmarkSampled(b *testing.B) {
	text := strings.Repeat("kasoku ", 1000)
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	work := func() time.Duration {
		from := used()
		for range 10_000 {
			sink.sum += burnCycles(10_000) + uint64(len(strings.Fields(text)))
		}
		return used() - from
	}
	var quotients []float64
	for b.Loop() {
		without := work()
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			b.Skip(err) // with -cpuprofile
		}
		with := work()
		pprof.StopCPUProfile()
		quotients = append(quotients, float64(with)/float64(without))
	}
	slices.Sort(quotients)
	b.ReportMetric(100*(quotients[len(quotients)/2]-1), "%-more-CPU")
}
