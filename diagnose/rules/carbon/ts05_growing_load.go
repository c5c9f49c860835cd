package carbon

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// GrowingLoad is the rule TS-05.
type GrowingLoad struct{}

// Thresholds of TS-05.
const (
	leastSlope  = 0.02 // of the load a minute, at its end
	leastRise   = 0.01 // of the load in its second half, so that a minute is not made of a moment
	sure        = 3    // standard errors
	leastHalf   = 8    // seconds
	steadyShare = 0.95 // of the load of the second half, from which on it is all there
)

// ID returns TS-05.
func (GrowingLoad) ID() string { return "TS-05" }

// Doc describes the rule.
func (GrowingLoad) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that the load of a carbon still grew at the end of the run.`,
		Evidence: `in the second half of the load what the sender had to send (Due, over expvar) rose by more than 2 % a
			minute, by 1 % in all, and by more than three standard errors.`,
		Cause: `agents still joined: no second of the run has the load that is meant, and its means are of less.`,
		Fix:   `a load that is longer than its ramp; read it from where it is steady.`,
		Silent: `when the load was steady at its end: it says from when on; blind when no carbon reports of itself, or no
			sender publishes what it has to send, for 16 s at least.`,
	}
}

// Check looks at the load.
func (r GrowingLoad) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if _, err := serversOf(c, 1); err != nil {
		return nil, silentFor(r.ID(), err)
	}
	x, err := senderOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	all := rates(x.due)
	half := all[len(all)/2:]
	if len(half) < leastHalf {
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("the load took fewer than %s",
			unit.Elapsed(2*leastHalf*time.Second)))
	}
	slope, noise, mean := trend(half)
	if mean <= 0 {
		return nil, diagnose.Blind(r.ID(), errNoSender)
	}
	perMinute := 60 * slope / mean
	rise := slope * (half[len(half)-1].at - half[0].at) / mean
	switch {
	case perMinute <= leastSlope || rise <= leastRise:
		near := max(min(perMinute/leastSlope, rise/leastRise), 0)
		return nil, diagnose.Quiet(r.ID(), near, "the load was steady at its end, %s a minute, from %s on; the threshold "+
			"is %s",
			signed(perMinute), unit.Elapsed(steadyFrom(all, mean)), signed(leastSlope))
	case slope <= sure*noise:
		return nil, diagnose.Quiet(r.ID(), max(slope/(sure*noise), 0), "the load rose no more than its seconds differ")
	}
	in := kasoku.Interval{From: seconds(all[0].at), To: seconds(all[len(all)-1].at)}
	title := fmt.Sprintf("The load still grew at its end, by %s a minute", unit.Percent(perMinute))
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "load", Name: "load"}, Title: title, Severity: kasoku.Info,
		Impact:     kasoku.Impact{Of: "of the run"},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
		Evidence: []kasoku.Evidence{{
			Source: x.due.Key.Source, Text: "points due in the second half, ± " + unit.Percent(60*noise/mean) + " a minute",
			Value: signed(perMinute) + " a minute", Number: perMinute, Strong: true, Interval: in,
			Series: []kasoku.Key{x.due.Key},
		}},
		Cause: fmt.Sprintf("What was due rose from %s to %s points a second between %s and %s: means of this run are of "+
			"less than its last second had, and how the server does under the whole load is not seen.", unit.Sig3(half[0].rate),
			unit.Sig3(half[len(half)-1].rate), unit.Elapsed(seconds(half[0].at)), unit.Elapsed(seconds(half[len(half)-1].at))),
		Fixes: []kasoku.Fix{{
			Text: "A load that goes on after all agents have joined, read from then on", Where: "the load",
			Risk: kasoku.RiskNone,
			Note: "`kasoku attack --carbon` has them all after --ramp; haggar launches one each -spawn-interval, so its full " +
				"load begins after -agents times that.",
		}},
		Expect:   "the same load in each second of its second half",
		Verify:   "repeat it for longer: this remark must be gone",
		Interval: in,
	}}, nil
}

// steadyFrom is when the load was all there.
func steadyFrom(all []second, mean float64) time.Duration {
	for _, x := range all {
		if x.rate >= steadyShare*mean {
			return seconds(x.at)
		}
	}
	return 0
}

func seconds(v float64) time.Duration {
	return time.Duration(v * float64(time.Second)).Round(time.Second)
}

// signed is a ratio as "+ 1.8 %".
func signed(v float64) string {
	if v < 0 {
		return "−" + unit.Percent(-v)
	}
	return "+" + unit.Percent(v)
}
