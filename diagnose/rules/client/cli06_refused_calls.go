package client

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// RefusedCalls is the rule CLI-06.
type RefusedCalls struct{}

// refusedShare is the part of a client's requests from which on CLI-06 speaks.
const refusedShare = 0.01

// ID returns CLI-06.
func (RefusedCalls) ID() string { return "CLI-06" }

// Doc describes the rule.
func (RefusedCalls) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a client that asks for what the service refuses.`,
		Evidence: `what the client publishes of itself over expvar says that at least 1 % of its requests were
			refused (Refused of Sent): too many (429), without a permit (403), in conflict (409), or wrong
			(422).`,
		Cause:  `queues without bounds send more than the service lets in, or what has been overtaken meanwhile.`,
		Fix:    `bound what waits and what is in flight by what the service lets in; rest after a 429.`,
		Silent: `when fewer were refused; blind when no program publishes anything of the kind.`,
	}
}

// Check looks at the refused requests.
func (r RefusedCalls) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := seenOf(c)
	if err != nil {
		return nil, silentFor(r.ID(), err)
	}
	share := s.refused / s.sent
	if share < refusedShare {
		return nil, diagnose.Quiet(r.ID(), share/refusedShare, "%s of %s requests were refused; the threshold is %s",
			diagnose.Whole(s.refused), diagnose.Whole(s.sent), unit.Percent(refusedShare))
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: s.object(),
		Title:    fmt.Sprintf("%s of the client's requests are refused", unit.Percent(share)),
		Clause:   fmt.Sprintf("%s of the client's requests are refused", unit.Percent(share)),
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
		Impact: kasoku.Impact{Share: min(share, 1), Of: "of the client's requests, which were refused"},
		Evidence: []kasoku.Evidence{s.quote(expvar.Refused, "requests that were refused", fmt.Sprintf("%s of %s",
			diagnose.Whole(s.refused), diagnose.Whole(s.sent)), s.refused)},
		Cause: fmt.Sprintf("%s of %s requests were refused: the client sends more than the service lets in, or asks for "+
			"what it may not have.", diagnose.Whole(s.refused), diagnose.Whole(s.sent)),
		Fixes: []kasoku.Fix{{
			Text:  "Bound the queues, and what is in flight, by what the service lets in",
			Where: "the client", Risk: kasoku.RiskNone,
			Note: "A token for each request that the quota of a second has; a permit that is used up sends nothing more; " +
				"after a 429 the call rests for a while.",
		}},
		Expect: "next to no request is refused", Verify: "repeat it: Refused must hardly grow", Interval: s.interval,
	}}, nil
}
