package join_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/bench/jointruth"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/logs/join"
)

// figures are the least precision and recall of a recording's pairs.
type figures struct{ precision, recall float64 }

var demanded = []struct {
	name         string
	micros, tail figures
}{
	{"isuumo", figures{0.93, 0.93}, figures{0.90, 0.90}},
	{"small-1", figures{0.91, 0.91}, figures{0.90, 0.90}},
	{"small-4", figures{0.91, 0.91}, figures{0.90, 0.90}},
	{"small-16", figures{0.91, 0.91}, figures{0.86, 0.90}},
	{"small-64", figures{0.91, 0.91}, figures{0.90, 0.90}},
	{"small-64-think", figures{0.91, 0.91}, figures{0.83, 0.90}},
}

func TestTruth(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	high, right := 0, 0
	for _, d := range demanded {
		if testing.Short() && d.name == "isuumo" {
			continue // the largest one
		}
		rec := load(t, d.name)
		for form, want := range map[jointruth.Form]figures{jointruth.Micros: d.micros, jointruth.Tail: d.tail} {
			res, err := join.Infer(context.Background(), rec.Input(form, 0, 0), join.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := d.name == "small-16" || d.name == "small-64"; res.Saturated != want {
				t.Errorf("%s: saturated %v (busy %.1f of %.0f), want %v", d.name, res.Saturated, res.Busy, res.Open, want)
			}
			f := rec.Score(res)
			t.Logf("%s, %s: precision %.2f, recall %.2f, median error %.1f %%, high %d of %d",
				d.name, form, f.Precision(), f.Recall(), 100*f.MedianError, f.HighRight, f.High)
			if f.Precision() < want.precision || f.Recall() < want.recall {
				t.Errorf("%s, %s: precision %.2f, recall %.2f, want %.2f and %.2f\nwrong: %s\nmissing: %s", d.name, form,
					f.Precision(), f.Recall(), want.precision, want.recall,
					strings.Join(f.False, "\n  "), strings.Join(f.Missed, "\n  "))
			}
			high, right = high+f.High, right+f.HighRight
		}
	}
	if float64(right) < 0.97*float64(high) {
		t.Errorf("%d of %d pairs that are called high are right, want 97 %%", right, high)
	}
}

func TestTruthOfProbes(t *testing.T) {
	t.Parallel()
	f, ok := load(t, "isuumo-probe").ScoreProbe(jointruth.Tail)
	if !ok || f.Precision() < 1 || f.Recall() < 1 || f.Error90 > 1e-9 {
		t.Errorf("isuumo-probe: %+v, %v; want all right", f, ok)
	}
	f, ok = load(t, "small-probe").ScoreProbe(jointruth.Micros)
	if !ok || f.Precision() < 0.95 || f.Recall() < 1 || f.MedianError > 0.01 {
		t.Errorf("small-probe: %+v, %v; want precision 0.95 and recall 1", f, ok)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	in := load(t, "small-1").Input(jointruth.Micros, 0, 0)
	in.Resolution = 1e9
	res, err := join.Infer(context.Background(), in, join.Options{})
	if err != nil || res.Refused == "" || len(res.Pairs) > 0 {
		t.Errorf("times of a second: %v, %v, %d pairs; want a refusal", res.Refused, err, len(res.Pairs))
	}
}

func TestMaxEvents(t *testing.T) {
	t.Parallel()
	res, err := join.Infer(context.Background(), load(t, "small-1").Input(jointruth.Micros, 0, 0), join.Options{MaxEvents: 5000})
	if err != nil || res.Events > 5000 || res.Events < 4000 {
		t.Errorf("%d events looked at, %v, want 5000 at most", res.Events, err)
	}
}

func load(t testing.TB, name string) *jointruth.Recording {
	t.Helper()
	rec, err := jointruth.Load("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func BenchmarkInfer(b *testing.B) {
	for _, d := range demanded {
		rec := load(b, d.name)
		in := rec.Input(jointruth.Micros, 0, 0)
		b.Run(d.name, func(b *testing.B) {
			for b.Loop() {
				res, err := join.Infer(context.Background(), in, join.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*100_000/float64(res.Events), "s/100k-events")
			}
		})
	}
}
