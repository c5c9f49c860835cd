package pool

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/internal/unit"
)

// TwoLimits is the rule POOL-04.
type TwoLimits struct{}

// ID returns POOL-04.
func (TwoLimits) ID() string { return "POOL-04" }

// Doc describes the rule.
func (TwoLimits) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `explains the order when connections are closed after one use and the server's limit of
			them is met as well.`,
		Evidence: `connections are opened and closed again as POOL-01 wants it, and the server refuses
			some as POOL-02 wants it, in the same time. It is borne out by what bears those out.`,
		Cause: `two limits hide each other. With connections kept alone the app still runs into
			max_connections; with max_connections raised alone it still opens a connection per request and
			meets the new limit at a higher rate.`,
		Fix:    `both, the pool first.`,
		Silent: `when one of the two does not hold; blind when one could not be looked at.`,
	}
}

// Check looks for both limits at once.
func (r TwoLimits) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	p, err := connectionsOf(c)
	s := refusalsOf(c)
	switch {
	case err != nil:
		return nil, diagnose.Blind(r.ID(), err)
	case !p.churns() && !s.fires():
		return nil, diagnose.Quiet(r.ID(), 0,
			"neither limit is met: %s connections opened and closed again per request, none refused",
			unit.Sig3(p.perServed()))
	case !p.churns():
		return nil, diagnose.Quiet(r.ID(), (1+min(p.perServed()/reopenedPerRequest, 1))/2,
			"only one limit is met: %s connections were refused, but %s opened and closed again per request are under %s",
			diagnose.Whole(s.refused()), unit.Sig3(p.perServed()), unit.Plain(reopenedPerRequest))
	case !s.fires():
		near := 0.5
		if s.limit > 0 {
			near += min(s.most/s.limit, 1) / 2
		}
		return nil, diagnose.Quiet(r.ID(), near,
			"only one limit is met: %s connections opened and closed again per request, none refused",
			unit.Sig3(p.perServed()))
	}
	failed, of := c.Failed()
	out := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "pool", Name: "connections"},
		Title:      "Two limits of connections hide each other",
		Severity:   kasoku.Info,
		Confidence: diagnose.Confidence(append(IdlePool{}.signals(c, p), Refused{}.signals(c, s)...)...),
		Impact: kasoku.Impact{Share: evidence.FailedShare(c, float64(failed)), Of: evidence.OfRequests(c),
			Shared: []string{"POOL-01", "POOL-02"}},
		Evidence: []kasoku.Evidence{
			c.Quote().Counted(p.opened, true),
			{Source: "status", Text: "refused at max_connections", Value: diagnose.More(s.refused()),
				Number: s.refused(), Strong: true,
				Series: []kasoku.Key{s.counted.Key}, Interval: c.Focus.Interval},
		},
		Cause: r.cause(c),
		Fixes: []kasoku.Fix{{Text: "Mend both: POOL-01 with its cap first, then POOL-02",
			Note: "Measure after each: the first alone may show little.", Risk: kasoku.RiskNone}},
		Expect: "the success ratio rises after the first fix, and reaches its end only with both where the cap was left out",
		Verify: fmt.Sprintf("repeat the load after each fix: %s of %s requests failed here", unit.Count(failed),
			unit.Count(of)),
		Interval: c.Focus.Interval,
	}
	if s.countedErr != nil {
		out.Evidence[1].Source, out.Evidence[1].Series = "app.log", nil
	}
	return []kasoku.Finding{out}, nil
}

// cause says what holds of the application's language: few have an idle limit.
func (TwoLimits) cause(c *diagnose.Case) string {
	if language.Of(c) == language.Go && !evidence.IsShared(c) {
		return "The idle limit makes the app open connections without need, and the server's limit refuses them. " +
			"With the idle limit raised alone the app still opens as many connections as there are requests in flight; " +
			"with max_connections raised alone it still opens one after another and meets the new limit at a higher rate."
	}
	return "Connections are closed after one use and opened anew, and the server's limit refuses some of them. " +
		"Kept connections alone do not bound how many there are at once; with max_connections raised alone they are " +
		"still opened one after another, and meet the new limit at a higher rate."
}
