package vegeta

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
)

func TestSchedule(t *testing.T) {
	f := func(o ScheduleOptions, total uint64, described string, random bool) {
		t.Helper()
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		s, err := o.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		if n, bounded := s.Total(); n != total || bounded != (total > 0) {
			t.Errorf("%+v has %d requests, bounded %t, want %d", o, n, bounded, total)
		}
		if o.Describe() != described || o.Random() != random {
			t.Errorf("%+v is reported as %q, random %t", o, o.Describe(), o.Random())
		}
	}
	const s = time.Second
	f(ScheduleOptions{Rate: 50}, 0, "", false)
	f(ScheduleOptions{Rate: 50, Duration: 2 * s}, 100, "", false)
	f(ScheduleOptions{Steps: []float64{10, 20}, Duration: s, Pause: s}, 30, "", false)
	f(ScheduleOptions{Rate: 7, Stages: []load.Stage{{For: s, From: 0, To: 100}, {For: s}}}, 50, "", false)
	f(ScheduleOptions{Rate: 50, Duration: s, Spacing: load.Burst(25)}, 50, "bursts of 25", false)
	f(ScheduleOptions{Duration: s}, 0, "", false)
	f(ScheduleOptions{Duration: s, ThinkMin: s, ThinkMax: s}, 0, "think time 1 s", false)
	f(ScheduleOptions{Duration: s, ThinkMax: s}, 0, "think time 0 s to 1 s", true)
	poisson := ScheduleOptions{Rate: 50, Duration: s, Spacing: load.Poisson, Seed: 3}
	if poisson.Describe() != "Poisson arrivals" || !poisson.Random() {
		t.Errorf("reported as %q", poisson.Describe())
	}

	bad := func(o ScheduleOptions, want string) {
		t.Helper()
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error is %v, want %q", o, err, want)
		}
	}
	bad(ScheduleOptions{Steps: []float64{1, 2}}, "a ladder needs the duration of a step")
	bad(ScheduleOptions{Steps: []float64{1, 0}, Duration: s}, "bad rate 0")
	bad(ScheduleOptions{Rate: 5, Duration: -s}, "bad duration -1s")
	bad(ScheduleOptions{Rate: 5, ThinkMax: s}, "a think time goes with a closed loop")
	bad(ScheduleOptions{Spacing: load.Poisson}, "poisson arrivals go with a rate")
	bad(ScheduleOptions{Stages: []load.Stage{{For: -s, From: 1, To: 1}}}, "")
}
