package kataribe

import (
	"cmp"
	"slices"

	"github.com/kasoku/kasoku/compat/exact"
)

// A row is all that is printed of a class.
type row struct {
	name        string
	n           uint64
	total       float64
	mean        float64
	stddev      float64 // of the population
	min         float64
	percentiles []float64
	max         float64
	status      [6]uint64
	bytes       int64
	minBytes    int64
	maxBytes    int64
}

// A result is all that is printed of a log.
type result struct {
	rows []*row
	n    uint64
	slow exact.Top[string]
}

// collectResult puts together what the workers counted.
func collectResult(p *plan, k *exact.Book, workers []*worker) *result {
	names := k.Names()
	rows := make([]*row, len(names))
	steps := make([][]exact.Step, len(names))
	r := &result{slow: exact.Top[string]{Keep: p.SlowCount}}
	for _, w := range workers {
		for _, c := range w.byName {
			rows[c.id] = rows[c.id].add(c)
			steps[c.id] = c.tally.Append(steps[c.id], w.frac, p.factor)
			r.n += c.n
		}
		r.slow.Merge(&w.slow)
	}
	for id, row := range rows {
		row.name, row.total = names[id], k.Sums(id)[0]
		row.reckon(exact.Ascending(steps[id]), p.Percentiles)
	}
	r.rows = rows
	return r
}

// add adds what a worker knows of the class to the row, which may be nil.
func (r *row) add(c *class) *row {
	if r == nil {
		r = &row{minBytes: c.minBytes, maxBytes: c.maxBytes}
	}
	r.n += c.n
	for i, n := range c.status {
		r.status[i] += n
	}
	r.bytes += c.bytes
	r.minBytes, r.maxBytes = min(r.minBytes, c.minBytes), max(r.maxBytes, c.maxBytes)
	return r
}

// reckon fills in what follows from the durations, which are in ascending order.
func (r *row) reckon(steps []exact.Step, percentiles []float64) {
	n := float64(r.n)
	r.mean = r.total / n
	r.stddev = exact.StdDev(steps, r.mean, r.n)
	r.min, r.max = steps[0].Value, steps[len(steps)-1].Value
	for _, p := range percentiles {
		r.percentiles = append(r.percentiles, exact.At(steps, int64(n*p/100)))
	}
}

// A ranking is one of the tables.
type ranking struct {
	title string
	by    func(*row) float64
}

func (p *plan) rankings() []ranking {
	out := []ranking{
		{"Count", func(r *row) float64 { return float64(r.n) }},
		{"Total", func(r *row) float64 { return r.total }},
		{"Mean", func(r *row) float64 { return r.mean }},
	}
	if p.ShowStdDev {
		out = append(out, ranking{"Standard Deviation", func(r *row) float64 { return r.stddev }})
	}
	return append(out, ranking{"Maximum(100 Percentile)", func(r *row) float64 { return r.max }})
}

// rank returns the first rows of a ranking. Those that tie are ordered by total,
// the larger first, then by count, then by name.
func (r *result) rank(by func(*row) float64, limit int) []*row {
	rows := slices.Clone(r.rows)
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(b.total, a.total), cmp.Compare(b.n, a.n),
			cmp.Compare(a.name, b.name))
	})
	return rows[:min(len(rows), max(limit, 0))]
}
