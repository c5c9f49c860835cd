package load

import (
	"context"
	"testing"
	"time"
)

func TestFDAlarmIsNeverEarly(t *testing.T) {
	a, err := newFDAlarm(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	for _, d := range []time.Duration{-1, 0, 1, time.Microsecond, 300 * time.Microsecond, 3 * time.Millisecond} {
		began := time.Now()
		a.sleep(t.Context(), d)
		if slept := time.Since(began); slept < d {
			t.Errorf("slept %s instead of %s", slept, d)
		}
	}
}

func TestFDAlarmEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a, err := newFDAlarm(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	cancelled := time.AfterFunc(time.Millisecond, cancel)
	defer cancelled.Stop()
	a.sleep(ctx, time.Hour)
	if ctx.Err() == nil {
		t.Error("the alarm rang before its time")
	}
	a.sleep(ctx, time.Hour)
}

func TestDriverOnTheRealClock(t *testing.T) {
	d := driver(steady(0))
	d.newAlarm = nil
	began := time.Now() // the load's own measurement begins after its schedule
	_, hits := run(t, t.Context(), d, plan(t, 2000, 100*time.Millisecond))
	checkOnce(t, hits, 200)
	if took := time.Since(began); took < 99*time.Millisecond {
		t.Errorf("the load took %s, less than its schedule", took)
	}
}
