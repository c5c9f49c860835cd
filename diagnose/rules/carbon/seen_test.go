package carbon

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/observe/graphite"
)

// reported adds a report each five seconds of a server, with these values.
func reported(r *kasoku.Recording, server, name string, values ...float64) {
	s := kasoku.Series{Key: kasoku.Key{Host: "h", Source: graphite.Name, Name: name, Instance: server}, Kind: kasoku.Gauge}
	for i, v := range values {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(5*(i+1)) * time.Second, Value: v})
	}
	r.Series = append(r.Series, s)
}

// limited is a server that writes 50 times a second.
func limited(r *kasoku.Recording, server string) {
	reported(r, server, graphite.MetricsReceived, 20_000, 50_000, 50_000, 50_000, 50_000)
	reported(r, server, graphite.CommittedPoints, 500, 1_000, 2_000, 3_000, 4_000)
	reported(r, server, graphite.UpdateOperations, 260, 250, 250, 250, 250)
	reported(r, server, graphite.CacheSize, 20_000, 69_000, 117_000, 164_000, 210_000)
	reported(r, server, graphite.CacheOverflow, 0, 0, 0, 0, 0)
	reported(r, server, graphite.DroppedCreates, 0, 0, 0, 0, 0)
	reported(r, server, graphite.CpuUsage, 0.1, 0.1, 0.1, 0.1, 0.1)
}

// healthy is a server that writes all.
func healthy(r *kasoku.Recording, server string) {
	reported(r, server, graphite.MetricsReceived, 50_000, 50_000, 50_000, 50_000, 50_000)
	reported(r, server, graphite.CommittedPoints, 50_000, 50_000, 50_000, 50_000, 50_000)
	reported(r, server, graphite.UpdateOperations, 40_000, 41_000, 40_000, 41_000, 40_000)
	reported(r, server, graphite.CacheSize, 5_000, 5_000, 5_000, 5_000, 5_000)
	reported(r, server, graphite.CacheOverflow, 0, 0, 0, 0, 0)
	reported(r, server, graphite.DroppedCreates, 0, 0, 0, 0, 0)
}

// found lists what the rules find: "TS-01 agents.b".
func found(t *testing.T, r *kasoku.Recording) (out []string) {
	t.Helper()
	c := diagnose.NewCase(r, nil)
	for _, rule := range Rules() {
		got, silent := rule.Check(c)
		if len(got) == 0 && len(silent) == 0 {
			t.Errorf("%s says nothing", rule.ID())
		}
		for _, f := range got {
			out = append(out, f.ID+" "+f.Object.Name)
		}
	}
	return out
}

// TestServersApart: of several servers of a host each is judged by what it reports itself; what
// a relay passes on is no server's.
func TestServersApart(t *testing.T) {
	r := &kasoku.Recording{}
	healthy(r, "agents.h-a")
	limited(r, "agents.h-b")
	healthy(r, "agents.h-c")
	limited(r, "relays.h-a")
	if got, want := found(t, r), []string{"TS-01 agents.h-b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	dropping := &kasoku.Recording{}
	healthy(dropping, "agents.h-a")
	healthy(dropping, "agents.h-b")
	reported(dropping, "agents.h-c", graphite.MetricsReceived, 50_000, 50_000, 50_000, 50_000)
	reported(dropping, "agents.h-c", graphite.DroppedCreates, 40_000, 40_000, 40_000, 40_000)
	reported(dropping, "agents.h-d", graphite.MetricsReceived, 50_000)
	reported(dropping, "agents.h-d", graphite.CacheOverflow, 10)
	if got, want := found(t, dropping), []string{"TS-02 agents.h-c", "TS-06 agents.h-d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLimitedAlone: what would make the limit of writes another cause is none of TS-01's.
func TestLimitedAlone(t *testing.T) {
	f := func(name string, spoil func(r *kasoku.Recording)) {
		t.Helper()
		r := &kasoku.Recording{}
		limited(r, "agents.h-a")
		spoil(r)
		if got := found(t, r); len(got) != 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	set := func(of string, values ...float64) func(r *kasoku.Recording) {
		return func(r *kasoku.Recording) {
			i := slices.IndexFunc(r.Series, func(s kasoku.Series) bool { return s.Key.Name == of })
			for j, v := range values {
				r.Series[i].Points[j].Value = v
			}
		}
	}
	f("a busy process", set(graphite.CpuUsage, 1, 1, 1, 1, 1))
	f("writes as the disk has time", set(graphite.UpdateOperations, 260, 250, 400, 150, 300))
	f("a cache that does not grow", set(graphite.CacheSize, 20_000, 20_000, 20_000, 20_000, 20_000))
	f("enough points a write", set(graphite.CommittedPoints, 50_000, 50_000, 50_000, 50_000, 50_000))
	f("no number", set(graphite.CommittedPoints, math.NaN(), math.NaN(), math.NaN(), 50_000, 50_000))
	f("reported twice", func(r *kasoku.Recording) {
		for i := range r.Series {
			r.Series[i].Points = r.Series[i].Points[:2]
		}
	})
}
