package load

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// exact is a timetable in whole and rational numbers.
type exact struct {
	stages []Stage
	length time.Duration
}

func newExact(stages []Stage) exact {
	e := exact{stages: stages}
	for _, st := range stages {
		e.length += st.For
	}
	return e
}

// mass returns how many requests are due before t: the sum of the rate.
func (e exact) mass(t time.Duration) *big.Rat {
	sum := new(big.Rat)
	for _, st := range e.stages {
		if t <= 0 {
			break
		}
		d := big.NewRat(int64(min(t, st.For)), 1e9) // seconds
		from, to := new(big.Rat).SetFloat64(st.From), new(big.Rat).SetFloat64(st.To)
		// from·d + (to-from)/For·d²/2
		slope := new(big.Rat).Sub(to, from)
		slope.Quo(slope, big.NewRat(int64(st.For), 1e9))
		slope.Mul(slope, d).Mul(slope, d).Quo(slope, big.NewRat(2, 1))
		sum.Add(sum, from.Mul(from, d)).Add(sum, slope)
		t -= st.For
	}
	return sum
}

// about returns n, shifted by what the rounding of sums may take.
func about(n uint64, sign float64) *big.Rat {
	r := new(big.Rat).SetUint64(n)
	return r.Add(r, new(big.Rat).SetFloat64(sign*(1e-8+float64(n)*1e-14)))
}

func rateGen() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{1.0 / 60, 1, 3, 7, 50, 1000, 30_000, 700_000, 1e9, 2e9}),
		rapid.Float64Range(1.0/60, 2e9),
	)
}

// stagesGen gives constant rates, ramps and pauses, of up to hours.
func stagesGen() *rapid.Generator[[]Stage] {
	one := rapid.Custom(func(t *rapid.T) Stage {
		st := Stage{For: time.Duration(rapid.OneOf(
			rapid.Int64Range(1, int64(5*time.Hour)),
			rapid.Int64Range(1, int64(time.Second)),
			rapid.Map(rapid.Int64Range(1, 1000), func(s int64) int64 { return s * int64(time.Second) }),
		).Draw(t, "for"))}
		rate := rapid.OneOf(rateGen(), rapid.Just(0.0))
		st.From = rate.Draw(t, "from")
		st.To = rapid.OneOf(rapid.Just(st.From), rate).Draw(t, "to")
		return st
	})
	return rapid.SliceOfN(one, 1, 6).Filter(func(s []Stage) bool {
		return slices.ContainsFunc(s, func(st Stage) bool { return st.From > 0 || st.To > 0 })
	})
}

// TestStagesAreExact compares due times and counts with exact arithmetic: due
// times are right to the nanosecond wherever they lie, so that they never drift.
func TestStagesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stages := stagesGen().Draw(t, "stages")
		s, err := Stages(stages)
		if err != nil {
			t.Fatal(err)
		}
		e := newExact(stages)
		total, bounded := s.Total()
		mass := e.mass(e.length)
		if low, high := about(total, -1), about(total, 1); !bounded || mass.Cmp(high) > 0 || total > 1 && mass.Cmp(low.Sub(low, big.NewRat(1, 1))) < 0 {
			t.Fatalf("%d requests, bounded %v, want %s rounded up", total, bounded, mass.FloatString(3))
		}
		for _, first := range []uint64{0, rapid.Uint64Range(0, total-1).Draw(t, "n"), max(total, 20) - 20} {
			checkDue(t, s, e, first)
		}
	})
}

// checkDue checks some arrivals from request n on.
func checkDue(t *rapid.T, s *Timetable, e exact, n uint64) {
	total, _ := s.Total()
	steps := s.Steps()
	a := &evenArrivals{walk: s.walk(), n: n}
	var last time.Duration
	for ; n < min(n+20, total); n++ {
		due, step, ok := a.Next()
		if !ok {
			t.Fatalf("no request %d of %d", n, total)
		}
		if due < last || due > max(last, s.due(n)) {
			t.Fatalf("request %d is due at %d, after %d, on its own at %d", n, due, last, s.due(n))
		}
		if step != s.stepOf(n) || !steps[step-1].Interval.Contains(due) {
			t.Fatalf("request %d of step %d is due at %d, outside %v", n, step, due, steps[step-1].Interval)
		}
		if e.mass(due-1).Cmp(about(n, 1)) > 0 || e.mass(due+1).Cmp(about(n, -1)) < 0 {
			t.Fatalf("request %d is due at %d, where the sum of the rate is %s", n, due, e.mass(due).FloatString(9))
		}
		last = due
		if n%20 == 19 {
			return
		}
	}
	if _, _, ok := a.Next(); ok {
		t.Fatalf("a request after the last, %d", total)
	}
	if _, _, ok := a.Next(); ok {
		t.Fatal("a request after the end")
	}
}

// TestStepsOfStages checks that each stage but pauses is a step, in its place.
func TestStepsOfStages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stages := stagesGen().Draw(t, "stages")
		s, err := Stages(stages)
		if err != nil {
			t.Fatal(err)
		}
		steps := s.Steps()
		var at time.Duration
		for _, st := range stages {
			at += st.For
			if st.From == 0 && st.To == 0 {
				continue
			}
			if len(steps) == 0 {
				t.Fatal("a step is missing")
			}
			step := steps[0]
			steps = steps[1:]
			if step.Interval.From != at-st.For || step.Interval.To != at || step.Planned != st.For || step.Partial() {
				t.Fatalf("stage %+v until %s is step %+v", st, at, step)
			}
			to := step.PerSecTo
			if st.From == st.To {
				if to != 0 {
					t.Fatalf("stage %+v is the ramp %+v", st, step)
				}
				to = step.PerSec
			}
			near := math.Abs(st.To-st.From)/st.For.Seconds()*1e-9 + 1e-300
			if math.Abs(step.PerSec-st.From) > near || math.Abs(to-st.To) > near || step.PerSec <= 0 || to <= 0 {
				t.Fatalf("stage %+v is step %+v", st, step)
			}
		}
		if len(steps) > 0 {
			t.Fatalf("%d steps too many", len(steps))
		}
		for i, step := range s.Steps() {
			if step.Number != i+1 {
				t.Fatalf("step %d has the number %d", i+1, step.Number)
			}
		}
	})
}
