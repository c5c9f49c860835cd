package statements

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// Thresholds of lookups that a program runs in a loop (QRY-04, QRY-05, QRY-06).
const (
	// LeastPerRequest lookups of one class in a request are a loop: people write
	// two or three of one by hand, not five.
	LeastPerRequest = 5
	// oneRow is how many rows a lookup sends at most on average; a little more
	// than one for keys that are not quite unique.
	oneRow = 1.05
	// leastLookups are calls below which a ratio of calls and requests says little.
	leastLookups = 50
	// alikeFactor is how far the rows of a list and the lookups for them may lie
	// apart: rows that fail a condition are not looked up, and a cache answers some.
	alikeFactor = 2
	// NestedRows is the least number of rows of a statement in a loop for it to
	// drive another loop.
	NestedRows = 1.5
	// nestedPer is how often a statement runs in a request at least to be a loop
	// around another one.
	nestedPer = 2
	// leastLoopShare of the requests' time, and ofEndpoint of that of its endpoint,
	// make an N+1 more than a remark: something else may take most of the time now.
	leastLoopShare = 0.002
	ofEndpoint     = 0.10
	// leastLoopRequests of the endpoint show what it takes, where the share is that small.
	leastLoopRequests = 5
	// StreakShare is the part of a class's calls that come in rows on one
	// connection when a program loops over it.
	StreakShare = 0.5
)

// A Looped is a class of lookups that an endpoint runs one by one.
type Looped struct {
	Query  *kasoku.Query
	Shape  Statement
	Caller *kasoku.Caller // nil when the endpoint is not known
	List   *kasoku.Query  // whose rows they are looked up for; nil when not known
	Row    bool           // seen in rows on one connection
}

// Many stands for an amount that is not known.
const Many = "many"

// guessed reports whether the endpoint is only possible, or not known: what overlaps with it
// in time is its own and that of others then, and no number of statements a request. Calls
// divided by the requests of all endpoints are none either.
func (l Looped) guessed() bool {
	return l.Caller == nil || l.Caller.Class == kasoku.CallerPossible
}

// Per is how many run for each request; where the endpoint is not known, so many as make a
// loop: what is more is not known either, and is not shown.
func (l Looped) Per(*diagnose.Case) float64 {
	if l.Caller != nil {
		return l.Caller.PerRequest
	}
	return LeastPerRequest
}

// Endpoint is the one that runs them, empty when it is not known.
func (l Looped) Endpoint() string {
	if l.Caller == nil {
		return ""
	}
	return l.Caller.Endpoint()
}

// bounds are the least and the most that Per may be.
func (l Looped) bounds(c *diagnose.Case) (least, most float64) {
	if l.Caller != nil && l.Caller.Most > 0 {
		return l.Caller.Least, l.Caller.Most
	}
	return l.Per(c), l.Per(c)
}

// Amount prints how many run for each request: 7.88, or 9 to 10 where it is not known better.
// Nothing is counted where the endpoint is only possible.
func (l Looped) Amount(c *diagnose.Case) string {
	if l.guessed() {
		return Many
	}
	least, most := l.bounds(c)
	return amount(l.Per(c), least, most)
}

// wideAmount is the width of an amount, as a part of it, that digits would hide.
const wideAmount = 0.1

func amount(per, least, most float64) string {
	from, to := math.Round(least), math.Round(most)
	if most-least <= wideAmount*per || from == to {
		return wording.Average(per)
	}
	return diagnose.Whole(from) + " to " + diagnose.Whole(to)
}

// spent is how long the endpoint's own statements of the class took.
func (l Looped) spent(c *diagnose.Case) time.Duration {
	d := c.Statements().QueryTime(l.Query)
	if l.Caller == nil || l.Query.Calls == 0 {
		return d
	}
	share := l.Caller.Share
	if e := c.Statements().EndpointOf(l.Caller.Endpoint()); e != nil &&
		l.Caller.Source == kasoku.FromProbe { // it counted its own requests alone
		share = l.Caller.PerRequest * float64(e.Count) / float64(l.Query.Calls)
	}
	if share <= 0 {
		share = l.Caller.Calls / float64(l.Query.Calls)
	}
	return time.Duration(min(share, 1) * float64(d))
}

// A RowLoop is one N+1: the loops of one endpoint that one rule reports.
//
// Each loop belongs to exactly one rule. Where a statement that itself runs several times in a
// request sends the rows for another loop, all loops of the endpoint are QRY-06. Else a loop
// whose list comes from the lookup's own table by a range or a shape, or that compares shapes
// itself, is QRY-04; any other is QRY-05.
type RowLoop struct {
	ID       string
	Endpoint string // empty when not known
	Loops    []Looped
	Same     bool          // QRY-05: they ask for the same within a request, and for no rows one by one
	Again    []Looped      // QRY-05: others of the endpoint, that ask for the same
	Around   *kasoku.Query // QRY-06: the statement in the outer loop
}

// RowLoops finds all N+1 of a run, the costliest first. When there is none it says
// how near the nearest came: how many lookups a request makes.
func RowLoops(c *diagnose.Case) (found []RowLoop, nearest float64) {
	by := map[string][]Looped{}
	for i := range c.Queries {
		q := &c.Queries[i]
		shape := Of(q)
		if q.Verb != "SELECT" || q.Calls < leastLookups || len(shape.Keys) == 0 && !shape.spatial {
			continue
		}
		callers := c.Statements().CallersOf(q.ID)
		same, placed := sameForAll(q, callers), false
		for k := range callers {
			l := Looped{Query: q, Shape: shape, Caller: &callers[k], Row: callers[k].Loop ||
				q.Streak >= LeastPerRequest}
			l.List = listOf(c, l)
			if l.same(c) && l.lookup(c) && l.sure() {
				by[l.Caller.Endpoint()], placed = append(by[l.Caller.Endpoint()], l), true
				continue
			}
			if same || l.few(c) || !l.lookup(c) || !l.Row && l.Caller.List == "" && isOneForEach(q, callers) {
				continue
			}
			nearest = max(nearest, l.Caller.PerRequest)
			if l.sure() && !l.unrolled(c) {
				by[l.Caller.Endpoint()], placed = append(by[l.Caller.Endpoint()], l), true
			}
		}
		if same {
			continue
		}
		if x, ok := findUnexplained(c, q, callers); ok && RowsPerCall(q) <= oneRow &&
			(inLoops(c, q) || InRows(c, q) && loopCalls(c, q) >= leastLookups) {
			l := Looped{Query: q, Shape: shape, Caller: x, Row: true}
			l.List = listOf(c, l)
			nearest = max(nearest, x.PerRequest)
			if x.PerRequest >= LeastPerRequest && !l.few(c) {
				by[x.Endpoint()], placed = append(by[x.Endpoint()], l), true
			}
		}
		if placed {
			continue
		}
		if l := unplaced(c, q, callers); l != nil && !l.few(c) {
			by[l.Endpoint()] = append(by[l.Endpoint()], *l)
		} else if len(c.Callers) == 0 && RowsPerCall(q) <= oneRow {
			nearest = max(nearest, perAnyRequest(c, q))
		}
	}
	for endpoint, loops := range by {
		found = append(found, divideLoops(c, endpoint, loops)...)
	}
	slices.SortFunc(found, func(a, b RowLoop) int {
		return cmp.Or(cmp.Compare(b.Spent(c), a.Spent(c)), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.Loops[0].Query.ID, b.Loops[0].Query.ID))
	})
	return found, nearest
}

// explained is the part of a class's calls that callers must account for.
const explained = 0.5

// findUnexplained returns a caller for lookups that were seen in loops and of whose calls the
// callers account for less than half: the endpoint with more than half of those that they do
// account for, taken to run all.
func findUnexplained(c *diagnose.Case, q *kasoku.Query, callers []kasoku.Caller) (*kasoku.Caller, bool) {
	var sum float64
	var most *kasoku.Caller
	for i := range callers {
		x := &callers[i]
		if x.Class == kasoku.CallerConfirmed && x.PerRequest >= LeastPerRequest {
			return nil, false // it is known whose they are
		}
		if sum += x.Calls; most == nil || x.Calls > most.Calls {
			most = x
		}
	}
	if most == nil || sum >= explained*float64(q.Calls) || most.Calls <= sum/2 || most.Requests == 0 {
		return nil, false
	}
	x := *most
	x.Class, x.Share, x.Calls = kasoku.CallerPossible, 1, float64(q.Calls)
	x.PerRequest = x.Calls / float64(x.Requests)
	return &x, true
}

// lookup reports whether the statements look up one row, or, where their number
// follows the rows of a list or they come one after another, a few.
func (l Looped) lookup(c *diagnose.Case) bool {
	return !l.polls(c) && (RowsPerCall(l.Query) <= oneRow || l.List != nil || l.Caller != nil && l.Caller.Loop)
}

// sure reports whether the endpoint runs the lookups in a loop. By overlap alone
// an estimate may be another endpoint's; that they come in rows, or as many as a
// list has rows, bears it out. Where it is only possible, most of the class must be the
// endpoint's: whatever else runs beside a long loop has a part of it by overlap.
func (l Looped) sure() bool {
	x := l.Caller
	if x.PerRequest < LeastPerRequest {
		return false
	}
	switch x.Class {
	case kasoku.CallerConfirmed:
		return true
	case kasoku.CallerHigh, kasoku.CallerGroup:
		return l.Row || l.List != nil
	}
	return (x.Loop || x.List != "") && x.Share > explained
}

// mostUnrolled statements of a class a request are more than a program writes one by one; a list that they
// follow has so nearly as many rows.
const (
	mostUnrolled = 9
	unrolledRows = 0.1
)

// unrolled reports whether lookups may stand in the program one by one, as of five attributes of one thing: a
// trace saw the same few in each request, and no list sends as many rows.
func (l Looped) unrolled(c *diagnose.Case) bool {
	x := l.Caller
	if x.Class != kasoku.CallerConfirmed || x.Source != kasoku.FromTrace || x.Loop || x.List != "" ||
		x.PerRequest > mostUnrolled || x.Least != x.Most {
		return false
	}
	if l.List == nil {
		return true
	}
	rows := PerRequestOf(c, l.List.ID, x.Endpoint()) * RowsPerCall(l.List)
	return math.Abs(rows-x.PerRequest) > unrolledRows*x.PerRequest
}

// PerRequestOf returns how many statements of a class a request of an endpoint
// runs, 0 when that is not known.
func PerRequestOf(c *diagnose.Case, id, endpoint string) float64 {
	for i := range c.Callers {
		if x := &c.Callers[i]; x.QueryID == id && x.Endpoint() == endpoint {
			return x.PerRequest
		}
	}
	return 0
}

// perAnyRequest returns the calls of a class for each request of any endpoint.
func perAnyRequest(c *diagnose.Case, q *kasoku.Query) float64 {
	n, err := c.Requests(c.Whole())
	if err != nil || n.Count == 0 {
		return 0
	}
	return float64(q.Calls) / float64(n.Count)
}

// InRows reports whether most calls of a class come in rows on one connection. A
// service that runs one statement a request shows it too.
func InRows(c *diagnose.Case, q *kasoku.Query) bool {
	return float64(q.Streaks) >= StreakShare*float64(q.Calls)
}

// inLoops reports whether most calls of a class were seen in loops on connections
// of a pool that was not used up: there, neighbours are of one request.
func inLoops(c *diagnose.Case, q *kasoku.Query) bool {
	return float64(loopCalls(c, q)) >= StreakShare*float64(q.Calls)
}

// loopCalls counts the calls of a class that were seen in such loops.
func loopCalls(c *diagnose.Case, q *kasoku.Query) (calls uint64) {
	for i := range c.Joins {
		if c.Joins[i].Saturated {
			continue
		}
		for _, l := range c.Joins[i].Loops {
			if slices.Contains(l.QueryIDs, q.ID) {
				calls += l.Calls / uint64(max(len(l.QueryIDs), 1))
			}
		}
	}
	return calls
}

// divideLoops assigns each loop of an endpoint to the rule that reports it.
func divideLoops(c *diagnose.Case, endpoint string, loops []Looped) []RowLoop {
	loops, same := divideSame(c, loops)
	out := divideKeys(c, endpoint, loops)
	at := slices.IndexFunc(out, func(r RowLoop) bool { return r.ID == "QRY-05" })
	switch {
	case len(same) == 0:
	case at >= 0 && endpoint != "":
		out[at].Again = same
	default:
		out = append(out, RowLoop{ID: "QRY-05", Endpoint: endpoint, Loops: same, Same: true})
	}
	return out
}

func divideKeys(c *diagnose.Case, endpoint string, loops []Looped) []RowLoop {
	if around := findOuter(c, endpoint, loops); around != nil {
		return []RowLoop{{ID: "QRY-06", Endpoint: endpoint, Loops: byTime(c, loops), Around: around}}
	}
	parts := map[string][]Looped{}
	for _, l := range loops {
		id := "QRY-05"
		if l.Shape.spatial || l.List != nil && inArea(l) {
			id = "QRY-04"
		}
		key := id
		if endpoint == "" {
			key += l.Query.ID // nothing says that they belong together
		}
		parts[key] = append(parts[key], l)
	}
	var out []RowLoop
	for key, part := range parts {
		out = append(out, RowLoop{ID: key[:len("QRY-05")], Endpoint: endpoint, Loops: byTime(c, part)})
	}
	return out
}

// inArea reports whether the list asks for what lies in a box or in a shape, of the same table as the lookup. Two columns
// that are bounded on one side each, as the begin and the end of something in a month, are no box.
func inArea(l Looped) bool {
	s := Of(l.List)
	return s.Table == l.Shape.Table && (s.spatial || len(s.Ranged) >= 2 && boxed(l.List) >= 2)
}

// boxed returns how many columns are bounded on both sides.
func boxed(q *kasoku.Query) (n int) {
	const below, above, both = 1, 2, 3
	bounds := map[string]int{}
	tokens := tokensOf(TextOf(q))
	for i := 1; i < len(tokens); i++ {
		side := map[string]int{"<": below, ">": above, "between": both}[strings.ToLower(tokens[i])]
		if side == 0 || !isColumn(tokens[i-1]) || i+1 < len(tokens) && tokens[i+1] == ">" { // <>
			continue
		}
		column := strings.ToLower(tokens[i-1])
		if was := bounds[column]; was != both && was|side == both {
			n++
		}
		bounds[column] |= side
	}
	return n
}

// findOuter returns the statement in the outer loop when an endpoint has two levels
// of them.
func findOuter(c *diagnose.Case, endpoint string, loops []Looped) *kasoku.Query {
	if endpoint == "" {
		return nil
	}
	var best *kasoku.Query
	for i := range c.Queries {
		q := &c.Queries[i]
		per := PerRequestOf(c, q.ID, endpoint)
		if per < nestedPer || q.Verb != "SELECT" || RowsPerCall(q) < NestedRows || len(Of(q).Keys) == 0 {
			continue
		}
		for _, l := range loops {
			if l.Query != q && l.List == q && l.Per(c) > per && l.follows(c, q) && (best == nil || q.Total > best.Total) {
				best = q
			}
		}
	}
	return best
}

func byTime(c *diagnose.Case, loops []Looped) []Looped {
	slices.SortStableFunc(loops, func(a, b Looped) int {
		return cmp.Or(cmp.Compare(b.spent(c), a.spent(c)), cmp.Compare(a.Query.ID, b.Query.ID))
	})
	return loops
}
