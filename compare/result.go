package compare

import (
	"slices"

	"github.com/kasoku/kasoku"
)

// bestIsLuck is why the best score has no interval and is not judged.
const bestIsLuck = "the best of several runs says little of the next one"

// result makes the group of what the runs as a whole were worth: score, passes,
// throughput, and both for the price and for the CPU that they took.
func (m *maker) result() {
	var rows []Row
	add := func(r Row, read func(*kasoku.Recording) Value) bool {
		r, ok := m.row(r, read)
		if ok {
			rows = append(rows, r)
		}
		return ok
	}
	if add(Row{ID: "score", Name: "score", Unit: Score, Goal: More}, score) {
		if len(m.before) > 1 || len(m.after) > 1 {
			rows = append(rows, m.best())
		}
	}
	if r, ok := m.passes(); ok {
		rows = append(rows, r)
	}
	add(Row{ID: "throughput", Name: "throughput", Unit: PerSecond, Goal: More}, throughput)
	currency, same := m.currency()
	if same {
		hour, each := " per price of an hour", " per unit of price"
		if currency != "" {
			hour, each = " per "+currency+" an hour", " per "+currency
		}
		add(Row{ID: "score_per_price", Name: "score" + hour, Unit: PerPrice, Goal: More},
			func(r *kasoku.Recording) Value {
				return over1(score(r), r.Run.Price.PerHour)
			})
		add(Row{ID: "success_per_price", Name: "2xx" + each, Unit: PerPrice, Goal: More},
			func(r *kasoku.Recording) Value {
				return over1(throughput(r), r.Run.Price.PerHour/3600)
			})
	}
	if m.cpuAlike() {
		m.perCPU(add)
	}
	m.add("result", "Result", 0, rows)
}

// cpuAlike reports whether the CPU of all runs is of the same: the service's members, or
// all that ran.
func (m *maker) cpuAlike() bool {
	all := slices.Concat(m.before, m.after)
	return membersKnown(all) || !slices.ContainsFunc(all, func(r *kasoku.Recording) bool {
		return membersKnown([]*kasoku.Recording{r})
	})
}

// perCPU adds what a second of CPU was worth.
func (m *maker) perCPU(add func(Row, func(*kasoku.Recording) Value) bool) {
	add(Row{ID: "score_per_cpu", Name: "score per CPU second", Unit: PerCPU, Goal: More},
		func(r *kasoku.Recording) Value {
			return over1(score(r), cpu(r))
		})
	add(Row{ID: "success_per_cpu", Name: "2xx per CPU second", Unit: PerCPU, Goal: More},
		func(r *kasoku.Recording) Value {
			if r.Summary == nil || r.Summary.Requests == 0 {
				return Value{}
			}
			return over1(Value{float64(r.Summary.Succeeded), true}, cpu(r))
		})
}

// score is what a run was worth. One that the benchmark did not let pass was worth
// nothing, whatever number it printed.
func score(r *kasoku.Recording) Value {
	switch s := r.Run.Score; {
	case s == nil:
		return Value{}
	case s.Outcome == kasoku.Failed:
		return Value{0, true}
	default:
		return Value{s.Value, true}
	}
}

// throughput is how many requests a second succeeded, at the best step when there
// are several.
func throughput(r *kasoku.Recording) Value {
	if r.Summary == nil || r.Summary.Requests == 0 {
		return Value{}
	}
	return Value{r.Summary.PerSec, true}
}

// cpu is the CPU time that the measured hosts used, s.
func cpu(r *kasoku.Recording) float64 {
	if r.Summary == nil {
		return 0
	}
	return r.Summary.CPU.Seconds()
}

func over1(v Value, by float64) Value {
	if !v.OK || by <= 0 {
		return Value{}
	}
	return Value{v.Value / by, true}
}

// best is the best score of each side, apart from the median: it is not judged.
func (m *maker) best() Row {
	most := func(runs []*kasoku.Recording) Value {
		v := known(each(runs, score))
		if len(v) == 0 {
			return Value{}
		}
		return Value{slices.Max(v), true}
	}
	r := Row{ID: "score_best", Name: "best score", Unit: Score, Goal: Neither, Before: most(m.before),
		After: most(m.after)}
	r.Change = changeOf(false, r.Before, r.After)
	r.Change.WhyNot = bestIsLuck
	return r
}

// passes counts the runs that the benchmark let pass, of those that it judged.
func (m *maker) passes() (Row, bool) {
	r, ok := m.row(Row{ID: "passes", Name: "passes", Unit: OfRuns, Goal: More}, func(r *kasoku.Recording) Value {
		s := r.Run.Score
		if s == nil || s.Outcome == kasoku.Unjudged {
			return Value{}
		}
		if s.Outcome == kasoku.Passed {
			return Value{1, true}
		}
		return Value{0, true}
	})
	count := func(v *Value, runs []Value) {
		v.Value = 0
		for _, x := range known(runs) {
			v.Value += x
		}
	}
	count(&r.Before, r.BeforeRuns)
	count(&r.After, r.AfterRuns)
	r.Change = Change{WhyNot: "it is a count of runs"}
	return r, ok
}

// currency is that of the prices; same is false when the sides differ.
func (m *maker) currency() (currency string, same bool) {
	for i, r := range slices.Concat(m.before, m.after) {
		p := r.Run.Price
		if i > 0 && p.Currency != currency {
			return "", false
		}
		currency = p.Currency
	}
	return currency, true
}
