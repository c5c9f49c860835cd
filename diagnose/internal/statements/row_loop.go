package statements

import (
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
)

// Spent is how long all loops of the N+1 took.
func (r RowLoop) Spent(c *diagnose.Case) time.Duration {
	var sum time.Duration
	for _, l := range r.Loops {
		sum += l.spent(c)
	}
	return sum
}

// Queries are the classes of its loops.
func (r RowLoop) Queries() (out []*kasoku.Query) {
	for _, l := range r.Loops {
		out = append(out, l.Query)
	}
	return out
}

// Saved is the time that would be saved if each loop were one statement: that of the other
// statements, and that between them.
func (r RowLoop) Saved(c *diagnose.Case) time.Duration {
	var sum float64
	for _, l := range r.Loops {
		sum += float64(l.spent(c)) * r.again(l, c)
	}
	return time.Duration(sum) + r.Between(c)
}

// longestTrip is what a round trip to the database is taken to cost at most, with
// what the program does for it and its wait for CPU and connections.
const longestTrip = time.Millisecond

// Between is the time that the loops take between their statements. Each gap is taken to last
// as long as the shortest idle time per statement of any endpoint, at most longestTrip; 0
// where the endpoint or its statements are not known.
func (r RowLoop) Between(c *diagnose.Case) time.Duration {
	e := c.Statements().EndpointOf(r.Endpoint)
	more := r.PerRequest(c) - r.Left(c)
	if e == nil || more <= 0 {
		return 0
	}
	each, known := longestTrip, false
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		if d, ok := idlePerStatement(c, &endpoints[i]); ok {
			each, known = min(each, d), true
		}
	}
	if !known {
		return 0
	}
	return time.Duration(more * float64(e.Count) * float64(each))
}

// idlePerStatement is the part of an endpoint's time in which none of its statements
// ran, for each of them; false where no statements of it are known.
func idlePerStatement(c *diagnose.Case, e *kasoku.Endpoint) (time.Duration, bool) {
	idle, statements := float64(e.Total), 0.0
	for i := range c.Callers {
		x := &c.Callers[i]
		q := c.Statements().QueryByID(x.QueryID)
		if x.Method != e.Method || x.Route != e.Route || q == nil || q.Calls == 0 {
			continue
		}
		n := x.PerRequest * float64(e.Count)
		statements += n
		idle -= n * float64(q.Total) / float64(q.Calls)
	}
	if statements < LeastPerRequest*float64(e.Count) {
		return 0, false // it does other things too
	}
	return time.Duration(max(idle, 0) / statements), true
}

// PerRequest is how many lookups a request makes.
func (r RowLoop) PerRequest(c *diagnose.Case) float64 {
	var sum float64
	for _, l := range r.Loops {
		sum += l.Per(c)
	}
	return sum
}

// Guessed reports whether the endpoint of one of the loops is only possible.
func (r RowLoop) Guessed() bool { return slices.ContainsFunc(r.Loops, Looped.guessed) }

// Amount prints PerRequest, as [Looped.Amount] does; without is how many of them are left
// out: those that a change does not save.
// Nothing is counted where the endpoint is only possible.
func (r RowLoop) Amount(c *diagnose.Case, without float64) string {
	if r.Guessed() {
		return Many
	}
	var least, most float64
	for _, l := range r.Loops {
		from, to := l.bounds(c)
		least, most = least+from, most+to
	}
	return amount(max(r.PerRequest(c)-without, 1), max(least-without, 1), max(most-without, 1))
}

// Unplaced are the classes of all loops, where not even part of them is known to be of the
// endpoint: their time is then all that they took, whoever ran them.
func (r RowLoop) Unplaced() (out []*kasoku.Query) {
	for _, l := range r.Loops {
		if l.Caller != nil && l.Caller.Share < 1 {
			return nil
		}
		out = append(out, l.Query)
	}
	return out
}

// Severity of an N+1: that which is small beside all requests is still a defect
// where it is a good part of what its own endpoint takes, as far as more than a few requests show.
func (r RowLoop) Severity(c *diagnose.Case, i kasoku.Impact) kasoku.Severity {
	e := c.Statements().EndpointOf(r.Endpoint)
	if e != nil && e.Count >= leastLoopRequests && e.Total > 0 && i.Share >= leastLoopShare &&
		float64(r.Saved(c)) >= ofEndpoint*float64(e.Total) {
		return kasoku.Problem
	}
	return evidence.StatementSeverity(i)
}
