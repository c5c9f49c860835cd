package carbon

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/observe/host"
)

// diskBound is a cache whose writes wait for a disk.
func diskBound(r *kasoku.Recording, server string) {
	reported(r, server, graphite.MetricsReceived, 25_000, 25_000, 25_000, 25_000, 25_000)
	reported(r, server, graphite.CommittedPoints, 5_000, 10_000, 12_000, 14_000, 16_000)
	reported(r, server, graphite.UpdateOperations, 750, 740, 760, 750, 740)
	reported(r, server, graphite.AvgUpdateTime, 0.0066, 0.0067, 0.0065, 0.0066, 0.0066)
	reported(r, server, graphite.CacheSize, 20_000, 35_000, 48_000, 59_000, 68_000)
	reported(r, server, graphite.Creates, 0, 0, 0, 0, 0)
	reported(r, server, graphite.CpuUsage, 0.1, 0.1, 0.1, 0.1, 0.1)
}

// hostCPU adds two cores of which so much is used.
func hostCPU(r *kasoku.Recording, used float64) {
	for name, share := range map[string]float64{host.CPUUser: used, host.CPUIdle: 1 - used} {
		s := kasoku.Series{Key: kasoku.Key{Host: "h", Source: diagnose.Host, Name: name}, Kind: kasoku.Counter,
			Unit: "s"}
		for i := range 31 {
			s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: 2 * share * float64(i)})
		}
		r.Series = append(r.Series, s)
	}
}

// TestSharedDisk: two caches that wait for a disk, and what keeps the rule from saying so.
func TestSharedDisk(t *testing.T) {
	set := func(r *kasoku.Recording, name string, values ...float64) {
		for _, s := range r.FindAll(graphite.Name, name) {
			for i, v := range values {
				s.Points[i].Value = v
			}
		}
	}
	f := func(name string, want bool, says string, change func(r, baseline *kasoku.Recording) *kasoku.Recording) {
		t.Helper()
		r, baseline := &kasoku.Recording{}, &kasoku.Recording{}
		r.Run.Length, baseline.Run.Length = 30*time.Second, 30*time.Second
		for _, server := range []string{"agents.h-a", "agents.h-b"} {
			diskBound(r, server)
		}
		hostCPU(r, 0.2)
		diskBound(baseline, "agents.h-a")
		set(baseline, graphite.MetricsReceived, 50_000, 50_000, 50_000, 50_000, 50_000)
		found, silent := SharedDisk{}.Check(diagnose.NewCase(r, change(r, baseline)))
		said := ""
		for _, x := range found {
			said += x.Object.String() + ": " + x.Title + " " + x.Cause
		}
		for _, x := range silent {
			said += x.Reason
		}
		if len(found) > 0 != want || !strings.Contains(said, says) {
			t.Errorf("%s: %q, want %q", name, said, says)
		}
	}
	alone := func(of func(r *kasoku.Recording)) func(r, _ *kasoku.Recording) *kasoku.Recording {
		return func(r, _ *kasoku.Recording) *kasoku.Recording { of(r); return nil }
	}
	f("as it is", true, "disk of 2 caches: 2 caches wait for their disk and write 52.0 %",
		alone(func(*kasoku.Recording) {}))
	f("one cache", false, "no two carbon-caches", alone(func(r *kasoku.Recording) {
		r.Series = slices.DeleteFunc(r.Series, func(s kasoku.Series) bool { return s.Key.Instance == "agents.h-b" })
	}))
	f("on two hosts", false, "no two carbon-caches", alone(func(r *kasoku.Recording) {
		for i := range r.Series {
			if r.Series[i].Key.Instance == "agents.h-b" {
				r.Series[i].Key.Host = "i"
			}
		}
	}))
	f("time left", false, "took 40.0 %", alone(func(r *kasoku.Recording) {
		set(r, graphite.AvgUpdateTime, 0.0026, 0.0026, 0.0027, 0.0027, 0.0027)
	}))
	f("computing", false, "may compute", alone(func(r *kasoku.Recording) { set(r, graphite.CpuUsage, 1, 1, 1, 1, 1) }))
	f("new files", false, "made files", alone(func(r *kasoku.Recording) {
		set(r, graphite.Creates, 0, 400, 400, 400,
			400)
	}))
	f("all written", false, "wrote 100 %", alone(func(r *kasoku.Recording) {
		set(r, graphite.CommittedPoints, 25_000, 25_000, 25_000, 25_000, 25_000)
	}))
	f("nothing waits", false, "did not grow", alone(func(r *kasoku.Recording) {
		set(r, graphite.CacheSize, 0, 9, 9, 9,
			9)
	}))
	pressed := func(share float64) func(r *kasoku.Recording) {
		return func(r *kasoku.Recording) {
			s := kasoku.Series{Key: kasoku.Key{Host: "h", Source: diagnose.Host, Name: host.PressureIOSome},
				Kind: kasoku.Counter}
			for i := range 31 {
				s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: share * float64(i)})
			}
			r.Series = append(r.Series, s)
		}
	}
	f("with the kernel's count", true, "wait for their disk", alone(pressed(0.9)))
	f("no disk is waited for", false, "waited for a disk for 10", alone(pressed(0.1)))
	f("a full host", false, "CPU was full", alone(func(r *kasoku.Recording) {
		r.Series = slices.DeleteFunc(r.Series, func(s kasoku.Series) bool { return s.Key.Source == diagnose.Host })
		hostCPU(r, 0.99)
	}))
	against := func(committed ...float64) func(_, b *kasoku.Recording) *kasoku.Recording {
		return func(_, b *kasoku.Recording) *kasoku.Recording {
			set(b, graphite.CommittedPoints, committed...)
			return b
		}
	}
	f("one wrote as much", true, "One cache wrote 5,200 points a second with 150 writes a second, 34.8 points a write",
		against(10_000, 20_000, 24_000, 28_000, 32_000))
	f("two gained", false, "100 % more than 1", against(5_000, 10_000, 12_000, 14_000, 16_000))
	f("a baseline of another load", true, "wait for their disk", func(_, b *kasoku.Recording) *kasoku.Recording {
		set(b, graphite.MetricsReceived, 25_000, 25_000, 25_000, 25_000, 25_000)
		return b
	})
}
