package measurement

import (
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// ByDesign is the rule MES-14.
type ByDesign struct{}

// Thresholds of MES-14.
const (
	longPoll    = 100 * time.Millisecond
	flatTo      = 1.25 // of the median
	fewPolls    = 20
	workShare   = 0.10
	othersShare = 1.0 / 3
	busyForPoll = 0.70
)

// ID returns MES-14.
func (ByDesign) ID() string { return "MES-14" }

// Doc describes the rule.
func (ByDesign) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds endpoints that wait because they are made to: long polls.`,
		Evidence: `an endpoint's requests take 100 ms or more and nearly all the same time (the 90th
			percentile at most a quarter above the median), the statements of its requests take less than 10 %
			of that, others are answered in less than a third of it meanwhile, and the host has CPU left.`,
		Cause: `the program waits for something to happen, up to a time that it chose. Such an endpoint
			leads every list by total time and costs nothing.`,
		Fix: `none; leave it out of rankings by time.`,
		Silent: `when its times vary, when statements, locks, the pool or a busy host explain them, or
			when nothing else was asked, so that all might wait for the same; blind without an access log.`,
	}
}

// Check looks at each endpoint.
func (r ByDesign) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	_, endpoints := diagnose.FrontLog(c.Recording)
	timed := 0
	for i := range endpoints {
		if endpoints[i].Latency != nil && endpoints[i].Latency.Count() > 0 {
			timed++
		}
	}
	if timed == 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("no access log has the times of requests"))
	}
	if busy, cores, err := evidence.UsedCPU(c); err == nil && busy > busyForPoll*cores {
		return nil, diagnose.Quiet(r.ID(), 0, "the host was %s busy: requests may wait for CPU",
			unit.Percent(busy/max(cores, 0.01)))
	}
	var found []kasoku.Finding
	near, why := 0.0, "no endpoint takes long and always the same time"
	for i := range endpoints {
		e := &endpoints[i]
		p, ok := pollOf(c, endpoints, e)
		if !ok {
			continue
		}
		if p.near() >= 1 {
			found = append(found, r.finding(c, e, p))
		} else if p.near() > near {
			near = p.near()
			why = fmt.Sprintf("%s %s takes %s in the median and %s at p90, of which its statements are %s; the thresholds are p90 at %s of the median and %s",
				e.Method, e.Route, unit.Duration(p.p50), unit.Duration(p.p90), unit.Percent(p.work),
				unit.Percent(flatTo), unit.Percent(workShare))
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", why)
}

// pollTimes are the times that show whether an endpoint waits by design.
type pollTimes struct {
	p50, p90 time.Duration
	work     float64 // statements' share of its time
	exact    bool    // of its own statements
	others   time.Duration
	held     float64 // share of its time that locks and the pool may explain
}

func (p pollTimes) near() float64 {
	flat := p.p90.Seconds() / max(p.p50.Seconds(), 1e-9)
	return min(p.p50.Seconds()/longPoll.Seconds(), flatTo/max(flat, 1e-9), workShare/max(p.work, 1e-9),
		workShare/max(p.held, 1e-9),
		othersShare*p.p50.Seconds()/max(p.others.Seconds(), 1e-9))
}

func pollOf(c *diagnose.Case, all []kasoku.Endpoint, e *kasoku.Endpoint) (pollTimes, bool) {
	if e.Count < fewPolls || e.Latency == nil || e.Latency.Count() == 0 || e.Failed()*2 > e.Count {
		return pollTimes{}, false
	}
	var p pollTimes
	p.p50, p.p90 = e.Latency.Quantile(0.5), e.Latency.Quantile(0.9)
	var count uint64
	var total time.Duration
	for i := range all {
		if o := &all[i]; o != e && o.Latency != nil {
			count += o.Count
			total += o.Total
		}
	}
	if count < fewPolls {
		return pollTimes{}, false
	}
	p.others = total / time.Duration(count)
	p.work, p.exact = workOf(c, e)
	held := evidence.LockTime(c)
	if pool, err := evidence.PoolLoads(c); err == nil {
		held += time.Duration(min(max(pool.Wait.By, 0), 1e9) * float64(time.Second))
	}
	p.held = held.Seconds() / max(e.Total.Seconds(), 1e-9)
	return p, true
}

// workOf returns the share of an endpoint's time that its statements take; when it is
// not known which are its own, all count.
func workOf(c *diagnose.Case, e *kasoku.Endpoint) (share float64, exact bool) {
	var own, all float64
	for i := range c.Queries {
		q := &c.Queries[i]
		all += q.Total.Seconds()
		for _, x := range c.Statements().CallersOf(q.ID) {
			if x.Method == e.Method && x.Route == e.Route && q.Calls > 0 {
				own += x.PerRequest * float64(e.Count) * q.Total.Seconds() / float64(q.Calls)
				exact = true
			}
		}
	}
	if !exact {
		own = all
	}
	return own / max(e.Total.Seconds(), 1e-9), exact
}

func (r ByDesign) finding(c *diagnose.Case, e *kasoku.Endpoint, p pollTimes) kasoku.Finding {
	name := e.Method + " " + e.Route
	own := diagnose.Signal{Holds: p.exact, Lacks: "which statements are its own is not known: all count"}
	if len(c.Queries) == 0 {
		own = diagnose.Signal{Blind: c.Lines().NoLog("slowlog")}
	}
	share := c.Statements().ShareOf(e.Total)
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name}, Severity: kasoku.Info,
		Title:      wording.Cut(name+" waits by design", 70),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, own), Impact: kasoku.Impact{Of: evidence.OfRequests(c)},
		Evidence: []kasoku.Evidence{
			{Source: "access", Text: name + " p50", Note: "p90 " + unit.Duration(p.p90), Value: unit.Duration(p.p50),
				Number: p.p50.Seconds(), Strong: true, Interval: kasoku.Interval{From: e.First, To: e.Last}},
			{Source: "access", Text: "other requests, mean", Value: unit.Duration(p.others),
				Number: p.others.Seconds(), Strong: true, Interval: c.Whole()},
			{Source: "slow.log", Text: "statements of its time", Value: unit.Percent(p.work), Number: p.work,
				Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("%s requests take %s, nearly all of them the same, and neither statements nor CPU account for it: the program waits for something to happen. It is %s of all requests' time and no cause of slowness.",
			unit.Count(e.Count), unit.Duration(p.p50), unit.Percent(share)),
		Fixes: []kasoku.Fix{{Text: "Leave it out of rankings by time", Risk: kasoku.RiskNone,
			Note: "A shorter wait would cost more requests; what may be worth a look is whether it answers at once when there is something to tell."}},
		Expect: "the same", Verify: "compare the other endpoints", Interval: c.Whole(),
	}
}
