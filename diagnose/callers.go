package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
)

// sureness orders the classes of callers, the surest first.
var sureness = []kasoku.CallerClass{kasoku.CallerConfirmed, kasoku.CallerHigh, kasoku.CallerPossible,
	kasoku.CallerGroup}

// CallersOf returns the endpoints that run statements of a class, the surest and
// among these the largest first. The slice is the caller's own.
func (st Statements) CallersOf(queryID string) []kasoku.Caller {
	var out []kasoku.Caller
	for _, x := range st.c.Callers {
		if x.QueryID == queryID {
			out = append(out, x)
		}
	}
	rank := func(x kasoku.Caller) int {
		if i := slices.Index(sureness, x.Class); i >= 0 {
			return i
		}
		return len(sureness)
	}
	slices.SortStableFunc(out, func(a, b kasoku.Caller) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Calls, a.Calls),
			cmp.Compare(a.Endpoint(), b.Endpoint()))
	})
	return out
}

// QueryByID returns the class of statements with that id, nil when there is none.
func (st Statements) QueryByID(id string) *kasoku.Query {
	for i := range st.c.Queries {
		if st.c.Queries[i].ID == id {
			return &st.c.Queries[i]
		}
	}
	return nil
}

// QueriesByID returns the classes of statements with those ids, each once.
func (st Statements) QueriesByID(ids []string) (out []*kasoku.Query) {
	for i := range st.c.Queries {
		if slices.Contains(ids, st.c.Queries[i].ID) {
			out = append(out, &st.c.Queries[i])
		}
	}
	return out
}

// RequestTime returns how long all requests took together, initialize left out:
// those of the access log, else those that the load made; 0 when nothing timed
// them.
func (st Statements) RequestTime() time.Duration {
	var sum time.Duration
	_, endpoints := st.c.FrontLog()
	for i := range endpoints {
		if e := &endpoints[i]; !st.initializes(e.Method + " " + e.Route) {
			sum += e.Total
		}
	}
	if sum > 0 {
		return sum
	}
	t := st.c.Tally(0)
	return time.Duration(float64(t.Latency.Mean()) * float64(t.Latency.Count()))
}

// QueryTime returns how long the statements of a class took together, without
// those in seconds in which initialize ran.
func (st Statements) QueryTime(q *kasoku.Query) time.Duration {
	sum := q.Total
	for s, v := range q.Seconds {
		if st.initializesIn(s) {
			sum -= v.Total
		}
	}
	return max(sum, 0)
}

// QueryCalls returns how often a class ran, without the calls in seconds in which
// initialize ran.
func (st Statements) QueryCalls(q *kasoku.Query) uint64 {
	calls := q.Calls
	for s, v := range q.Seconds {
		if st.initializesIn(s) {
			calls -= min(v.Calls, calls)
		}
	}
	return calls
}

// initializesIn reports whether initialize ran during all of a second of the run's clock.
func (st Statements) initializesIn(second int) bool {
	in := secondInterval(second)
	return slices.ContainsFunc(st.c.Phases, func(p kasoku.Phase) bool {
		return p.Kind == kasoku.PhaseInitialize && p.Interval.From <= in.From && in.To <= p.Interval.To
	})
}

// ShareOf returns how much of all requests' time that is, 0..1; 0 when the
// requests were not timed. What several statements of one request take at the same
// time counts for each of them, hence the cap. It is the caller's part that requests
// run them: other programs do, too.
func (st Statements) ShareOf(d time.Duration) float64 {
	all := st.RequestTime()
	if all <= 0 {
		return 0
	}
	return unitInterval(float64(d) / float64(all))
}

// EndpointOf returns an endpoint of the front log by "GET /orders/:id", nil when
// it is not there.
func (st Statements) EndpointOf(name string) *kasoku.Endpoint {
	_, endpoints := st.c.FrontLog()
	for i := range endpoints {
		if endpoints[i].Method+" "+endpoints[i].Route == name {
			return &endpoints[i]
		}
	}
	return nil
}

// initializes reports whether the endpoint is the one that brings the service to
// its initial state.
func (st Statements) initializes(endpoint string) bool {
	return slices.ContainsFunc(st.c.Phases, func(p kasoku.Phase) bool {
		return p.Kind == kasoku.PhaseInitialize &&
			p.Why == endpoint
	})
}
