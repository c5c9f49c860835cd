package observe

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku"
)

// A fake is a source that follows an instruction at each call, counted from 0. The
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
// time. Goroutines that remain fail the test.
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
