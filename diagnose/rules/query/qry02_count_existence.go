package query

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// CountExistence is the rule QRY-02.
type CountExistence struct{}

// manyCounts is from how many on it is worth a remark.
const manyCounts = 100

// ID returns QRY-02.
func (CountExistence) ID() string { return "QRY-02" }

// Doc describes the rule.
func (CountExistence) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `remarks on COUNT(*) of what can be there once at most.`,
		Evidence: `a SELECT of COUNT compares all columns of a unique index for equality, so that it
			counts 0 or 1, at least 100 times in the run.`,
		Cause: `the program wants to know whether a row is there.`,
		Fix:   `SELECT 1 … LIMIT 1; or no question at all, where the next statement finds out.`,
		Silent: `when nothing of the kind is counted, and blind without a slow log or the tables'
			definitions.`,
	}
}

// Check looks for counts by a unique index.
func (r CountExistence) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advice, err := advice.ForIndexes(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	near, said := 0.0, "no statement counts what can be there once at most"
	for _, read := range advice.Reads() {
		q := c.Statements().QueryByID(read.QueryID)
		if q == nil || q.Verb != "SELECT" || !read.Count || !read.Alone || len(read.Unique) == 0 ||
			!wording.ContainsFold(q.Fingerprint, "count(") {
			continue
		}
		if q.Calls < manyCounts {
			near = max(near, float64(q.Calls)/manyCounts)
			said = fmt.Sprintf("%s is counted by its key %s; the threshold is %d times", read.Table.Name,
				wording.Times(q.Calls), manyCounts)
			continue
		}
		impact := evidence.TimeImpact(c, c.Statements().QueryTime(q), q)
		impact.Share, impact.Estimate = impact.Share/10, true // the round trip stays
		out = append(out, kasoku.Finding{
			ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: read.Table.Name}, Severity: kasoku.Info,
			Impact: impact, Interval: c.Focus.Interval,
			Title: wording.Cut(fmt.Sprintf("COUNT(*) asks whether a row of %s is there", wording.Cut(read.Table.Name, 24)),
				wording.MaxTitle),
			Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
			Evidence: []kasoku.Evidence{evidence.Statement(c, q, "× "+unit.Count(q.Calls),
				fmt.Sprintf("by the unique key (%s), %s in all", wording.List(read.Unique, 4), unit.Duration(q.Total)),
				float64(q.Calls))},
			Cause:  "The condition names a whole unique key, so the count is 0 or 1.",
			Fixes:  []kasoku.Fix{askOnce(c, q)},
			Expect: "a little less work for each; much only where the statement goes away",
			Verify: "the statement is gone from the slow log",
		})
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

// askOnce asks for one row instead of a count.
func askOnce(c *diagnose.Case, q *kasoku.Query) kasoku.Fix {
	f := kasoku.Fix{Text: "Ask for one row, or leave the question out where the next statement answers it",
		Where: "where the statement is made", Risk: kasoku.RiskAppRestart}
	if code, err := rewrite.DialectOf(c.Recording).AskWhether(statements.TextOf(q)); err == nil {
		f.Code, f.Lang = code, "sql"
	}
	return f
}
