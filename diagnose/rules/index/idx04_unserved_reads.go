package index

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// GeneralIndex is the rule IDX-04.
type GeneralIndex struct{}

// ID returns IDX-04.
func (GeneralIndex) ID() string { return "IDX-04" }

// Doc describes the rule.
func (GeneralIndex) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds tables whose orders, ranges and counts no index serves, and remarks on indexes
			that are not used.`,
		Evidence: `statements read a whole table for a range, the first rows of an order or a count: type
			ALL in the plan, rows examined against rows sent in the slow log. The indexes that would save
			most, all statements of the run taken together, save at least 1 % of the requests' time. An index
			of a table that is written is unused when no plan of the run names it and it would be the shortest
			way for no statement. A statement that costs less is a remark where each request of an endpoint
			reads all of a table of 500 rows or more with it, for a tenth of them at most.`,
		Cause: `without an index the server looks at each row, and sorts all that fit.`,
		Fix:   `the indexes in the order of what they save; each serves as many statements as it can.`,
		Silent: `when indexes serve, when the tables are small or the statements take little time, and
			blind without a slow log or the tables' definitions.`,
	}
}

// Check ranks what no narrower rule names.
func (r GeneralIndex) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	found, silent := advice.IndexRule{ID: r.ID(), Why: indexes.General,
		None: "ranges, orders and counts that take time have their indexes",
		Title: func(c *diagnose.Case, g advice.IndexGroup) string {
			return fmt.Sprintf("Statements read %s of %s: no index serves", g.RowsWords(c), wording.Cut(g.Table, 16))
		},
		Cause: func(c *diagnose.Case, g advice.IndexGroup) string {
			return fmt.Sprintf("No index of %s serves its ranges, orders and counts, so each statement reads the table: "+
				"%s that are sent.", g.Table, g.RowsWords(c)) + g.ServesWords()
		}}.Check(c)
	if advice, err := advice.ForIndexes(c); err == nil {
		for i := range advice.Unused {
			if u := &advice.Unused[i]; u.Looked == u.Of {
				found = append(found, r.unused(c, u))
			}
		}
	}
	for _, f := range r.cheapScans(c) {
		if !slices.ContainsFunc(found, func(o kasoku.Finding) bool { return o.Object == f.Object }) {
			found = append(found, f)
		}
	}
	if len(found) > 0 {
		silent = nil
	}
	return found, silent
}

// unusedFixes hide the index, where the server can, before they drop it.
//
// Sources: MySQL, "Invisible Indexes"; MariaDB, "Ignored Indexes": hints that name one fail.
func unusedFixes(c *diagnose.Case, u *indexes.Unused) []kasoku.Fix {
	const others = "Jobs that run seldom may use it, and statements whose hints name it (USE INDEX, FORCE INDEX) " +
		"fail without it. "
	drop := kasoku.Fix{Text: "Drop it when nothing outside of the run needs it", Where: "the live database",
		Code: u.Drop + ";", Note: others + "Back with " + u.Undo + ", which takes its time on a large table.", Lang: "sql",
		Risk: kasoku.RiskSemantics}
	do, undo := rewrite.DialectOf(c.Recording).HideIndex(indexes.QuoteName(u.Table), indexes.QuoteName(u.Index))
	if do == "" {
		return []kasoku.Fix{drop}
	}
	drop.Text = "Then drop it, when nothing has missed it"
	return []kasoku.Fix{{Text: "Hide it from all statements, for as long as it takes until the rarest job has run",
		Where: "the live database", Code: do + ";", Note: others + "At once back with " + undo + ".", Lang: "sql",
		Risk: kasoku.RiskSemantics}, drop}
}

// unused remarks on an index that is not used.
func (r GeneralIndex) unused(c *diagnose.Case, u *indexes.Unused) kasoku.Finding {
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "index", Name: u.Table + "." + u.Index}, Severity: kasoku.Info,
		Title: wording.Cut(fmt.Sprintf("No statement of the run uses index %s of %s", wording.Cut(u.Index, 20), wording.Cut(u.Table, 16)),
			wording.MaxTitle),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "what runs at other times was not seen"}),
		Impact: kasoku.Impact{Of: "of request time"},
		Evidence: []kasoku.Evidence{{Source: "plan", Text: "plans that use " + u.Index + " (" + strings.Join(u.Columns,
			", ") + ")",
			Note:  "of " + unit.Counted(u.Of, "class of statements", "classes of statements") + " that read " + u.Table,
			Value: "0", Strong: true, Interval: c.Whole()}},
		Cause: "Each row that is written writes an entry of it too. Only the statements of this run were looked at: " +
			"one that comes once a day may need it.",
		Fixes:  unusedFixes(c, u),
		Expect: "writes of " + u.Table + " are a little shorter", Verify: "the next run is no slower",
		Interval: c.Focus.Interval,
	}
}
