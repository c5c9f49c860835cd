package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/internal/test/turn"
)

func TestSamples(t *testing.T) {
	five := []float64{100, 101, 102, 103, 104}
	tests := []struct {
		name          string
		before, after []float64
		goal          Goal
		want          SampleVerdict
		p             float64
		need          int
		why           string
	}{
		{"one against one", []float64{100}, []float64{120}, More, OneAgainst, 1, 4,
			"one run against one: +20.0 %, but how far two runs of the same thing differ is not known; 4 runs a side are the least that can show it"},
		{"one against five", []float64{90}, five, More, TooFewRuns, 1, 4,
			"one run against 5: median +13.3 %, but a side of one run has no spread of its own; 4 a side are the least"},
		{"five against one", five, []float64{90}, More, TooFewRuns, 1, 4,
			"5 runs against one: median −11.8 %, but a side of one run has no spread of its own; 4 a side are the least"},
		{"three a side", five[:3], []float64{201, 202, 203}, More, TooFewRuns, 0.1, 6,
			"3 runs against 3: median ×2.00, but so few come out all apart by chance with a probability of 0.10; 4 a side are the least"},
		{"four a side", five[:4], []float64{201, 202, 203, 204}, More, IsBetter, 2.0 / 70, 0,
			"4 runs against 4: median ×2.00, p 0.029, every run of after lies above every run of before"},
		{"less is better", five, []float64{201, 202, 203, 204, 205}, Less, IsWorse, 2.0 / 252, 0, ""},
		{"neither is better", five, []float64{201, 202, 203, 204, 205}, Neither, IsDifferent, 2.0 / 252, 0, ""},
		{"three against five suffice", five[:3], []float64{201, 202, 203, 204, 205}, More, IsBetter, 2.0 / 56, 0, ""},
		{"fell", five, []float64{91, 92, 93, 94, 95}, More, IsWorse, 2.0 / 252, 0,
			"5 runs against 5: median −8.8 %, p 0.008, every run of after lies below every run of before"},
		{"mostly above", five, []float64{103.5, 105, 106, 107, 108}, More, IsBetter, 4.0 / 252, 0,
			"5 runs against 5: median +3.9 %, p 0.016, a run of after lies above one of before in 96.0 % of pairs"},
		{"mixed", five, []float64{100.5, 101.5, 102.5, 103.5, 104.5}, More, NotShown, 0.690476, 131,
			"5 runs against 5: median +0.5 %, p 0.690: no difference shown; if it is real, about 131 runs a side would show it"},
		{"all the same", []float64{7, 7, 7, 7}, []float64{7, 7, 7, 7}, More, NotShown, 1, 0,
			"4 runs against 4: median 0 %, p 1.000: no difference shown; more runs would hardly change that"},
		{"no figure", nil, five, More, TooFewRuns, 1, 0, "0 runs against 5: one side has no figure"},
		{"not numbers", []float64{math.NaN(), 1}, []float64{2, math.Inf(1)}, More, OneAgainst, 1, 4, ""},
		{"from nothing", []float64{0, 0, 0, 0}, []float64{1, 2, 3, 4}, More, IsBetter, 2.0 / 70, 0,
			"4 runs against 4: median from 0, p 0.029, every run of after lies above every run of before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Samples(tt.before, tt.after, tt.goal)
			if s.Verdict != tt.want || math.Abs(s.P-tt.p) > 1e-6 || s.Need != tt.need {
				t.Errorf("verdict %q p %v need %d, want %q %v %d", s.Verdict, s.P, s.Need, tt.want, tt.p, tt.need)
			}
			if tt.why != "" && s.Why != tt.why {
				t.Errorf("why %q\nwant %q", s.Why, tt.why)
			}
		})
	}
}

func TestSampleInterval(t *testing.T) {
	five := Samples([]float64{5, 1, 4, 2, 3}, []float64{1}, More).Before
	if five.Exact || five.Low != 3 || five.High != 3 || five.Least != 1 || five.Most != 5 {
		t.Errorf("five values have no 95 %% interval: %+v", five)
	}
	six := Samples([]float64{6, 5, 1, 4, 2, 3}, []float64{1}, More).Before
	if !six.Exact || six.Median != 3.5 || six.Low != 1 || six.High != 6 {
		t.Errorf("of six values the interval is their range: %+v", six)
	}
}

// TestSamplesEqual: groups of the same thing are called different in at most one
// case of twenty, and in nearly as many once the ranks are fine enough.
func TestSamplesEqual(t *testing.T) {
	turn.Wait(t)
	rng := rand.New(rand.NewPCG(1, 2))
	draws := map[string]func() float64{
		"normal":    func() float64 { return 1000 + 30*rng.NormFloat64() },
		"log":       func() float64 { return math.Exp(rng.NormFloat64()) },
		"two peaks": func() float64 { return float64(rng.IntN(2))*100 + rng.Float64() },
		"ties":      func() float64 { return float64(rng.IntN(5)) },
	}
	for name, draw := range draws {
		for _, n := range []int{4, 5, 10, 20} {
			const rounds = 1500
			called := 0
			for range rounds {
				b, a := make([]float64, n), make([]float64, n)
				for i := range n {
					b[i], a[i] = draw(), draw()
				}
				if Samples(b, a, More).Verdict.Shown() {
					called++
				}
			}
			share := float64(called) / rounds
			if share > 0.05+3*math.Sqrt(0.05*0.95/rounds) {
				t.Errorf("%s, %d runs a side: %.1f %% called different", name, n, 100*share)
			}
			if n == 20 && name != "ties" && share < 0.03 {
				t.Errorf("%s, %d runs a side: only %.1f %% called different, the test is blunt", name, n, 100*share)
			}
		}
	}
}

// TestNeed: as many runs as Need says show the effect in four of five cases. For a
// great effect they are more than needed, because the number takes the spread of
// the ranks as it is without one.
func TestNeed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, shift := range []float64{0.8, 1.2, 2} {
		p := 0.5 * math.Erfc(-shift/math.Sqrt2/math.Sqrt2)
		n := noether(2*p - 1)
		shown := 0
		const rounds = 400
		for range rounds {
			b, a := make([]float64, n), make([]float64, n)
			for i := range n {
				b[i], a[i] = rng.NormFloat64(), rng.NormFloat64()+shift
			}
			if Samples(b, a, More).Verdict == IsBetter {
				shown++
			}
		}
		if power := float64(shown) / rounds; power < 0.70 || power > 0.98 {
			t.Errorf("shift %v: %d runs a side show it in %.0f %% of cases, want 80 %% or somewhat more", shift, n, 100*power)
		}
	}
}

func TestSamplesProperties(t *testing.T) {
	value := rapid.Float64Range(0.001, 1e6)
	rapid.Check(t, func(t *rapid.T) {
		b, a := rapid.SliceOfN(value, 1, 12).Draw(t, "before"), rapid.SliceOfN(value, 1, 12).Draw(t, "after")
		keptB, keptA := slices.Clone(b), slices.Clone(a)
		s := Samples(b, a, More)
		if !slices.Equal(b, keptB) || !slices.Equal(a, keptA) {
			t.Fatal("the values were changed")
		}
		if s.P < 0 || s.P > 1 || s.Effect < -1 || s.Effect > 1 || s.Need < 0 || s.Why == "" || strings.Contains(s.Why, "NaN") {
			t.Fatalf("%+v", s)
		}
		for _, x := range []Sample{s.Before, s.After} {
			if x.Least > x.Low || x.Low > x.Median || x.Median > x.High || x.High > x.Most {
				t.Fatalf("out of order: %+v", x)
			}
		}
		// A power of two scales exactly.
		scale := math.Ldexp(1, rapid.IntRange(-20, 20).Draw(t, "scale"))
		scaled := Samples(times(b, scale), times(a, scale), More)
		if scaled.Verdict != s.Verdict || scaled.P != s.P || scaled.Effect != s.Effect || scaled.Need != s.Need || scaled.Delta != s.Delta {
			t.Fatalf("scaled by %v: %+v, was %+v", scale, scaled, s)
		}
		// The sides change places: so does the verdict.
		back := Samples(a, b, More)
		swap := map[SampleVerdict]SampleVerdict{IsBetter: IsWorse, IsWorse: IsBetter}
		want, ok := swap[s.Verdict]
		if !ok {
			want = s.Verdict
		}
		if back.Verdict != want || back.Effect != -s.Effect || math.Abs(back.P-s.P) > 1e-9 {
			t.Fatalf("swapped: %+v, was %+v", back, s)
		}
		// The goal turns better into worse and nothing else.
		less := Samples(b, a, Less)
		if less.Verdict != want || less.P != s.P {
			t.Fatalf("goal less: %q, was %q", less.Verdict, s.Verdict)
		}
	})
}

func times(values []float64, by float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v * by
	}
	return out
}
