package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/median"
	"github.com/kasoku/kasoku/internal/unit"
)

// LeastUnchanged is of how many unchanged runs a noise floor is taken at the least.
const LeastUnchanged = 3

// A Floor defines where the noise floor comes from.
type Floor struct {
	Runs   int
	Source string // "the runs compared" or "group 20261120-140211-base"
	Own    bool   // of the sides themselves
}

// A Spread is how far one figure of two unchanged runs differs: in 19 of 20 pairs
// by less than Half.
type Spread struct {
	Half   float64 // of a quotient: 0.05 is ± 5 %; of ratios: a difference
	Points bool
	Runs   int // that it was taken of
}

// String prints the spread: ±5.2 %, ±1.3 points.
func (s Spread) String() string {
	u := " %"
	if s.Points {
		u = " points"
	}
	half := unit.Fixed(100*s.Half, 1)
	if strings.HasPrefix(half, "<") {
		return half + u
	}
	return "±" + half + u
}

// Holds reports whether two unchanged runs commonly differ as much.
func (s Spread) Holds(c Change) bool {
	switch {
	case !c.OK:
		return false
	case s.Points:
		return math.Abs(c.Value) <= s.Half
	case c.Value <= 0:
		return false
	}
	return math.Abs(math.Log(c.Value)) <= math.Log1p(s.Half)
}

// Inside reports whether two unchanged runs commonly differ as much as the row's
// sides do.
func (r *Row) Inside() bool { return r.Spread != nil && r.Spread.Holds(r.Change) }

// spreadOf estimates a spread from the figures of unchanged runs; nil when there
// are fewer than LeastUnchanged.
//
// The standard deviation is taken from the median absolute deviation, which one
// run gone astray does not move, widened for small samples; where more than half
// of the runs are equal, from the mean absolute deviation. Two runs differ by √2 of it,
// and by less than Student's t times that in 19 of 20 pairs; of three runs the
// guess is so rough that it is 17 of 20.
//
// Source: P. Rousseeuw, C. Croux, "Alternatives to the median absolute deviation",
// 1993, and "Explicit scale estimators with high breakdown point", 1992, for the
// factors; B. Iglewicz, D. Hoaglin, "How to Detect and Handle Outliers", 1993, for
// the mean deviation.
func spreadOf(values []Value, points bool) *Spread {
	v := known(values)
	n := len(v)
	if n < LeastUnchanged {
		return nil
	}
	middle := median.Of(v)
	off := make([]float64, n)
	mean := 0.0
	for i, x := range v {
		off[i] = math.Abs(x - middle)
		mean += off[i] / float64(n)
	}
	sd := 1.4826 * madFactor(n) * median.Of(off)
	if sd == 0 {
		sd = 1.2533 * mean
	}
	s := &Spread{Half: student(n-1) * math.Sqrt2 * sd, Points: points, Runs: n}
	if !points {
		if middle == 0 {
			return nil
		}
		s.Half /= math.Abs(middle)
	}
	return s
}

// madFactor corrects the median absolute deviation of n values.
func madFactor(n int) float64 {
	small := []float64{2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}
	if n < len(small) {
		return small[n]
	}
	return float64(n) / (float64(n) - 0.8)
}

// student is the 97.5 % point of Student's t.
func student(freedom int) float64 {
	small := []float64{1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
	if freedom < len(small) {
		return small[freedom]
	}
	return 1.96 + 2.6/float64(freedom)
}

// spread puts the noise floor on all rows: of the sides themselves when one has
// enough runs, else of unchanged runs. With one run a side it then corrects the
// directions: what unchanged runs differ by is no change.
func (c *Comparison) spread(before, after, unchanged []*kasoku.Recording) {
	if n := max(len(before), len(after)); n >= LeastUnchanged {
		c.Floor = &Floor{Runs: n, Source: "the runs compared", Own: true}
		c.eachRow(func(r *Row) {
			if r.Unit != OfRuns {
				r.Spread = wider(spreadOf(r.BeforeRuns, r.Change.Points), spreadOf(r.AfterRuns, r.Change.Points))
			}
		})
		return
	}
	if len(unchanged) < LeastUnchanged || c.Before.Step.Number > 0 && sameTargets(before[0], unchanged[0]) != nil {
		return
	}
	floor, err := figuresOf(unchanged, c.PerSec)
	if err != nil {
		return // loaded otherwise: it says nothing of these runs
	}
	c.Floor = &Floor{Runs: len(unchanged), Source: "group " + sideOf(unchanged).Name()}
	c.eachRow(func(r *Row) {
		if same := floor.find(r.ID, r.PerSec); same != nil && r.Unit != OfRuns {
			r.Spread = spreadOf(same.BeforeRuns, r.Change.Points)
		}
		if c.Single() {
			r.Moved = r.corrected()
		}
	})
}

// corrected is the direction of a row of one run a side, held against its spread.
func (r *Row) corrected() Moved {
	switch {
	case r.Spread == nil || !r.Change.OK || r.Goal == Neither:
		return r.Moved
	case r.Inside():
		return Unsure
	case r.Change.Judged:
		return r.Moved
	case (r.After.Value > r.Before.Value) == (r.Goal == More):
		return Better
	}
	return Worse
}

// figuresOf makes the rows of runs alone, with the focus on one step.
func figuresOf(runs []*kasoku.Recording, focus float64) (*Comparison, error) {
	pairs, err := matchSteps(runs, runs, 0)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Before: sideOf(runs), After: sideOf(runs)}
	m := &maker{c: c, before: runs, after: runs, counters: countersOf(runs), onStep: focus}
	m.groups(pairs)
	return c, nil
}

// Steadiness returns the primary row of repeated runs of one thing, with the spread
// between them. It fails when they were not loaded alike, when there are fewer
// than [LeastUnchanged] figures, or nothing to judge by.
func Steadiness(runs []*kasoku.Recording) (*Row, error) {
	if len(runs) < LeastUnchanged {
		return nil, fmt.Errorf("%d runs are too few to know their spread", len(runs))
	}
	c, err := figuresOf(runs, 0)
	if err != nil {
		return nil, err
	}
	p := c.Primary()
	if p == nil {
		return nil, errors.New("the runs have no figure in common to be judged by")
	}
	if p.Spread = spreadOf(p.BeforeRuns, p.Change.Points); p.Spread == nil {
		return nil, fmt.Errorf("%s has no spread", p.Name)
	}
	return p, nil
}

func wider(a, b *Spread) *Spread {
	if a == nil || b != nil && b.Half > a.Half {
		return b
	}
	return a
}

func (c *Comparison) eachRow(f func(*Row)) {
	for g := range c.Groups {
		for r := range c.Groups[g].Rows {
			f(&c.Groups[g].Rows[r])
		}
	}
}

// find returns the row of a step; nil when there is none.
func (c *Comparison) find(id string, perSec float64) *Row {
	var found *Row
	c.eachRow(func(r *Row) {
		if r.ID == id && (r.PerSec == perSec || sameRate(r.PerSec, perSec)) {
			found = r
		}
	})
	return found
}

// before and after return the single figures of a row.
func (r *Row) before() []Value { return r.BeforeRuns }
func (r *Row) after() []Value  { return r.AfterRuns }

// middle returns the run of a side whose primary figure is the median, of an even
// number the lower one; the first when nothing is primary.
func (c *Comparison) middle(runs []*kasoku.Recording, side func(*Row) []Value) *kasoku.Recording {
	p := c.Primary()
	if p == nil {
		return runs[0]
	}
	values := side(p)
	sorted := slices.Sorted(slices.Values(known(values)))
	if len(sorted) == 0 {
		return runs[0]
	}
	want := sorted[(len(sorted)-1)/2]
	return runs[slices.IndexFunc(values, func(v Value) bool { return v.OK && v.Value == want })]
}
