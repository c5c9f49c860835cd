package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku"
)

// A fake is a source that does what it is told at each call, counted from 0. The
// last instruction holds for all further calls.
type fake struct {
	name   string
	script []act
	calls  int
	events []kasoku.Event
	closed int
}

type act struct {
	takes  time.Duration
	deaf   bool // goes on when the context is cancelled
	err    error
	panics any
	event  string
}

func (s *fake) Name() string { return s.name }

func (s *fake) Collect(ctx context.Context, f *kasoku.Frame) error {
	n := s.calls
	s.calls++
	var a act
	if len(s.script) > 0 {
		a = s.script[min(n, len(s.script)-1)]
	}
	f.Gauge("n", "", "count", float64(n))
	if a.event != "" {
		s.events = append(s.events, kasoku.Event{Kind: "test", Text: a.event})
	}
	if a.takes > 0 {
		done := ctx.Done()
		if a.deaf {
			done = nil
		}
		select {
		case <-time.After(a.takes):
		case <-done:
			return ctx.Err()
		}
	}
	if a.panics != nil {
		panic(a.panics)
	}
	return a.err
}

func (s *fake) Events() []kasoku.Event {
	out := s.events
	s.events = nil
	return out
}

func (s *fake) Warnings() []kasoku.Warning {
	return []kasoku.Warning{{Code: s.name}}
}

func (s *fake) Close() error {
	s.closed++
	return nil
}

// A log is a sink that keeps what it gets, as text; self is left out.
type log struct {
	lines  []string
	frames map[string][]time.Duration
	gaps   map[string][]kasoku.Gap
	self   []kasoku.Sample // of the last frame
	onEach func() error    // called before anything is kept
}

func newLog() *log {
	return &log{frames: map[string][]time.Duration{}, gaps: map[string][]kasoku.Gap{}}
}

func (l *log) each() error {
	if l.onEach != nil {
		return l.onEach()
	}
	return nil
}

func (l *log) Frame(f *kasoku.Frame) error {
	if f.Source == SelfName {
		l.self = append(l.self[:0], f.Samples...)
		return nil
	}
	if err := l.each(); err != nil {
		return err
	}
	l.frames[f.Source] = append(l.frames[f.Source], f.At)
	l.lines = append(l.lines, fmt.Sprintf("%s %s %v", f.At, f.Source, f.Samples[0].Value))
	return nil
}

func (l *log) Gap(g kasoku.Gap) error {
	if g.Source == SelfName {
		return nil
	}
	if err := l.each(); err != nil {
		return err
	}
	l.gaps[g.Source] = append(l.gaps[g.Source], g)
	l.lines = append(l.lines, fmt.Sprintf("%s gap to %s %s: %s", g.Interval.From, g.Interval.To, g.Source, g.Reason))
	return nil
}

func (l *log) Event(e kasoku.Event) error {
	if err := l.each(); err != nil {
		return err
	}
	l.lines = append(l.lines, fmt.Sprintf("%s event %s: %s", e.At, e.Kind, e.Text))
	return nil
}

// sample runs a sampler in a bubble, that is with a clock of its own, for a
// time. Goroutines that are left behind fail the test.
func sample(t *testing.T, length time.Duration, sink *log, sources ...Source) (err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), length)
		defer cancel()
		err = New(Options{Host: "web1", Start: time.Now(), Sources: sources, Sink: sink}).Run(ctx)
	})
	return err
}

func wantLines(t *testing.T, l *log, want string) {
	t.Helper()
	want = strings.ReplaceAll(strings.TrimSpace(want), "\t", "")
	if got := strings.Join(l.lines, "\n"); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

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

func TestFailureIsAGapWithItsReason(t *testing.T) {
	l := newLog()
	down := fmt.Errorf("status: %w", errors.New("connection refused"))
	src := &fake{name: "a", script: []act{{}, {err: down}, {err: down}, {}, {err: down}, {err: hinted{}}}}
	if err := sample(t, 5500*time.Millisecond, l, src, &fake{name: "b"}); err != nil {
		t.Fatal(err)
	}
	if got := len(l.frames["b"]); got != 7 {
		t.Fatalf("%d frames of the other source", got)
	}
	l.lines = without(l.lines, " b ")
	wantLines(t, l, `
		0s a 0
		1s gap to 3s a: status: connection refused
		3s a 3
		4s gap to 5s a: status: connection refused
		5s gap to 5.5s a: no right; hint: grant it`)
}

type hinted struct{}

func (hinted) Error() string { return "no right" }
func (hinted) Hint() string  { return "grant it" }

func without(lines []string, word string) []string {
	var out []string
	for _, l := range lines {
		if !strings.Contains(l+" ", word) {
			out = append(out, l)
		}
	}
	return out
}

func TestPanicIsAGap(t *testing.T) {
	l := newLog()
	if err := sample(t, 1500*time.Millisecond, l, &fake{name: "a", script: []act{{panics: "boom"}, {}}}); err != nil {
		t.Fatal(err)
	}
	if len(l.lines) != 3 || !strings.HasPrefix(l.lines[0], "0s gap to 1s a: panic: boom at sampler_test.go:") {
		t.Fatalf("%q", l.lines)
	}
}

func TestSlowSourceStallsNobody(t *testing.T) {
	l := newLog()
	src := &fake{name: "a", script: []act{{}, {takes: 2500 * time.Millisecond}, {}}}
	if err := sample(t, 4500*time.Millisecond, l, src, &fake{name: "b"}); err != nil {
		t.Fatal(err)
	}
	if got := len(l.frames["b"]); got != 6 {
		t.Fatalf("%d frames of the other source", got)
	}
	l.lines = without(l.lines, " b ")
	// The late frame has its own time and ends the gap.
	wantLines(t, l, `
		0s a 0
		1s gap to 3.5s a: slower than the interval of 1s
		3.5s a 1
		4s a 2
		4.5s a 3`)
}

func TestHangingSourceIsCancelledAtTheEnd(t *testing.T) {
	l, src := newLog(), &fake{name: "a", script: []act{{}, {takes: time.Hour}}}
	if err := sample(t, 3500*time.Millisecond, l, src, &fake{name: "b"}); err != nil {
		t.Fatal(err)
	}
	l.lines = without(l.lines, " b ")
	wantLines(t, l, `
		0s a 0
		1s gap to 4.5s a: slower than the interval of 1s`)
	if src.closed != 1 {
		t.Fatalf("closed %d times", src.closed)
	}
}

func TestDeafSourceIsLeftBehind(t *testing.T) {
	l, src := newLog(), &fake{name: "a", script: []act{{}, {takes: time.Minute, deaf: true}}}
	var err error
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		err = New(Options{Start: time.Now(), Sources: []Source{src, &fake{name: "b"}}, Sink: l}).Run(ctx)
		<-time.After(time.Hour) // its goroutine ends when it returns after all
	})
	if err == nil || err.Error() != `source "a" does not stop: it was asked 2,500 ms ago` {
		t.Fatal(err)
	}
	l.lines = without(l.lines, " b ")
	wantLines(t, l, `
		0s a 0
		1s gap to 3.5s a: slower than the interval of 1s`)
	if src.closed != 0 {
		t.Fatal("closed while it reads")
	}
}

// A disk that stalls costs the ticks for which there is no frame left, and the
// time of the reads is not touched.
func TestStalledSink(t *testing.T) {
	l, n := newLog(), 0
	l.onEach = func() error {
		if n++; n == 2 {
			<-time.After(4200 * time.Millisecond)
		}
		return nil
	}
	if err := sample(t, 7500*time.Millisecond, l, &fake{name: "a"}); err != nil {
		t.Fatal(err)
	}
	wantLines(t, l, `
		0s a 0
		1s a 1
		2s a 2
		3s gap to 6s a: the samples before were not stored in time
		6s a 3
		7s a 4
		7.5s a 5`)
}

func TestSinkErrorsLoseNothingElse(t *testing.T) {
	l, n, full := newLog(), 0, errors.New("disk full")
	l.onEach = func() error {
		if n++; n == 2 || n == 3 {
			return full
		}
		return nil
	}
	err := sample(t, 3500*time.Millisecond, l, &fake{name: "a"})
	if !errors.Is(err, full) || err.Error() != "store samples: disk full (and 1 more errors)" {
		t.Fatal(err)
	}
	wantLines(t, l, `
		0s a 0
		3s a 3
		3.5s a 4`)
}

func TestEvents(t *testing.T) {
	l := newLog()
	src := &fake{name: "a", script: []act{{event: "came"}, {event: "went", err: errors.New("gone"), takes: time.Millisecond}, {}}}
	if err := sample(t, 1500*time.Millisecond, l, src); err != nil {
		t.Fatal(err)
	}
	wantLines(t, l, `
		0s a 0
		0s event test: came
		1.001s event test: went
		1s gap to 1.5s a: gone
		1.5s a 2`)
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

func TestSelf(t *testing.T) {
	l := newLog()
	if err := sample(t, 1500*time.Millisecond, l, &fake{name: "a"}); err != nil {
		t.Fatal(err)
	}
	f := func(name, unit string, kind kasoku.Kind, positive bool) {
		t.Helper()
		for _, s := range l.self {
			if s.Name == name && s.Unit == unit && s.Kind == kind && (s.Value > 0 || !positive) {
				return
			}
		}
		t.Fatalf("no %s in %+v", name, l.self)
	}
	f("cpu.user", "s", kasoku.Counter, true)
	f("cpu.system", "s", kasoku.Counter, false)
	f("rss", "bytes", kasoku.Gauge, true)
	f("pid", "count", kasoku.Gauge, true)
	f("tick.late", "s", kasoku.Gauge, false)
	f("clock.drift", "s", kasoku.Gauge, false)
	f("cost.a", "s", kasoku.Counter, true)
	f("cost.sink", "s", kasoku.Counter, true)
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

func TestWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s := New(Options{Sources: []Source{&fake{name: "a"}, &fake{name: "b"}}, Sink: newLog()})
		s.missed, s.longest = 3, 2*time.Second
		if err := s.Run(ctx); err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, w := range s.Warnings() {
			codes = append(codes, w.Code)
		}
		if got := strings.Join(codes, " "); got != "a b sampler-missed" {
			t.Fatal(got)
		}
	})
}

func TestWrongOptions(t *testing.T) {
	f := func(o Options, want string) {
		t.Helper()
		src := &fake{name: "a"}
		o.Sources = append(o.Sources, src)
		if err := New(o).Run(t.Context()); err == nil || err.Error() != want {
			t.Fatalf("%v, want %q", err, want)
		}
		if src.closed != 1 {
			t.Fatal("not closed")
		}
	}
	f(Options{}, "sample: no sink")
	f(Options{Sink: newLog(), Interval: -1}, "sample: interval -1ns is below 1 ms")
	f(Options{Sink: newLog(), Every: map[string]time.Duration{"a": 300 * time.Millisecond}}, "sample: interval 1s is no multiple of 300ms")
	f(Options{Sink: newLog(), Every: map[string]time.Duration{"a": 1500 * time.Millisecond}}, `sample: interval 1.5s of "a" is no multiple of 1s`)
	f(Options{Sink: newLog(), Sources: []Source{&fake{name: "a"}}}, `sample: two sources are named "a"`)
	f(Options{Sink: newLog(), Sources: []Source{&fake{name: "self"}}}, `sample: two sources are named "self"`)
}
