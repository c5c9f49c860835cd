package query

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// NeedlessJoin is the rule QRY-15.
type NeedlessJoin struct{}

// ID returns QRY-15.
func (NeedlessJoin) ID() string { return "QRY-15" }

// Doc describes the rule.
func (NeedlessJoin) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds COUNTs that join tables which cannot change what is counted.`,
		Evidence: `a SELECT of one COUNT has a LEFT JOIN whose table nothing but its own condition names; the count is of
			DISTINCT values of other tables, or the condition finds at most one row by a unique key; the plan reads the
			table, and what that takes is at least 2 % of the requests' time.`,
		Cause: `what pages a list counts it by the list's own statement, joins and all: a LEFT JOIN keeps each row, so
			the number is the same without it.`,
		Fix: `the same COUNT without the join.`,
		Silent: `when the join may find several rows and COUNT(*) counts each, when another condition names the table, when
			the server leaves the join out by itself, as MariaDB does for unique keys, and blind without a slow log or
			the tables' definitions.`,
	}
}

// Check looks for counts with joins.
func (r NeedlessJoin) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if len(c.Tables) == 0 {
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("the tables' definitions were not recorded"))
	}
	var out []kasoku.Finding
	near, said := 0.0, "no COUNT has a join that it does not need"
	for i := range c.Queries {
		q := &c.Queries[i]
		if s := statements.Of(q); q.Verb != "SELECT" || !s.Counts || s.Grouped || q.Calls == 0 ||
			!wording.ContainsFold(q.Fingerprint, " join ") {
			continue
		}
		count, err := rewrite.DialectOf(c.Recording).WithoutJoins(statements.TextOf(q), definer(c, q))
		if err != nil {
			continue
		}
		part, known := partOf(c, q, count.Joins)
		if known && part == 0 {
			said = fmt.Sprintf("the server leaves out by itself what a COUNT joins: %s", wording.List(count.Tables, 3))
			continue
		}
		impact := evidence.TimeImpact(c, time.Duration(part*float64(c.Statements().QueryTime(q))), q)
		if impact.Share < evidence.SmallShare {
			if n := impact.Share / evidence.SmallShare; n >= near {
				near, said = n, fmt.Sprintf("what a COUNT joins for nothing, %s, takes %s %s; the threshold is %s",
					wording.List(count.Tables, 3), unit.Percent(impact.Share), impact.Of, unit.Percent(evidence.SmallShare))
			}
			continue
		}
		out = append(out, r.finding(c, q, count, impact, known))
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

// definer finds tables by the names that a statement has for them; nil where it is not known which is meant.
func definer(c *diagnose.Case, q *kasoku.Query) func(schema, name string) *kasoku.TableDef {
	return func(schema, name string) (found *kasoku.TableDef) {
		for i := range c.Tables {
			t := &c.Tables[i]
			if !strings.EqualFold(t.Name, name) || q.Host != "" && t.Host != "" && q.Host != t.Host ||
				schema != "" && !strings.EqualFold(t.Schema, schema) ||
				schema == "" && q.Schema != "" && t.Schema != "" && !strings.EqualFold(t.Schema, q.Schema) {
				continue
			}
			if found != nil {
				return nil
			}
			found = t
		}
		return found
	}
}

// partOf returns which part of the rows that a plan examines are of some tables; half, and not known, without
// a plan of a plain join.
//
// Each row of a table is read for each that the steps before it left.
func partOf(c *diagnose.Case, q *kasoku.Query, tables []string) (part float64, known bool) {
	at := slices.IndexFunc(c.Plans, func(p kasoku.Plan) bool {
		return p.QueryID == q.ID && p.Host == q.Host && len(p.Rows) > 0
	})
	if at < 0 {
		return 0.5, false
	}
	left, all, of, named := 1.0, 0.0, 0.0, 0
	for _, step := range c.Plans[at].Rows {
		if step.Select != "" && step.Select != "SIMPLE" && step.Select != "PRIMARY" {
			return 0.5, false
		}
		read := left * max(step.Rows, 1)
		if step.Table != "" {
			named++
		}
		all += read
		if slices.Contains(tables, strings.ToLower(step.Table)) {
			of += read
		}
		left = read
		if step.Filtered > 0 && step.Filtered < 100 {
			left *= step.Filtered / 100
		}
	}
	if named == 0 || math.IsInf(all, 0) { // "Impossible WHERE" says nothing of the joins
		return 0.5, false
	}
	return of / all, true
}

func (r NeedlessJoin) finding(c *diagnose.Case, q *kasoku.Query, count *rewrite.Count, impact kasoku.Impact,
	known bool) kasoku.Finding {
	impact.Estimate = true
	s := statements.Of(q)
	joins := wording.List(count.Tables, 3)
	object, where := kasoku.Object{Kind: "table", Name: s.Table}, evidence.HandlerOf("")
	note := fmt.Sprintf("%s, %s rows examined a call", wording.Times(q.Calls), wording.Average(advice.ExaminedPerCall(q)))
	if x := evidence.Only(c, q.ID); x != nil {
		object, where = kasoku.Object{Kind: "endpoint", Name: x.Endpoint()}, evidence.HandlerOf(x.Endpoint())
		note += "; " + evidence.CallerWords(x)
	}
	why := "a LEFT JOIN keeps each row that is there before it, and values that are DISTINCT count once however " +
		"many rows of it fit"
	if count.Once {
		why = "a LEFT JOIN keeps each row that is there before it, and at most one row of it fits, by a unique key"
	}
	return kasoku.Finding{
		ID: r.ID(), Object: object, Severity: evidence.StatementSeverity(impact), Impact: impact,
		Interval: c.Focus.Interval,
		Title: wording.Cut(fmt.Sprintf("A COUNT over %s joins %s for nothing", wording.Cut(s.Table, 20),
			wording.Cut(joins, 24)), wording.MaxTitle),
		Clause: fmt.Sprintf("a COUNT over %s joins %s for nothing", wording.Cut(s.Table, 20), wording.Cut(joins, 24)),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: known,
			Lacks: "whether the server reads what is joined is not known without the statement's plan"}),
		Evidence: []kasoku.Evidence{evidence.Statement(c, q, unit.Duration(q.Total), note, q.Total.Seconds()),
			evidence.StatementTime(c, c.Statements().QueryTime(q), impact, q)},
		Cause: fmt.Sprintf("Nothing but the join's own condition names %s, and the count is the same without it: %s.", joins,
			why),
		Fixes: []kasoku.Fix{{Text: "Count without the join", Where: where, Lang: "sql", Code: count.SQL,
			Risk: kasoku.RiskAppRestart,
			Note: "The list itself may need the join: it is the count alone that does not. Values of the join's condition " +
				"are not sent any more."}},
		Expect: "the same number, from fewer rows", Verify: "rows examined a call of the COUNT",
	}
}
