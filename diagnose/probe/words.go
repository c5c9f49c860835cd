package probe

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// Partial is the code of the warning that the log does not hold all statements.
const Partial = "slow-log-partial"

// Sentence describes what a probe found of a caller; name is that of the statements:
// "GET /x runs Q 17.0 times per request (probe, 12 requests, 5–30)".
func Sentence(x *kasoku.Caller, name string) string {
	if x.Class != kasoku.CallerConfirmed {
		return fmt.Sprintf("%s may come from %s (%s)", name, x.Endpoint(), x.Note)
	}
	spread := fmt.Sprintf("%.0f", x.Least)
	if x.Most != x.Least {
		spread = fmt.Sprintf("%.0f–%.0f", x.Least, x.Most)
	}
	return fmt.Sprintf("%s runs %s %.1f times per request (probe, %s, %s)", x.Endpoint(), name, x.PerRequest,
		unit.Counted(x.Requests, "request", "requests"), spread)
}

// warn describes what is to be known of the counts.
func (r *Result) warn() {
	// Fewer than 20 prove nothing; a tenth is more than what is on its way into the
	// log. NaN compares as false.
	if r.Questions >= 20 && float64(r.Logged) < 0.9*r.Questions {
		r.Warnings = append(r.Warnings, kasoku.Warning{
			Code: Partial,
			Text: fmt.Sprintf("the log holds %s of %s statements (Questions): sessions that were open before keep the settings they began with", unit.Count(r.Logged), unit.Count(uint64(r.Questions))),
			Hint: "restart the application's connection pool while the slow log is on, or let kasoku end its idle sessions: --recycle-connections",
		})
	}
	if r.Unsettled > 0 {
		r.Warnings = append(r.Warnings, kasoku.Warning{Code: "still-running",
			Text: fmt.Sprintf("after %s statements still ran a second later: what they issue then is not in these counts",
				unit.Counted(r.Unsettled, "request", "requests"))})
	}
	var without, refused []string
	for i := range r.Asked {
		a := &r.Asked[i]
		good := 0
		for code, n := range a.Codes {
			if code < 400 {
				good += n
			}
		}
		switch {
		case a.Requests == 0:
		case a.Failed == a.Requests:
			without = append(without, a.Method+" "+a.Route)
		case good == 0:
			refused = append(refused, a.Method+" "+a.Route)
		}
	}
	if len(without) > 0 {
		r.Warnings = append(r.Warnings, kasoku.Warning{Code: "no-answer",
			Text: "no answer from " + strings.Join(without, ", ")})
	}
	if len(refused) > 0 {
		r.Warnings = append(r.Warnings, kasoku.Warning{Code: "refused",
			Text: "no request succeeded to " + strings.Join(refused, ", "),
			Hint: "an endpoint that needs a login or a body is asked with --targets, which holds them"})
	}
}
