package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// Impacts are shares of the same unit, so they are compared as they are, but for
// what is less sure to be gained.
const (
	// estimated is what an impact from a model counts against a counted one: such
	// models were off by up to a factor of two.
	estimated = 0.5
	// graveWeight is what an impact counts whose fix changes what a crash or an
	// answer means: what comes without that price is done first, unless it gains
	// far less.
	graveWeight = 0.5
)

// rankFindings puts findings into the order in which to fix them: the greater weight
// first. What another one explains goes with that, so it comes after all that
// nothing explains; and what explains others weighs at least as much as these.
// Remarks come last.
func rankFindings(found []kasoku.Finding) []kasoku.Finding {
	rest := slices.Clone(found)
	by := findExplainers(rest)
	weights := make([]float64, len(rest))
	for i := range rest {
		weights[i] = weightOf(&rest[i])
	}
	for range rest { // as often as a chain may be long
		for i, of := range by {
			for _, o := range of {
				weights[o] = max(weights[o], weights[i])
			}
		}
	}
	order := make([]int, len(rest))
	for i := range order {
		order[i] = i
	}
	depth := explanationDepths(by)
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &rest[a], &rest[b]
		return cmp.Or(
			cmp.Compare(boolNumber(x.Severity == kasoku.Info), boolNumber(y.Severity == kasoku.Info)),
			cmp.Compare(depth[a], depth[b]),
			cmp.Compare(weights[b], weights[a]),
			cmp.Compare(boolNumber(x.Impact.Estimate), boolNumber(y.Impact.Estimate)),
			cmp.Compare(x.ID, y.ID),
			cmp.Compare(x.Object.String(), y.Object.String()),
		)
	})
	out := make([]kasoku.Finding, len(rest))
	for i, k := range order {
		out[i] = rest[k]
	}
	return out
}

// weightOf is the impact for the order alone.
func weightOf(f *kasoku.Finding) float64 {
	w := f.Impact.Share
	if f.Impact.Estimate {
		w *= estimated
	}
	if r := f.Risk(); r == kasoku.RiskDurability || r == kasoku.RiskSemantics {
		w *= graveWeight
	}
	return w
}

// findExplainers returns for each finding the places of those that explain it. Of two
// that explain each other the first in the order of weights, then ids, does.
func findExplainers(found []kasoku.Finding) [][]int {
	out := make([][]int, len(found))
	for i := range found {
		for k := range found {
			if !explains(found[k], found[i]) {
				continue
			}
			if explains(found[i], found[k]) && cmp.Or(cmp.Compare(weightOf(&found[i]), weightOf(&found[k])),
				cmp.Compare(found[k].ID, found[i].ID)) >= 0 {
				continue
			}
			out[i] = append(out[i], k)
		}
	}
	return out
}

// explanationDepths returns how many steps of explanation stand before each finding: 0 where
// nothing explains it. A ring of more than two ends where it is entered.
func explanationDepths(by [][]int) []int {
	out := make([]int, len(by))
	for range by {
		for i, of := range by {
			for _, o := range of {
				out[i] = min(max(out[i], out[o]+1), len(by))
			}
		}
	}
	return out
}

// explains reports whether fixing o makes f go. A remark explains nothing that
// costs something, so that remarks stay last.
func explains(o, f kasoku.Finding) bool {
	if o.Severity == kasoku.Info && f.Severity != kasoku.Info {
		return false
	}
	return o.ID != f.ID && slices.Contains(o.Explains, f.ID)
}

// noteShared notes of findings whose impacts are of the same time that they share it:
// they quote the same statement, or one endpoint where one of them quotes no
// statement. What such findings gain does not add up.
func noteShared(found []kasoku.Finding) {
	for i := range found {
		for k := range found {
			a, b := &found[i], &found[k]
			if a.ID == b.ID || a.Impact.Share <= 0 || b.Impact.Share <= 0 || slices.Contains(a.Impact.Shared, b.ID) ||
				!sameTime(a, b) {
				continue
			}
			a.Impact.Shared = append(slices.Clone(a.Impact.Shared), b.ID)
		}
	}
}

// sameTime reports whether the impacts of two findings are made of the same
// seconds.
func sameTime(a, b *kasoku.Finding) bool {
	if a.Impact.Of != b.Impact.Of {
		return false
	}
	mine, theirs := quotedStatements(a), quotedStatements(b)
	if len(mine) > 0 && len(theirs) > 0 {
		return slices.ContainsFunc(mine, func(s string) bool {
			return slices.ContainsFunc(theirs, func(t string) bool { return sameText(s, t) })
		})
	}
	return a.Object.Kind == "endpoint" && a.Object.Name != "" && a.Object == b.Object
}

// quotedStatements returns the statements that a finding rests on.
func quotedStatements(f *kasoku.Finding) []string {
	var out []string
	for _, e := range f.Evidence {
		if e.Strong && e.Source == "slow.log" && strings.Contains(e.Text, " ") {
			out = append(out, e.Text)
		}
	}
	return out
}

// sameText compares texts of which one may be cut shorter than the other.
func sameText(a, b string) bool {
	if a == b {
		return true
	}
	x, cutA := strings.CutSuffix(a, "…")
	y, cutB := strings.CutSuffix(b, "…")
	const enough = 40 // bytes: below, many statements begin alike
	switch {
	case cutA && len(x) >= enough && strings.HasPrefix(y, x):
		return true
	case cutB && len(y) >= enough && strings.HasPrefix(x, y):
		return true
	}
	return false
}
