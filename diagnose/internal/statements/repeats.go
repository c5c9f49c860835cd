package statements

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// Thresholds of lookups that ask for the same within a request (QRY-05).
const (
	// leastKnown is the part of the statements whose values must have been seen for them to say something.
	leastKnown = 0.9
	// leastAgain is how often each thing is asked for at least, on average.
	leastAgain = 2
	// leastFound is how many rows a lookup sends at least: one that is asked again until there is something
	// waits for it.
	leastFound = 0.5
)

// An Asking is for how many different things the lookups of a class asked in the requests that were seen
// to run them, or in rows on one connection.
type Asking struct {
	Known     float64 // statements
	Different float64 // things, within each request or row, added up
	Within    float64 // so many requests or rows
	Requests  bool
}

// again reports whether most lookups ask for what was asked before.
func (a Asking) again() bool { return a.Known >= leastAgain*a.Different }

// keys reports whether a request asks for so many things that one asks for them in a loop.
func (a Asking) keys() bool { return a.Different >= LeastPerRequest*a.Within }

// asked returns what is known of that; false where values were not seen.
func (l Looped) asked(c *diagnose.Case) (a Asking, known bool) {
	if x := l.Caller; x != nil && x.Class == kasoku.CallerConfirmed && x.Source == kasoku.FromTrace {
		return tracedAsking(c, x)
	}
	if !l.Row {
		return a, false
	}
	for i := range c.Joins {
		if c.Joins[i].Saturated {
			continue
		}
		for _, r := range c.Joins[i].Loops {
			at := slices.Index(r.QueryIDs, l.Query.ID)
			if at < 0 || at >= len(r.Known) || at >= len(r.Different) {
				continue
			}
			if r.Different[at] == 0 {
				return Asking{}, false
			}
			a.Known, a.Different = a.Known+float64(r.Known[at]), a.Different+float64(r.Different[at])
			a.Within = a.Within + float64(r.Runs)
		}
	}
	return a, a.Known >= leastLookups
}

func tracedAsking(c *diagnose.Case, x *kasoku.Caller) (a Asking, known bool) {
	calls := 0.0
	for i := range c.Traces {
		for k := range c.Traces[i].Calls {
			n := &c.Traces[i].Calls[k]
			if n.QueryID != x.QueryID || n.Method != x.Method || n.Route != x.Route {
				continue
			}
			calls += float64(n.Calls)
			a.Known, a.Different = a.Known+float64(n.Known), a.Different+float64(n.Different)
			a.Within = a.Within + float64(n.With)
		}
	}
	a.Requests = true
	return a, a.Different > 0 && a.Known >= leastKnown*calls
}

// Repeats is what is known of lookups that ask for the same within a request, of which an answer that was kept would
// be the right one; false where they do not, or it would not be for sure: the request writes to the table, the
// statement says other things each time, or locks, or waits until there is something.
func (l Looped) Repeats(c *diagnose.Case) (Asking, bool) {
	a, known := l.asked(c)
	return a, known && a.again() && RowsPerCall(l.Query) >= leastFound && !l.changes(c) && !isVolatile(TextOf(l.Query))
}

// KnownKeys reports whether it is known that the lookups of a request ask for several things: seen, or as there are so
// many more texts of the class than requests that may have run it.
func (l Looped) KnownKeys(c *diagnose.Case) bool {
	if a, known := l.asked(c); known {
		return a.keys()
	}
	x := l.Caller
	if x == nil || x.PerRequest <= 0 {
		return false
	}
	return float64(l.Query.Distinct) >= LeastPerRequest*max(float64(x.Requests), x.Calls/x.PerRequest)
}

// same reports whether they ask for the same, and not for so many things that one asks for them in a loop.
func (l Looped) same(c *diagnose.Case) bool {
	a, again := l.Repeats(c)
	return again && !a.keys()
}

// divideSame divides the loops of an endpoint by that.
func divideSame(c *diagnose.Case, all []Looped) (keys, same []Looped) {
	for _, l := range all {
		if l.same(c) {
			same = append(same, l)
		} else {
			keys = append(keys, l)
		}
	}
	return keys, byTime(c, same)
}

// few reports whether it is known that they ask for less than a loop would.
func (l Looped) few(c *diagnose.Case) bool {
	a, known := l.asked(c)
	return known && !a.keys()
}

// changes reports whether requests of the endpoint write to the lookup's table. Where no trace saw all that they run,
// statements that are of no known endpoint may be theirs.
func (l Looped) changes(c *diagnose.Case) bool {
	table := bareTable(l.Shape.Table)
	traced := l.Caller != nil && l.Caller.Source == kasoku.FromTrace
	for i := range c.Queries {
		q := &c.Queries[i]
		if !ChangesRows(q) || bareTable(Of(q).Table) != table &&
			!slices.ContainsFunc(q.Tables, func(t string) bool { return bareTable(t) == table }) {
			continue
		}
		known := len(c.Statements().CallersOf(q.ID)) > 0
		if l.Caller == nil || PerRequestOf(c, q.ID, l.Caller.Endpoint()) > 0 || !traced && !known {
			return true
		}
	}
	return false
}

func bareTable(t string) string { return strings.ToLower(t[strings.LastIndexByte(t, '.')+1:]) }

// volatileWords are what makes a statement answer otherwise each time, or do more than answer.
var volatileWords = []string{"last_insert_id", "row_count", "found_rows", "rand", "uuid", "uuid_short", "nextval", "lastval",
	"get_lock", "release_lock", "sleep", "sysdate", "now", "current_timestamp"}

// isVolatile reports whether a statement answers otherwise each time for other reasons than its rows, or locks them.
func isVolatile(text string) bool {
	last := ""
	for _, t := range tokensOf(text) {
		t = strings.ToLower(t)
		if strings.HasPrefix(t, "@") || slices.Contains(volatileWords, t) ||
			(last == "for" && (t == "update" || t == "share")) || last == "lock" && t == "in" {
			return true
		}
		last = t
	}
	return false
}

// Again returns how many of a request's statements need not be run: of lookups for rows all but one, of those that ask
// for the same all but one for each thing.
func (r RowLoop) again(l Looped, c *diagnose.Case) (part float64) {
	if a, ok := l.Repeats(c); ok && r.Same {
		return 1 - a.Different/a.Known
	}
	return 1 - 1/max(l.Per(c), 1)
}

// Left is how many statements of a request remain when what is asked is asked once.
func (r RowLoop) Left(c *diagnose.Case) float64 {
	left := 0.0
	for _, l := range r.Loops {
		left += max(l.Per(c), 1) * (1 - r.again(l, c))
	}
	return left
}
