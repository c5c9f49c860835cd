package handover

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load/scenario"
)

// ScenarioSink returns a sink that hands a benchmark over to the recording that it
// runs below: its requests, phases, levels and score. The path is what [Env]
// says; when it is empty there is no recording, and who looks on gets it. What cannot
// be handed over to a recording is passed to failed; later reports make up for it.
func ScenarioSink(path string, failed func(error)) scenario.Sink {
	if path == "" {
		var watchers *Onlookers
		return func(r *scenario.Report) {
			if watchers == nil {
				watchers = NewOnlookers(r.Start)
			}
			if watchers.Look() {
				watchers.Write(handedScenario(r))
			}
		}
	}
	var w *Writer
	return func(r *scenario.Report) {
		var err error
		if w == nil {
			w, err = NewWriter(path, r.Start)
		}
		if err == nil {
			err = w.Write(handedScenario(r))
		}
		if err != nil {
			failed(err)
		}
	}
}

// answerText words an answer as [kasoku.EventInitialize] has it.
func answerText(a *scenario.Answer) string {
	numbers := make([]string, 0, len(a.Numbers))
	for _, n := range a.Numbers {
		numbers = append(numbers, n.Name+" "+n.Value)
	}
	if len(numbers) == 0 {
		numbers = append(numbers, "no number")
	}
	return a.Request + ": " + strings.Join(numbers, ", ")
}

// handedScenario words what a benchmark reports as a load. The load phase is its one
// step, so that runs which reached different levels can be compared; the levels are
// events. Which requests there were follows from how far it got, so it is not among
// what must be alike in runs that are compared.
func handedScenario(r *scenario.Report) Report {
	h := Report{Summary: r.Summary, Seconds: r.Seconds}
	h.Summary.Targets = nil
	for i := range h.Seconds {
		if h.Seconds[i].Step = h.Seconds[i].Step - scenario.Load.Number() + 1; h.Seconds[i].Step != 1 {
			h.Seconds[i].Step = 0
		}
	}
	for _, span := range r.Phases {
		p := kasoku.Phase{Kind: kasoku.PhaseVerify, Interval: span.Interval, Why: "the benchmark's phase " + string(span.Phase)}
		if span.Phase == scenario.Load {
			p.Kind = kasoku.PhaseLoad
			h.Steps = append(h.Steps, kasoku.Step{Number: 1, Interval: span.Interval})
		}
		h.Phases = append(h.Phases, p)
	}
	for _, rise := range r.Levels {
		h.Events = append(h.Events, kasoku.Event{At: rise.At, Kind: kasoku.EventLevel, Text: fmt.Sprintf("level %d at %d points", rise.Level, rise.Score)})
	}
	for _, a := range r.Answers {
		h.Events = append(h.Events, kasoku.Event{At: a.At, Kind: kasoku.EventInitialize, Text: answerText(&a)})
	}
	if r.Result != nil {
		h.Score = &kasoku.Score{Value: float64(r.Result.Score), Outcome: kasoku.Failed, Source: "the benchmark"}
		if r.Result.Pass {
			h.Score.Outcome = kasoku.Passed
		}
		for _, w := range r.Result.Warnings {
			h.Warnings = append(h.Warnings, kasoku.Warning{Code: w.Code, Text: w.Text, Hint: w.Hint})
		}
	}
	return h
}
