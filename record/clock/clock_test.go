package clock

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/lines"
)

// passed is a sink that counts what reaches it.
type passed struct {
	frames, gaps, events int
	err                  error
}

func (p *passed) Frame(*kasoku.Frame) error { p.frames++; return p.err }
func (p *passed) Gap(kasoku.Gap) error      { p.gaps++; return p.err }
func (p *passed) Event(kasoku.Event) error  { p.events++; return p.err }

func TestClockPassesOn(t *testing.T) {
	sink := &passed{err: errors.New("full")}
	c := New(time.Now(), sink)
	for _, err := range []error{c.Frame(&kasoku.Frame{Source: "host"}), c.Gap(kasoku.Gap{}), c.Event(kasoku.Event{})} {
		if !errors.Is(err, sink.err) {
			t.Errorf("error %v, want that of the sink", err)
		}
	}
	if sink.frames != 1 || sink.gaps != 1 || sink.events != 1 {
		t.Errorf("passed on %+v", sink)
	}
}

// ticked returns a clock that saw the wall clock at each whole second; shift is
// by how much it was off from the start on.
func ticked(start time.Time, seconds int, shift func(second int) time.Duration) *Clock {
	c := New(start, &passed{})
	for n := 1; n <= seconds; n++ {
		at := time.Duration(n) * time.Second
		c.tick(at, start.Round(0).Add(at+shift(n)))
	}
	return c
}

func TestClockSteps(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	steady := ticked(start, 60, func(int) time.Duration { return 0 })
	forward := ticked(start, 60, func(n int) time.Duration {
		if n > 20 {
			return time.Hour
		}
		return 0
	})
	back := ticked(start, 60, func(n int) time.Duration {
		if n > 20 {
			return -30 * time.Second
		}
		return 0
	})
	f := func(c *Clock, wall, want time.Duration) {
		t.Helper()
		if got := c.Wall(start.Add(wall)); got != want {
			t.Errorf("wall time %s after the start is at %s, want %s", wall, got, want)
		}
	}
	f(steady, 0, 0)
	f(steady, 30500*time.Millisecond, 30500*time.Millisecond)
	f(steady, -time.Minute, -time.Minute)
	f(steady, 2*time.Hour, 2*time.Hour)

	hour := ticked(start, 60, func(n int) time.Duration {
		if n > 20 {
			return -time.Hour
		}
		return 0
	})
	f(hour, -time.Hour+21*time.Second, 21*time.Second)
	f(hour, -time.Hour+20500*time.Millisecond, 20500*time.Millisecond) // between the step and the tick that saw it
	f(hour, -time.Hour+19500*time.Millisecond, 20*time.Second)         // the same, cut to whole seconds
	f(hour, -time.Hour, -time.Hour)
	f(hour, -time.Second, -time.Second)

	f(forward, 10*time.Second, 10*time.Second)
	f(forward, 20*time.Second+time.Millisecond, 20*time.Second+time.Millisecond) // right before the step
	f(forward, time.Hour+20900*time.Millisecond, 20900*time.Millisecond)         // right after it
	f(forward, time.Hour+50*time.Second, 50*time.Second)
	f(forward, 30*time.Minute, 21*time.Second) // never shown
	f(forward, -time.Second, -time.Second)

	f(back, 3*time.Second, 33*time.Second)  // shown twice: the later one
	f(back, -5*time.Second, 25*time.Second) // in the run only since the step
	f(back, 25*time.Second, 55*time.Second) // shown twice
	f(back, -time.Minute, -time.Minute)     // before the run
	f(back, 40*time.Second, 70*time.Second) // after the last tick
	f(back, -9*time.Second, 21*time.Second) // the first tick after the step
	f(back, -9100*time.Millisecond, 20900*time.Millisecond)
	if n := len(forward.pieces); n != 2 {
		t.Errorf("a clock that was stepped once has %d pieces", n)
	}
}

// TestClockSlewed: a clock that runs fast all the time is followed to within
// its tolerance.
func TestClockSlewed(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	drift := func(n int) time.Duration { return time.Duration(n) * 500 * time.Microsecond }
	c := ticked(start, 3600, drift)
	for n := range 3600 {
		at := time.Duration(n) * time.Second
		if got := c.Wall(start.Add(at + drift(n))); (got - at).Abs() > 2*pace {
			t.Fatalf("second %d is placed at %s", n, got)
		}
	}
	if n := len(c.pieces); n > 300 {
		t.Errorf("%d pieces", n)
	}
}

// TestClockAnySteps: whatever the steps, the wall time of a tick is placed at a
// tick that had it, within the tolerance.
func TestClockAnySteps(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		const seconds = 40
		shifts := make([]time.Duration, seconds+1)
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			by := time.Duration(rapid.IntRange(-100_000, 100_000).Draw(t, "ms")) * time.Millisecond
			for n := rapid.IntRange(1, seconds).Draw(t, "at"); n <= seconds; n++ {
				shifts[n] += by
			}
		}
		c := ticked(start, seconds, func(n int) time.Duration { return shifts[n] })
		for n := range seconds + 1 {
			wall := start.Add(time.Duration(n)*time.Second + shifts[n])
			got := c.Wall(wall)
			near := false
			for k := range seconds + 1 {
				at := time.Duration(k) * time.Second
				// A tick has the time, or the clock passed over it in the second before.
				near = near || (at+shifts[k]+got-at-wall.Sub(start)).Abs() <= 2*pace && (got-at).Abs() <= time.Second
			}
			if !near {
				t.Fatalf("second %d is placed at %s", n, got)
			}
		}
	})
}

func TestClockOffset(t *testing.T) {
	c := New(time.Now(), &passed{})
	for n, size := range []float64{100, 100, 300, 700, 50, 150} {
		f := &kasoku.Frame{Source: "log", At: time.Duration(n+1) * time.Second}
		f.Gauge("size", "app.log", "bytes", size)
		f.Gauge("size", "other.log", "bytes", 1e9)
		if err := c.Frame(f); err != nil {
			t.Fatal(err)
		}
	}
	at := c.Offset(lines.Mark{Path: "app.log", Offset: 100})
	f := func(off int64, want time.Duration) {
		t.Helper()
		if got := at(off); got != want {
			t.Errorf("byte %d at %s, want %s", off, got, want)
		}
	}
	f(0, 2*time.Second) // the first byte came after the second tick
	f(100, 2500*time.Millisecond)
	f(200, 3*time.Second)
	f(400, 3500*time.Millisecond)
	f(600, 4*time.Second) // what came before the rotation and was not seen counts as after
	f(650, 5*time.Second)
	f(700, 5500*time.Millisecond)
	f(10_000, 6*time.Second) // after the last tick
	if got := c.Offset(lines.Mark{Path: "none.log"})(5); got != 0 {
		t.Errorf("a log that was never seen: %s", got)
	}
}
