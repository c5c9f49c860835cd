package query

import (
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// askedWords say for how many different things the lookups of a request ask, where that was seen and is less than one
// for each of them.
func askedWords(c *diagnose.Case, l statements.Looped) string {
	a, ok := l.Repeats(c)
	if !ok {
		return ""
	}
	seen := unit.Counted(uint64(a.Within), "row on a connection", "rows on a connection")
	if a.Requests {
		seen = unit.Counted(uint64(a.Within), "request", "requests")
	}
	return fmt.Sprintf("%s in %s asked for %s", unit.Counted(uint64(a.Known), "statement", "statements"), seen,
		unit.Counted(uint64(a.Different), "different thing", "different things"))
}

// saySame is what QRY-05 says of lookups that ask for the same: they need no list of keys.
func saySame(c *diagnose.Case, r statements.RowLoop, f *kasoku.Finding) {
	var tables []string
	for _, l := range r.Loops {
		if !slices.Contains(tables, l.Shape.Table) {
			tables = append(tables, l.Shape.Table)
		}
	}
	table := wording.List(tables, 3)
	f.Title = loopTitle(c, r, "asks the same again")
	f.Clause = fmt.Sprintf("%s runs %s SELECTs a request that ask for the same again", subjectOf(r), r.Amount(c, 0))
	f.Cause = fmt.Sprintf("%s runs %s lookups of %s in each request, which ask for what was asked before: each is a round "+
		"trip, however fast it is.", subjectOf(r), r.Amount(c, 0), table)
	f.Fixes = []kasoku.Fix{keepFix(r.Endpoint, table)}
	f.Verify = "the next run: the statement's calls fall to about one a request for each thing"
}

// keepFix is to ask once.
func keepFix(endpoint, table string) kasoku.Fix {
	return kasoku.Fix{
		Text:  wording.Cut(fmt.Sprintf("Ask %s once, and keep the answer for the request", table), wording.MaxTitle),
		Where: evidence.HandlerOf(endpoint), Risk: kasoku.RiskAppRestart,
		Note: "Hand the row on to what needs it, or keep rows by their key in a map that ends with the request. One " +
			"statement for several keys gains nothing: the key is the same.",
	}
}

// againFixes are of other lookups of the endpoint, and of keys of which each is asked for more than once.
func againFixes(c *diagnose.Case, r statements.RowLoop) (out []kasoku.Fix) {
	for _, l := range r.Again {
		fix := keepFix(r.Endpoint, l.Shape.Table)
		fix.Note = askedWords(c, l) + ". " + fix.Note
		out = append(out, fix)
	}
	return out
}
