package statements

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// longStreak calls of a class one after another on one connection are what kasoku counts
// as a streak.
const longStreak = 10

// crowdedSeconds are needed in which more ran than requests that each run a few can explain.
const crowdedSeconds = 3

// looksUp reports whether some request runs a class in a loop, whichever endpoint it is of.
// It needs no times finer than a second: most calls come in streaks on one connection, and
// in the same seconds there were fewer requests than would explain them if each of them ran
// less than [LeastPerRequest]. Requests of every endpoint count as if they ran the class, from
// a second before they could have begun to a second after they ended, so that the other
// endpoints can hide a loop but not make one. Seconds so near an end of the log that requests
// may be missing from it are left out.
func looksUp(c *diagnose.Case, q *kasoku.Query) bool {
	if q.Streak < longStreak || !InRows(c, q) {
		return false
	}
	open := openBySecond(c)
	if len(open) == 0 {
		return false
	}
	var calls uint64
	seconds := 0
	for s, n := range q.Seconds {
		if most, known := open[s]; known && float64(n.Calls) >= LeastPerRequest*max(most, 1) && !initializesIn(c, s) {
			calls += n.Calls
			seconds++
		}
	}
	return seconds >= crowdedSeconds && calls >= leastLookups
}

// openBySecond returns how many requests may have been open in each second of the run, at
// most; nothing where the access log is not of the load.
func openBySecond(c *diagnose.Case) map[int]float64 {
	return diagnose.Once(c, "requests open by second", func() map[int]float64 {
		if r, err := c.Requests(c.Whole()); err != nil || r.Source != "access log" {
			return nil
		}
		open := map[int]float64{}
		_, endpoints := c.FrontLog()
		first, last, longest := math.MaxInt, math.MinInt, 0
		for i := range endpoints {
			e := &endpoints[i]
			lasts := int(e.Latency.Max()/time.Second) + 2
			longest = max(longest, lasts)
			for s, n := range e.Seconds {
				first, last = min(first, s), max(last, s)
				for at := s - lasts; at <= s+1; at++ {
					open[at] += float64(n.Count)
				}
			}
		}
		maps.DeleteFunc(open, func(s int, _ float64) bool { return s <= first || s+longest > last })
		return open
	})
}

// initializesIn reports whether the service was brought to its initial state in a second.
func initializesIn(c *diagnose.Case, second int) bool {
	from := time.Duration(second) * time.Second
	for i := range c.Phases {
		p := &c.Phases[i]
		if p.Kind == kasoku.PhaseInitialize && p.Interval.From < from+time.Second && from < p.Interval.To {
			return true
		}
	}
	return false
}

// unplaced returns a loop of a class that no endpoint is known to run, nil where there is none.
// The endpoint is possible where most of the class overlaps with it.
func unplaced(c *diagnose.Case, q *kasoku.Query, callers []kasoku.Caller) *Looped {
	if RowsPerCall(q) > oneRow {
		return nil
	}
	for i := range callers {
		if callers[i].Class != kasoku.CallerPossible {
			return nil // what is known of it is said by that
		}
	}
	l := &Looped{Query: q, Shape: Of(q), Row: InRows(c, q)}
	crowded := looksUp(c, q)
	if crowded {
		for i := range callers {
			if x := &callers[i]; x.Share > explained && x.PerRequest >= LeastPerRequest {
				l.Caller = x
			}
		}
	}
	l.List = listOf(c, *l)
	switch {
	case crowded:
		return l
	case len(c.Callers) == 0 && (perAnyRequest(c, q) >= LeastPerRequest && l.Row || inLoops(c, q)):
		return l
	}
	return nil
}

// sameForAll reports whether requests run a class for the same things whatever they are for,
// as for settings or a menu: with one text in nearly all calls, or, where endpoints that are
// known run it, with no more texts than one request has calls, or by names. Those are no rows of a list.
func sameForAll(q *kasoku.Query, callers []kasoku.Caller) bool {
	const nearlyAll, pages = 0.9, 2
	if q.Calls >= leastLookups && float64(q.Repeated) >= nearlyAll*float64(q.Calls) {
		return true
	}
	if q.Distinct == 0 {
		return false
	}
	if slices.ContainsFunc(callers, func(x kasoku.Caller) bool { return asksNames(q, &x) }) {
		return true
	}
	all := 0
	for i := range callers {
		x := &callers[i]
		if x.Class == kasoku.CallerPossible || x.Requests < leastPages {
			continue
		}
		if x.PerRequest < nearlyAll*float64(q.Distinct) {
			return false
		}
		all++
	}
	return all >= pages
}

// asksNames reports whether requests ask for texts that stand in the program, such as names of settings: a trace saw
// as many in each request, there are few more texts than those, and one of them is asked for by each.
func asksNames(q *kasoku.Query, x *kasoku.Caller) bool {
	const few, nearlyAll, seen = 3, 0.9, 3
	return x.Class == kasoku.CallerConfirmed && x.Source == kasoku.FromTrace && x.Requests >= seen && x.Least == x.Most &&
		x.PerRequest >= LeastPerRequest && !x.Loop && x.List == "" && len(q.Numbers) == 0 &&
		float64(q.Distinct) <= few*x.PerRequest && float64(q.Repeated) >= nearlyAll*float64(q.Calls)/x.PerRequest
}

// isOneForEach reports whether each of the requests that are known to run a class may ask for one thing
// again and again, as a program that reads a row anew for each right that it looks up: there are no
// more texts than requests. So may a loop over few keys, which comes in rows or follows the rows of a list.
func isOneForEach(q *kasoku.Query, callers []kasoku.Caller) bool {
	requests := 0.0
	for i := range callers {
		x := &callers[i]
		if x.Class != kasoku.CallerConfirmed || x.PerRequest <= 0 {
			return false
		}
		requests += x.Calls / x.PerRequest
	}
	return q.Distinct > 0 && float64(q.Distinct) <= requests
}

// leastPages requests of an endpoint show what each of them runs.
const leastPages = 20

// polls reports whether requests ask the same again and again until there is something, as a
// long poll does: there is about one text for each request, and at most a row, and no
// statement of the endpoint sends rows that the lookups could follow. False where texts were
// not counted.
func (l Looped) polls(c *diagnose.Case) bool {
	q, x := l.Query, l.Caller
	if q.Distinct == 0 || x == nil || x.Class != kasoku.CallerConfirmed || x.Loop || l.List != nil {
		return false
	}
	if requests := x.Calls / max(x.PerRequest, 1); float64(q.Distinct) > requests || RowsPerCall(q)*x.Calls > requests {
		return false
	}
	for i := range c.Queries {
		list := &c.Queries[i]
		if list != q && list.Verb == "SELECT" && RowsPerCall(list) >= NestedRows &&
			PerRequestOf(c, list.ID, x.Endpoint()) > 0 {
			return false
		}
	}
	return true
}
