package compare

import (
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

// A PlanChange is a statement that the server runs in another way.
type PlanChange struct {
	ID            string // of the query
	Fingerprint   string // empty when no query has the id
	Before, After *kasoku.Plan
	Order         bool        // the tables are read in another order, or they are others
	Steps         []PlanMoved // all of both, in the order of after
}

// A PlanMoved is a step of both plans.
type PlanMoved struct {
	Both[kasoku.PlanRow]
	Moved bool
}

// estimateMoves is the ratio from which a different estimate of a step's rows is
// reported as a change: one table's estimates vary by less from one time to the next.
const estimateMoves = 3

// fewRows is an estimate below which it does not matter.
const fewRows = 100

// planned returns the run of a side whose plans are compared: the one in the middle,
// or the newest that has plans when that one has none.
func planned(runs []*kasoku.Recording, middle *kasoku.Recording) *kasoku.Recording {
	if len(middle.Plans) > 0 {
		return middle
	}
	newest, at := middle, time.Time{}
	for _, r := range runs {
		if len(r.Plans) > 0 && !r.Run.Started.Before(at) {
			newest, at = r, r.Run.Started
		}
	}
	return newest
}

// diffPlans lists the statements whose plans differ, in the order of after, and counts
// those that are the same. A statement without a plan on a side is neither.
func diffPlans(before, after *kasoku.Recording) (changes []PlanChange, equal int) {
	host := hostOf(before, after)
	pairs := match(before.Plans, after.Plans, func(p *kasoku.Plan) [2]string {
		return [2]string{host(p.Host),
			p.QueryID}
	})
	for _, p := range pairs {
		if p.Before == nil || p.After == nil || len(p.Before.Rows) == 0 || len(p.After.Rows) == 0 {
			continue
		}
		c := PlanChange{ID: p.After.QueryID, Before: p.Before, After: p.After}
		if !c.fill() {
			equal++
			continue
		}
		for _, run := range []*kasoku.Recording{after, before} {
			i := slices.IndexFunc(run.Queries, func(q kasoku.Query) bool { return q.ID == c.ID })
			if i >= 0 && c.Fingerprint == "" {
				c.Fingerprint = run.Queries[i].Fingerprint
			}
		}
		changes = append(changes, c)
	}
	return changes, equal
}

// fill pairs the steps and reports whether one moved.
func (c *PlanChange) fill() bool {
	// A table that is read twice has two steps, matched in their order.
	type place struct {
		table string
		nth   int
	}
	places := func(rows []kasoku.PlanRow) []place {
		seen := map[string]int{}
		out := make([]place, len(rows))
		for i := range rows {
			out[i] = place{rows[i].Table, seen[rows[i].Table]}
			seen[rows[i].Table]++
		}
		return out
	}
	old, now := places(c.Before.Rows), places(c.After.Rows)
	c.Order = !slices.Equal(old, now)
	moved := c.Order
	add := func(s PlanMoved) {
		s.Moved = s.moved()
		moved = moved || s.Moved
		c.Steps = append(c.Steps, s)
	}
	for i, p := range now {
		s := PlanMoved{Both: Both[kasoku.PlanRow]{After: &c.After.Rows[i]}}
		if k := slices.Index(old, p); k >= 0 {
			s.Before = &c.Before.Rows[k]
		}
		add(s)
	}
	for i, p := range old {
		if !slices.Contains(now, p) {
			add(PlanMoved{Both: Both[kasoku.PlanRow]{Before: &c.Before.Rows[i]}})
		}
	}
	return moved
}

// moved reports whether the server takes another way for a step: another access, index
// or part of it, another extra step such as a sort, or far more or fewer rows.
func (s PlanMoved) moved() bool {
	b, a := s.Before, s.After
	if b == nil || a == nil {
		return true
	}
	if b.Access != a.Access || b.Key != a.Key || b.KeyLen != a.KeyLen ||
		!slices.Equal(Extras(b.Extra), Extras(a.Extra)) {
		return true
	}
	low, high := min(b.Rows, a.Rows), max(b.Rows, a.Rows)
	return high >= fewRows && high >= estimateMoves*low
}

// Extras splits what EXPLAIN says of a step apart from its columns, and sorts it.
func Extras(extra string) []string {
	var out []string
	for part := range strings.SplitSeq(extra, ";") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	slices.Sort(out)
	return out
}
