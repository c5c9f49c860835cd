package evidence

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// tripTime is an estimate of one round trip to a database on the same host that
// does next to nothing there, such as a prepare; over a network it is longer.
const tripTime = 100 * time.Microsecond

// TripImpact is the impact of round trips that could be saved: what they take of the requests'
// time at the focus. Where no requests were timed it is their share of all round trips, saved
// and rest together.
func TripImpact(c *diagnose.Case, saved, rest float64) kasoku.Impact {
	n, mean := uint64(0), time.Duration(0)
	if t := c.Focus.Tally; t != nil {
		n, mean = t.Asked, t.Latency.Mean()
	} else if r, err := c.Requests(c.Focus.Interval); err == nil && r.Count > 0 {
		_, endpoints := c.FrontLog()
		var all uint64
		for i := range endpoints {
			all += endpoints[i].Count
		}
		n, mean = r.Count, c.Statements().RequestTime()/time.Duration(max(all, 1))
	}
	if n == 0 || mean <= 0 {
		return kasoku.Impact{Share: saved / max(saved+rest, 1), Of: "of round trips to " + c.Server() + " " + c.At(),
			Estimate: true}
	}
	share := saved / float64(n) * tripTime.Seconds() / mean.Seconds()
	return kasoku.Impact{Share: min(share, 1), Of: "of request time " + c.At(), Estimate: true}
}
