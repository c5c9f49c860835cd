package client

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// UseByUse is the rule CLI-04.
type UseByUse struct{}

// longQueue is the share of the time from which on CLI-04 speaks.
const longQueue = 0.20

// ID returns CLI-04.
func (UseByUse) ID() string { return "CLI-04" }

// Doc describes the rule.
func (UseByUse) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a client that uses a permit for one request after the other, where it allows several.`,
		Evidence: `what the client publishes of itself over expvar says that no permit was ever used by two
			requests at once (UsesMost), and that for at least 20 % of the time work waited although permits had
			uses left, each of them with one under way (UseWait).`,
		Cause: `the next use of a permit is sent when the one before is answered, though it was paid for.`,
		Fix:   `send all uses of a permit at once, and count those that are under way to know when it is used up.`,
		Silent: `when two uses of one permit were under way at once, when work waited less; blind when no
			program publishes anything of the kind.`,
	}
}

// Check looks at the uses of permits.
func (r UseByUse) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := seenOf(c)
	switch {
	case err != nil:
		return nil, silentFor(r.ID(), err)
	case s.usesMost == 0:
		return nil, diagnose.Quiet(r.ID(), 0,
			"the client does not say how many uses of a permit were under way at once")
	case s.usesMost > 1:
		return nil, diagnose.Quiet(r.ID(), 0.5, "%s uses of one permit were under way at once", unit.Plain(s.usesMost))
	case s.queued < longQueue:
		return nil, diagnose.Quiet(r.ID(), s.queued/longQueue,
			"for %s of the time work waited while each permit was in use; the threshold is %s", unit.Percent(s.queued),
			unit.Percent(longQueue))
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: s.object(), Title: "The client uses a permit for one request after the other",
		Clause: "the client uses each permit for one request after the other", Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}),
		Impact: kasoku.Impact{Share: min(s.queued, 1),
			Of: "of the time, in which work waits for permits that are in use"},
		Evidence: append([]kasoku.Evidence{
			s.quote(expvar.UseWait, "time in which work waited while each permit with uses left was in use",
				unit.Percent(s.queued), s.queued),
			s.quote(expvar.UsesMost, "most uses of one permit under way at once", unit.Plain(s.usesMost), s.usesMost),
		}, s.load()...),
		Cause: fmt.Sprintf("For %s of the time work waited although permits had uses left: each had one under way, and the "+
			"client waits for its answer before it sends the next.", unit.Percent(s.queued)),
		Fixes: []kasoku.Fix{{
			Text: "Send all uses of a permit at once", Where: "the client", Risk: kasoku.RiskNone,
			Note: "A permit is used up when its last use is sent; it is gone when all of them are answered.",
		}},
		Expect: s.gain(), Verify: "repeat it: work must wait for permits in use for less of the time",
		Interval: s.interval,
	}
	if s.knowsBusy && s.busy >= spent {
		f.Expect = fmt.Sprintf("requests that wait less; hardly more done, as the service worked for %s of the time",
			unit.Percent(s.busy))
	}
	return []kasoku.Finding{f}, nil
}
