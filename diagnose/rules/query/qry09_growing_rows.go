package query

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// GrowingRows is the rule QRY-09.
type GrowingRows struct{}

// Thresholds of QRY-09.
const (
	// grownFactor is how many times the rows of the first third those of the last
	// are: a run that only warms up does not double them.
	grownFactor = 2
	// grownRows are fewer than anybody would bound.
	grownRows = 20
	// grownCalls in each third, so that three calls are no trend.
	grownCalls = 10
)

// ID returns QRY-09.
func (GrowingRows) ID() string { return "QRY-09" }

// Doc describes the rule.
func (GrowingRows) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a SELECT that sends more rows the longer the run goes on, and says of an attempt
			to bound it what it brought.`,
		Evidence: `rows a call of one class double from the first third of its calls to the last, without
			falling between, to at least 20, its WHERE has no range and no IN list, and statements of the run
			add rows to one of its tables. Against a baseline in which one did,
			and now none of that table does: the effect at the same load.`,
		Cause: `a history is read whole, and grows with every write; the answer needs a part of it, mostly
			a time range.`,
		Fix: `put the range into the WHERE, with an index that has it after the key. When an attempt shows
			no gain, look for what the requests wait for first.`,
		Silent: `when rows a call stay level, when the statement has a range, an IN list or a LIMIT, when nothing adds rows, and blind without
			a slow log or rows by the second.`,
	}
}

// A growth is how rows a call of a class changed over a run.
type growth struct {
	query             *kasoku.Query
	first, mid, last  float64 // rows a call in each third
	from, until       int     // seconds
	known, fewInThird bool
}

func (g growth) grows() bool {
	return g.known && !g.fewInThird && g.last >= grownFactor*g.first && g.last >= grownRows && g.mid >= g.first &&
		g.last >= g.mid
}

// near is how near it is, below 1.
func (g growth) near() float64 {
	if !g.known || g.fewInThird || g.last < g.mid || g.mid < g.first {
		return 0
	}
	return min(g.last/(grownFactor*max(g.first, 0.1)), g.last/grownRows, 0.99)
}

// growthOf measures a class; its thirds are of the seconds in which it ran.
func growthOf(q *kasoku.Query) growth {
	g := growth{query: q, from: math.MaxInt, until: math.MinInt}
	for s, v := range q.Seconds {
		if v.Calls > 0 {
			g.from, g.until = min(g.from, s), max(g.until, s)
		}
		g.known = g.known || v.Rows > 0
	}
	n := g.until - g.from + 1
	if !g.known || n < 3 {
		g.known = false
		return g
	}
	var rows, calls [3]float64
	for s, v := range q.Seconds {
		k := min(max((s-g.from)*3/n, 0), 2)
		rows[k] += float64(v.Rows)
		calls[k] += float64(v.Calls)
	}
	for k := range calls {
		g.fewInThird = g.fewInThird || calls[k] < grownCalls
	}
	g.first, g.mid, g.last = rows[0]/max(calls[0], 1), rows[1]/max(calls[1], 1), rows[2]/max(calls[2], 1)
	return g
}

// findGrowth returns the classes of a run that send more and more rows, and the one
// that came nearest.
func findGrowth(c *diagnose.Case) (out []growth, nearest growth, known bool) {
	for i := range c.Queries {
		q := &c.Queries[i]
		s := statements.Of(q)
		if q.Verb != "SELECT" || s.Limit || len(s.Ranged) > 0 || strings.Contains(q.Fingerprint, " in(?+)") {
			continue // a longer list finds more rows
		}
		g := growthOf(q)
		known = known || g.known
		if !gainsRows(c, q) {
			continue
		}
		if g.grows() {
			out = append(out, g)
		} else if g.near() > nearest.near() {
			nearest = g
		}
	}
	slices.SortStableFunc(out, func(a, b growth) int { return cmp.Compare(b.query.Total, a.query.Total) })
	return out, nearest, known
}

// gainsRows reports whether statements of the run add rows to one of a query's tables, those
// of initialize left out as far as their seconds are known.
func gainsRows(c *diagnose.Case, q *kasoku.Query) bool {
	return slices.ContainsFunc(c.Queries, func(w kasoku.Query) bool {
		return (w.Verb == "INSERT" || w.Verb == "REPLACE") && len(w.Tables) > 0 && slices.Contains(q.Tables, w.Tables[0]) &&
			!evidence.OnlyInitialize(c, &w)
	})
}

// Check looks for growth, and when the baseline had some and the run has none, for
// what that brought.
func (r GrowingRows) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	now, nearest, known := findGrowth(c)
	var out []kasoku.Finding
	for _, g := range now {
		out = append(out, r.finding(c, g))
	}
	if len(out) > 0 {
		return out, nil
	}
	if c.Baseline != nil {
		if before, _, _ := findGrowth(diagnose.NewCase(c.Baseline, nil)); len(before) > 0 {
			return r.control(c, before[0])
		}
	}
	switch {
	case !known:
		return nil, diagnose.Blind(r.ID(),
			fmt.Errorf("rows were not counted by the second for a SELECT without LIMIT and range"))
	case nearest.query == nil:
		return nil, diagnose.Quiet(r.ID(), 0, "no SELECT without LIMIT and range sends more rows the longer it runs, of a table that gains rows")
	}
	return nil, diagnose.Quiet(r.ID(), nearest.near(),
		"rows a call of %s go from %s to %s; the thresholds are %d times and %d",
		statements.Of(nearest.query).Table, wording.Average(nearest.first), wording.Average(nearest.last), grownFactor, grownRows)
}

func (r GrowingRows) finding(c *diagnose.Case, g growth) kasoku.Finding {
	q, s := g.query, statements.Of(g.query)
	i := evidence.TimeImpact(c, time.Duration(float64(c.Statements().QueryTime(q))*(1-g.first/max(g.last, 1))), q)
	i.Estimate = true
	x := evidence.Only(c, q.ID)
	object, note := kasoku.Object{Kind: "table", Name: s.Table},
		"from second "+unit.Count(g.from)+" to "+unit.Count(g.until)
	sizes := diagnose.Signal{Blind: "which endpoint runs them is not known"}
	if x != nil {
		object, note = kasoku.Object{Kind: "endpoint", Name: x.Endpoint()}, note+"; "+evidence.CallerWords(x)
		if e := c.Statements().EndpointOf(x.Endpoint()); e != nil {
			sizes = diagnose.Signal{Holds: float64(e.MaxBytes) <= flatSizes*float64(max(e.MinBytes, 1)),
				Lacks: "its answers differ in size"}
		}
	}
	where := evidence.HandlerOf("")
	if x != nil {
		where = evidence.HandlerOf(x.Endpoint())
	}
	return kasoku.Finding{
		ID: r.ID(), Object: object, Severity: evidence.StatementSeverity(i), Impact: i,
		Title: wording.Cut(fmt.Sprintf("Rows read of %s grow during the run: %s → "+
			"%s a call", s.Table, wording.Average(g.first),
			wording.Average(g.last)), wording.MaxTitle),
		Clause: fmt.Sprintf("rows read of %s grow from %s to %s a call", s.Table, wording.Average(g.first),
			wording.Average(g.last)),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}, sizes),
		Evidence: []kasoku.Evidence{
			evidence.Statement(c, q, wording.Average(g.first)+" → "+wording.Average(g.last)+" rows a call", note, g.last),
			evidence.StatementTime(c, c.Statements().QueryTime(q), i, q),
		},
		Cause: fmt.Sprintf("The statement reads all of a history that grows with every write: %s rows a call in the "+
			"first third of the run, %s in the last. Nothing in its WHERE bounds it.",
			wording.Average(g.first), wording.Average(g.last)),
		Fixes:  []kasoku.Fix{rangeFix(where)},
		Expect: "rows a call stay level over the run", Verify: "the next run: rows a call in its last third",
		Interval: kasoku.Interval{From: q.First, To: q.Last},
	}
}

// rangeFix describes the range; which rows the answer needs is not in the log.
func rangeFix(where string) kasoku.Fix {
	return kasoku.Fix{Text: "Put the range that the answer needs into " +
		"the WHERE", Where: where, Risk: kasoku.RiskAppRestart,
		Note: "The index needs the column of the range after those that are compared for equality. Compare the next " +
			"run: it may not gain."}
}

// control is the verdict on an attempt: the growth of the baseline is gone.
func (r GrowingRows) control(c *diagnose.Case, was growth) ([]kasoku.Finding, []kasoku.Silence) {
	s := statements.Of(was.query)
	before, after, err := evidence.SameStep(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	e := evidence.EffectOf(before, after)
	figures := fmt.Sprintf("success %s → %s, mean %s → %s", unit.Percent(e.GoodBefore), unit.Percent(e.GoodAfter),
		unit.Duration(e.MeanBefore), unit.Duration(e.MeanAfter))
	switch {
	case e.Better():
		return nil, diagnose.Quiet(r.ID(), e.NearNone(), "rows read of %s no longer grow, and that helped: %s",
			s.Table, figures)
	case e.Unclear():
		return nil, diagnose.Quiet(r.ID(), e.NearNone(),
			"rows read of %s no longer grow, and the runs vary too much to show what it brought: %s", s.Table, figures)
	}
	verdict := "no effect"
	if e.Worse() {
		verdict = "worse"
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: s.Table}, Severity: kasoku.Info,
		Impact: kasoku.Impact{Of: evidence.OfRequests(c)},
		Title:  wording.Cut(fmt.Sprintf("Fewer rows read of %s: %s", s.Table, verdict), wording.MaxTitle),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: e.Worse() || e.NearNone() == 1, Lacks: "a small gain is not ruled out"},
			diagnose.Signal{Holds: e.Seconds >= evidence.EnoughSeconds, Lacks: fmt.Sprintf("only %d s a run", e.Seconds)}),
		Evidence: []kasoku.Evidence{
			{Source: "slow.log", Text: wording.Cut(was.query.Fingerprint, wording.MaxQuoted),
				Note:  "of the baseline; no class of this run grows",
				Value: wording.Average(was.first) + " → " + wording.Average(was.last) + " rows a call", Number: was.last,
				Strong: true},
			{Source: "load", Text: "success", Value: unit.Percent(e.GoodBefore) + " → " + unit.Percent(e.GoodAfter),
				Number: e.Good(), Strong: true, Interval: c.Focus.Interval},
			{Source: "load", Text: "mean latency", Note: "noise ± " + unit.Duration(2*e.MeanNoise),
				Value: unit.Duration(e.MeanBefore) + " → " + unit.Duration(e.MeanAfter), Number: e.Mean().Seconds(),
				Strong: true, Interval: c.Focus.Interval},
		},
		Cause: fmt.Sprintf("In the baseline rows read of %s grew to %s a call, now they do not; %s %s. The reading was "+
			"not what requests waited for, or what replaced it costs as much.",
			s.Table, wording.Average(was.last), c.At(), figures),
		Fixes: []kasoku.Fix{{Text: "Take the change back, or keep it for its own sake, and look at the first " +
			"finding instead", Risk: kasoku.RiskAppRestart,
			Note: "One run a side: repeat both to separate a small effect from noise."}},
		Expect: "the same figures", Verify: "repeat both and compare", Interval: c.Focus.Interval,
	}}, nil
}
