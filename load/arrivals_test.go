package load

import (
	"math"
	"slices"
	"testing"
	"time"
)

// all returns the arrivals of a schedule that ends.
func all(s Schedule) (due []time.Duration, steps []int) {
	a := s.Arrivals()
	for {
		d, step, ok := a.Next()
		if !ok {
			return due, steps
		}
		due, steps = append(due, d), append(steps, step)
	}
}

func stages(t testing.TB, s string) *Timetable {
	t.Helper()
	st, err := ParseStages(s)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Stages(st)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStagesCounts(t *testing.T) {
	f := func(s string, want uint64) {
		t.Helper()
		tt := stages(t, s)
		if n, bounded := tt.Total(); n != want || !bounded {
			t.Errorf("%s has %d requests, want %d", s, n, want)
		}
		if want > 1e6 {
			return
		}
		if due, _ := all(tt); uint64(len(due)) != want || !slices.IsSorted(due) {
			t.Errorf("%s gives %d requests, want %d", s, len(due), want)
		}
	}
	f("30s@50,1m@200", 13_500)
	f("10s@0..100", 500)
	f("10s@100..0", 500)
	f("10s@50..150,5s@0,10s@150..50", 2000)
	f("3s@1/3s,3s@1/3s", 2)
	f("1s@0.5,1s@0.5", 1)
	f("1m@10/1m", 10)
	f("7s@1/7s", 1)
	f("1ms@2000000000", 2e6)
	f("1h@0..2000000000", 3.6e12)
	f("1m@1..2,1m@2..3,1m@3..1", 360)
	f("1s@0,1s@1,1s@0", 1)
}

func TestStagesDue(t *testing.T) {
	f := func(s string, due []time.Duration, steps []int) {
		t.Helper()
		gotDue, gotSteps := all(stages(t, s))
		if !slices.Equal(gotDue, due) || !slices.Equal(gotSteps, steps) {
			t.Errorf("%s gives\n%v %v, want\n%v %v", s, gotDue, gotSteps, due, steps)
		}
	}
	const ms = time.Millisecond
	f("1s@2,1s@0,1s@4", []time.Duration{0, 500 * ms, 2000 * ms, 2250 * ms, 2500 * ms, 2750 * ms}, []int{1, 1, 2, 2, 2, 2})
	f("1500ms@1,1s@2", []time.Duration{0, 1000 * ms, 1750 * ms, 2250 * ms}, []int{1, 1, 2, 2})
	f("1500ms@1,10s@0,1s@2", []time.Duration{0, 1000 * ms, 11750 * ms, 12250 * ms}, []int{1, 1, 2, 2})
	f("2s@0..2", []time.Duration{0, 1414213562}, []int{1, 1})
	f("2s@2..0", []time.Duration{0, 585786438}, []int{1, 1})
	f("4s@1..0,4s@0..1", []time.Duration{0, 4000*ms - 2828427125, 4000 * ms, 4000*ms + 2828427125}, []int{1, 1, 2, 2})
}

func TestStagesForever(t *testing.T) {
	s := stages(t, "10s@0..100,forever@100")
	if _, bounded := s.Total(); bounded {
		t.Error("an endless schedule has an end")
	}
	if due := s.due(500 + 360_000); due != 3610*time.Second {
		t.Errorf("request 360,500 is due at %s, want 1h0m10s", due)
	}
	if st := s.Steps()[1]; st.Interval.To != Forever || st.Planned != 0 || st.PerSec != 100 {
		t.Errorf("bad step %+v", st)
	}
}

func TestStages_Failure(t *testing.T) {
	f := func(want string, stages ...Stage) {
		t.Helper()
		if s, err := Stages(stages); s != nil || err == nil || err.Error() != want {
			t.Errorf("Stages(%v) = %v, error %v, want %s", stages, s, err, want)
		}
	}
	f("schedule: no stage with a rate")
	f("schedule: no stage with a rate", Stage{For: time.Second})
	f("schedule: bad duration 0s", Stage{From: 1, To: 1})
	f("schedule: bad rate -1 requests per second: want more than 0 and at most 2e+09", Stage{For: 1, From: -1, To: 1})
	f("schedule: bad rate NaN requests per second: want more than 0 and at most 2e+09", Stage{For: 1, From: 1, To: math.NaN()})
	f("schedule: only the last stage can go on until it is stopped", Stage{For: Forever, From: 1, To: 1}, Stage{For: 1, From: 1, To: 1})
	f("schedule: a ramp needs an end", Stage{For: Forever, From: 1, To: 2})
	f("schedule: longer than 292 years", Stage{For: Forever / 2, From: 1e-9, To: 1e-9}, Stage{For: Forever/2 + 1, From: 1e-9, To: 1e-9})
	f("schedule: more than 1e+18 requests", Stage{For: 1e18, From: 1e9, To: 1e9}, Stage{For: 1, From: 1e9, To: 1e9})
}

func TestBurst(t *testing.T) {
	f := func(s string, n int, due []time.Duration, steps []int) {
		t.Helper()
		tt := stages(t, s)
		gotDue, gotSteps := all(Spaced(tt, Burst(n), 1))
		if !slices.Equal(gotDue, due) || !slices.Equal(gotSteps, steps) {
			t.Errorf("%s in bursts of %d gives\n%v %v, want\n%v %v", s, n, gotDue, gotSteps, due, steps)
		}
	}
	const sec = time.Second
	f("2s@4", 4, []time.Duration{0, 0, 0, 0, sec, sec, sec, sec}, []int{1, 1, 1, 1, 1, 1, 1, 1})
	f("2s@4", 3, []time.Duration{0, 0, 0, 750e6, 750e6, 750e6, 1500e6, 1500e6}, []int{1, 1, 1, 1, 1, 1, 1, 1})
	f("1s@2,1s@0,1s@2", 3, []time.Duration{0, 0, 0, 2500e6}, []int{1, 1, 1, 2})
	f("1s@2", 100, []time.Duration{0, 0}, []int{1, 1})

	even := stages(t, "3s@5")
	if Spaced(even, Burst(1), 0) != Schedule(even) || Spaced(even, Even, 0) != Schedule(even) {
		t.Error("even spacing is not the timetable itself")
	}
	endless := Spaced(stages(t, "forever@10"), Burst(10), 0)
	a := endless.Arrivals()
	for n := range 95 {
		if due, _, ok := a.Next(); !ok || due != time.Duration(n/10)*time.Second {
			t.Fatalf("request %d is due at %s, ok %v", n, due, ok)
		}
	}
	if n, bounded := endless.Total(); n != 0 || bounded {
		t.Errorf("total %d, bounded %v", n, bounded)
	}
}

func TestPoissonIsReproducible(t *testing.T) {
	s := stages(t, "10s@100..300")
	due, steps := all(Spaced(s, Poisson, 7))
	again, _ := all(Spaced(s, Poisson, 7))
	other, _ := all(Spaced(s, Poisson, 8))
	if !slices.Equal(due, again) || slices.Equal(due, other) {
		t.Error("the seed does not make the times")
	}
	// A run that is made again sends the same, whatever was built since.
	if want := []time.Duration{3183950, 36462419, 39975447}; !slices.Equal(due[:3], want) {
		t.Errorf("the times begin %d, want %d", due[:3], want)
	}
	if !slices.IsSorted(due) || slices.Max(steps) != 1 {
		t.Error("due times fall")
	}
}

// TestPoissonCounts checks mean and variance of the counts of seconds, over a
// rate that changes and a pause.
func TestPoissonCounts(t *testing.T) {
	s := stages(t, "1000s@200,10s@0,1000s@50..350")
	due, steps := all(Spaced(s, Poisson, 3))
	counts := make([]float64, 2010)
	for i, d := range due {
		counts[d/time.Second]++
		if want := 1 + int(d/(1010*time.Second)); steps[i] != want {
			t.Fatalf("a request of step %d is due at %s", steps[i], d)
		}
	}
	var chi2, sum, want float64
	n := 0
	for i, c := range counts {
		mean := 200.0
		switch {
		case i >= 1000 && i < 1010:
			if c > 0 {
				t.Fatalf("%v requests in a second of the pause", c)
			}
			continue
		case i >= 1010:
			mean = 50 + 300*(float64(i-1010)+0.5)/1000
		}
		chi2 += (c - mean) * (c - mean) / mean
		sum += c
		want += mean
		n++
	}
	if math.Abs(sum-want) > 4*math.Sqrt(want) {
		t.Errorf("%v requests, want about %v", sum, want)
	}
	// The variance of each count is its mean, so each square is 1 on average.
	if dof := float64(n); math.Abs(chi2-dof) > 4*math.Sqrt(2*dof) {
		t.Errorf("the counts vary %.3f times as much as those of a Poisson process", chi2/dof)
	}
	if total, _ := s.Total(); total != 400_000 {
		t.Errorf("about %d requests, want 400,000", total)
	}
}

// TestPoissonGaps checks that the gaps are exponential (Kolmogorov and Smirnov)
// and know nothing of one another.
func TestPoissonGaps(t *testing.T) {
	f := func(s string, seed uint64, mass func(secs float64) float64) {
		t.Helper()
		due, _ := all(Spaced(stages(t, s), Poisson, seed))
		gaps := make([]float64, len(due))
		last := 0.0
		for i, d := range due {
			m := mass(d.Seconds())
			gaps[i], last = m-last, m
		}
		n := float64(len(gaps))
		var together float64
		for i := range gaps[1:] {
			together += (gaps[i] - 1) * (gaps[i+1] - 1)
		}
		if r := together / n; math.Abs(r) > 4/math.Sqrt(n) {
			t.Errorf("%s: neighbours correlate by %.4f", s, r)
		}
		slices.Sort(gaps)
		var worst float64
		for i, g := range gaps {
			p := 1 - math.Exp(-g)
			worst = max(worst, p-float64(i)/n, float64(i+1)/n-p)
		}
		if d := worst * math.Sqrt(n); d > 1.95 { // one in a thousand
			t.Errorf("%s: the gaps are not exponential, D·√n is %.3f", s, d)
		}
	}
	f("1000s@100", 1, func(t float64) float64 { return 100 * t })
	f("1s@100000", 2, func(t float64) float64 { return 1e5 * t })
	f("1000s@0..200", 3, func(t float64) float64 { return 0.1 * t * t })
	f("1000s@200..0", 4, func(t float64) float64 { return 200*t - 0.1*t*t })
}

func TestClosedLoopThinks(t *testing.T) {
	c := &ClosedLoop{End: Forever, ThinkMin: 100 * time.Millisecond, ThinkMax: 300 * time.Millisecond}
	const n = 100_000
	var sum float64
	least, most := Forever, time.Duration(0)
	for i := range uint64(n) {
		d := c.Think(i)
		if d != c.Think(i) {
			t.Fatal("a think time changes")
		}
		sum += d.Seconds()
		least, most = min(least, d), max(most, d)
	}
	if least < c.ThinkMin || least > 101*time.Millisecond || most > c.ThinkMax || most < 299*time.Millisecond || math.Abs(sum/n-0.2) > 0.001 {
		t.Errorf("think times from %s to %s, %.4f s on average", least, most, sum/n)
	}
	c.ThinkMin = c.ThinkMax
	if d := c.Think(5); d != c.ThinkMax {
		t.Errorf("thinks for %s, want %s", d, c.ThinkMax)
	}
}

func BenchmarkArrivals(b *testing.B) {
	f := func(name, s string, spacing Spacing) {
		b.Run("schedule="+name, func(b *testing.B) {
			a := Spaced(stages(b, s), spacing, 1).Arrivals()
			b.ReportAllocs()
			for b.Loop() {
				if _, _, ok := a.Next(); !ok {
					b.Fatal("the schedule is over")
				}
			}
		})
	}
	f("constant", "forever@20000", Even)
	f("ramp", "100000h@0..2000000", Even)
	f("fall", "100000h@2000000..0", Even)
	f("steps", "1s@1000,1s@2000,forever@20000", Even)
	f("poisson", "forever@20000", Poisson)
	f("poisson-ramp", "100000h@0..2000000", Poisson)
	f("burst", "forever@20000", Burst(10))
}
