package observe

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku"
)

func TestTicksAreAligned(t *testing.T) {
	l, src := newLog(), &fake{name: "a", script: []act{{takes: 20 * time.Millisecond}}}
	if err := sample(t, 2500*time.Millisecond, l, src); err != nil {
		t.Fatal(err)
	}
	wantLines(t, l, `
		20ms a 0
		1.02s a 1
		2.02s a 2
		2.52s a 3`)
	if src.closed != 1 {
		t.Fatalf("closed %d times", src.closed)
	}
}

// Sampling that begins within the run takes one sample at once and then keeps to
// the run's clock.
func TestStartWithinTheRun(t *testing.T) {
	f := func(after time.Duration, want string) {
		t.Helper()
		l := newLog()
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			<-time.After(after)
			ctx, cancel := context.WithTimeout(t.Context(), 1300*time.Millisecond)
			defer cancel()
			if err := New(Options{Start: start, Sources: []Source{&fake{name: "a"}}, Sink: l}).Run(ctx); err != nil {
				t.Error(err)
			}
		})
		wantLines(t, l, want)
	}
	f(700*time.Millisecond, `
		700ms a 0
		1s a 1
		2s a 2`)
	f(950*time.Millisecond, `
		950ms a 0
		2s a 1
		2.25s a 2`)
}

func TestWallClockSteps(t *testing.T) {
	l := newLog()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		s := New(Options{Start: start, Sink: l})
		s.wall.now = func() time.Time {
			now := time.Now()
			switch at := now.Sub(start); {
			case at < 2*time.Second:
				return now.Add(at / 20) // slewed by 50 ms a second
			case at < 4*time.Second:
				return now.Add(-3 * time.Second)
			}
			return now.Add(90 * time.Minute)
		}
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	wantLines(t, l, `
		2s event clock: the wall clock was set back by 3,050 ms
		4s event clock: the wall clock was set forward by 5,403 s`)
}

// A process that does not run between the two clocks sees no step.
func TestWallClockIsReadAgain(t *testing.T) {
	l := newLog()
	slow := 0
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		s := New(Options{Start: start, Sink: l})
		s.wall.now = func() time.Time {
			now := time.Now()
			switch at := now.Sub(start); {
			case at >= 2*time.Second && slow == 0: // once
				slow++
				<-time.After(150 * time.Millisecond)
				return time.Now()
			case at >= 3*time.Second && slow <= readTries: // each time that it is tried
				slow++
				<-time.After(150 * time.Millisecond)
				return time.Now().Add(time.Hour)
			case at >= 3*time.Second:
				return now.Add(time.Hour)
			}
			return now
		}
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	wantLines(t, l, `4s event clock: the wall clock was set forward by 3,600 s`)
	if slow != 1+readTries {
		t.Errorf("it was read slowly %d times", slow)
	}
}

// A step just before the end, when no source is asked any more, is an event, too.
func TestWallClockStepsAtTheEnd(t *testing.T) {
	l := newLog()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2050*time.Millisecond)
		defer cancel()
		start := time.Now()
		s := New(Options{Start: start, Sink: l})
		s.wall.now = func() time.Time {
			now := time.Now()
			if now.Sub(start) > 2*time.Second {
				now = now.Add(time.Hour)
			}
			return now
		}
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	wantLines(t, l, `2.05s event clock: the wall clock was set forward by 3,600 s`)
}

func TestMissedTicks(t *testing.T) {
	l := newLog()
	s := New(Options{Start: time.Now(), Sources: []Source{&fake{name: "a"}}, Sink: l})
	s.prepare()
	defer s.self.Close()
	s.skip(6*time.Second, 7*time.Second, 7400*time.Millisecond) // late, but in its second
	s.skip(7400*time.Millisecond, 8*time.Second, 12300*time.Millisecond)
	s.handle(s.queue.take(nil))
	w := s.workers[0]
	s.handleOne(&item{w: w, frame: frameOf(w), at: 12301 * time.Millisecond})
	wantLines(t, l, `
		8s gap to 12.301s a: kasoku did not run for 4,300 ms
		0s a 0`)
	if s.missed != 4 || s.longest != 4300*time.Millisecond {
		t.Fatal(s.missed, s.longest)
	}
}

// A source may have ticks of its own, between those of the others.
func TestEvery(t *testing.T) {
	l := newLog()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		<-time.After(960 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 1300*time.Millisecond)
		defer cancel()
		slow := &fake{name: "slow", script: []act{{}, {takes: 10 * time.Millisecond}}}
		quick := &fake{name: "quick", script: []act{{}, {}, {takes: 250 * time.Millisecond}, {}}}
		err := New(Options{Start: start, Every: map[string]time.Duration{"quick": 200 * time.Millisecond, "none": time.Second}, Sources: []Source{slow, quick}, Sink: l}).Run(ctx)
		if err != nil {
			t.Error(err)
		}
	})
	var got []string
	for _, line := range l.lines {
		if !strings.HasPrefix(line, "960ms") { // in any order
			got = append(got, line)
		}
	}
	l.lines = got
	// At 1 s both are too close to their first tick but the quick one.
	wantLines(t, l, `
		1s quick 1
		1.2s gap to 1.45s quick: slower than the interval of 200ms
		1.45s quick 2
		1.6s quick 3
		1.8s quick 4
		2s quick 5
		2.01s slow 1
		2.2s quick 6
		2.26s quick 7
		2.27s slow 2`)
}

// Ticks of a source that is asked less often are missed only when its own passed.
func TestMissedTicksOfEach(t *testing.T) {
	l := newLog()
	s := New(Options{Start: time.Now(), Every: map[string]time.Duration{"quick": 100 * time.Millisecond}, Sources: []Source{&fake{name: "quick"}, &fake{name: "slow"}}, Sink: l})
	s.prepare()
	defer s.self.Close()
	s.skip(7*time.Second, 7100*time.Millisecond, 7650*time.Millisecond)
	s.handle(s.queue.take(nil))
	if s.missed != 5 || !s.workers[0].gaps.open || s.workers[1].gaps.open {
		t.Fatal(s.missed)
	}
	s.skip(7600*time.Millisecond, 7700*time.Millisecond, 9100*time.Millisecond)
	s.handle(s.queue.take(nil))
	if w := s.workers[1]; !w.gaps.open || w.gaps.from != 8*time.Second {
		t.Fatal(w.gaps)
	}
}

func frameOf(w *worker) *kasoku.Frame {
	f := <-w.free
	f.Gauge("n", "", "count", 0)
	return f
}
