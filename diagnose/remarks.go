package diagnose

import (
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// manyRemarks of one rule are shown as one.
const manyRemarks = 3

// joinRemarks makes remarks of one rule that propose the like one, the costliest, when there are many: it says how
// many they are, and quotes of each of the others what it is about and its first evidence. Their
// fixes are kept where they are others. What is more than a remark stays apart.
func joinRemarks(found []kasoku.Finding) []kasoku.Finding {
	places := map[string][]int{}
	for i := range found {
		if found[i].Severity == kasoku.Info {
			kind := found[i].ID
			if len(found[i].Fixes) > 0 { // a statement to paste, or what to do in the program
				kind += found[i].Fixes[0].Lang
			}
			places[kind] = append(places[kind], i)
		}
	}
	joined := map[int]bool{}
	for _, at := range places {
		if len(at) < manyRemarks {
			continue
		}
		slices.SortStableFunc(at, func(a, b int) int {
			return int(shownImpact(&found[b]) - shownImpact(&found[a]))
		})
		first := &found[at[0]]
		for _, i := range at[1:] {
			joinRemark(first, &found[i])
			joined[i] = true
		}
		more := fmt.Sprintf(", and %s more like it", unit.Count(uint64(len(at)-1)))
		first.Title = cutTitle(first.Title, more)
	}
	var out []kasoku.Finding
	for i := range found {
		if !joined[i] {
			out = append(out, found[i])
		}
	}
	return out
}

// leastNamed is the least part of the time that a finding has to be about for a sign to yield.
const leastNamed = 0.3

// yieldSigns makes findings of rules that only point to where the time goes remarks, where a
// problem of another rule is about the statement that they point to, and most of the time.
func yieldSigns(found []kasoku.Finding, points map[string]bool) {
	for i := range found {
		sign := &found[i]
		if !points[sign.ID] || sign.Severity == kasoku.Info {
			continue
		}
		at := slices.IndexFunc(found, func(f kasoku.Finding) bool {
			return !points[f.ID] && f.Severity != kasoku.Info && f.Impact.Share >= leastNamed && quotesOneOf(sign, &f)
		})
		if at >= 0 {
			sign.Severity = kasoku.Info
			sign.Cause += " " + found[at].ID + " names what to change."
		}
	}
}

// quotesOneOf reports whether a sign quotes one of the statements on which a finding rests.
func quotesOneOf(sign, f *kasoku.Finding) bool {
	rests := quotedStatements(f)
	return slices.ContainsFunc(sign.Evidence, func(e kasoku.Evidence) bool {
		return kasoku.IsStatementSource(e.Source) &&
			slices.ContainsFunc(rests, func(s string) bool { return sameText(s, e.Text) })
	})
}

// longestTitle is how long titles of findings are.
const longestTitle = 70

// cutTitle puts more after a title, which is cut where both are too long.
func cutTitle(title, more string) string {
	t := []rune(title)
	if room := longestTitle - len([]rune(more)); len(t) > room {
		return string(t[:room-1]) + "…" + more
	}
	return title + more
}

// joinRemark adds to a remark what another one says.
func joinRemark(to, other *kasoku.Finding) {
	e := other.Evidence[0]
	e.Note = "also " + other.Object.String()
	if other.Impact.Share > 0 {
		e.Note += ", " + unit.Percent(other.Impact.Share)
	}
	e.Strong = false
	to.Evidence = append(slices.Clone(to.Evidence), e)
	to.Explains = append(slices.Clone(to.Explains), other.Explains...)
	for _, x := range other.Fixes {
		if !slices.ContainsFunc(to.Fixes, func(f kasoku.Fix) bool { return f.Text == x.Text && f.Code == x.Code }) {
			to.Fixes = append(slices.Clone(to.Fixes), x)
		}
	}
}
