package handover_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/store"
)

// benchmarkEnv makes the test binary a benchmark that reports to a recording.
const benchmarkEnv = "KASOKU_TEST_BENCHMARK"

// reportSample reports what a benchmark of nine seconds would, as one that began
// then.
func reportSample(began time.Time, sink scenario.Sink) {
	second := func(n, step int, target string, d time.Duration) kasoku.LoadSecond {
		s := kasoku.LoadSecond{Second: n, Step: step, Target: target, Asked: 1, Codes: map[int]uint64{200: 1},
			Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New()}
		s.Latency.Record(d)
		s.SendDelay.Record(0)
		s.Service.Record(d)
		return s
	}
	span := func(p scenario.Phase, from, to time.Duration) scenario.Span {
		return scenario.Span{Phase: p, Interval: kasoku.Interval{From: from, To: to}}
	}
	sink(&scenario.Report{
		Start:   began,
		Seconds: []kasoku.LoadSecond{second(0, 1, "POST /initialize", time.Second), second(2, 2, "GET /a", time.Millisecond)},
		Phases:  []scenario.Span{span(scenario.Prepare, 0, 2*time.Second), span(scenario.Load, 2*time.Second, 3*time.Second)},
		Summary: kasoku.LoadSummary{Engine: "agents", Model: "closed loop", Targets: []string{"GET /a"}},
	})
	sink(&scenario.Report{
		Start:   began,
		Seconds: []kasoku.LoadSecond{second(4, 2, "GET /a", time.Millisecond), second(8, 3, "GET /b", time.Millisecond)},
		Phases:  []scenario.Span{span(scenario.Prepare, 0, 2*time.Second), span(scenario.Load, 2*time.Second, 8*time.Second), span(scenario.Validate, 8*time.Second, 9*time.Second)},
		Levels:  []scenario.Rise{{Level: 1, At: 4 * time.Second, Score: 300}},
		Answers: []scenario.Answer{{At: time.Second, Request: "POST /initialize"}, {
			At: 1500 * time.Millisecond, Request: "POST /initialize",
			Numbers: []scenario.AnswerNumber{{Name: "available_days", Value: "10"}, {Name: "campaign", Value: "0"}},
		}},
		Summary: kasoku.LoadSummary{Engine: "agents", Model: "closed loop", Targets: []string{"GET /a", "GET /b"}},
		Result:  &scenario.Result{Pass: true, Score: 712, Warnings: []scenario.Warning{{Code: "late-generator", Text: "late"}}},
	})
}

// TestMain is a benchmark below a recording when it is asked to be one.
func TestMain(m *testing.M) {
	if os.Getenv(benchmarkEnv) != "" {
		reportSample(time.Now(), handover.ScenarioSink(os.Getenv(handover.Env), func(error) { os.Exit(4) }))
		_, _ = os.Stdout.WriteString(`{"pass":false,"score":3,"messages":[]}` + "\n")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestScenarioSink: what a benchmark below a recording reports is the run's load,
// with its phases, its levels and its score.
func TestScenarioSink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.kasoku")
	res, err := record.Record(t.Context(), record.Options{Path: path, Course: record.Course{Command: []string{os.Args[0]}, Env: []string{benchmarkEnv + "=1"}}})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := store.Open(res.Path)
	if err != nil {
		t.Fatal(err)
	}
	if want := (kasoku.Score{Value: 712, Outcome: kasoku.Passed, Source: "the benchmark"}); rec.Run.Score == nil || *rec.Run.Score != want {
		t.Errorf("score %+v, want %+v", rec.Run.Score, want)
	}
	if len(rec.Steps) != 1 || rec.Steps[0].Interval.Len() != 6*time.Second || rec.Tally(1).Asked != 2 || rec.Tally(0).Asked != 4 {
		t.Errorf("steps %+v; %d requests in the step, %d in all; want one of 6 s with 2 of 4", rec.Steps, rec.Tally(1).Asked, rec.Tally(0).Asked)
	}
	var phases []kasoku.PhaseKind
	for _, p := range rec.Phases {
		phases = append(phases, p.Kind)
	}
	if want := []kasoku.PhaseKind{kasoku.PhaseVerify, kasoku.PhaseLoad, kasoku.PhaseVerify}; !slices.Equal(phases, want) {
		t.Errorf("phases %v, want %v", phases, want)
	}
	i := slices.IndexFunc(rec.Events, func(e kasoku.Event) bool { return e.Kind == kasoku.EventLevel })
	if i < 0 || rec.Events[i].Text != "level 1 at 300 points" || rec.Events[i].At-rec.Steps[0].Interval.From != 2*time.Second {
		t.Errorf("events %+v, want level 1 two seconds after the load's beginning %v", rec.Events, rec.Steps[0].Interval.From)
	}
	var answered []string
	for _, e := range rec.Events {
		if e.Kind == kasoku.EventInitialize {
			answered = append(answered, e.Text)
		}
	}
	want := []string{"POST /initialize: no number", "POST /initialize: available_days 10, campaign 0"}
	if !slices.Equal(answered, want) {
		t.Errorf("initialize answered %q, want %q", answered, want)
	}
	if len(rec.Load.Targets) != 0 || !slices.ContainsFunc(rec.Warnings, func(w kasoku.Warning) bool { return w.Code == "late-generator" }) {
		t.Errorf("targets %v, warnings %+v", rec.Load.Targets, rec.Warnings)
	}
}

func TestScenarioSink_Fails(t *testing.T) {
	var failed error
	reportSample(time.Now(), handover.ScenarioSink(filepath.Join(t.TempDir(), "no", "load"), func(err error) { failed = err }))
	if !errors.Is(failed, os.ErrNotExist) {
		t.Errorf("into a missing directory: %v", failed)
	}
}

// TestScenarioSink_Onlookers: without a recording who looks on gets what a benchmark
// reports.
func TestScenarioSink_Onlookers(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	sink, start := handover.ScenarioSink("", nil), time.Now()
	reportSample(start, sink) // to no recording
	path, over, err := handover.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer over()
	l, err := handover.NewLoads(path, start)
	if err != nil {
		t.Fatal(err)
	}
	reportSample(start, sink)
	if got, err := l.Take(); err != nil || len(got) == 0 || len(l.Steps()) != 1 {
		t.Errorf("%d seconds, steps %+v, %v", len(got), l.Steps(), err)
	}
}
