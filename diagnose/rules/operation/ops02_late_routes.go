package operation

import (
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// From which part of the answers of a route, or from how many, those beyond its limit
// are a finding.
const (
	lateShare = 0.01
	manyLate  = 10
)

// lateRoutes compares the routes that the contract has a limit for with it.
func (r SlowInitialize) lateRoutes(c *diagnose.Case) (found []kasoku.Finding, silent []kasoku.Silence) {
	initialize, _ := evidence.InitializeOf(c)
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		e := &endpoints[i]
		terms, _ := c.TermsOf(e.Method, e.Route)
		if terms.Limit == 0 || e.Latency == nil || e.Count == 0 || initialize.Why == e.Method+" "+e.Route {
			continue
		}
		late := e.Latency.CountBetween(terms.Limit+1, math.MaxInt64)
		near := max(float64(late)/float64(e.Count)/lateShare, float64(late)/manyLate)
		switch {
		case near >= 1:
			found = append(found, r.late(c, e, terms, late))
		case silent == nil || near > silent[0].Near:
			silent = diagnose.Quiet(r.ID(), near, "%s of %s answers of %s %s took longer than the %s of [contract]",
				unit.Count(late), unit.Count(e.Count), e.Method, e.Route, unit.Duration(terms.Limit))
		}
	}
	return found, silent
}

func (r SlowInitialize) late(c *diagnose.Case, e *kasoku.Endpoint, terms kasoku.Terms, late uint64) kasoku.Finding {
	name := e.Method + " " + e.Route
	cost := ""
	if terms.Failure != "" {
		cost = " A failure costs: " + terms.Failure + "."
	}
	share := 0.0
	if all, err := c.Requests(c.Whole()); err == nil && all.Count > 0 {
		share = min(float64(late)/float64(all.Count), 1)
	}
	iv := kasoku.Interval{From: e.First, To: e.Last}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name}, Severity: kasoku.Problem,
		Title:      wording.Cut(fmt.Sprintf("%s takes longer than its limit, %s", name, unit.Duration(terms.Limit)), 70),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
		Impact:     kasoku.Impact{Share: share, Of: evidence.OfRequests(c)},
		Evidence: []kasoku.Evidence{
			{Source: "access", Text: "answers beyond the limit", Note: "of " + unit.Count(e.Count), Value: unit.Count(late),
				Number: float64(late), Strong: true, Interval: iv},
			{Source: "access", Text: name + " p99", Note: "at most " + unit.Duration(e.Latency.Max()),
				Value: unit.Duration(e.Latency.Quantile(0.99)), Number: e.Latency.Quantile(0.99).Seconds(), Interval: iv},
			{Source: "var", Text: "its limit", Note: "as [contract] says", Value: unit.Duration(terms.Limit),
				Number: terms.Limit.Seconds(), Strong: true},
		},
		Cause: fmt.Sprintf("%s of %s answers of %s took longer than %s, the "+
			"slowest %s.%s", unit.Count(late), unit.Count(e.Count),
			name, unit.Duration(terms.Limit), unit.Duration(e.Latency.Max()), cost),
		Fixes: []kasoku.Fix{{Text: "Begin with the findings that name this endpoint or its " +
			"statements", Risk: kasoku.RiskNone}},
		Expect: fmt.Sprintf("less than %s of its answers take longer than %s", unit.Percent(lateShare),
			unit.Duration(terms.Limit.Round(time.Millisecond))),
		Verify: "repeat the load: its p99 is below the limit", Interval: iv,
	}
}
