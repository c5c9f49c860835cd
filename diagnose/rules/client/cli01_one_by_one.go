package client

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// OneByOne is the rule CLI-01.
type OneByOne struct{}

// Thresholds of CLI-01.
const (
	alone    = 1.2 // requests in flight
	halfUsed = 0.5 // of the service's time
)

// ID returns CLI-01.
func (OneByOne) ID() string { return "CLI-01" }

// Doc describes the rule.
func (OneByOne) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a client that has one request under way at a time, of a service that could do more.`,
		Evidence: `what the client publishes of itself over expvar (InFlightTime) says that at most 1.2
			requests were in flight on average and no sample saw two, of at least 50 in five seconds; and the service says
			(ServiceTime) that it worked for at most half of the time.`,
		Cause: `client and service take turns: each waits while the other works, and for the way between
			them.`,
		Fix: `several requests at once: a stage for each kind of call, with a queue between them.`,
		Silent: `when more were in flight, when the service was busy for more than half of the time or does
			not say; blind when no program publishes anything of the kind.`,
	}
}

// Check looks at the requests in flight.
func (r OneByOne) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := seenOf(c)
	switch {
	case err != nil:
		return nil, silentFor(r.ID(), err)
	case !s.knowsBusy:
		return nil, diagnose.Quiet(r.ID(), 0, "the service does not say for how long it worked")
	case !s.knowsInFlight:
		return nil, diagnose.Quiet(r.ID(), 0, "the client does not say how many requests were in flight")
	case s.mostInFlight >= 2:
		return nil, diagnose.Quiet(r.ID(), 0.5, "%s requests were in flight at once", unit.Plain(s.mostInFlight))
	case s.inFlight > alone || s.busy > halfUsed:
		return nil, diagnose.Quiet(r.ID(), min(alone/max(s.inFlight, alone), halfUsed/max(s.busy, halfUsed)),
			"%s requests were in flight on average, and the service worked for %s of the time; the thresholds are %s and %s",
			unit.Sig3(s.inFlight), unit.Percent(s.busy), unit.Sig3(alone), unit.Percent(halfUsed))
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: s.object(), Title: "The client has one request under way at a time",
		Clause: "the client has one request under way at a time", Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, s.idleSignal()), Impact: s.impact(),
		Evidence: append([]kasoku.Evidence{s.quote(expvar.InFlightTime, "requests in flight, on average",
			unit.Sig3(s.inFlight), s.inFlight)}, s.load()...),
		Cause: fmt.Sprintf("%s requests were in flight on average: the client waits for each answer before it asks again. "+
			"The service worked for %s of the time.", unit.Sig3(s.inFlight), unit.Percent(s.busy)),
		Fixes: []kasoku.Fix{{
			Text: "Send several requests at once", Where: "the client", Risk: kasoku.RiskNone,
			Note: "A stage for each kind of call, with workers of its own and a short queue to the next one. What the " +
				"service lets in at once bounds how many.",
		}},
		Expect: s.gain(), Verify: "repeat it: more requests must be in flight, and the service busier",
		Interval: s.interval,
	}}, nil
}
