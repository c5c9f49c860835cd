package observe

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/threadtime"
)

func TestParseStatm(t *testing.T) {
	page := float64(os.Getpagesize())
	f := func(text string, want float64, wantOK bool) {
		t.Helper()
		if got, ok := parseStatm(text); got != want && ok || ok != wantOK {
			t.Fatalf("parseStatm(%q) = %v, %t", text, got, ok)
		}
	}
	f("13013 5280 1256 0 0 0 0\n", 5280*page, true)
	f("13013", 0, false)
	f("13013 5280", 0, false)
	f("13013 x 1", 0, false)
	f("", 0, false)
}

func TestParseIO(t *testing.T) {
	f := func(text string, read, written float64, want bool) {
		t.Helper()
		if r, w, ok := parseIO(text); r != read || w != written || ok != want {
			t.Fatalf("parseIO(%q) = %v, %v, %t", text, r, w, ok)
		}
	}
	f("rchar: 6976\nwchar: 5\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n", 4096, 8192, true)
	f("read_bytes: 4096\n", 0, 0, false)
	f("read_bytes: x\nwrite_bytes: 1\n", 0, 0, false)
	f("", 0, 0, false)
}

func FuzzIO(f *testing.F) {
	f.Add("read_bytes: 4096\nwrite_bytes: 8192\n")
	f.Fuzz(func(t *testing.T, text string) {
		if r, w, ok := parseIO(text); r < 0 || w < 0 || !ok && (r != 0 || w != 0) {
			t.Fatal(r, w, ok)
		}
	})
}

func FuzzStatm(f *testing.F) {
	f.Add("13013 5280 1256 0 0 0 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		if v, ok := parseStatm(text); ok && v < 0 {
			t.Fatal(v)
		}
	})
}

func TestGapTracker(t *testing.T) {
	const s = time.Second
	var g gapTracker
	f := func(gap kasoku.Gap, ended bool, from, to time.Duration, reason string) {
		t.Helper()
		if ended != (reason != "") || gap.Interval != (kasoku.Interval{From: from, To: to}) || gap.Reason != reason {
			t.Fatalf("%+v, %t", gap, ended)
		}
	}
	frame := func(due, at time.Duration, from, to time.Duration, reason string) {
		t.Helper()
		gap, ended := g.frame(due, at)
		f(gap, ended, from, to, reason)
	}
	miss := func(due, at time.Duration, why string, from, to time.Duration, reason string) {
		t.Helper()
		gap, ended := g.miss(due, at, why)
		f(gap, ended, from, to, reason)
	}
	miss(0, 0, "down", 0, 0, "")
	frame(s, s, 0, s, "down")
	miss(s, 2*s, "slow", 0, 0, "") // the frame of that tick came just now
	frame(s, 2*s, 0, 0, "")
	miss(2*s, 3*s, "slow", 0, 0, "") // asked when the frame of the tick before came
	frame(2*s, 3*s, 2*s, 3*s, "slow")
	miss(3*s, 4*s, "slow", 0, 0, "")
	miss(3*s, 5*s, "slow", 0, 0, "")
	miss(3*s, 6*s, "down", 3*s, 6*s, "slow")
	frame(7*s, 7*s, 6*s, 7*s, "down")
	miss(8*s, 8*s, "down", 0, 0, "")
	gap, ended := g.end(8 * s)
	f(gap, ended, 8*s, 8*s+1, "down")
	gap, ended = g.end(9 * s)
	f(gap, ended, 0, 0, "")
}

// spinner uses 20 ms of CPU time.
type spinner struct{}

func (spinner) Name() string { return "spin" }

func (spinner) Collect(_ context.Context, f *kasoku.Frame) error {
	b := make([]byte, 1<<14)
	for used := time.Duration(0); used < 20*time.Millisecond; {
		used += threadtime.Of(func() {
			for i := range b {
				b[i] ^= byte(i)
			}
		})
	}
	f.Gauge("n", "", "count", 1)
	return nil
}

// TestCost runs on the real clock: the CPU time of a read is in its frame, and
// that of a read that waits is not.
func TestCost(t *testing.T) {
	costs := map[string]time.Duration{}
	sink := &costSink{costs: costs}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	wait := &fake{name: "wait", script: []act{{takes: 50 * time.Millisecond}}}
	if err := New(Options{Sources: []Source{spinner{}, wait}, Sink: sink}).Run(ctx); err != nil {
		t.Fatal(err)
	}
	if costs["spin"] < 20*time.Millisecond || costs["wait"] > 5*time.Millisecond {
		t.Fatal(costs)
	}
}

type costSink struct{ costs map[string]time.Duration }

func (s *costSink) Frame(f *kasoku.Frame) error {
	s.costs[f.Source] += f.Cost
	return nil
}
func (*costSink) Gap(kasoku.Gap) error     { return nil }
func (*costSink) Event(kasoku.Event) error { return nil }

// TestMissingWhileItLasts: what a gap is so far is known before it ends.
func TestMissingWhileItLasts(t *testing.T) {
	var gaps []kasoku.Gap
	s := &Sampler{o: Options{Host: "h", Sink: &missingSink{gaps: &gaps}}}
	w := &worker{source: namedSource("db")}
	for _, at := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second} {
		s.handleOne(&item{w: w, due: at, at: at, reason: "refused"})
	}
	if len(gaps) != 3 || gaps[2] != (kasoku.Gap{Host: "h", Source: "db", Reason: "refused", Interval: kasoku.Interval{From: time.Second, To: 3 * time.Second}}) {
		t.Errorf("reported %+v", gaps)
	}
}

type namedSource string

func (n namedSource) Name() string                               { return string(n) }
func (namedSource) Collect(context.Context, *kasoku.Frame) error { return nil }

type missingSink struct {
	costSink
	gaps *[]kasoku.Gap
}

func (s *missingSink) Missing(g kasoku.Gap) { *s.gaps = append(*s.gaps, g) }
