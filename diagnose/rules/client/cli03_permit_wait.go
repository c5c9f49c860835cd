package client

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// PermitWait is the rule CLI-03.
type PermitWait struct{}

// Thresholds of CLI-03.
const (
	longWait   = 0.20 // of the time
	oftenFails = 0.30 // of the permits that were asked for
	fewAsked   = 10   // permits
)

// ID returns CLI-03.
func (PermitWait) ID() string { return "CLI-03" }

// Doc describes the rule.
func (PermitWait) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a client whose work waits for permits that the service mostly fails to give.`,
		Evidence: `what the client publishes of itself over expvar says that work waited for a permit
			(PermitWait) for at least 20 % of the time, and that at least 30 % of the permits that were asked
			for were not given (PermitsFailed of PermitsAsked), of at least ten.`,
		Cause: `each attempt that fails takes its time, and the next one begins after it.`,
		Fix: `ask before the last permit is used up; pay for one, where those that cost something are
			given at once; give up an attempt that takes longer than one that succeeds.`,
		Silent: `when work waited less, when permits were given, when the service worked for nine tenths of
			the time; blind when no program publishes anything of the kind.`,
	}
}

// Check looks at the wait for permits.
func (r PermitWait) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := seenOf(c)
	if err != nil {
		return nil, silentFor(r.ID(), err)
	}
	fails := 0.0
	if s.asked >= fewAsked {
		fails = s.failed / s.asked
	}
	switch {
	case s.waited < longWait || fails < oftenFails:
		return nil, diagnose.Quiet(r.ID(), min(s.waited/longWait, fails/oftenFails),
			"work waited for a permit for %s of the time, and %s of %s permits that were asked for were not given; the "+
				"thresholds are %s and %s", unit.Percent(s.waited), diagnose.Whole(s.failed), diagnose.Whole(s.asked),
			unit.Percent(longWait), unit.Percent(oftenFails))
	case s.knowsBusy && s.busy >= spent:
		return nil, diagnose.Quiet(r.ID(), 0.5,
			"the service worked for %s of the time: permits that come sooner would not make it faster",
			unit.Percent(s.busy))
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: s.object(), Title: "Work waits for permits that the service fails to give",
		Clause: "work waits for permits that the service fails to give", Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, s.idleSignal()),
		Impact:     kasoku.Impact{Share: min(s.waited, 1), Of: "of the time, in which work waits for a permit"},
		Evidence: append([]kasoku.Evidence{
			s.quote(expvar.PermitWait, "time in which work waited for a permit", unit.Percent(s.waited), s.waited),
			s.quote(expvar.PermitsFailed, "permits that were not given", fmt.Sprintf("%s of %s", diagnose.Whole(s.failed),
				diagnose.Whole(s.asked)), s.failed),
		}, s.load()...),
		Cause: fmt.Sprintf("Work waited for a permit for %s of the time: %s of %s that were asked for were not given.",
			unit.Percent(s.waited), diagnose.Whole(s.failed), diagnose.Whole(s.asked)),
		Fixes: []kasoku.Fix{
			{Text: "Pay for permits, where those that cost something are given", Where: "the client", Risk: kasoku.RiskNone,
				Note: "The cheapest that does not fail; for nothing only while there is nothing to pay with, or enough " +
					"in hand."},
			{Text: "Ask for the next permit when the last use of one is sent", Where: "the client", Risk: kasoku.RiskNone,
				Note: "And give an attempt up that takes longer than those that succeed."},
		},
		Expect: s.gain(), Verify: "repeat it: work must wait for permits for less of the time", Interval: s.interval,
	}}, nil
}
