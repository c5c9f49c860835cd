package query

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Recount is the rule QRY-08.
type Recount struct{}

// Thresholds of QRY-08.
const (
	mostCounted   = 20 // different statements: as many as a program can keep at hand without thought
	leastRepeated = 50 // calls of each: below, a run is too short to call it again and again
)

// ID returns QRY-08.
func (Recount) ID() string { return "QRY-08" }

// Doc describes the rule.
func (Recount) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds the same few COUNTs asked again and again.`,
		Evidence: `a SELECT COUNT without GROUP BY comes with at most 20 different values, and at least 50
			times for each of them.`,
		Cause: `the number changes only when a row is written, and is counted at each request all the
			same.`,
		Fix: `counters in memory, or in a table, that writes bring up to date; filled at the start and in
			initialize. Or MariaDB's query cache, where most reads repeat.`,
		Silent: `when the counts are of many different things (see QRY-05 where one request counts for
			each row), when each is asked seldom, and blind without a slow log or the number of different
			statements.`,
	}
}

// Check looks for COUNTs with few different values.
func (r Recount) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	var near float64
	said := "no SELECT COUNT repeats"
	unknown := false
	for i := range c.Queries {
		q := &c.Queries[i]
		s := statements.Of(q)
		if q.Verb != "SELECT" || !s.Counts || s.Grouped || q.Calls == 0 || evidence.OnlyInitialize(c, q) {
			continue
		}
		if q.Distinct == 0 {
			unknown = true
			continue
		}
		each := float64(q.Calls) / float64(q.Distinct)
		if q.Distinct <= mostCounted && each >= leastRepeated {
			out = append(out, r.finding(c, q, s, each))
			continue
		}
		if n := min(float64(mostCounted)/float64(q.Distinct), each/leastRepeated, 0.99); n >= near {
			near = n
			said = fmt.Sprintf("a COUNT over %s comes with %s different values, %s times each; the thresholds are "+
				"%d and %d", s.Table, unit.Count(q.Distinct), wording.Average(each), mostCounted, leastRepeated)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case unknown && near == 0:
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("how many different statements a class has was not counted"))
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

func (r Recount) finding(c *diagnose.Case, q *kasoku.Query, s statements.Statement, each float64) kasoku.Finding {
	i := evidence.TimeImpact(c, c.Statements().QueryTime(q), q)
	object, note := kasoku.Object{Kind: "table", Name: s.Table}, unit.Counted(q.Distinct, "different statement",
		"different statements")
	if x := evidence.Only(c, q.ID); x != nil {
		object, note = kasoku.Object{Kind: "endpoint", Name: x.Endpoint()}, note+"; "+evidence.CallerWords(x)
	} else {
		note += "; " + evidence.SharesWords(c, q.ID)
	}
	written, before := countChanges(c, q), "The numbers are mostly those of before."
	if 2*written > q.Calls {
		before = "A write may change them, so that many may be new each time."
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: object, Severity: evidence.StatementSeverity(i), Impact: i, Interval: c.Focus.Interval,
		Title: wording.Cut(fmt.Sprintf("Rows of %s are counted again %s times for "+
			"each value", s.Table, wording.Average(each)),
			wording.MaxTitle),
		Clause: fmt.Sprintf("the same rows of %s are counted again and again", s.Table),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: written < q.Calls, Lacks: "the table is written as often as it is counted"}),
		Evidence: []kasoku.Evidence{
			evidence.Statement(c, q, "× "+unit.Count(q.Calls), note, float64(q.Calls)),
			{Source: c.StatementSource(q), Text: "writes to " + s.Table, Value: "× " + unit.Count(written),
				Number: float64(written), Interval: c.Whole()},
			evidence.StatementTime(c, c.Statements().QueryTime(q), i, q),
		},
		Cause: fmt.Sprintf("%s calls count the same %s: %s times each, while %s was written %s times. %s",
			unit.Count(q.Calls), unit.Counted(q.Distinct, "thing", "things"), wording.Average(each), s.Table,
			unit.Count(written), before),
		Fixes: []kasoku.Fix{
			memoryFix(c),
			{Text: "Or read a counter that each write of " + s.Table + " keeps, for the same conditions",
				Where: "where " + s.Table + " is written", Risk: kasoku.RiskAppRestart},
		},
		Expect: "no such COUNT while nothing is written", Verify: "the next run: calls of the statement",
	}
	if fix, ok := advice.QueryCacheFix(c); ok {
		f.Fixes = append(f.Fixes, fix)
	}
	return f
}

// memoryFix keeps counts in the program. What has several processes, as PHP-FPM, Puma and
// gunicorn have, cannot: each would have its own.
func memoryFix(c *diagnose.Case) kasoku.Fix {
	f := kasoku.Fix{Text: "Keep the counts and change them with each write", Where: evidence.HandlerOf(""), Risk: kasoku.RiskAppRestart,
		Note: "In memory only where one process serves all requests: fill them when it starts and in initialize, as a " +
			"restart or a reset must not lose them. With several processes keep them in a table, Redis or memcached."}
	return language.Snippet(c, f, language.Go, "var counts sync.Map // key → *atomic.Int64")
}
