package driver

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/internal/unit"
)

// PreparedLoop is the rule DRV-02.
type PreparedLoop struct{}

// Thresholds of DRV-02.
const (
	// dominates is the part of all executions that INSERTs in loops make.
	dominates = 0.5
	// explainsPrepares is the part from which it explains the prepares of the run.
	explainsPrepares = 0.8
)

// ID returns DRV-02.
func (PreparedLoop) ID() string { return "DRV-02" }

// Doc describes the rule.
func (PreparedLoop) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a loop of INSERTs that prepares its statement for every row.`,
		Evidence: `statements are prepared about as often as executed (DRV-01's first threshold), and
			single-row INSERTs that run in loops make at least half of the executions: 5 times in a request or
			in each transaction, or in rows on one connection. The loop that takes most time is named.`,
		Cause: `the loop calls the database with text and parameters; the driver prepares, executes and
			closes for each row.`,
		Fix: `prepare once before the loop and execute in it; better one INSERT with all rows (DRV-03),
			which needs neither.`,
		Silent: `when few statements are prepared, when no INSERT dominates them, when it runs in no loop,
			and blind without a slow log or the server's counters, and, as DRV-01, where programs outside of
			the service may have prepared them.`,
	}
}

// Check looks for a dominating INSERT among statements that are prepared each time.
func (r PreparedLoop) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	p, err := preparedOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if err := p.whose(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if p.perExecute() <= preparesPerExecute || p.execute.By < fewExecutes {
		return nil, diagnose.Quiet(r.ID(), min(p.perExecute()/preparesPerExecute, p.execute.By/fewExecutes, 0.99),
			"statements were prepared %s times per execution, %s times in all", unit.Sig3(p.perExecute()),
			diagnose.Whole(p.prepare.By))
	}
	var near, part float64
	var loops []insertLoop
	for _, l := range insertLoops(c) {
		of, loop := float64(l.query.Calls)/p.execute.By, r.inLoop(c, l)
		if loop >= 1 {
			loops, part = append(loops, l), min(part+of, 1)
		}
		near = max(near, min(of/dominates, loop), part/dominates)
	}
	if part >= dominates {
		return []kasoku.Finding{r.finding(c, loops, p, part)}, nil
	}
	return nil, diagnose.Quiet(r.ID(), min(near, 0.99), "no loop of INSERTs makes %s of the %s executions",
		unit.Percent(dominates), diagnose.Whole(p.execute.By))
}

// inLoop is how much of a loop the INSERTs are, 1 and more for one.
func (PreparedLoop) inLoop(c *diagnose.Case, l insertLoop) float64 {
	in := float64(l.query.Streaks) / max(statements.StreakShare*float64(l.query.Calls), 1)
	if n, err := c.Requests(c.Whole()); err == nil && n.Count > 0 {
		// A service that inserts once a request has rows of them too.
		in = min(in, float64(l.query.Calls)/float64(n.Count)/2)
	}
	if l.caller != nil || l.rows {
		in = max(in, l.per/statements.LeastPerRequest)
	}
	return in
}

// finding is about the first of the loops, which make a part of the executions.
func (r PreparedLoop) finding(c *diagnose.Case, loops []insertLoop, p prepared, part float64) kasoku.Finding {
	l := loops[0]
	s := statements.Of(l.query)
	more := ""
	if n := len(loops) - 1; n > 0 {
		more = fmt.Sprintf(", with %s like it", unit.Counted(uint64(n), "more class", "more classes"))
	}
	// A prepare is a round trip and a parse, like half of a short execution.
	i := l.impact(c, 0.5)
	i.Estimate = true
	object := kasoku.Object{Kind: "endpoint", Name: l.endpoint}
	who, inLoop := l.endpoint, " in a loop"
	if l.endpoint == "" {
		object, who, inLoop = kasoku.Object{Kind: "table", Name: s.Table}, "A loop", ""
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: object, Severity: evidence.StatementSeverity(i), Impact: i, Interval: c.Focus.Interval,
		Title:  evidence.EndpointTitle(who, " prepares its INSERT anew for every row"),
		Clause: fmt.Sprintf("%s prepares its INSERT into %s anew for every row", lowerFirst(who), s.Table),
		Confidence: diagnose.Confidence(append([]diagnose.Signal{{Holds: true}, evidence.CallerSignal(l.caller),
			{Holds: l.query.Streak >= statements.LeastPerRequest,
				Lacks: "the INSERTs do not come one after another on one connection"}}, p.strangers.Signals(c)...)...),
		Evidence: append([]kasoku.Evidence{
			c.Quote().Counted(p.prepare, true), c.Quote().Counted(p.execute, true),
			evidence.Statement(c, l.query, "× "+unit.Count(l.query.Calls),
				unit.Percent(part)+" of the executions"+more+", up to "+unit.Count(l.query.Streak)+" in a row",
				float64(l.query.Calls)),
			evidence.StatementTime(c, c.Statements().QueryTime(l.query), i, l.query),
		}, p.strangers.Bound(c)...),
		Cause: fmt.Sprintf("%s inserts into %s%s, and the driver prepares, executes and closes the same "+
			"statement for each row: %s prepares for %s executions.",
			who, s.Table, inLoop, diagnose.Whole(p.prepare.By), diagnose.Whole(p.execute.By)),
		Fixes: []kasoku.Fix{
			language.Snippet(c, kasoku.Fix{Text: "Prepare once before the loop", Where: l.where(),
				Risk: kasoku.RiskAppRestart,
			}, language.Go, "stmt, err := tx.PrepareContext(ctx, insert)\nif err != nil {\n\treturn err\n}\ndefer stmt.Close()\nfor _, row := range rows {\n\tif _, err := stmt.ExecContext(ctx, row...); err != nil {\n\t\treturn err\n\t}\n}"),
			insertFix(c, l, "Or insert all rows with one statement"),
		},
		Expect: "one prepare a request instead of one a row",
		Verify: "the next run: Com_stmt_prepare far below Com_stmt_execute",
	}
	if l.caller == nil {
		f.Expect = "one prepare instead of one a row"
	}
	if part >= explainsPrepares {
		f.Explains = []string{"DRV-01"}
	}
	return f
}

// lowerFirst is for the subject of a clause.
func lowerFirst(s string) string {
	if s == "A loop" {
		return "a loop"
	}
	return s
}
