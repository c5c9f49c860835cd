package scenario

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// TestReports: progress each second, and reports whose seconds add up to all requests.
func TestReports(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		var progress []string
		var reports []*Report
		var seconds []kasoku.LoadSecond
		o := Options{LoadTime: 3450 * ms, Levels: []int64{15}, Scoring: Scoring{Deduct: map[Code]int64{Timeout: 2}}}
		o.OnProgress = func(p Progress) {
			progress = append(progress, fmt.Sprintf("%s %s of %s %t level %d score %d, %.1f/s of %d, %d errors", p.Phase, p.Elapsed, p.Planned, p.Over, p.Level, p.Score, p.PerSec, p.Requests, p.Errors))
		}
		o.Sink = func(r *Report) {
			reports = append(reports, r)
			seconds = append(seconds, r.Seconds...)
		}
		request := func(s *Step, name string, took time.Duration) {
			sent := time.Now()
			time.Sleep(took)
			s.Record(Record{Step: name, Sent: sent, Done: time.Now(), Code: 200, BytesIn: 7})
			s.Score("x")
		}
		r := runAll(t, t.Context(), o, parts{
			prepare: func(_ context.Context, s *Step) error {
				request(s, "POST /initialize", 250*ms)
				return nil
			},
			load: func(ctx context.Context, s *Step) error {
				s.Workers(ctx, Workers{Count: func(int) int { return 1 }, Do: func(ctx context.Context, w *Worker) error {
					request(s, "GET /", 100*ms)
					return ctx.Err()
				}})
				return Errorf(Timeout, "x")
			},
			validate: func(_ context.Context, s *Step) error {
				request(s, "GET /after", 200*ms)
				return nil
			},
		})
		want := []string{
			"prepare 250ms of 1m0s true level 0 score 1, 4.0/s of 1, 0 errors",
			"load 750ms of 3.45s false level 0 score 6, 9.3/s of 7, 1 errors",
			"load 1.75s of 3.45s false level 1 score 16, 10.0/s of 17, 1 errors",
			"load 2.75s of 3.45s false level 1 score 26, 10.0/s of 27, 1 errors",
			"load 3.5s of 3.45s true level 1 score 34, 10.7/s of 35, 1 errors",
			"validate 200ms of 1m0s true level 1 score 35, 5.0/s of 1, 1 errors",
		}
		if !slices.Equal(progress, want) {
			for _, p := range progress {
				t.Errorf("%s", p)
			}
		}
		last := reports[len(reports)-1]
		if last.Result != r || reports[0].Result != nil || len(last.Phases) != 3 || !last.Phases[2].Over || last.Phases[1].Interval != (kasoku.Interval{From: 250 * ms, To: 3750 * ms}) {
			t.Errorf("last report %+v", last)
		}
		if len(last.Levels) != 1 || last.Levels[0] != (Rise{1, 1650 * ms, 15}) || last.Summary.Wall != 3500*ms || last.Summary.Model != "closed loop" || fmt.Sprint(last.Summary.Targets) != "[GET /]" {
			t.Errorf("levels %+v, summary %+v", last.Levels, last.Summary)
		}
		sums := map[string]uint64{}
		for _, s := range seconds {
			sums[fmt.Sprintf("%d %s", s.Step, s.Target)] += s.Asked
			if s.Target == "GET /" && (s.Second < 0 || s.Second > 3) {
				t.Errorf("a request in second %d", s.Second)
			}
		}
		if got := fmt.Sprint(sums); got != "map[1 POST /initialize:1 2 GET /:35 3 GET /after:1]" {
			t.Errorf("seconds have %s", got)
		}
		if got := fmt.Sprint(r.Steps); got != "[{prepare POST /initialize 1 0 250 250 250 250 250} {load GET / 35 0 100 100 100 100 100} {validate GET /after 1 0 200 200 200 200 200}]" {
			t.Errorf("steps %s", got)
		}
	})
}

// TestStoppedLoad: a recording learns why a load was shorter than planned.
func TestStoppedLoad(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		var last *Report
		r := runAll(t, t.Context(), Options{Sink: func(r *Report) { last = r }}, loading(func(_ context.Context, s *Step) {
			time.Sleep(2 * time.Second)
			s.Fail(Errorf(Critical, "x"))
		}))
		if last.Summary.Stopped != "critical error" || last.Summary.StoppedAt != 2*time.Second || len(r.Warnings) != 1 {
			t.Errorf("%+v\n%v", last.Summary, r.Warnings)
		}
	})
}

// TestGenerator: the result knows what the load cost this process, and says so when the
// generator had nothing left.
func TestGenerator(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := runAll(t, t.Context(), Options{LoadTime: 300 * ms}, loading(func(ctx context.Context, s *Step) {
		s.Workers(ctx, Workers{Count: func(int) int { return 1 }, Do: func(ctx context.Context, w *Worker) error {
			for range 10_000 {
				w.Rand.Uint64()
			}
			return nil
		}})
	}))
	if g := r.Generator; g.CPUSeconds <= 0 || g.Cores <= 0 || g.PeakCores <= 0 || g.Available != 1 || g.Share <= 0 {
		t.Errorf("%+v", g)
	}
}

// TestRecordIsSafe: what a service made of a name or an error is not printed as it is.
func TestRecordIsSafe(t *testing.T) {
	r := runAll(t, t.Context(), Options{}, loading(func(_ context.Context, s *Step) {
		s.Record(Record{Step: "GET /\x1b[2Ja", Sent: time.Now(), Done: time.Now(), Err: "odd \x00 answer"})
		for i := range 1000 {
			s.Record(Record{Step: fmt.Sprint("GET /", i), Sent: time.Now(), Done: time.Now()})
		}
		s.Fail(errors.New("x"))
	}))
	if len(r.Steps) != 101 || r.Steps[len(r.Steps)-1].Step != "other targets" || !slices.ContainsFunc(r.Steps, func(s StepLatency) bool { return s.Step == "GET /a" && s.Errors == 1 }) {
		t.Errorf("%d steps: %+v", len(r.Steps), r.Steps)
	}
}
