package evidence

import (
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/logs/join"
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

// mostRare is the part of the requests that may be of endpoints of which a join saw too few
// (join.LeastRequests) to know their statements.
const mostRare = 0.1

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
	return min(part, 1), known || slices.ContainsFunc(c.Joins, func(j kasoku.Join) bool { return sees(c, &j, q) })
}

// sees reports whether a join would have found the requests that run a class: it saw enough of
// its calls, and few requests are of endpoints that may run it unseen.
func sees(c *diagnose.Case, j *kasoku.Join, q *kasoku.Query) bool {
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
	if calls < joinedCalls {
		return false
	}
	n := diagnose.Once(c, fmt.Sprint("rare requests ", j.Host, j.Interval), func() rareRequests { return countRare(c, j) })
	return float64(n.rare) <= mostRare*float64(n.all) && 2*n.rare < calls
}

// rareRequests are the requests at the time of a join that are of endpoints with too few of them,
// and all.
type rareRequests struct{ rare, all uint64 }

// countRare counts them.
func countRare(c *diagnose.Case, j *kasoku.Join) (out rareRequests) {
	for i := range c.Endpoints {
		e := &c.Endpoints[i]
		n := e.Count
		if len(e.Seconds) > 0 {
			n = 0
		}
		for s, v := range e.Seconds {
			if at := time.Duration(s) * time.Second; j.Interval.From <= at && at < j.Interval.To {
				n += v.Count
			}
		}
		if out.all += n; n < join.LeastRequests {
			out.rare += n
		}
	}
	return out
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
