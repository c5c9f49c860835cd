package durability

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// OpaqueCommit is the rule DBC-08.
type OpaqueCommit struct{}

// Thresholds of DBC-08.
const (
	commitTimeShare = 0.10 // of the statements' time: below, other statements come first
	leastKinds      = 2    // of transactions that write
)

// ID returns DBC-08.
func (OpaqueCommit) ID() string { return "DBC-08" }

// Doc describes the rule.
func (OpaqueCommit) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that COMMITs take much time and nothing says whose they are.`,
		Evidence: `COMMITs take at least 10 % of the statements' time and come from at least two kinds of
			transactions that write. Without tags that is a finding; with a /* tag */ in each the tags are
			listed as a remark.`,
		Cause: `all transactions share one statement, so that the log cannot say which of them pays for
			the flush, or is needless.`,
		Fix: `tag each: tx.Exec("COMMIT /* name */"); then drop those that are needless (DBC-09), and see
			what a flush costs (DBC-01).`,
		Silent: `when COMMITs take little time, when one kind of transaction writes, and blind without a
			slow log.`,
	}
}

// commitWork is the COMMITs of a run.
type commitWork struct {
	classes []*kasoku.Query // by tag, the longest first
	total   time.Duration
	tagged  time.Duration
	kinds   []kasoku.Transaction // that write, the most frequent first
}

func commitWorkOf(c *diagnose.Case) commitWork {
	var m commitWork
	for i := range c.Queries {
		q := &c.Queries[i]
		if q.Verb != "COMMIT" {
			continue
		}
		m.classes = append(m.classes, q)
		m.total += c.Statements().QueryTime(q)
		if q.Tag != "" {
			m.tagged += c.Statements().QueryTime(q)
		}
	}
	slices.SortStableFunc(m.classes, func(a, b *kasoku.Query) int { return cmp.Compare(b.Total, a.Total) })
	for _, t := range c.Transactions {
		if !t.ReadOnly && t.Count > t.RolledBack {
			m.kinds = append(m.kinds, t)
		}
	}
	slices.SortStableFunc(m.kinds, func(a, b kasoku.Transaction) int { return cmp.Compare(b.Count, a.Count) })
	return m
}

// Check weighs COMMITs against all statements.
func (r OpaqueCommit) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	m := commitWorkOf(c)
	if len(m.classes) == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "the slow log has no COMMIT")
	}
	share := evidence.StatementShare(c, m.total)
	if share < commitTimeShare || len(m.kinds) < leastKinds {
		return nil, diagnose.Quiet(r.ID(), min(share/commitTimeShare, float64(len(m.kinds))/leastKinds, 0.99),
			"COMMITs take %s of the statements' time, and %s; the thresholds are %s and %d",
			unit.Percent(share), unit.Counted(len(m.kinds), "kind of transaction writes",
				"kinds of transactions write"), unit.Percent(commitTimeShare), leastKinds)
	}
	return []kasoku.Finding{r.finding(c, m, share)}, nil
}

func (r OpaqueCommit) finding(c *diagnose.Case, m commitWork, share float64) kasoku.Finding {
	i := evidence.TimeImpact(c, m.total, m.classes...)
	i.Estimate = true
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "statement", Name: "COMMIT"}, Severity: evidence.StatementSeverity(i), Impact: i,
		Interval: c.Focus.Interval,
		Title: wording.Cut(fmt.Sprintf("COMMIT takes %s of statement time, and nothing says whose", unit.Percent(share)),
			wording.MaxTitle),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}),
		Cause: fmt.Sprintf("%s kinds of transactions write, and all end in the same statement: of the %s that COMMITs "+
			"take the log cannot say which of them pays.",
			unit.Count(len(m.kinds)), unit.Duration(m.total)),
		Fixes:  []kasoku.Fix{tagFix(c)},
		Expect: "a line for each kind of transaction among the slowest statements; no time by itself",
		Verify: "the next run: COMMIT by tag",
	}
	if 2*m.tagged >= m.total {
		top := m.classes[0]
		f.Severity = kasoku.Info
		f.Title = wording.Cut(fmt.Sprintf("COMMIT takes %s of statement time, most of it %s", unit.Percent(share),
			cmp.Or(top.Tag, "untagged")), wording.MaxTitle)
		f.Cause = fmt.Sprintf("COMMITs take %s; their tags say whose.", unit.Duration(m.total))
		f.Fixes = []kasoku.Fix{{Text: "Look at the transactions of " + cmp.Or(top.Tag,
			"those without a tag") + " first", Where: "where it is committed", Risk: kasoku.RiskAppRestart,
			Note: "Make fewer and larger transactions of it, or see what a flush costs."}}
	}
	for _, q := range m.classes[:min(len(m.classes), 6)] {
		e := evidence.Statement(c, q, unit.Duration(q.Total), "× "+unit.Count(q.Calls), q.Total.Seconds())
		if q.Tag != "" {
			e.Text = "COMMIT /* " + wording.Cut(q.Tag, 60) + " */"
		}
		f.Evidence = append(f.Evidence, e)
	}
	for _, t := range m.kinds[:min(len(m.kinds), 4)] {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "slow.log", Text: "transactions " + wording.Cut(t.Verbs, 80),
			Note: tablesOf(c, t), Value: "× " + unit.Count(t.Count), Number: float64(t.Count), Interval: c.Whole()})
	}
	return f
}

// tablesOf names the tables that a transaction's statements name.
func tablesOf(c *diagnose.Case, t kasoku.Transaction) string {
	var out []string
	for _, id := range t.Shape {
		if q := c.Statements().QueryByID(id); q != nil {
			for _, name := range q.Tables {
				if !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "of " + wording.List(out, 4)
}

// tagFix has the statement that ends a transaction with its name. A driver's own commit after
// it finds nothing to commit.
func tagFix(c *diagnose.Case) kasoku.Fix {
	f := kasoku.Fix{Text: "Tag the COMMIT of each kind of transaction", Where: "where transactions are committed",
		Lang: "sql", Code: "COMMIT /* name */;", Risk: kasoku.RiskAppRestart,
		Note: "Send it as a statement, and call the driver's own commit all the same: it then finds nothing to commit. " +
			"Then drop the transactions that are needless and look at what a flush costs."}
	return language.Snippet(c, f, language.Go, "_, err = tx.ExecContext(ctx, \"COMMIT /* name */\")")
}
