package client

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// FewPermits is the rule CLI-02.
type FewPermits struct{}

// Thresholds of CLI-02.
const (
	fewPermits = 0.20 // of those that the service gives
	someWait   = 0.05 // of the time, in which work waited for one
)

// ID returns CLI-02.
func (FewPermits) ID() string { return "CLI-02" }

// Doc describes the rule.
func (FewPermits) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a client that asks for few of the permits that the service would give it.`,
		Evidence: `what the client publishes of itself over expvar says that it held or had asked for at most
			a fifth of its permits (Permits of PermitsMost) on average, while work waited for one
			(PermitWait) for at least 5 % of the time.`,
		Cause: `a permit is in use or on its way for most of the time, and there is no other meanwhile.`,
		Fix:   `ask for as many as the service gives.`,
		Silent: `when it had more, when no work waited, when the service worked for nine tenths of the time;
			blind when no program publishes anything of the kind.`,
	}
}

// Check looks at the permits.
func (r FewPermits) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := seenOf(c)
	if err != nil {
		return nil, silentFor(r.ID(), err)
	}
	share := 1.0
	if s.most >= 2 {
		share = s.permits / s.most
	}
	switch {
	case share > fewPermits || s.waited < someWait:
		return nil, diagnose.Quiet(r.ID(), min(fewPermits/max(share, fewPermits), s.waited/someWait),
			"%s of %s permits were held or asked for on average, and work waited for one for %s of the time; the thresholds "+
				"are %s and %s", unit.Sig3(s.permits), unit.Plain(s.most), unit.Percent(s.waited), unit.Percent(fewPermits),
			unit.Percent(someWait))
	case s.knowsBusy && s.busy >= spent:
		return nil, diagnose.Quiet(r.ID(), 0.5,
			"the service worked for %s of the time: more permits would not make it faster", unit.Percent(s.busy))
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: s.object(),
		Title: fmt.Sprintf("The client uses %s of the %s permits that the service gives", unit.Sig3(s.permits),
			unit.Plain(s.most)),
		Clause:   fmt.Sprintf("the client uses %s of %s permits", unit.Sig3(s.permits), unit.Plain(s.most)),
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, s.idleSignal()),
		Impact: kasoku.Impact{Share: min(s.waited, 1), Of: "of the time, in which work waits for a permit"},
		Evidence: append([]kasoku.Evidence{
			s.quote(expvar.Permits, "permits held or asked for, on average",
				unit.Sig3(s.permits)+" of "+unit.Plain(s.most), s.permits),
			s.quote(expvar.PermitWait, "time in which work waited for a permit", unit.Percent(s.waited), s.waited),
		}, s.load()...),
		Cause: fmt.Sprintf("Work waited for a permit for %s of the time, while %s of %s were held or asked for.",
			unit.Percent(s.waited), unit.Sig3(s.permits), unit.Plain(s.most)),
		Fixes: []kasoku.Fix{{
			Text:  fmt.Sprintf("Ask for %s permits at a time", unit.Plain(s.most)),
			Where: "the client", Risk: kasoku.RiskNone,
			Note: "Each place asks for the next one as soon as its own is used up.",
		}},
		Expect: s.gain(), Verify: "repeat it: work must wait for permits for less of the time", Interval: s.interval,
	}}, nil
}
