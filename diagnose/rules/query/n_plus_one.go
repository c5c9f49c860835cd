package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// checkLoops is Check of the rules about lookups in loops: the loops that belong to the rule,
// with what it says of them.
func checkLoops(c *diagnose.Case, id string, say func(statements.RowLoop, *kasoku.Finding)) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(id, err)
	}
	all, nearest := statements.RowLoops(c)
	var out []kasoku.Finding
	var stated []statements.RowLoop
	for _, r := range all {
		if r.ID != id {
			continue
		}
		f := loopFinding(c, r)
		if at := slices.IndexFunc(stated, func(o statements.RowLoop) bool { return isSameLoop(o, r) }); at >= 0 &&
			f.Impact.Share < diagnose.SmallShare {
			out[at].Evidence = append(out[at].Evidence, sameLoopEvidence(c, r, f.Impact))
			continue
		}
		say(r, &f)
		out, stated = append(out, f), append(stated, r)
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(all) > 0:
		return nil, diagnose.Quiet(id, 0, "lookups in a loop are of another kind: %s", all[0].ID)
	}
	return nil, diagnose.Quiet(id, min(nearest/statements.LeastPerRequest, 0.99),
		"no lookup is known to run %d times in one request; the "+
			"nearest, %s times", statements.LeastPerRequest, wording.Average(nearest))
}

// isSameLoop reports whether two endpoints run the same classes of statements in their loops, as two handlers
// do that call one function.
func isSameLoop(a, b statements.RowLoop) bool {
	if a.Endpoint == "" || b.Endpoint == "" || a.Guessed() || b.Guessed() || len(a.Loops) != len(b.Loops) {
		return false
	}
	for _, x := range a.Loops {
		if !slices.ContainsFunc(b.Loops, func(y statements.Looped) bool { return y.Query == x.Query }) {
			return false
		}
	}
	return true
}

// sameLoopEvidence is that another endpoint, where it costs little, runs the same loop: one change mends both.
func sameLoopEvidence(c *diagnose.Case, r statements.RowLoop, i kasoku.Impact) kasoku.Evidence {
	e := lookupEvidence(c, r.Loops[0])
	e.Note = fmt.Sprintf("the same loop in %s: %s %s", r.Endpoint, unit.Percent(i.Share), i.Of)
	return e
}

// loopFinding is what all of these findings have in common.
func loopFinding(c *diagnose.Case, r statements.RowLoop) kasoku.Finding {
	i := evidence.TimeImpact(c, r.Saved(c), r.Unplaced()...)
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
			r.Amount(c, r.Left(c)), unit.Percent(i.Share), i.Of),
		Verify: "the next run: the lookup's calls fall to about one a request, or to none",
	}
	lists := map[*kasoku.Query]bool{}
	for _, l := range r.Loops {
		f.Evidence = append(f.Evidence, lookupEvidence(c, l))
		if r.Same {
			continue
		}
		if list := l.Named(c); list != nil && !lists[list] {
			lists[list] = true
			e := evidence.Statement(c, list, unit.Sig3(statements.RowsPerCall(list))+" rows a call",
				"its rows are looked up one by one", statements.RowsPerCall(list))
			f.Evidence = append(f.Evidence, e)
		}
	}
	f.Evidence = append(f.Evidence, evidence.StatementTime(c, r.Spent(c), i, r.Queries()...))
	f.Evidence = append(f.Evidence, evidence.EndpointCount(c, r.Endpoint)...)
	return f
}

func lookupEvidence(c *diagnose.Case, l statements.Looped) kasoku.Evidence {
	note := "N+1 loop seen on a connection, endpoint unknown"
	if l.Caller != nil {
		note = evidence.CallerWords(l.Caller)
	}
	if words := askedWords(c, l); words != "" {
		note += "; " + words
	}
	amount := "× " + l.Amount(c) + " a request"
	if l.Amount(c) == statements.Many {
		amount = unit.Count(l.Query.Calls) + " calls"
		if l.Query.Streak > 0 {
			amount = "up to " + unit.Count(l.Query.Streak) + " in a row"
		}
		return evidence.Statement(c, l.Query, amount, note, float64(l.Query.Streak))
	}
	return evidence.Statement(c, l.Query, amount, note, l.Per(c))
}

func loopSignals(r statements.RowLoop) []diagnose.Signal {
	l := r.Loops[0]
	if r.Same {
		return []diagnose.Signal{{Holds: true}, evidence.CallerSignal(l.Caller)}
	}
	return []diagnose.Signal{
		{Holds: true},
		evidence.CallerSignal(l.Caller),
		{Holds: l.List != nil, Lacks: "no statement sends as many rows as are looked up"},
		{Holds: l.Row, Lacks: "they do not come one after another on one connection"},
	}
}

// loopTitle names the endpoint, what it does, and how often in one request, as far as
// that is known.
func loopTitle(c *diagnose.Case, r statements.RowLoop, does string) string {
	if r.Endpoint == "" {
		return wording.Cut(fmt.Sprintf("A loop %s of %s", does, r.Loops[0].Shape.Table), wording.MaxTitle)
	}
	if r.Guessed() {
		return evidence.EndpointTitle(r.Endpoint, " may "+strings.NewReplacer("runs ", "run ", "asks ", "ask ").Replace(does))
	}
	return evidence.EndpointTitle(r.Endpoint, fmt.Sprintf(" %s: %s a request", does, r.Amount(c, 0)))
}

// subjectOf is the subject of a sentence about a loop.
func subjectOf(r statements.RowLoop) string {
	if r.Endpoint == "" {
		return "An endpoint"
	}
	return r.Endpoint
}

// rowsOf describes where the looked-up rows come from.
func rowsOf(c *diagnose.Case, l statements.Looped) string {
	list := l.Named(c)
	if list == nil {
		return "It asks " + l.Shape.Table + " by one key after another"
	}
	return fmt.Sprintf("It reads rows of %s with one statement and runs one more SELECT for each of them",
		statements.Of(list).Table)
}

// manyKeys are what mappers and languages have for a list of keys.
var manyKeys = map[string]string{
	language.Go:           ", such as strings.Repeat(\"?, \", len(ids)-1)+\"?\" makes",
	language.GoSQLX:       ", such as sqlx.In makes",
	language.GORM:         "; in GORM: Preload",
	language.ActiveRecord: "; with ActiveRecord: includes or preload, or where(id: ids)",
	language.Ruby:         ", such as (['?'] * ids.size).join(', ') makes",
	language.PHP:          ", such as implode(',', array_fill(0, count($ids), '?')) makes",
	language.Laravel:      "; in Laravel: with()",
	language.Doctrine:     "; in Doctrine: a fetch join",
	language.Django:       "; in Django: select_related or prefetch_related",
	language.SQLAlchemy:   "; in SQLAlchemy: selectinload",
	language.Python:       ", such as ', '.join(['%s'] * len(ids)) makes",
	language.JavaScript:   ", such as ids.map(() => '?').join(', ') makes",
	language.Sequelize:    "; in Sequelize: include",
	language.TypeORM:      "; in TypeORM: relations of find, or In(ids)",
	language.Prisma:       "; in Prisma: include",
	language.Java:         ", such as String.join(\", \", Collections.nCopies(ids.size(), \"?\")) makes",
	language.Hibernate:    "; in Hibernate: JOIN FETCH or @BatchSize",
	language.Rust:         ", such as vec![\"?\"; ids.len()].join(\", \") makes",
	language.RustSQLX:     ", such as sqlx's QueryBuilder writes with separated",
	language.Diesel:       "; in Diesel: eq_any",
	language.SeaORM:       "; in SeaORM: load_many",
}

// batchFixes are how to get the rows of loops at once: with a second statement for all
// keys, or with a join. What cannot be written so that it answers the same is said in words.
func batchFixes(c *diagnose.Case, r statements.RowLoop) []kasoku.Fix {
	var code []string
	listed := false
	more := map[string]bool{}
	for _, l := range r.Loops {
		b, err := rewrite.DialectOf(c.Recording).LookUpMany(statements.TextOf(l.Query), uniqueKeys(c, l.Shape.Table),
			columnsOf(c, l.Shape.Table)...)
		if err != nil {
			more[fmt.Sprintf("The lookup of %s needs a statement of its own form: %s.", l.Shape.Table, err)] = true
			continue
		}
		code, listed = append(code, b.SQL), listed || strings.Contains(b.SQL, " IN (?, ?, ?)")
		if l.Named(c) == nil && !l.KnownKeys(c) {
			more["Where it asks for the same key each time, keep the answer for the request instead."] = true
		}
		if len(b.Keys) > 1 {
			more["Where only one of the keys differs from row to row, compare the others with = and that one with IN."] = true
		}
		if b.Grouped {
			more["A key without rows is missing from the answer."] = true
		}
		if b.Numbered {
			more["The last column counts the rows of each key; rows that the order leaves equal come in any order, "+
				"as before."] = true
		}
		if comparesText(c, l.Shape.Table, b.Keys) {
			more["A key of text comes as it is stored: find its rows as the column's collation compares, which may not "+
				"see case."] = true
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
			Note: strings.Join(append([]string{manyWords(c, listed)}, slices.Sorted(maps.Keys(more))...), " ")})
	} else {
		out = append(out, kasoku.Fix{Text: "Fetch what the loop looks up with one statement before it", Where: where,
			Risk: kasoku.RiskAppRestart, Note: strings.Join(slices.Sorted(maps.Keys(more)), " ")})
	}
	if words := joinWords(c, r); words != "" {
		out = append(out, kasoku.Fix{Text: words, Where: where, Risk: kasoku.RiskAppRestart})
	}
	return out
}

// manyWords says how a statement for three keys becomes one for all of them: with a longer list, or with more
// conditions in parentheses, for which languages have nothing of their own.
func manyWords(c *diagnose.Case, listed bool) string {
	how := language.Pick(c, manyKeys)
	keys := "One ? for each key" + how
	if !listed {
		keys = "The conditions in parentheses once for each key"
		if strings.HasPrefix(how, ";") { // a mapper writes them itself
			keys += how
		}
	}
	return keys + ". Where the list is empty, run none. Then put the rows beside those of the list by their key in the program."
}

// joinWords describes which tables the list could bring along; nothing where the lists are not
// known. Which columns belong together is not in the statements.
func joinWords(c *diagnose.Case, r statements.RowLoop) string {
	var tables []string
	list := ""
	for _, l := range r.Loops {
		if !l.Joinable(c) || l.Shape.Counts || l.Shape.Sums || l.Shape.Limit {
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

// comparesText reports whether one of the keys is a column of text, as far as the tables of
// that name are known.
func comparesText(c *diagnose.Case, table string, keys []string) bool {
	for i := range c.Tables {
		if !strings.EqualFold(c.Tables[i].Name, table) {
			continue
		}
		for line := range strings.Lines(c.Tables[i].Create) {
			name, kind, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "`"), "` ")
			if ok && slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, name) }) &&
				slices.ContainsFunc([]string{"char", "varchar", "text", "tinytext", "enum"},
					func(t string) bool { return strings.HasPrefix(kind, t) }) {
				return true
			}
		}
	}
	return false
}

// columnsOf returns the columns of all tables of that name.
func columnsOf(c *diagnose.Case, table string) (columns []string) {
	for i := range c.Tables {
		if strings.EqualFold(c.Tables[i].Name, table) {
			columns = append(columns, indexes.ColumnsOf(&c.Tables[i])...)
		}
	}
	return columns
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
