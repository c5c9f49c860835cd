package measurement

import (
	"errors"
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// ByDesign is the rule MES-14.
type ByDesign struct{}

// ID returns MES-14.
func (ByDesign) ID() string { return "MES-14" }

// Doc describes the rule.
func (ByDesign) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds endpoints that seem to wait because they are made to, as long polls do.`,
		Evidence: `an endpoint's requests take 100 ms or more and nearly all the same time (the 90th
			percentile at most a quarter above the median), the statements of its requests take less than 10 %
			of that, others are answered in less than a third of it meanwhile, and the host has CPU left.`,
		Cause: `the program waits for something to happen, up to a time that it chose. Such an endpoint
			leads every list by total time and costs nothing.`,
		Fix: `none; leave it out of rankings by time.`,
		Silent: `when its times vary, when statements, locks, the pool or a busy host explain them, or
			when nothing else was asked, so that all might wait for the same, and where [contract] has a
			limit that the wait exceeds; blind without an access log.`,
	}
}

// Check looks at each endpoint.
func (r ByDesign) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	_, endpoints := c.FrontLog()
	timed := 0
	for i := range endpoints {
		if endpoints[i].Latency != nil && endpoints[i].Latency.Count() > 0 {
			timed++
		}
	}
	if timed == 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("no access log has the times of requests"))
	}
	if busy, cores, err := evidence.BusiestCPU(c); err == nil && busy > evidence.BusyHost*cores {
		return nil, diagnose.Quiet(r.ID(), 0, "a host was %s busy: requests may wait for CPU",
			unit.Percent(busy/max(cores, 0.01)))
	}
	var found []kasoku.Finding
	near, why := 0.0, "no endpoint takes long and always the same time"
	for i := range endpoints {
		e := &endpoints[i]
		p, ok := evidence.PollOf(c, endpoints, e)
		if !ok {
			continue
		}
		terms, _ := c.TermsOf(e.Method, e.Route)
		switch {
		case p.Near() >= 1 && terms.Limit > 0 && p.P90 > terms.Limit:
			near, why = 0.99, fmt.Sprintf("%s %s takes %s, and its limit is %s by [contract]: that is no wait by design",
				e.Method, e.Route, unit.Duration(p.P90), unit.Duration(terms.Limit))
		case p.Near() >= 1:
			cpu, err := evidence.CPUOfTime(c, e)
			if err != nil {
				return nil, diagnose.Blind(r.ID(), err)
			}
			if cpu < evidence.PollWork {
				found = append(found, r.finding(c, e, p, cpu))
				continue
			}
			near, why = max(near, evidence.PollWork/cpu*0.99), fmt.Sprintf("%s %s takes %s each time, and the CPU of the "+
				"service's programs may account for %s of it; the threshold is %s", e.Method, e.Route, unit.Duration(p.P50),
				unit.Percent(min(cpu, 1)), unit.Percent(evidence.PollWork))
		case p.Near() > near:
			near = p.Near()
			why = fmt.Sprintf("%s %s takes %s in the median and %s at p90, of which its statements are %s; the thresholds "+
				"are p90 at %s of the median and %s",
				e.Method, e.Route, unit.Duration(p.P50), unit.Duration(p.P90), unit.Percent(p.Work),
				unit.Percent(evidence.PollFlatTo), unit.Percent(evidence.PollWork))
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", why)
}

func (r ByDesign) finding(c *diagnose.Case, e *kasoku.Endpoint, p evidence.PollTimes, cpu float64) kasoku.Finding {
	name := e.Method + " " + e.Route
	own := diagnose.Signal{Holds: p.Exact, Lacks: "which statements are its own is not known: all count"}
	if len(c.Queries) == 0 {
		own = diagnose.Signal{Blind: c.Lines().NoLog("slowlog")}
	}
	title, what := name+" waits for neither statements nor CPU", "What that is cannot be seen from outside: a "+
		"long poll does so by design, a call to another service looks the same."
	if p.Meant(e) {
		title, what = name+" seems to wait by design", "It looks like a wait by design, as that of a long poll; a slow "+
			"answer of another service would look the same."
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name}, Severity: kasoku.Info,
		Title: wording.Cut(title, 70),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, own,
			diagnose.Signal{Blind: "what it waits for was not recorded"}),
		Impact: kasoku.Impact{Of: evidence.OfRequests(c)},
		Evidence: []kasoku.Evidence{
			{Source: "access", Text: name + " p50", Note: "p90 " + unit.Duration(p.P90), Value: unit.Duration(p.P50),
				Number: p.P50.Seconds(), Strong: true, Interval: kasoku.Interval{From: e.First, To: e.Last}},
			{Source: "access", Text: "other requests, mean", Value: unit.Duration(p.Others),
				Number: p.Others.Seconds(), Strong: true, Interval: c.Whole()},
			{Source: c.StatementSource(), Text: "statements of its time", Value: unit.Percent(p.Work), Number: p.Work,
				Interval: c.Whole()},
			{Source: "process", Text: "CPU of its time, at most", Value: unit.Percent(cpu), Number: cpu,
				Interval: c.Focus.Interval},
		},
		Cause: fmt.Sprintf("%s requests take %s, nearly all of them the same, and neither statements nor CPU account "+
			"for it: the program waits for something else. %s They are %s of all requests' time.",
			unit.Count(e.Count), unit.Duration(p.P50), what, unit.Percent(c.Statements().ShareOf(e.Total))),
		Fixes: []kasoku.Fix{{Text: "See what it waits for, and leave it out of rankings by time if it is meant to",
			Risk: kasoku.RiskNone,
			Note: "A shorter wait of a long poll would cost more requests; what may be worth a look is whether it answers " +
				"at once when there is something to report."}},
		Expect: "the same", Verify: "compare the other endpoints", Interval: c.Whole(),
	}
}
