package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

func TestFocus(t *testing.T) {
	ms := time.Millisecond
	f := func(rec *kasoku.Recording, step int, broke bool, from, to time.Duration, why string) {
		t.Helper()
		got := FocusOf(rec)
		number := 0
		if got.Step != nil {
			number = got.Step.Number
		}
		if number != step || got.Broke != broke || got.Interval != (kasoku.Interval{From: from, To: to}) || !strings.Contains(got.Why, why) {
			t.Errorf("step %d broke %v %v because %q; want step %d broke %v %v–%v because %q", number, got.Broke, got.Interval, got.Why, step, broke, from, to, why)
		}
	}
	// The first step that clearly breaks, not the worst one.
	f(run(at{10, 0, 10, 1, ms}, at{100, 13, 23, 0.94, ms}, at{1000, 26, 36, 0.1, ms}), 2, true, sec(13), sec(24), "94.0 %")
	// A step just past the limit counts where no other is well past it.
	f(run(at{10, 0, 10, 1, ms}, at{100, 13, 23, 0.98, ms}, at{1000, 26, 36, 0.97, ms}), 2, true, sec(13), sec(24), "98.0 %")
	f(run(at{10, 0, 10, 1, ms}, at{100, 13, 23, 0.98, ms}, at{1000, 26, 36, 0.1, ms}), 3, true, sec(26), sec(37), "10.0 %")
	// Exactly 99 % is good.
	f(run(at{100, 0, 10, 1, ms}, at{1000, 13, 23, 0.99, ms}), 2, false, sec(13), sec(24), "most load")
	// One failure of a few requests breaks nothing, half of them do.
	f(run(at{4, 0, 2, 0.75, ms}, at{1000, 5, 6, 1, ms}), 2, false, sec(5), sec(7), "most load")
	f(run(at{4, 0, 2, 0.25, ms}, at{1000, 5, 6, 1, ms}), 1, true, 0, sec(3), "25.0 %")
	// The slowest relative to the lowest; an order of magnitude breaks.
	f(run(at{10, 0, 10, 1, ms}, at{100, 13, 23, 1, 5 * ms}, at{1000, 26, 36, 1, 3 * ms}), 2, false, sec(13), sec(24), "p95")
	f(run(at{10, 0, 10, 1, ms}, at{100, 13, 23, 1, 11 * ms}, at{1000, 26, 36, 1, 3 * ms}), 2, true, sec(13), sec(24), "at 10 req/s")
	// The lowest step need not be the first.
	f(run(at{1000, 0, 10, 1, 40 * ms}, at{10, 13, 23, 1, ms}), 1, true, 0, sec(11), "at 10 req/s")
	// Late answers are waited for, up to the next step and at most 10 s.
	f(run(at{100, 0, 10, 0, 2500 * ms}, at{10, 20, 30, 1, ms}), 1, true, 0, sec(12)+500*ms, "0 %")
	f(run(at{100, 0, 10, 0, 9 * time.Second}, at{10, 12, 30, 1, ms}), 1, true, 0, sec(12), "0 %")
	f(run(at{100, 0, 10, 0, 90 * time.Second}, at{10, 30, 40, 1, ms}), 1, true, 0, sec(20), "0 %")
	// Steps without a pause between them.
	f(run(at{10, 0, 10, 1, ms}, at{100, 10, 20, 0, ms}, at{1000, 20, 30, 0, ms}), 2, true, sec(10), sec(20), "0 %")
	// Nothing at all.
	f(&kasoku.Recording{}, 0, false, 0, 0, "no load steps")
	// No steps: the whole run, and how far it got when it never ended.
	rec := run(at{100, 0, 10, 0.5, ms})
	rec.Steps = nil
	f(rec, 0, true, 0, sec(13), "50.0 %")
	rec.Run.Length = 0
	f(rec, 0, true, 0, sec(10), "50.0 %")
}

// TestFocusOverrun: a step whose queue grew to its end broke, though all its requests
// succeeded in the end, and the verdict says how many a second were kept up with.
func TestFocusOverrun(t *testing.T) {
	rec := run(at{20, 0, 10, 1, time.Millisecond})
	for i := range rec.Seconds {
		h := histogram.New()
		h.RecordN(time.Duration(3*float64(i)*float64(time.Second))+50*time.Millisecond, 20)
		rec.Seconds[i].Latency = h
	}
	if f := FocusOf(rec); !f.Broke || f.Why != "the service keeps up with 5.00 of 20 req/s" {
		t.Errorf("broke %t because %q", f.Broke, f.Why)
	}
	d := Diagnose(NewCase(rec, nil), nil)
	if want := "At 20 req/s the service keeps up with 5.00 a second, and requests wait ever longer, p95 27.0 s: no rule names the cause."; d.Verdict != want {
		t.Errorf("%q, want %q", d.Verdict, want)
	}
	if s := Summarise(rec); s.PerSec < 5 || s.PerSec > 5.5 {
		t.Errorf("%v/s were reached, in the 37 s that all took", s.PerSec)
	}
}

func TestFocusByAccessLog(t *testing.T) {
	rec := &kasoku.Recording{Run: kasoku.Run{Length: sec(10)}, Endpoints: []kasoku.Endpoint{{
		Method: "GET", Route: "/a", Seconds: map[int]kasoku.EndpointSecond{1: {Count: 100, Failed: 40}, 2: {Count: 100}},
	}}}
	c := NewCase(rec, nil)
	if !c.Focus.Broke || c.Good() != 0.8 || c.At() != "over the run" || c.PerSec() != 20 {
		t.Errorf("focus %+v, good %v, at %s, %v/s", c.Focus, c.Good(), c.At(), c.PerSec())
	}
	if failed, of := c.Failed(); failed != 40 || of != 200 {
		t.Errorf("failed %d of %d", failed, of)
	}
}

// TestFocusByPhases: of a run without steps the load is looked at, and what failed
// before it does not count.
func TestFocusByPhases(t *testing.T) {
	phase := func(kind kasoku.PhaseKind, from, to int) kasoku.Phase {
		return kasoku.Phase{Kind: kind, Interval: kasoku.Interval{From: time.Duration(from) * time.Second, To: time.Duration(to) * time.Second}}
	}
	rec := &kasoku.Recording{Run: kasoku.Run{Length: 60 * time.Second}, Endpoints: []kasoku.Endpoint{{
		Method: "GET", Route: "/", Seconds: map[int]kasoku.EndpointSecond{2: {Count: 500, Failed: 500}, 20: {Count: 500}, 30: {Count: 500}},
	}}}
	if f := FocusOf(rec); f.Interval.Len() != time.Minute || !f.Broke {
		t.Errorf("without phases: %+v", f)
	}
	rec.Phases = []kasoku.Phase{phase(kasoku.PhaseInitialize, 0, 5), phase(kasoku.PhaseLoad, 5, 9), phase(kasoku.PhaseIdle, 9, 15), phase(kasoku.PhaseLoad, 15, 40), phase(kasoku.PhaseIdle, 40, 60)}
	if f := FocusOf(rec); f.Interval != rec.Phases[3].Interval || f.Broke || f.Step != nil {
		t.Errorf("with phases: %+v", f)
	}
}
