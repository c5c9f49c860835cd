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
	"github.com/kasoku/kasoku/internal/contain"
)

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
	defer contain.Forget()
	l := newLog()
	if err := sample(t, 1500*time.Millisecond, l, &fake{name: "a", script: []act{{panics: "boom"}, {}}}); err != nil {
		t.Fatal(err)
	}
	if len(l.lines) != 3 || !strings.HasPrefix(l.lines[0], "0s gap to 1s a: source a: a bug of kasoku: panic with a string in observe.(*fake).Collect (fake_test.go:") {
		t.Fatalf("%q", l.lines)
	}
}

func TestSlowSourceStallsNoOther(t *testing.T) {
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

func TestDeafSourceIsAbandoned(t *testing.T) {
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
