package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// A judge makes rows of metrics of a step, one stepData for each run. Of one run
// a side it draws seconds; of several it takes one figure a run.
type judge struct {
	before, after []*stepData
	seed          uint64
	resamples     int
}

// single reports whether there is one run a side.
func (j judge) single() bool { return len(j.before) == 1 && len(j.after) == 1 }

// rows returns a row for each metric that either side measured, with intervals
// from the same draws.
func (j judge) rows(metrics []metric) []Row {
	rows := make([]Row, 0, len(metrics))
	draws := j.draws(metrics)
	b, a := allOf(j.before), allOf(j.after)
	for i, m := range metrics {
		r := Row{ID: m.id, Name: m.name, Unit: m.unit, Goal: m.goal, Step: j.before[0].step.Number}
		if !r.put(figures(m, b), figures(m, a), m.points) {
			continue
		}
		if j.single() {
			r.Change.WhyNot = ""
			j.interval(&r, m, draws[i])
			r.Moved = r.judged()
		}
		rows = append(rows, r)
	}
	return rows
}

// figures returns what a metric was in each run.
func figures(m metric, runs []*sums) []Value {
	out := make([]Value, len(runs))
	for i, s := range runs {
		out[i] = pointOf(m, s)
	}
	return out
}

func pointOf(m metric, s *sums) Value {
	v, ok := 0.0, false
	if m.exact != nil {
		v, ok = m.exact(s.from)
	} else {
		v, ok = m.value(s)
	}
	return Value{v, ok}
}

// changeOf returns how far after is from before, without an interval.
func changeOf(points bool, before, after Value) Change {
	c := Change{Points: points}
	switch {
	case !before.OK || !after.OK:
	case points:
		c.Value, c.OK = after.Value-before.Value, true
	case before.Value > 0:
		c.Value, c.OK = after.Value/before.Value, true
	case after.Value == 0:
		c.Value, c.OK = 1, true
	}
	return c
}

// A drawn holds what one metric was in each draw: differences, and quotients
// where the draw of before was not 0.
type drawn struct{ diffs, ratios []float64 }

func (j judge) draws(metrics []metric) []drawn {
	out := make([]drawn, len(metrics))
	if !j.single() || j.tooShort() != "" {
		return out
	}
	before, after := j.before[0], j.after[0]
	b, a := newSums(before), newSums(after)
	rng := rand.New(rand.NewPCG(j.seed, uint64(before.step.Number)))
	for range j.resamples {
		before.draw(rng, b)
		after.draw(rng, a)
		for i, m := range metrics {
			if m.single != "" {
				continue
			}
			x, okX := m.value(b)
			y, okY := m.value(a)
			if !okX || !okY {
				continue
			}
			out[i].diffs = append(out[i].diffs, y-x)
			if x > 0 {
				out[i].ratios = append(out[i].ratios, y/x)
			}
		}
	}
	return out
}

// tooShort describes why the step cannot be drawn from.
func (j judge) tooShort() string {
	for _, d := range slices.Concat(j.before, j.after) {
		switch n := len(d.seconds); {
		case d.step.Partial():
			return "the step was stopped early"
		case n < 2*leastBlock:
			return "a step of " + unit.Exact(d.step.Interval.Len()) + " is too short"
		}
	}
	return ""
}

// interval puts the interval of the draws on a row. A metric that could not be
// computed in more than one draw of 20 has none: what is left is not a fair
// draw any more.
func (j judge) interval(r *Row, m metric, d drawn) {
	if !r.Before.OK || !r.After.OK {
		r.Change.WhyNot = "one side did not measure it"
		return
	}
	if m.single != "" {
		r.Change.WhyNot = m.single
		return
	}
	if m.few != nil && (m.few(j.before[0]) || m.few(j.after[0])) {
		r.Change.WhyNot = fmt.Sprintf("fewer than %d requests lie beyond it", leastBeyond)
		return
	}
	if why := j.tooShort(); why != "" {
		r.Change.WhyNot = why
		return
	}
	need := j.resamples * 19 / 20
	if len(d.diffs) < need {
		r.Change.WhyNot = "it is rare in these seconds"
		return
	}
	c := &r.Change
	c.DiffLow, c.DiffHigh = bounds(d.diffs)
	c.Judged = true
	switch {
	case m.points:
		c.Low, c.High, c.Interval = c.DiffLow, c.DiffHigh, true
	case len(d.ratios) < need || r.Before.Value <= 0:
		c.WhyNot = "it was 0 before"
	case r.After.Value == 0:
		c.WhyNot = "it is 0 after"
	default:
		c.Low, c.High = bounds(d.ratios)
		c.Interval = true
	}
}

// judged distinguishes better from worse: the interval of the difference has to
// leave out 0, and the change to be more than two runs commonly differ by.
func (r *Row) judged() Moved {
	c := r.Change
	if !c.Judged || r.Goal == Neither {
		return NotJudged
	}
	if c.Points && math.Abs(c.Value) < LeastPoints {
		return Unsure
	}
	if !c.Points && c.OK && math.Abs(c.Value-1) < LeastChange {
		return Unsure
	}
	up, down := c.DiffLow > 0, c.DiffHigh < 0
	switch {
	case !up && !down:
		return Unsure
	case up == (r.Goal == More):
		return Better
	}
	return Worse
}

// stepMetrics are the figures of the step that the runs are judged by.
func stepMetrics(p perMetric) []metric {
	return []metric{
		successMetric(), reachedMetric(), meanMetric(),
		percentileMetric("latency.p50", "p50", 0.50),
		percentileMetric("latency.p95", "p95", 0.95),
		percentileMetric("latency.p99", "p99", 0.99),
		maxMetric(),
		p.perRequest(metric{id: "cpu_per_success", name: "CPU per 2xx", unit: Seconds, goal: Less}, cpuAll,
			func(s *sums) float64 { return s.success }),
		p.perRequest(metric{id: "spooled_per_success", name: "bodies in files of nginx per 2xx", unit: PerRequest, goal: Less},
			spooled, func(s *sums) float64 { return s.success }),
	}
}

func databaseMetrics(p perMetric) []metric {
	success := func(s *sums) float64 { return s.success }
	return []metric{
		p.connections(),
		p.count(metric{id: "refused", name: "refused connections", unit: Count, goal: Less}, refused),
		p.perRequest(metric{id: "statements_per_success", name: "statements per 2xx", unit: PerRequest, goal: Less},
			questions, success),
		p.perRequest(metric{id: "prepares_per_success", name: "prepares per 2xx", unit: PerRequest, goal: Less}, prepares,
			success),
		p.perRequest(metric{id: "commits_per_success", name: "commits per 2xx", unit: PerRequest, goal: Less}, commits,
			success),
		p.perRequest(metric{id: "sent_per_success", name: "database bytes per 2xx", unit: Bytes, goal: Less}, sent, success),
		// Neither way is better: a load whose commits arrive together shares them.
		p.perRequest(metric{id: "fsyncs_per_success", name: "log fsyncs per 2xx", unit: PerRequest, goal: Neither}, logFsyncs,
			success),
	}
}

func controlMetrics(p perMetric) []metric {
	return []metric{
		sendDelayMetric(),
		p.rate(metric{id: "observer", name: "observer", unit: CoreShare, goal: Less}, observerCPU),
	}
}

// cpuMetrics are the cores that each process name took. More is neither better
// nor worse: an app that answers more requests works more.
func cpuMetrics(p perMetric) []metric {
	var out []metric
	for _, c := range p.counters {
		if name, ok := strings.CutPrefix(c.id, cpuPrefix); ok {
			out = append(out, p.rate(metric{id: "cpu." + name, name: name, unit: Cores, goal: Neither}, c.id))
		} else if c.id == cpuBeside {
			out = append(out, p.rate(metric{id: "cpu." + cpuBeside, name: cpuBeside, unit: Cores, goal: Neither}, c.id))
		}
	}
	return out
}

// gaugeRow compares the highest value of a gauge in the step.
func (j judge) gaugeRow(r Row, source, name string) (Row, bool) {
	read := func(side []*stepData) []Value {
		out := make([]Value, len(side))
		for i, d := range side {
			if s := d.run.Find(kasoku.Key{Source: source, Name: name}); s != nil {
				out[i].Value, out[i].OK = s.Max(d.step.Interval)
			}
		}
		return out
	}
	r.Step = j.before[0].step.Number
	ok := r.put(read(j.before), read(j.after), false)
	return r, ok
}
