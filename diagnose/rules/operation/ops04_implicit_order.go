package operation

import (
	"errors"
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// ImplicitOrder is the rule OPS-04.
type ImplicitOrder struct{}

// ID returns OPS-04.
func (ImplicitOrder) ID() string { return "OPS-04" }

// Doc describes the rule.
func (ImplicitOrder) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `warns of answers that rest on the order in which a table happens to store its rows.`,
		Evidence: `a table has no primary key, and a SELECT from it sends several rows, or takes the first
			with LIMIT, without ORDER BY; or at the end of the run an answer has the elements of its golden
			one ([answers] in kasoku.toml), or of the same golden one in another run of the group or of the
			run that it is compared with, in another order and differs in nothing else; or a cache gives an
			answer a greater age than [contract] allows.`,
		Cause: `the rows come as they were inserted, until the table gets a key: InnoDB then stores it
			anew in the order of that, and the answers change. Dropping the key does not bring the old order
			back.`,
		Fix: `first an ORDER BY, by a column that numbers the rows if nothing else does; then the key.`,
		Silent: `when all tables have a primary key, when all SELECTs of the others are ordered, add up or
			send one row, when answers were compared and come in the same order, and blind without both the
			tables' definitions and golden answers.`,
		Warns: true,
	}
}

// Check looks for statements without ORDER BY on tables without a primary key.
func (r ImplicitOrder) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	out, compared := r.answers(c)
	if len(c.Tables) == 0 && compared == 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("the tables' definitions were not recorded with the statements"))
	}
	keyless := 0
	for i := range c.Tables {
		t := &c.Tables[i]
		if statements.HasPrimary(t) {
			continue
		}
		keyless++
		if of := statements.RestingOnOrder(c, t); len(of) > 0 {
			out = append(out, r.finding(c, t, of))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if len(c.Tables) == 0 {
		said := unit.Counted(compared, "answer is", "answers are") + " in the order of before"
		if got, _ := c.ComparedAnswers(); got.Failed > 0 {
			said += ", " + unit.Counted(got.Failed, "was", "were") + " not comparable"
		}
		return nil, diagnose.Quiet(r.ID(), 0, "%s", said)
	}
	if keyless == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "all of %s have a primary key",
			unit.Counted(len(c.Tables), "table", "tables"))
	}
	return nil, diagnose.Quiet(r.ID(), 0.9,
		"%s no primary key, and no SELECT of them sends several rows without ORDER BY",
		unit.Counted(keyless, "table has", "tables have"))
}

func (r ImplicitOrder) finding(c *diagnose.Case, t *kasoku.TableDef, of []*kasoku.Query) kasoku.Finding {
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: t.Name}, Severity: kasoku.Info,
		Interval: c.Focus.Interval,
		Title: wording.Cut(fmt.Sprintf("Answers rest on the order in which %s "+
			"stores its rows", t.Name), wording.MaxTitle),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}),
		Cause: fmt.Sprintf("%s has no primary key, and %s of it without ORDER BY. A primary key makes InnoDB store it "+
			"anew, and the rows come in another order; dropping the key does not bring the old one back.",
			t.Name, unit.Counted(len(of), "class of statements sends rows", "classes of statements send rows")),
		Fixes: []kasoku.Fix{
			{Text: "Say the order in each of these statements before the table gets a key: ORDER BY the columns that " +
				"clients go by",
				Where: evidence.HandlerOf(""), Risk: kasoku.RiskAppRestart, Note: "It stands before LIMIT."},
			numberFix(c, t, of[0]),
		},
		Expect: "the same answers after a key is added", Verify: "compare answers before and after",
		Evidence: []kasoku.Evidence{{Source: "schema", Text: t.Name + " has no primary key",
			Value: unit.Counted(t.Rows, "row", "rows"), Number: float64(t.Rows), Strong: true}},
	}
	for _, q := range of[:min(len(of), 3)] {
		f.Evidence = append(f.Evidence, evidence.Statement(c, q, "× "+unit.Count(q.Calls),
			wording.Average(statements.RowsPerCall(q))+" rows a call, no ORDER BY", float64(q.Calls)))
	}
	return f
}

// numberFix numbers the rows of a table, where it has no such column, and orders by that.
func numberFix(c *diagnose.Case, t *kasoku.TableDef, q *kasoku.Query) kasoku.Fix {
	f := kasoku.Fix{Text: "Where nothing else orders the rows, number them first, and order by the number",
		Where: "what makes the table, and the statement", Risk: kasoku.RiskSemantics,
		Note: "Check that answers stay the same, on data that was loaded anew."}
	d := rewrite.DialectOf(c.Recording)
	code, column, err := d.NumberRows(t.Name, t.Create)
	if err != nil {
		return f
	}
	f.Code, f.Lang = code, "sql"
	if ordered, err := d.AddOrder(statements.TextOf(q), column); err == nil {
		f.Code += "\n" + ordered
	}
	return f
}
