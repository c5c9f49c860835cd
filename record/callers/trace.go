package callers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/routes"
	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/window"
)

// A Locate returns the endpoint of a request's method and path.
type Locate func(method, path string) (asMethod, route string)

// LocateBy returns what finds the endpoint of a request: as the table of access logs has it;
// without one paths in which what looks like a value is left open.
func LocateBy(t *accesslog.Table) Locate {
	if t == nil {
		m := routes.Automatic().Mapper()
		return func(method, path string) (string, string) {
			path, _, _ = strings.Cut(path, "?") // no log says whether programs choose by it
			route, _ := m.Append(nil, []byte(method), []byte(path))
			return method, string(route)
		}
	}
	l := t.Locator()
	return func(method, path string) (string, string) {
		m, route := l.Locate(&accessformat.Record{Method: []byte(method), Path: []byte(path)})
		return cmp.Or(m, method), route
	}
}

// Bounds of what is kept of a trace, and what is few.
const (
	mostLost   = 1000   // of so many events one may be lost
	mostTraced = 20_000 // pairs of endpoint and class
	// fewTraced is how many requests of an endpoint, or statements of a class, a trace must have
	// seen for what it did not see to say something.
	fewTraced = 20
)

// Traced returns what a trace saw, by endpoint, of a run of that beginning and length.
func Traced(seen *window.Seen, start time.Time, length time.Duration, locate Locate) *kasoku.Trace {
	if seen.Blind != "" {
		return &kasoku.Trace{Refused: seen.Blind}
	}
	t := summed(seen.Result, locate)
	t.Attach, t.CPU, t.Events, t.Lost = seen.Attach, seen.CPU, seen.Events, seen.Lost
	t.Interval = kasoku.Interval{From: seen.Began.Sub(start), To: min(seen.Ended.Sub(start), length)}
	t.Members = slices.Compact(slices.Sorted(maps.Values(seen.Members)))
	t.Notes = append(t.Notes, seen.Notes...)
	nameSyncs(t, seen.Result, seen.Members)
	return t
}

// summed adds up what paths of one route did.
func summed(r *trace.Result, locate Locate) *kasoku.Trace {
	n := &r.Counts
	t := &kasoku.Trace{Counts: kasoku.TraceCounts{
		Requests: n.Requests, Unanswered: n.Unanswered, Mixed: n.Mixed, Statements: n.Statements, Tied: n.Tied,
		Partial: n.Before + n.Unfinished, Outside: n.Outside, Unresolved: n.Unresolved, Setup: n.Setup, After: n.After,
	}}
	s := sums{trace: t, endpoints: map[string]int{}, calls: map[callKey]int{}, externals: map[[2]string]int{}}
	answers := answering(r, locate)
	left := map[string]int{}
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		method, route := locate(e.Method, e.Path)
		if answers[method+" "+route].member != e.Member {
			left[e.Member]++
			continue
		}
		s.add(r, e, method, route)
	}
	for _, member := range slices.Sorted(maps.Keys(left)) {
		t.Notes = append(t.Notes, fmt.Sprintf("%d paths of %s have endpoints that another member answers with more "+
			"statements: what %s did for them is left out", left[member], member, member))
	}
	s.settle()
	for i := range r.Classes {
		if c := &r.Classes[i]; c.Outside > 0 {
			t.Calls = append(t.Calls, kasoku.TracedCall{QueryID: c.ID, Fingerprint: c.Fingerprint,
				Calls: c.Outside, Seen: c.Count})
		}
	}
	slices.SortStableFunc(t.Calls, func(a, b kasoku.TracedCall) int { return cmp.Compare(b.Calls, a.Calls) })
	if len(t.Calls) > mostTraced {
		t.Notes = append(t.Notes,
			fmt.Sprintf("%d pairs of endpoint and statement with the fewest calls are left out",
				len(t.Calls)-mostTraced))
		t.Calls = t.Calls[:mostTraced]
	}
	for _, u := range r.Uncovered {
		t.Notes = append(t.Notes, fmt.Sprintf("%s: %d, not read", u.What, u.Count))
	}
	if n.Calls > 0 {
		t.Notes = append(t.Notes,
			fmt.Sprintf("%s requests to other services were sent by goroutines of their connections: "+
				"whose they are is not known", unit.Count(n.Calls)))
	}
	if n.Beyond > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s requests with more different paths than are kept",
			unit.Count(n.Beyond)))
	}
	return t
}

// answerer is who answers an endpoint, with how many statements.
type answerer struct {
	member               string
	statements, requests uint64
}

// answering returns for each endpoint the member that answers it: of several, such as one that passes
// requests on to another, the one that runs most statements for it.
func answering(r *trace.Result, locate Locate) map[string]answerer {
	all := map[[2]string]answerer{}
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		method, route := locate(e.Method, e.Path)
		key := [2]string{method + " " + route, e.Member}
		x := all[key]
		x.member, x.requests = e.Member, x.requests+e.Requests
		for _, c := range e.Calls {
			x.statements += c.Count
		}
		all[key] = x
	}
	out := map[string]answerer{}
	for key, x := range all {
		best, known := out[key[0]]
		if !known || cmp.Or(cmp.Compare(x.statements, best.statements), cmp.Compare(x.requests, best.requests),
			cmp.Compare(best.member, x.member)) > 0 {
			out[key[0]] = x
		}
	}
	return out
}

type callKey struct {
	endpoint int
	class    string
}

// sums add up what paths of one route did.
type sums struct {
	trace     *kasoku.Trace
	endpoints map[string]int
	calls     map[callKey]int
	externals map[[2]string]int
}

func (s *sums) add(r *trace.Result, e *trace.Endpoint, method, route string) {
	t := s.trace
	name := method + " " + route
	at, known := s.endpoints[name]
	if !known {
		at = len(t.Endpoints)
		s.endpoints[name] = at
		t.Endpoints = append(t.Endpoints, kasoku.TracedEndpoint{Method: method, Route: route})
	}
	to := &t.Endpoints[at]
	to.Requests += e.Requests
	to.Time, to.Database, to.PoolWait, to.Idle = to.Time+e.Time, to.Database+e.Database, to.PoolWait+e.PoolWait, to.Idle+e.Idle
	to.Waits += e.Waits
	for _, c := range e.Calls {
		class := &r.Classes[c.Class]
		key := callKey{at, class.ID + "\x00" + class.Fingerprint} // which is cut
		i, known := s.calls[key]
		if !known {
			i = len(t.Calls)
			s.calls[key] = i
			t.Calls = append(t.Calls, kasoku.TracedCall{
				Method: method, Route: route, QueryID: class.ID, Fingerprint: class.Fingerprint, Least: c.Least,
				Seen: class.Count,
			})
		}
		k := &t.Calls[i]
		k.Requests += c.Requests
		k.With, k.Calls, k.Time = k.With+c.With, k.Calls+c.Count, k.Time+c.Time
		k.Least, k.Most = min(k.Least, c.Least), max(k.Most, c.Most)
		k.Known, k.Different = k.Known+c.Known, k.Different+c.Different
	}
	for _, x := range e.External {
		s.addExternal(r, method, route, &x)
	}
	for _, x := range e.Programs {
		addProgram(to, x)
	}
}

// addProgram adds what the requests of a path started to its endpoint.
func addProgram(to *kasoku.TracedEndpoint, x trace.Program) {
	i := slices.IndexFunc(to.Programs, func(p kasoku.TracedProgram) bool { return p.Name == x.Name })
	if i < 0 {
		i = len(to.Programs)
		to.Programs = append(to.Programs, kasoku.TracedProgram{Name: x.Name})
	}
	to.Programs[i].With += x.With
	to.Programs[i].Starts += x.Count
}

func (s *sums) addExternal(r *trace.Result, method, route string, x *trace.External) {
	t := s.trace
	called := x.Method + " " + x.Host + x.Path
	key := [2]string{method + " " + route, called}
	i, known := s.externals[key]
	if !known {
		i = len(t.Externals)
		s.externals[key] = i
		t.Externals = append(t.Externals, kasoku.TracedExternal{Method: method, Route: route, To: called})
	}
	k := &t.Externals[i]
	k.Calls, k.Time, k.Held, k.HeldTime = k.Calls+x.Count, k.Time+x.Time, k.Held+x.Held, k.HeldTime+x.HeldTime
	if x.Locked > 0 {
		k.Locked, k.LockedTime, k.Locks = k.Locked+x.Locked, k.LockedTime+x.LockedTime, r.Classes[x.Locks].ID
	}
}

// settle gives each pair the requests of its endpoint: a path whose requests ran none of a class
// has no count of it.
func (s *sums) settle() {
	t := s.trace
	for i := range t.Calls {
		c := &t.Calls[i]
		c.Requests = t.Endpoints[s.endpoints[c.Endpoint()]].Requests
		if c.With < c.Requests {
			c.Least = 0
		}
	}
	for i := range t.Externals {
		x := &t.Externals[i]
		x.Requests = t.Endpoints[s.endpoints[x.Method+" "+x.Route]].Requests
	}
}

// nameSyncs adds what members wrote to their disks, by file.
func nameSyncs(t *kasoku.Trace, r *trace.Result, members map[int]string) {
	type key struct{ member, file string }
	index := map[key]int{}
	for _, s := range r.Syncs {
		k := key{members[s.PID], s.File}
		i, known := index[k]
		if !known {
			i = len(t.Syncs)
			index[k] = i
			t.Syncs = append(t.Syncs, kasoku.TracedSync{Member: k.member, File: k.file})
		}
		x := &t.Syncs[i]
		x.Count, x.Time, x.Most = x.Count+s.Count, x.Time+s.Time, max(x.Most, s.Most)
	}
}

// Overrule puts what a trace shows in place of what is less sure. It adds to the first of the joins
// how that compares with the trace, and reports whether it did.
func Overrule(t *kasoku.Trace, queries []kasoku.Query, known []kasoku.Caller,
	joins []kasoku.Join) (out []kasoku.Caller, compared bool) {
	shown := traceCallers(t, queries)
	if t.Lost > (t.Events+t.Lost)/mostLost {
		t.Notes = append(t.Notes, "too many events were lost: who issues which query is not taken from here")
		shown = nil
	}
	if len(shown) == 0 {
		return known, false
	}
	if len(joins) > 0 {
		if check, ok := compareJoin(t, known); ok {
			joins[0].Checks = append(joins[0].Checks, check)
			compared = true
		}
	}
	return Surest(append(shown, notTraced(t, known)...)), compared
}

// mostlyTied is which part of a class's statements must have been tied for its calls to be counted.
const mostlyTied = 0.95

// fewTied statements of a class say too little of which endpoints the others are.
const fewTied = 5

// A classSeen is how many statements of a class a trace saw.
type classSeen struct {
	inRequests, outside float64 // that are of requests, of none
	all                 float64 // also where whose they are is not known
	cutOff              bool    // the rest is of requests that began before the trace, or did not end in it
}

// classesSeen counts by id of the class.
func classesSeen(t *kasoku.Trace) map[string]classSeen {
	out := map[string]classSeen{}
	for i := range t.Calls {
		c := &t.Calls[i]
		x := out[c.QueryID]
		if c.Method == "" {
			x.outside += float64(c.Calls)
		} else {
			x.inRequests += float64(c.Calls)
		}
		x.all = max(x.all, x.inRequests+x.outside, float64(c.Seen))
		out[c.QueryID] = x
	}
	resolved := float64(t.Counts.Unresolved) <= (1-mostlyTied)*float64(t.Counts.Statements)
	for id, x := range out {
		x.cutOff = resolved && x.inRequests > 0 && x.all-x.inRequests-x.outside <= float64(t.Counts.Partial)
		out[id] = x
	}
	return out
}

// mostly reports whether it is known of nearly all whether requests ran them.
func (x classSeen) mostly() bool {
	return x.inRequests+x.outside >= mostlyTied*x.all || x.cutOff
}

// share is which part of the class so many statements of an endpoint stand for. Those of
// requests that were cut off are of the same endpoints: where requests take as long as the
// trace they are most of a class.
func (x classSeen) share(calls float64) float64 {
	if x.cutOff {
		return min(calls/x.inRequests*(x.all-x.outside)/x.all, 1)
	}
	return min(calls/max(x.all, 1), 1)
}

// traceCallers returns the callers that a trace shows. Of a run whose log counts the class, the
// calls are the trace's share of all of them, where it is known of nearly all whether requests ran them.
func traceCallers(t *kasoku.Trace, queries []kasoku.Query) (out []kasoku.Caller) {
	classes := classesSeen(t)
	logged := map[string]float64{}
	for i := range queries {
		logged[queries[i].ID] += float64(queries[i].Calls)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.QueryID == "" || c.Method == "" {
			continue
		}
		class := classes[c.QueryID]
		share := class.share(float64(c.Calls))
		calls := float64(c.Calls)
		if n := logged[c.QueryID]; n > 0 && class.mostly() {
			calls = share * n
		}
		x := kasoku.Caller{
			Host: t.Host, QueryID: c.QueryID, Method: c.Method, Route: c.Route, Class: kasoku.CallerConfirmed,
			Source:     kasoku.FromTrace,
			PerRequest: c.PerRequest(), Least: float64(c.Least), Most: float64(c.Most), Requests: c.Requests,
			Calls: calls, Share: share,
			Decisive: 1,
		}
		var notes []string
		if t.Lost > 0 {
			notes = append(notes, fmt.Sprintf("%s of %s events were lost while it was counted", unit.Count(t.Lost),
				unit.Count(t.Events+t.Lost)))
		}
		if tied := class.inRequests + class.outside; !class.mostly() || tied < class.all && tied < fewTied {
			notes = append(notes, fmt.Sprintf("of %s statements of the class %s could be tied to what ran them",
				unit.Count(uint64(class.all)), unit.Count(uint64(tied))))
		}
		x.Note = strings.Join(notes, "; ")
		out = append(out, x)
	}
	return out
}

// covered returns the classes of which a trace saw often enough which requests run them. Of one that it saw
// in none it says who sends the statements, not who waits for them: a goroutine may send those of
// many requests at once.
func covered(t *kasoku.Trace) map[string]bool {
	n := map[string]uint64{}
	for i := range t.Calls {
		if t.Calls[i].Method != "" {
			n[t.Calls[i].QueryID] += t.Calls[i].Calls
		}
	}
	out := map[string]bool{}
	for id, calls := range n {
		out[id] = calls >= fewTraced && t.Lost == 0 && t.Counts.Unresolved == 0
	}
	return out
}

// notTraced returns the callers that a trace leaves standing: where it saw the statements of a
// class, what overlap in time says of others is wrong, but of endpoints that it hardly saw.
func notTraced(t *kasoku.Trace, callers []kasoku.Caller) []kasoku.Caller {
	seen := covered(t)
	requests := map[string]uint64{}
	for i := range t.Endpoints {
		requests[t.Endpoints[i].Method+" "+t.Endpoints[i].Route] += t.Endpoints[i].Requests
	}
	return slices.DeleteFunc(slices.Clone(callers), func(c kasoku.Caller) bool {
		return c.Source == kasoku.FromOverlap && seen[c.QueryID] && requests[c.Endpoint()] >= fewTraced
	})
}

// nameTrace is the check of a join by time against a trace, as documents have it.
const nameTrace = "trace"

// compareJoin compares what overlap in time said with what a trace saw, of the classes and the
// endpoints that both know.
func compareJoin(t *kasoku.Trace, callers []kasoku.Caller) (kasoku.JoinCheck, bool) {
	seen := covered(t)
	requests := map[string]uint64{}
	for i := range t.Endpoints {
		requests[t.Endpoints[i].Method+" "+t.Endpoints[i].Route] += t.Endpoints[i].Requests
	}
	pairs := map[[2]string]bool{}
	for i := range t.Calls {
		if c := &t.Calls[i]; seen[c.QueryID] && c.Method != "" && c.Requests >= fewTraced {
			pairs[[2]string{c.Endpoint(), c.QueryID}] = true
		}
	}
	type score struct{ said, right int }
	scores := map[kasoku.CallerClass]*score{kasoku.CallerHigh: {}, kasoku.CallerPossible: {}, kasoku.CallerGroup: {}}
	found := map[[2]string]bool{}
	for i := range callers {
		c := &callers[i]
		s := scores[c.Class]
		if s == nil || c.Source != kasoku.FromOverlap || !seen[c.QueryID] || requests[c.Endpoint()] < fewTraced {
			continue
		}
		s.said++
		if pair := [2]string{c.Endpoint(), c.QueryID}; pairs[pair] {
			s.right++
			found[pair] = true
		}
	}
	var parts []string
	said, right := 0, 0
	for _, class := range []kasoku.CallerClass{kasoku.CallerHigh, kasoku.CallerPossible, kasoku.CallerGroup} {
		if s := scores[class]; s.said > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d called %s are right", s.right, s.said, class))
			said, right = said+s.said, right+s.right
		}
	}
	if said == 0 || len(pairs) == 0 {
		return kasoku.JoinCheck{}, false
	}
	return kasoku.JoinCheck{Name: nameTrace, Holds: right == said, Text: fmt.Sprintf(
		"overlap in time against the trace, pairs of endpoint and statement: %s; it found %d of %d", strings.Join(parts, ", "), len(found), len(pairs))}, true
}
