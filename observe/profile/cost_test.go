package profile_test

import (
	"io"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSampled measures what it costs a program that its CPU time is sampled: the
// same work without, with and without, by the thread's CPU time, and the median of the
// quotients, so that other load on the machine hardly shows.
func BenchmarkSampled(b *testing.B) {
	text := strings.Repeat("kasoku ", 1000)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
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
	sampled := func() time.Duration {
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			b.Skip(err) // with -cpuprofile
		}
		defer pprof.StopCPUProfile()
		return work()
	}
	var price, noise []float64
	for b.Loop() {
		before, with, after := work(), sampled(), work()
		price = append(price, 2*float64(with)/float64(before+after))
		noise = append(noise, float64(after)/float64(before))
	}
	slices.Sort(price)
	slices.Sort(noise)
	b.ReportMetric(100*(price[len(price)/2]-1), "%-more-CPU")
	b.ReportMetric(100*(noise[len(noise)/2]-1), "%-without")
}
