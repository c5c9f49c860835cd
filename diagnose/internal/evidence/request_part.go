package evidence

import (
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// What the times of statements are a share of.
const (
	ofRequestTime   = "of request time"
	ofRequestAtMost = "of request time at most" // who runs the statements is not known
	ofStatements    = "of the statements' time"
	// OfNoRequest is for statements of which it is known that requests do not run them: of
	// cron, of workers, of backups, of other services of the same server.
	OfNoRequest = "of the statements' time, in no request"
)

// joinedCalls of a class within the seconds that a join looked at are enough to say that no
// request runs it.
const joinedCalls = 20

// doubtful are the preconditions of a join without which statements of requests may look
// like those of none: they run on after the request, or times are off.
var doubtful = []string{"requests given up", "clocks", "resolution"}

// RequestPart returns which part of the calls of a class requests run, 0..1, by the callers
// that are known. It is not known where no statement names its route and the join of requests
// and statements was refused, is doubtful, or saw too few of the class.
func RequestPart(c *diagnose.Case, q *kasoku.Query) (part float64, known bool) {
	for _, x := range c.Statements().CallersOf(q.ID) {
		if x.Host != "" && q.Host != "" && x.Host != q.Host {
			continue
		}
		share := x.Share
		if e := c.Statements().EndpointOf(x.Endpoint()); x.Source == kasoku.FromProbe && e != nil {
			share = x.PerRequest * float64(e.Count) / float64(max(q.Calls, 1)) // the probe counted its own requests alone
		}
		part += share
		known = known || x.Class == kasoku.CallerConfirmed
	}
	return min(part, 1), known || slices.ContainsFunc(c.Joins, func(j kasoku.Join) bool { return sees(&j, q) })
}

// sees reports whether a join would have found the requests that run a class.
func sees(j *kasoku.Join, q *kasoku.Query) bool {
	if j.Refused != "" || j.Host != q.Host || q.Verb == "ADMIN" || slices.ContainsFunc(j.Checks,
		func(k kasoku.JoinCheck) bool { return !k.Holds && slices.Contains(doubtful, k.Name) }) {
		return false
	}
	var calls uint64
	for s, v := range q.Seconds {
		if at := time.Duration(s) * time.Second; j.Interval.From <= at && at < j.Interval.To {
			calls += v.Calls
		}
	}
	return calls >= joinedCalls
}

// requestPart returns which part of the time of classes is of requests, and whether that is
// known of each; what is not known counts.
func requestPart(c *diagnose.Case, of []*kasoku.Query) (part float64, known bool) {
	var all, requests float64
	known = true
	for _, q := range of {
		p, ok := RequestPart(c, q)
		if !ok {
			p, known = 1, false
		}
		took := max(float64(c.Statements().QueryTime(q)), 1)
		all += took
		requests += took * p
	}
	if all <= 0 {
		return 1, true
	}
	return requests / all, known
}
