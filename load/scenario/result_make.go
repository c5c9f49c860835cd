package scenario

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
)

// result says what came of the run.
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
		Generator: generator(&r.summary), Seed: r.o.Seed, Duration: seconds(time.Since(r.start)),
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
		out.Levels = append(out.Levels, LevelRise{l.Level, seconds(l.At), l.Score})
	}
	for _, s := range r.steps {
		out.Phases = append(out.Phases, PhaseTime{s.phase, seconds(s.from), seconds(s.to)})
		out.Steps = append(out.Steps, Latencies(s.phase, s.recorder)...)
	}
	for _, w := range r.warnings {
		out.Warnings = append(out.Warnings, Warning(w))
	}
	return out
}

// Latencies returns what the requests of a recorder took, by name.
func Latencies(p Phase, r *load.Recorder) []StepLatency {
	out := []StepLatency{}
	for _, t := range r.Targets() {
		h := t.Tally.Latency
		one := StepLatency{
			Phase: p, Step: safeText(t.Name), Count: t.Tally.Asked, Mean: millis(h.Mean()),
			P50: millis(h.Quantile(0.5)), P90: millis(h.Quantile(0.9)), P99: millis(h.Quantile(0.99)),
			Max: millis(h.Max()),
		}
		for _, n := range t.Tally.Errors {
			one.Errors += n
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b StepLatency) int { return cmp.Compare(a.Step, b.Step) })
	return out
}

func generator(sum *kasoku.LoadSummary) Generator {
	g := Generator{CPUSeconds: seconds(sum.CPU), PeakCores: rounded(sum.PeakCores), Available: sum.Cores}
	if sum.Wall > 0 {
		cores := sum.CPU.Seconds() / sum.Wall.Seconds()
		g.Cores, g.Share = rounded(cores), rounded(cores/float64(max(sum.Cores, 1)))
	}
	return g
}

func seconds(d time.Duration) float64 { return rounded(d.Seconds()) }

func millis(d time.Duration) float64 { return rounded(float64(d) / float64(time.Millisecond)) }

// rounded keeps three decimals.
func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }
