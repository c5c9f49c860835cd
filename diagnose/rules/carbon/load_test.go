package carbon

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/graphite"
)

// published adds a counter of a sender, by what it has at each second.
func published(r *kasoku.Recording, name string, at func(second float64) float64) {
	s := kasoku.Series{Key: kasoku.Key{Host: "h", Source: expvar.Name, Name: name, Instance: "sender"},
		Kind: kasoku.Counter}
	for i := range 31 {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: at(float64(i))})
	}
	r.Series = append(r.Series, s)
}

// steady is a counter that rises by so much a second.
func steady(rate float64) func(float64) float64 { return func(s float64) float64 { return rate * s } }

// busy is a server at the limit of its core, to which twice as much is sent as it receives.
func busy(r *kasoku.Recording, server string) {
	healthy(r, server)
	reported(r, server, graphite.CpuUsage, 0.99, 0.99, 0.98, 0.99, 0.99)
	reported(r, server, graphite.Creates, 900, 0, 0, 0, 0)
	published(r, expvar.Due, steady(20_000))
	published(r, expvar.Sent, steady(11_000))
	published(r, expvar.Blocked, steady(3))
	published(r, expvar.Connections, func(float64) float64 { return 20 })
}

// TestBusyCache: a full core alone is no limit, nor is one that is not seen to lack anything.
func TestBusyCache(t *testing.T) {
	f := func(name string, want []string, change func(r *kasoku.Recording)) {
		t.Helper()
		r := &kasoku.Recording{}
		busy(r, "agents.h-a")
		change(r)
		if got := found(t, r); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	without := func(name string) func(r *kasoku.Recording) {
		return func(r *kasoku.Recording) {
			r.Series = slices.DeleteFunc(r.Series, func(s kasoku.Series) bool { return s.Key.Name == name })
		}
	}
	set := func(name string, to float64) func(r *kasoku.Recording) {
		return func(r *kasoku.Recording) {
			for _, s := range r.FindAll(graphite.Name, name) {
				s.Points[3].Value = to
			}
		}
	}
	f("as it is", []string{"TS-03 agents.h-a"}, func(*kasoku.Recording) {})
	f("how long writes waited is not known", []string{"TS-03 agents.h-a"}, without(expvar.Blocked))
	f("one interval with CPU left", nil, set(graphite.CpuUsage, 0.9))
	f("files are made", nil, set(graphite.Creates, 2_000))
	f("no sender", nil, without(expvar.Due))
	f("all is received", nil, func(r *kasoku.Recording) {
		without(expvar.Due)(r)
		published(r, expvar.Due, steady(10_100))
		for i := range r.Series { // 1 s of 20 a second
			if r.Series[i].Key.Name == expvar.Blocked {
				r.Series[i].Points = nil
			}
		}
	})
	f("what waited is received later", []string{"TS-03 agents.h-a"}, func(r *kasoku.Recording) {
		without(expvar.Due)(r)
		published(r, expvar.Due, steady(9_000))
	})
	f("two servers share what is sent", nil, func(r *kasoku.Recording) { healthy(r, "agents.h-b") })
	f("two senders", nil, func(r *kasoku.Recording) {
		published(r, expvar.Due, steady(1))
		r.Series[len(r.Series)-1].Key.Instance = "other"
	})
}

// TestGrowingLoad: a load that grows at its end is a remark, one that has grown by then is not.
func TestGrowingLoad(t *testing.T) {
	f := func(name string, want bool, says string, due func(float64) float64) {
		t.Helper()
		r := &kasoku.Recording{}
		healthy(r, "agents.h-a")
		published(r, expvar.Due, due)
		published(r, expvar.Sent, due)
		found, silent := GrowingLoad{}.Check(diagnose.NewCase(r, nil))
		if (len(found) == 1) != want {
			t.Errorf("%s: %+v %+v", name, found, silent)
		}
		for _, x := range found {
			if x.Severity != kasoku.Info {
				t.Errorf("%s: no remark: %s", name, x.Severity)
			}
		}
		for _, x := range silent {
			if !strings.Contains(x.Reason, says) {
				t.Errorf("%s: %s, want %q", name, x.Reason, says)
			}
		}
	}
	f("agents join until the end", true, "", func(s float64) float64 { return 200 * s * s })
	f("all joined by 10 s", false, "steady at its end", func(s float64) float64 {
		return 500*min(s, 10)*min(s, 10) + 10_000*max(s-10, 0)
	})
	f("steady", false, "from 2.00 s on", steady(10_000))
	f("it ends earlier", false, "steady at its end", func(s float64) float64 { return 10_000 * min(s, 25) })
	f("seconds that differ", false, "", func(s float64) float64 {
		return 10_000*s + []float64{0, 900, -900, 400, -600}[int(s)%5]
	})
	f("a moment", false, "fewer than", func(s float64) float64 { return 200 * min(s, 6) * min(s, 6) })
}

// TestLostDestination: of each destination what is dropped is said, and why, by whether it was
// connected; a relay without a file of it is not seen.
func TestLostDestination(t *testing.T) {
	r := &kasoku.Recording{}
	healthy(r, "agents.h-a")
	reported(r, "relays.h-a to 127_0_0_1:2004:a", graphite.ToAttempted, 50_000, 50_000, 50_000)
	reported(r, "relays.h-a to 127_0_0_1:2004:a", graphite.ToSent, 50_000, 50_000, 50_000)
	if got := found(t, r); len(got) != 0 {
		t.Errorf("%q of a healthy relay", got)
	}
	reported(r, "relays.h-a to 127_0_0_1:2104:b", graphite.ToAttempted, 50_000, 50_000, 50_000)
	reported(r, "relays.h-a to 127_0_0_1:2104:b", graphite.ToFullQueueDrops, 40_000, 50_000, 50_000)
	reported(r, "relays.h-a to 127_0_0_1:2104:b", graphite.ToQueuedConnected, 50_000, 50_000, 50_000)
	reported(r, "relays.h-a to 127_0_0_1:2204:c", graphite.ToSent, 30_000, 30_000, 30_000)
	reported(r, "relays.h-a to 127_0_0_1:2204:c", graphite.ToFullQueueDrops, 0, 20_000, 0)
	got, _ := LostDestination{}.Check(diagnose.NewCase(r, nil))
	if len(got) != 2 || !strings.Contains(got[0].Title, "drops 9,333 points a second for 127_0_0_1:2104:b, which "+
		"is not connected") ||
		!strings.Contains(got[1].Title, "for 127_0_0_1:2204:c, which reads slower than it is sent") {
		t.Errorf("%+v", got)
	}
	bare := &kasoku.Recording{}
	healthy(bare, "agents.h-a")
	reported(bare, "relays.h-a", graphite.MetricsReceived, 50_000, 50_000, 50_000)
	if _, silent := (LostDestination{}).Check(diagnose.NewCase(bare, nil)); len(silent) != 1 || !silent[0].Blind {
		t.Errorf("not blind: %+v", silent)
	}
}

// TestSlowDisk: writes that take most of the time are no limit by setting.
func TestSlowDisk(t *testing.T) {
	f := func(took float64, want []string) {
		t.Helper()
		r := &kasoku.Recording{}
		limited(r, "agents.h-a")
		reported(r, "agents.h-a", graphite.AvgUpdateTime, took, took, took, took, took)
		if got := found(t, r); !slices.Equal(got, want) {
			t.Errorf("%v s a write: %q, want %q", took, got, want)
		}
	}
	f(0.0001, []string{"TS-01 agents.h-a"})
	f(0.009, []string{"TS-01 agents.h-a"})
	f(0.011, nil)
	f(0.019, nil)
}
