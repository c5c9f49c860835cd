package scenario

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
)

// result describes what came of the run.
func (r *run) result() *Result {
	errs, deducted := r.failures.sums()
	r.mu.Lock()
	defer r.mu.Unlock()
	points := r.board.total.Load()
	out := &Result{
		Score: points - deducted, Reason: r.reason, Messages: r.failures.texts(), Language: *r.language.Load(),
		Points: points, Deduction: deducted, ErrorCount: errs, Breakdown: r.board.breakdown(),
		Errors: r.failures.byCode(),
		Level:  r.levels.now(), Levels: []LevelRise{}, Phases: []PhaseTime{}, Steps: []StepLatency{},
		Warnings:  []Warning{},
		Generator: generatorOf(&r.summary), Seed: r.o.Seed, Duration: inSeconds(time.Since(r.start)),
	}
	if r.unready {
		out.Score = 0
	}
	if out.Score < 0 {
		out.Score = 0
		out.Reason = cmp.Or(out.Reason, r.o.Reasons.BelowZero)
	}
	out.Pass = out.Reason == ""
	out.Reason = cmp.Or(out.Reason, r.o.Reasons.OK)
	for _, l := range r.levels.all() {
		out.Levels = append(out.Levels, LevelRise{l.Level, inSeconds(l.At), l.Score})
	}
	for _, s := range r.steps {
		out.Phases = append(out.Phases, PhaseTime{s.phase, inSeconds(s.from), inSeconds(s.to)})
		out.Steps = append(out.Steps, Latencies(s.phase, s.recorder)...)
	}
	for _, w := range r.warnings {
		out.Warnings = append(out.Warnings, Warning{Code: w.Code, Text: w.Text, Hint: w.Hint})
	}
	return out
}

// Latencies returns what the requests of a recorder took, by name.
func Latencies(p Phase, r *load.Recorder) []StepLatency {
	out := []StepLatency{}
	for _, t := range r.Targets() {
		h := t.Tally.Latency
		one := StepLatency{
			Phase: p, Step: safeText(t.Name), Count: t.Tally.Asked, Mean: inMillis(h.Mean()),
			P50: inMillis(h.Quantile(0.5)), P90: inMillis(h.Quantile(0.9)), P99: inMillis(h.Quantile(0.99)),
			Max: inMillis(h.Max()),
		}
		for _, n := range t.Tally.Errors {
			one.Errors += n
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b StepLatency) int { return cmp.Compare(a.Step, b.Step) })
	return out
}

func generatorOf(sum *kasoku.LoadSummary) Generator {
	g := Generator{CPUSeconds: inSeconds(sum.CPU), PeakCores: roundToMilli(sum.PeakCores), Available: sum.Cores}
	if sum.Wall > 0 {
		cores := sum.CPU.Seconds() / sum.Wall.Seconds()
		g.Cores, g.Share = roundToMilli(cores), roundToMilli(cores/float64(max(sum.Cores, 1)))
	}
	return g
}

func inSeconds(d time.Duration) float64 { return roundToMilli(d.Seconds()) }

func inMillis(d time.Duration) float64 { return roundToMilli(float64(d) / float64(time.Millisecond)) }

// roundToMilli keeps three decimals.
func roundToMilli(v float64) float64 { return math.Round(v*1000) / 1000 }
