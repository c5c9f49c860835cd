package client

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// SpentService is the rule CLI-13.
type SpentService struct{}

// Thresholds of CLI-13.
const (
	atLimit   = 0.95 // of the service's time
	oneCore   = 1.05 // of it: what works for longer does several things at once
	paysLess  = 0.75 // of what the mean of its time gains
	someShare = 0.01 // of the service's time, that an operation takes
	leastGain = 0.02 // of what is gained, that the rest would gain more in its time
)

// ID returns CLI-13.
func (SpentService) ID() string { return "CLI-13" }

// Doc describes the rule.
func (SpentService) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a client that spends a service which is at its limit on what gains least.`,
		Evidence: `what the client publishes over expvar says that the service worked for at least 95 % of the
			time (ServiceTime of its operations), and that an operation with at least 1 % of that gained at most
			three quarters of what a millisecond of the service gains on average (Gained), so that at least 2 % more
			could be gained in its time. Where no operation says what it gained, a remark says what the time goes to.`,
		Cause: `the client does all that it can, in the order in which it comes; what gains little takes the time
			of what gains more.`,
		Fix: `leave out first what gains least for the time that it takes, until the rest gains no less than the
			mean.`,
		Silent: `when the service has time left, when no operation gains so little, when what does takes next to none of it, as
			while a client learns what is worth how much; blind when no program
			publishes anything of the kind.`,
	}
}

// Check looks at the service's time, by operation.
func (r SpentService) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := seenOf(c)
	switch {
	case err != nil:
		return nil, silentFor(r.ID(), err)
	case !s.knowsBusy:
		return nil, diagnose.Quiet(r.ID(), 0, "the service does not say for how long it worked")
	case s.busy > oneCore:
		return nil, diagnose.Quiet(r.ID(), 0, "the service worked for %s of the time: it does several things at once, and how "+
			"many it can is not known", unit.Percent(s.busy))
	case s.busy < atLimit:
		return nil, diagnose.Quiet(r.ID(), 0.5*s.busy/atLimit,
			"the service worked for %s of the time; the threshold is %s",
			unit.Percent(s.busy), unit.Percent(atLimit))
	}
	x := spendingOf(operationsOf(c, &s))
	if x.gained == 0 {
		return []kasoku.Finding{r.remark(&s, &x)}, nil
	}
	if len(x.little) == 0 {
		return nil, diagnose.Quiet(r.ID(), paysLess/max(x.least, paysLess),
			"the service is at its limit: it worked for %s of the time, %s; what gains least gains %s of the mean of its "+
				"time, the threshold is %s", unit.Percent(s.busy), x.shares(), unit.Percent(x.least),
			unit.Percent(paysLess))
	}
	if more := x.lost() / x.gained; more < leastGain {
		return nil, diagnose.Quiet(r.ID(), more/leastGain,
			"the service is at its limit, and %s more could be gained in the time of what gains least; the threshold is %s",
			unit.Percent(more), unit.Percent(leastGain))
	}
	return []kasoku.Finding{r.finding(&s, &x)}, nil
}

// A spending is what a service's time went to.
type spending struct {
	all            []operation // that took of it, the most first
	served, gained float64
	little         []operation // that gain little for their time, the least first
	least          float64     // what gains least, to the mean
}

// perSec is what a second of the service gains.
func (o *operation) perSec() float64 { return o.gained / o.served }

// spendingOf adds up the operations that say how long the service worked for them.
func spendingOf(all []operation) (x spending) {
	for _, o := range all {
		if o.served > 0 {
			x.all = append(x.all, o)
			x.served += o.served
			x.gained += o.gained
		}
	}
	slices.SortStableFunc(x.all, func(a, b operation) int { return cmp.Compare(b.served, a.served) })
	x.least = 1
	if x.gained == 0 {
		return x
	}
	for _, o := range x.all {
		to := o.perSec() / (x.gained / x.served)
		if !o.gains || o.served < someShare*x.served {
			continue
		}
		x.least = min(x.least, to)
		if to <= paysLess {
			x.little = append(x.little, o)
		}
	}
	slices.SortStableFunc(x.little, func(a, b operation) int { return cmp.Compare(a.perSec(), b.perSec()) })
	return x
}

// lost is what the mean of the service's time would gain more in the time of what gains little.
func (x *spending) lost() (lost float64) {
	for i := range x.little {
		lost += x.little[i].served * (x.gained/x.served - x.little[i].perSec())
	}
	return lost
}

// shares are what takes most of the service's time.
func (x *spending) shares() string {
	var out []string
	for i := range min(len(x.all), 4) {
		o := &x.all[i]
		out = append(out, wording.Cut(o.name, 40)+" "+unit.Percent(o.served/x.served))
	}
	return strings.Join(out, ", ")
}

// evidence is what the time went to.
func (x *spending) evidence(s *seen) []kasoku.Evidence {
	return append(s.load(), kasoku.Evidence{Source: evidence.SourceExpvar, Text: "what the service's time went to",
		Value: x.shares(), Number: x.served, Strong: true, Interval: s.interval})
}

func (r SpentService) finding(s *seen, x *spending) kasoku.Finding {
	mean := x.gained / x.served
	var names, rates []string
	share := 0.0
	for i := range x.little {
		o := &x.little[i]
		names = append(names, wording.Cut(o.name, 40))
		rates = append(rates, fmt.Sprintf("%s %s", wording.Cut(o.name, 40), unit.Sig3(o.perSec()/1e3)))
		share += o.served / x.served
	}
	return kasoku.Finding{
		ID: r.ID(), Object: s.object(),
		Title:    fmt.Sprintf("The service is at its limit, and %s of its time gains little", unit.Percent(share)),
		Clause:   fmt.Sprintf("the service is at its limit, and %s of its time gains little", unit.Percent(share)),
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: true}),
		Impact: kasoku.Impact{Share: min(share, 1), Of: "of the service's time, which gains little"},
		Evidence: append(x.evidence(s), kasoku.Evidence{Source: evidence.SourceExpvar,
			Text:   "gained in a millisecond of the service",
			Value:  fmt.Sprintf("%s, mean %s", wording.List(rates, 3), unit.Sig3(mean/1e3)),
			Number: x.little[0].perSec() / 1e3, Strong: true, Interval: s.interval,
			Series: []kasoku.Key{x.little[0].series(expvar.Gained), x.little[0].series(expvar.ServiceTime)}}),
		Cause: fmt.Sprintf("The service worked for %s of the time: more requests do not make it faster. %s gained %s a millisecond "+
			"of it, where the mean is %s.", unit.Percent(s.busy), wording.List(names, 3),
			unit.Sig3(x.little[0].perSec()/1e3),
			unit.Sig3(mean/1e3)),
		Fixes: []kasoku.Fix{{
			Text: "Leave out first what gains least for its time: " + wording.List(names, 3), Where: "the client",
			Risk: kasoku.RiskNone,
			Note: "What comes after it may still be worth it: what was spent to get there is gone either way.",
		}},
		Expect: fmt.Sprintf("up to %s more gained, if the rest takes its time", unit.Percent(x.lost()/x.gained)),
		Verify: "repeat it: what is gained must rise while the service works as much", Interval: s.interval,
	}
}

// remark says what the time of a service at its limit goes to, where nothing says what it gains.
func (r SpentService) remark(s *seen, x *spending) kasoku.Finding {
	return kasoku.Finding{
		ID: r.ID(), Object: s.object(), Title: "The service is at its limit", Clause: "the service is at its limit",
		Severity: kasoku.Info, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
		Impact:   kasoku.Impact{Share: min(s.busy, 1), Of: "of the service's time"},
		Evidence: x.evidence(s),
		Cause: fmt.Sprintf("The service worked for %s of the time: more requests do not make it faster. %s.",
			unit.Percent(s.busy), x.shares()),
		Fixes: []kasoku.Fix{{
			Text: "Publish what each operation gains, to know which to leave out first", Where: "the client",
			Risk: kasoku.RiskNone, Note: "Gained beside Answers and AnswerTime of the operation.",
		}},
		Expect: "the same time, for what gains most", Verify: "repeat it", Interval: s.interval,
	}
}

func (o *operation) series(name string) kasoku.Key {
	key := o.key
	key.Name = name
	return key
}
