package operation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// SlowInitialize is the rule OPS-02.
type SlowInitialize struct{}

// Thresholds of OPS-02.
const (
	// tightShare of the limit leaves too little for a slower day: the initialize
	// is timed from another host, over a network.
	tightShare = 0.8
	// defaultInitializeLimit is what contests allow.
	defaultInitializeLimit = 30 * time.Second
	// manyUpdates is from how many calls on an UPDATE is one for each group.
	manyUpdates = 10
	// worthNaming is the share of the initialize that a statement must take to be
	// named; mostNamed bounds how many are.
	worthNaming = 0.02
	mostNamed   = 5
)

// ID returns OPS-02.
func (SlowInitialize) ID() string { return "OPS-02" }

// Doc describes the rule.
func (SlowInitialize) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an initialize that comes near to its limit, and answers beyond the limit of their route.`,
		Evidence: `the initialize of the run took at least 80 % of its limit, which is 30 s unless the
			contract or the setting initialize.limit says otherwise. The slow log shows which statements took the time: ALTER
			and CREATE INDEX on tables that were loaded before, one UPDATE for each group of rows. Of other
			routes that [contract] has a limit for, at least 1 % of the answers, or ten, took longer.`,
		Cause: `each ALTER copies the loaded table, and each UPDATE reads it whole.`,
		Fix: `alter before the load, all changes of a table in one ALTER; one UPDATE with CASE instead of
			many.`,
		Silent: `below the threshold; blind when no initialize was seen and no route has a limit.`,
	}
}

// Check compares the initialize, and the routes of the contract, with their limits.
func (r SlowInitialize) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	found, silent := r.initialize(c)
	late, near := r.lateRoutes(c)
	found = append(found, late...)
	switch {
	case len(found) > 0:
		return found, nil
	case len(near) > 0 && (silent[0].Blind || silent[0].Near < near[0].Near):
		return nil, near
	}
	return nil, silent
}

func (r SlowInitialize) initialize(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	p, ok := evidence.InitializeOf(c)
	if !ok {
		return nil, diagnose.Blind(r.ID(), errors.New("no initialize was seen in the access log"))
	}
	limit, said := initializeLimit(c, p.Why)
	took := p.Interval.Len()
	share := took.Seconds() / limit.Seconds()
	if share < tightShare {
		return nil, diagnose.Quiet(r.ID(), share/tightShare,
			"initialize took %s of the %s that %s allows; the threshold is %s",
			unit.Duration(took), unit.Duration(limit), said, unit.Percent(tightShare))
	}
	named := slowStatements(c, p)
	var spent time.Duration
	for _, q := range named {
		spent += q.Total
	}
	explained := diagnose.Signal{Holds: spent >= took/2, Lacks: "the slow log explains less than half of it"}
	if !c.Lines().HasSlowLog() {
		explained.Blind = c.Lines().NoLog("slowlog")
	}
	title := fmt.Sprintf("Initialize takes %s of the %s that it may", unit.Duration(took), unit.Duration(limit))
	if took > limit {
		title = fmt.Sprintf("Initialize takes %s, its limit is %s", unit.Duration(took), unit.Duration(limit))
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: p.Why}, Title: title, Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, explained),
		Impact:     kasoku.Impact{Of: "of runs that fail at initialize"},
		Evidence:   r.evidence(c, p, limit, said, named), Cause: r.cause(c, p, named), Fixes: r.fixes(named),
		Expect:   fmt.Sprintf("initialize in less than %s", unit.Duration(time.Duration(tightShare*float64(limit)))),
		Verify:   "`kasoku finalize` times it, also after a restart", // when the buffer pool is cold
		Interval: p.Interval,
	}}, nil
}

// initializeLimit returns how long initialize may take, and who says so.
func initializeLimit(c *diagnose.Case, request string) (time.Duration, string) {
	method, route, _ := strings.Cut(request, " ")
	if terms, _ := c.TermsOf(method, route); terms.Limit > 0 {
		return terms.Limit, "[contract]"
	}
	const name = "initialize.limit"
	if v, ok := c.Setting("app", name); ok {
		if d, err := unit.ParseDuration(v); err == nil && d > 0 {
			return d, name
		}
	}
	return defaultInitializeLimit, "a contest"
}

// slowStatements returns the statements that came only while initialize ran and
// took a part of it worth naming, the longest first.
func slowStatements(c *diagnose.Case, p kasoku.Phase) []*kasoku.Query {
	var out []*kasoku.Query
	least := time.Duration(worthNaming * float64(p.Interval.Len()))
	for i := range c.Queries {
		if q := &c.Queries[i]; evidence.RanWithin(q, p.Interval) && q.Total >= least {
			out = append(out, q)
		}
	}
	slices.SortStableFunc(out, func(a, b *kasoku.Query) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Fingerprint, b.Fingerprint))
	})
	return out[:min(len(out), mostNamed)]
}

func (SlowInitialize) evidence(c *diagnose.Case, p kasoku.Phase, limit time.Duration, said string,
	named []*kasoku.Query) []kasoku.Evidence {
	out := []kasoku.Evidence{
		{Source: "access", Text: p.Why, Note: "at " + c.Wall(p.Interval.From).Format("15:04:05"),
			Value:  unit.Duration(p.Interval.Len()),
			Number: p.Interval.Len().Seconds(), Strong: true, Interval: p.Interval},
		{Source: "var", Text: "its limit", Note: "as " + said + " says", Value: unit.Duration(limit),
			Number: limit.Seconds(), Strong: true},
	}
	for _, q := range named {
		out = append(out, kasoku.Evidence{
			Source: c.StatementSource(q), Text: wording.Cut(q.Fingerprint, 100), Note: fmt.Sprintf("%s, rows examined %s",
				wording.Times(q.Calls), unit.Count(q.RowsExamined)),
			Value: unit.Duration(q.Total), Number: q.Total.Seconds(), Strong: true,
			Interval: kasoku.Interval{From: q.First, To: q.Last},
		})
	}
	return out
}

// The kinds of statements that an initialize loses its time in.
func isAlter(q *kasoku.Query) bool {
	return q.Verb == "ALTER" || q.Verb == "CREATE" && strings.Contains(q.Fingerprint, " index ")
}
func isEach(q *kasoku.Query) bool { return q.Verb == "UPDATE" && q.Calls >= manyUpdates }

func (SlowInitialize) cause(c *diagnose.Case, p kasoku.Phase, named []*kasoku.Query) string {
	var alters, each time.Duration
	var updates uint64
	for _, q := range named {
		switch {
		case isAlter(q):
			alters += q.Total
		case isEach(q):
			each += q.Total
			updates += q.Calls
		}
	}
	var why []string
	if alters > 0 {
		why = append(why, fmt.Sprintf("changing tables that are already loaded takes %s, because each change "+
			"copies the rows", unit.Duration(alters)))
	}
	if each > 0 {
		why = append(why, fmt.Sprintf("%s statements update one group of rows each and take %s, because each reads "+
			"the table", unit.Count(updates), unit.Duration(each)))
	}
	text := fmt.Sprintf("Initialize takes %s. ", unit.Duration(p.Interval.Len()))
	switch {
	case len(why) > 0:
		return text + wording.Capital(strings.Join(why, "; ")) + "."
	case len(named) > 0:
		var spent time.Duration
		for _, q := range named {
			spent += q.Total
		}
		if spent >= p.Interval.Len()/2 {
			return text + "Most of it is in the statements above."
		}
		return text + fmt.Sprintf("The statements above take %s of it; the rest is not in them: look at what the "+
			"application itself does, such as files that it writes.", unit.Duration(spent))
	case !c.Lines().HasSlowLog():
		return text + "Which statements take it was not recorded: " + c.Lines().NoLog("slowlog") + "."
	}
	return text + "No statement takes much of it: look at what the application itself does, such as files that it writes."
}

func (SlowInitialize) fixes(named []*kasoku.Query) []kasoku.Fix {
	var out []kasoku.Fix
	const where = "what initialize runs"
	for _, q := range named {
		table := "t"
		if len(q.Tables) > 0 {
			table = q.Tables[0]
		}
		switch {
		case isAlter(q) && !slices.ContainsFunc(out, func(f kasoku.Fix) bool {
			return strings.HasPrefix(f.Text,
				"Change")
		}):
			out = append(out, kasoku.Fix{Text: "Change tables before they are loaded, all changes of one in its CREATE " +
				"TABLE or in one ALTER", Where: where,
				Note: "Several parts of an ALTER TABLE stand after one another with commas; each ALTER alone copies " +
					"the rows.", Risk: kasoku.RiskNone})
		case isEach(q):
			out = append(out, kasoku.Fix{Text: "Update all groups of " + table + " in one statement", Where: where,
				Note: "SET the column to CASE of the group, with the column itself after ELSE: other groups stay as they are. " +
					"Or compute the column while the rows are loaded.", Risk: kasoku.RiskNone})
		}
	}
	if len(out) == 0 {
		out = append(out, kasoku.Fix{Text: "Do once, before the contest, what does not depend on the run, and load " +
			"the result", Where: where, Risk: kasoku.RiskNone})
	}
	return out
}
