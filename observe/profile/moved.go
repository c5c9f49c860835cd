package profile

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// A Moved is a function in profiles of two sides. Shares are of each side's whole:
// totals differ with the load and its length, so they are not set side by side.
type Moved struct {
	Name                  string
	BeforeFlat, AfterFlat float64 // 0..1 in the function itself
	BeforeCum, AfterCum   float64 // and in what it calls
}

// Points returns by how much the function's own share grew, -1..1.
func (m Moved) Points() float64 { return m.AfterFlat - m.BeforeFlat }

// Diff compares two profiles of one kind by function: those that moved most by their
// own share first. A function that a side does not have is 0 there; it may have been
// inlined, renamed or not called.
func Diff(before, after *kasoku.Profile) []Moved {
	at := map[string]int{}
	var out []Moved
	find := func(name string) *Moved {
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Moved{Name: name})
		}
		return &out[i]
	}
	for _, f := range before.Functions {
		m := find(f.Name)
		m.BeforeFlat, m.BeforeCum = before.Share(f.Flat), before.Share(f.Cum)
	}
	for _, f := range after.Functions {
		m := find(f.Name)
		m.AfterFlat, m.AfterCum = after.Share(f.Flat), after.Share(f.Cum)
	}
	slices.SortFunc(out, func(a, b Moved) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Points()), math.Abs(a.Points())), strings.Compare(a.Name, b.Name))
	})
	return out
}
