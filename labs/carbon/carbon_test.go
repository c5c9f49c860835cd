package carbon_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/labs/carbon"
	"github.com/kasoku/kasoku/observe/graphite"
)

func TestSeeded(t *testing.T) {
	f := func(ids, want string) {
		t.Helper()
		v, err := carbon.Seeded(ids)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Describe(); got != want {
			t.Errorf("%s: %s, want %s", ids, got, want)
		}
	}
	const rest = "MAX_UPDATES_PER_SECOND_ON_SHUTDOWN = 1000000"
	f("none", "MAX_CREATES_PER_MINUTE = inf, MAX_UPDATES_PER_SECOND = inf, "+rest)
	f("ts-02", "MAX_CREATES_PER_MINUTE = 50, MAX_UPDATES_PER_SECOND = inf, "+rest)
	f("all", "MAX_CREATES_PER_MINUTE = 50, MAX_UPDATES_PER_SECOND = 50, "+rest)
	f("TS-01, TS-06", "MAX_CACHE_SIZE = 4000, MAX_CREATES_PER_MINUTE = inf, MAX_UPDATES_PER_SECOND = 50, "+rest)
	v, err := carbon.Seeded("TS-03,TS-05")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(v.Load("127.0.0.1:2003", 30*time.Second), " ")
	if !strings.Contains(got, "--interval 10ms --ramp 30s ") {
		t.Errorf("a load that grows, of 100 points a second: %s", got)
	}
	if all, err := carbon.Seeded("all"); err != nil || all.Down || all.Grows {
		t.Errorf("all has what hides the others: %+v, %v", all, err)
	}
	if _, err := carbon.Seeded("TS-99"); err == nil {
		t.Error("TS-99 is known")
	}
	if v, err := carbon.Named(carbon.Caches); err != nil || v.Caches != 2 {
		t.Error(v, err)
	}
	if _, err := carbon.Named("fast"); err == nil {
		t.Error("fast is known")
	}
}

func TestStory(t *testing.T) {
	s := carbon.Story()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	for _, step := range s.Steps {
		if !slices.Contains(carbon.VariantNames(), step.Name) {
			t.Errorf("step %s is no variant", step.Name)
		}
	}
}

// TestFigures: of two caches after a relay, what the relay received counts once, and what was
// reported in the first half does not.
func TestFigures(t *testing.T) {
	r := &kasoku.Recording{}
	r.Run.Length = 40 * time.Second
	add := func(server, name string, early, late float64) {
		r.Series = append(r.Series, kasoku.Series{Key: kasoku.Key{Source: graphite.Name, Name: name, Instance: server},
			Points: []kasoku.Point{{At: 10 * time.Second, Value: early}, {At: 30 * time.Second, Value: late}}})
	}
	add("agents.h-a", graphite.MetricsReceived, 1, 20_000)
	add("agents.h-b", graphite.MetricsReceived, 1, 30_000)
	add("relays.h-a", graphite.MetricsReceived, 1, 50_000)
	add("agents.h-a", graphite.CommittedPoints, 1, 5_000)
	add("agents.h-a", graphite.Creates, 40, 20)
	if got, want := carbon.Figures(r), []float64{10, 60, 10_000}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, v := range carbon.Figures(&kasoku.Recording{}) {
		if !math.IsNaN(v) {
			t.Errorf("of nothing %v", v)
		}
	}
}
