package load

import (
	"math"
	"sync"
	"testing"
	"time"
)

func TestConstantCounts(t *testing.T) {
	f := func(perSec float64, d time.Duration, want uint64) {
		t.Helper()
		s, err := Constant(perSec, d)
		if err != nil {
			t.Fatalf("Constant(%v, %s): %v", perSec, d, err)
		}
		if n, bounded := s.Total(); n != want || !bounded {
			t.Errorf("Constant(%v, %s) has %d requests (bounded %v), want %d", perSec, d, n, bounded, want)
		}
	}
	f(1, 10*time.Second, 10)
	f(1000, 10*time.Second, 10_000)
	f(700_000, time.Second, 700_000)
	f(2e9, time.Second, 2e9)
	f(3, time.Second/3, 1)
	f(3, time.Second, 3)
	f(10.0/60, time.Minute, 10)
	f(0.5, time.Second, 1)
	f(2.5, time.Second, 3)
	f(1.0/7, 7*time.Second, 1)
}

func TestConstant_Failure(t *testing.T) {
	f := func(perSec float64, d time.Duration) {
		t.Helper()
		if s, err := Constant(perSec, d); err == nil || s != nil {
			t.Errorf("Constant(%v, %s) = %v, %v, want an error", perSec, d, s, err)
		}
	}
	f(0, time.Second)
	f(-1, time.Second)
	f(math.NaN(), time.Second)
	f(math.Inf(1), time.Second)
	f(2.1e9, time.Second)
	f(1, -time.Second)
	f(2e9, 1e9*time.Second)
}

func TestLadder_Failure(t *testing.T) {
	f := func(rates []float64, each, pause time.Duration) {
		t.Helper()
		if s, err := Ladder(rates, each, pause); err == nil || s != nil {
			t.Errorf("Ladder(%v, %s, %s) = %v, %v, want an error", rates, each, pause, s, err)
		}
	}
	f(nil, time.Second, 0)
	f([]float64{1}, 0, 0)
	f([]float64{1}, -time.Second, 0)
	f([]float64{1}, time.Second, -1)
	f([]float64{1, 0}, time.Second, 0)
	f([]float64{1, 1}, Forever, 0)
	f([]float64{1, 1}, time.Second, Forever)
}

func TestConstantForever(t *testing.T) {
	s, err := Constant(1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, bounded := s.Total(); n != 0 || bounded {
		t.Errorf("Total() = %d, %v, want unbounded", n, bounded)
	}
	if got := s.due(3_600_000); got != time.Hour {
		t.Errorf("request 3,600,000 is due at %s, want 1h", got)
	}
	if got := s.due(math.MaxInt64); got != Forever-1 {
		t.Errorf("the last request is due at %s, want %s", got, Forever-1)
	}
	if st := s.Steps()[0]; st.Interval.To != Forever || st.Planned != 0 || st.Partial() {
		t.Errorf("bad endless step %+v", st)
	}
}

func TestLadderSteps(t *testing.T) {
	s, err := Ladder([]float64{10, 100, 1000}, 10*time.Second, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := s.Total(); n != 11_100 {
		t.Errorf("total is %d, want 11,100", n)
	}
	f := func(n uint64, step int, due time.Duration) {
		t.Helper()
		if got := s.stepOf(n); got != step {
			t.Errorf("request %d belongs to step %d, want %d", n, got, step)
		}
		if got := s.due(n); got != due {
			t.Errorf("request %d is due at %s, want %s", n, got, due)
		}
	}
	f(0, 1, 0)
	f(99, 1, 9900*time.Millisecond)
	f(100, 2, 12*time.Second)
	f(1099, 2, 21_990*time.Millisecond)
	f(1100, 3, 24*time.Second)
	f(11_099, 3, 33_999*time.Millisecond)

	steps := s.Steps()
	if iv := steps[2].Interval; iv.From != 24*time.Second || iv.To != 34*time.Second {
		t.Errorf("step 3 lies at %v", iv)
	}
	steps[0].PerSec = 7
	if s.Steps()[0].PerSec != 10 {
		t.Error("the schedule changed through the steps that it gave away")
	}
}

func TestLadderKeepsNoSlice(t *testing.T) {
	rates := []float64{10}
	s, err := Ladder(rates, time.Second, 0)
	if err != nil {
		t.Fatal(err)
	}
	rates[0] = 1
	if s.due(1) != 100*time.Millisecond {
		t.Error("the schedule changed with the slice that it was made from")
	}
}

func TestClosed(t *testing.T) {
	s, err := Closed(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := s.Arrivals().Next(); ok || s.End != time.Second {
		t.Errorf("closed loop: %+v", s)
	}
	if _, err := Closed(-1); err == nil {
		t.Error("a negative duration was taken")
	}
}

// TestNoDrift compares due times far out with exact integer arithmetic.
func TestNoDrift(t *testing.T) {
	f := func(perSec uint64) {
		t.Helper()
		s, err := Constant(float64(perSec), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, secs := range []uint64{1, 59, 3600, 86_400} {
			if got, want := s.due(perSec*secs), time.Duration(secs)*time.Second; (got - want).Abs() > 0 {
				t.Errorf("at %d/s, request %d is due at %s, want %s", perSec, perSec*secs, got, want)
			}
		}
	}
	f(1)
	f(3)
	f(700_000)
	f(1_000_000_000)
	f(2_000_000_000)
}

func TestTimetableIsSafeForConcurrentUse(t *testing.T) {
	s, err := Ladder([]float64{10, 20}, time.Second, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := range uint64(30) {
				s.due(n)
				s.stepOf(n)
				s.Steps()
			}
		})
	}
	wg.Wait()
}

// at returns the stretch of request n, that of the last one also for later ones.
func (t *Timetable) at(n uint64) *stretch {
	w := t.walk()
	for n >= w.end && w.next() {
	}
	return w.stretch
}

// stepOf returns the number of the step of request n.
func (t *Timetable) stepOf(n uint64) int { return t.at(n).step }

// due returns when request n is due.
func (t *Timetable) due(n uint64) time.Duration {
	s := t.at(n)
	return s.due(s.offset(n))
}
