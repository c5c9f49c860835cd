package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// checkLoops is Check of the rules about lookups in loops: the loops that go by the
// rule's id, with what the rule says of them.
func checkLoops(c *diagnose.Case, id string, say func(statements.RowLoop, *kasoku.Finding)) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(id, err)
	}
	all, nearest := statements.RowLoops(c)
	var out []kasoku.Finding
	for _, r := range all {
		if r.ID == id {
			f := loopFinding(c, r)
			say(r, &f)
			out = append(out, f)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(all) > 0:
		return nil, diagnose.Quiet(id, 0, "lookups in a loop are of another kind: %s", all[0].ID)
	}
	return nil, diagnose.Quiet(id, min(nearest/statements.LeastPerRequest, 0.99),
		"no lookup is known to run %d times in one request; the nearest, %s times", statements.LeastPerRequest, wording.Average(nearest))
}

// loopFinding is what all of these findings have in common.
func loopFinding(c *diagnose.Case, r statements.RowLoop) kasoku.Finding {
	i := evidence.TimeImpact(c, r.Saved(c))
	i.Estimate = i.Estimate || r.Between(c) > 0
	first := r.Loops[0]
	object := kasoku.Object{Kind: "endpoint", Name: r.Endpoint}
	if r.Endpoint == "" {
		object = kasoku.Object{Kind: "table", Name: first.Shape.Table}
	}
	f := kasoku.Finding{
		ID: r.ID, Object: object, Severity: r.Severity(c, i), Impact: i, Interval: c.Focus.Interval,
		Confidence: diagnose.Confidence(loopSignals(r)...),
		Expect: fmt.Sprintf("%s statements a request fewer, and up to %s %s",
			wording.Average(max(r.PerRequest(c)-float64(len(r.Loops)), 1)), unit.Percent(i.Share), i.Of),
		Verify: "the next run: the lookup's calls fall to about one a request, or to none",
	}
	lists := map[*kasoku.Query]bool{}
	for _, l := range r.Loops {
		f.Evidence = append(f.Evidence, lookupEvidence(c, l))
		if l.List != nil && !lists[l.List] {
			lists[l.List] = true
			e := evidence.Statement(l.List, unit.Sig3(statements.RowsPerCall(l.List))+" rows a call",
				"its rows are looked up one by one", statements.RowsPerCall(l.List))
			f.Evidence = append(f.Evidence, e)
		}
	}
	f.Evidence = append(f.Evidence, evidence.StatementTime(c, r.Spent(c), i))
	f.Evidence = append(f.Evidence, evidence.EndpointCount(c, r.Endpoint)...)
	return f
}

func lookupEvidence(c *diagnose.Case, l statements.Looped) kasoku.Evidence {
	note := "N+1 loop seen on a connection, endpoint unknown"
	if l.Caller != nil {
		note = evidence.CallerWords(l.Caller)
	}
	return evidence.Statement(l.Query, "× "+wording.Average(l.Per(c))+" a request", note, l.Per(c))
}

func loopSignals(r statements.RowLoop) []diagnose.Signal {
	l := r.Loops[0]
	return []diagnose.Signal{
		{Holds: true},
		evidence.CallerSignal(l.Caller),
		{Holds: l.List != nil, Lacks: "no statement sends as many rows as are looked up"},
		{Holds: l.Row, Lacks: "they do not come one after another on one connection"},
	}
}

// loopTitle names the endpoint, what it does, and how often in one request.
func loopTitle(c *diagnose.Case, r statements.RowLoop, does string) string {
	if r.Endpoint == "" {
		return wording.Cut(fmt.Sprintf("A loop %s of %s", does, r.Loops[0].Shape.Table), wording.MaxTitle)
	}
	return evidence.EndpointTitle(r.Endpoint, fmt.Sprintf(" %s: %s a request", does, wording.Average(r.PerRequest(c))))
}

// subjectOf is the subject of a sentence about a loop.
func subjectOf(r statements.RowLoop) string {
	if r.Endpoint == "" {
		return "An endpoint"
	}
	return r.Endpoint
}

// rowsOf says where the looked-up rows come from.
func rowsOf(l statements.Looped) string {
	if l.List == nil {
		return "For each row that it has it runs one more SELECT"
	}
	return fmt.Sprintf("It reads rows of %s with one statement and runs one more SELECT for each of them",
		statements.Of(l.List).Table)
}

// batchFixes are how to get the rows of loops at once: with a second statement for all
// keys, or with a join. What cannot be written so that it answers the same is said in words.
func batchFixes(c *diagnose.Case, r statements.RowLoop) []kasoku.Fix {
	var code []string
	note := "One ? for each key; in Go: sqlx.In. Then put the rows beside those of the list by their key in the program."
	more := map[string]bool{}
	for _, l := range r.Loops {
		b, err := rewrite.LookUpMany(statements.TextOf(l.Query), uniqueKeys(c, l.Shape.Table))
		if err != nil {
			more[fmt.Sprintf("The lookup of %s needs a statement of its own form: %s.", l.Shape.Table, err)] = true
			continue
		}
		code = append(code, b.SQL)
		if len(b.Keys) > 1 {
			more["Where only one of the keys differs from row to row, compare the others with = and that one with IN: "+
				"an index serves that better."] = true
		}
		if b.Grouped {
			more["A key without rows is missing from the answer."] = true
		}
		if b.Others {
			more["The other values must be the same for all keys."] = true
		}
	}
	where := evidence.HandlerOf(r.Endpoint)
	var out []kasoku.Fix
	if len(code) > 0 {
		out = append(out, kasoku.Fix{Text: "Gather the keys of the list and look all of them up at once", Where: where,
			Lang: "sql", Code: strings.Join(code, "\n"), Risk: kasoku.RiskAppRestart,
			Note: strings.Join(append([]string{note}, slices.Sorted(maps.Keys(more))...), " ")})
	} else {
		out = append(out, kasoku.Fix{Text: "Fetch what the loop looks up with one statement before it", Where: where,
			Risk: kasoku.RiskAppRestart, Note: strings.Join(slices.Sorted(maps.Keys(more)), " ")})
	}
	if words := joinWords(r); words != "" {
		out = append(out, kasoku.Fix{Text: words, Where: where, Risk: kasoku.RiskAppRestart})
	}
	return out
}

// joinWords says which tables the list could bring along; nothing where the lists are not
// known. Which columns belong together is not in the statements.
func joinWords(r statements.RowLoop) string {
	var tables []string
	list := ""
	for _, l := range r.Loops {
		if l.List == nil || len(l.Shape.Keys) == 0 || l.Shape.Counts || l.Shape.Sums || l.Shape.Limit {
			continue
		}
		outer := statements.Of(l.List).Table
		if outer == "" || outer == l.Shape.Table || list != "" && outer != list || slices.Contains(tables, l.Shape.Table) {
			continue
		}
		list, tables = outer, append(tables, l.Shape.Table)
	}
	if len(tables) == 0 {
		return ""
	}
	return fmt.Sprintf("Or JOIN %s in the statement that reads %s, with its conditions, order and limit as they are",
		wording.List(tables, 3), list)
}

// uniqueKeys returns the columns of each unique key of the tables of that name, nothing
// where they disagree.
func uniqueKeys(c *diagnose.Case, table string) (unique [][]string) {
	known := 0
	for i := range c.Tables {
		t := &c.Tables[i]
		if !strings.EqualFold(t.Name, table) {
			continue
		}
		known++
		for k := range t.Indexes {
			if x := &t.Indexes[k]; x.Unique {
				unique = append(unique, x.Columns)
			}
		}
	}
	if known != 1 {
		return nil
	}
	return unique
}
