package diagnose

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// rankFindings puts findings into the order in which to fix them: the greater impact first,
// as it is shown. Among equals what explains another one comes before that, then what was
// counted before estimates, and what is safe and cheap to change before what is not. A
// finding that goes when another one is fixed says so, and stands where its figure puts it; one that
// costs little comes after those that would stay. Remarks come last, those that warn of wrong answers before
// those that cost little, and last those of rules that only point to where the time goes; but a remark that
// points to much of the time comes first where all problems
// cost little, or next to nothing beside it.
func rankFindings(found []kasoku.Finding, points, warns map[string]bool) []kasoku.Finding {
	rest := slices.Clone(found)
	depth := explanationDepths(findExplainers(rest))
	last := func(f *kasoku.Finding) bool { return f.Severity == kasoku.Info && points[f.ID] }
	warned := func(f *kasoku.Finding) bool { return f.Severity == kasoku.Info && warns[f.ID] }
	heaviest := 0.0 // of the problems
	for i := range rest {
		if rest[i].Severity != kasoku.Info {
			heaviest = max(heaviest, rest[i].Impact.Share)
		}
	}
	first := func(f *kasoku.Finding) bool {
		return last(f) && f.Impact.Share >= leastNamed && heaviest < max(SmallShare, besideSign*f.Impact.Share)
	}
	order := make([]int, len(rest))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &rest[a], &rest[b]
		return cmp.Or(
			cmp.Compare(boolNumber(first(y)), boolNumber(first(x))),
			cmp.Compare(boolNumber(x.Severity == kasoku.Info), boolNumber(y.Severity == kasoku.Info)),
			cmp.Compare(boolNumber(last(x)), boolNumber(last(y))),
			cmp.Compare(boolNumber(warned(y)), boolNumber(warned(x))),
			cmp.Compare(boolNumber(goes(x, depth[a])), boolNumber(goes(y, depth[b]))),
			cmp.Compare(shownImpact(y), shownImpact(x)),
			cmp.Compare(depth[a], depth[b]),
			cmp.Compare(boolNumber(x.Impact.Estimate), boolNumber(y.Impact.Estimate)),
			cmp.Compare(slices.Index(risks, x.Risk()), slices.Index(risks, y.Risk())),
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

// besideSign is the part of what a sign points to that is next to nothing beside it.
const besideSign = 0.1

// SmallShare is the impact below which something costs little.
const SmallShare = 0.02

// goes reports whether a finding with so many explanations before it costs little, and is gone when another
// one is fixed.
func goes(f *kasoku.Finding, depth int) bool { return depth > 0 && f.Impact.Share < SmallShare }

// risks of fixes, from what is safe and cheap to what is not.
var risks = []kasoku.Risk{kasoku.RiskNone, kasoku.RiskAppRestart, kasoku.RiskRestart, kasoku.RiskDurability,
	kasoku.RiskSemantics}

// shownImpact returns an impact to the digit that documents show of it.
func shownImpact(f *kasoku.Finding) float64 { return math.Round(1000 * f.Impact.Share) }

// findExplainers returns for each finding the places of those that explain it. Of two
// that explain each other the first in the order of impacts, then ids, does.
func findExplainers(found []kasoku.Finding) [][]int {
	out := make([][]int, len(found))
	for i := range found {
		for k := range found {
			if !explains(found[k], found[i]) {
				continue
			}
			if explains(found[i], found[k]) && cmp.Or(cmp.Compare(found[i].Impact.Share, found[k].Impact.Share),
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
		if e.Strong && kasoku.IsStatementSource(e.Source) && strings.Contains(e.Text, " ") {
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
