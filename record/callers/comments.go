package callers

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/join"
	"github.com/kasoku/kasoku/logs/routes"
	"github.com/kasoku/kasoku/logs/slowlog"
)

// A truth counts the statements that say themselves which route they are of, in a
// comment such as /*route='GET%20%2Fusers%2F%3Aid'*/ or /* route:GET /users/:id */.
// BEGIN, COMMIT and ROLLBACK carry no comment: they are of the route of the
// statements between.
type truth struct {
	routes map[string]int        // numbers of routes, by what comments say
	names  []string              // of routes
	counts map[routeClass]uint64 // statements
	calls  map[int]uint64        // all statements, by class
	infos  map[int]endsInfo      // by class
	conns  map[uint64]*side      // by connection, of those with comments
	ids    map[int]string        // of queries, by class
}

// routeClass is a route and a class of statements.
type routeClass struct {
	route int
	class int
}

// endsInfo is what a class means to transactions.
type endsInfo struct{ begins, ends bool }

// side is what is known of a connection.
type side struct {
	begun int // class of a BEGIN whose route is not known yet; 0 when there is none
	route int // of its last statement with a comment; -1 when there is none
}

// Bounds of what is kept of comments.
const (
	mostRoutes = 10_000
	mostSides  = 1 << 16

	maxNamedRoute = 300 // bytes
)

func newTruth() *truth {
	return &truth{
		routes: map[string]int{}, counts: map[routeClass]uint64{}, calls: map[int]uint64{}, infos: map[int]endsInfo{},
		conns: map[uint64]*side{}, ids: map[int]string{},
	}
}

// add takes a statement, with the number of its class.
func (t *truth) add(e *slowlog.Event, class int) {
	if e.Admin {
		return
	}
	t.calls[class]++
	info, known := t.infos[class]
	if !known {
		i := join.InfoOf(e.Statement)
		info = endsInfo{begins: i.Begin, ends: i.Commit || i.Rollback}
		t.infos[class] = info
	}
	route := t.routeOf(e.Tags())
	if route < 0 && !info.begins && !info.ends {
		return
	}
	c := t.conns[e.ThreadID]
	if c == nil {
		if len(t.conns) >= mostSides {
			clear(t.conns)
		}
		c = &side{route: -1}
		t.conns[e.ThreadID] = c
	}
	switch {
	case route < 0 && info.begins:
		c.begun, c.route = class, -1
		return
	case route < 0: // ends
		if route = c.route; route < 0 {
			return
		}
	case c.begun > 0:
		t.counts[routeClass{route, c.begun}]++
	}
	c.begun, c.route = 0, route
	if info.ends {
		c.route = -1
	}
	t.counts[routeClass{route, class}]++
}

// routeOf returns the number of the route that comments name, -1 when they name
// none.
func (t *truth) routeOf(tags []byte) int {
	if len(tags) == 0 || !bytes.Contains(tags, []byte("route:")) {
		return -1
	}
	if n, known := t.routes[string(tags)]; known {
		return n
	}
	n := -1
	if name := routeIn(string(tags)); name != "" && len(t.names) < mostRoutes {
		if n = slices.Index(t.names, name); n < 0 {
			n = len(t.names)
			t.names = append(t.names, name)
		}
	}
	if len(t.routes) < mostRoutes {
		t.routes[string(tags)] = n
	}
	return n
}

// routeIn returns the route of a list of fields, "GET /users/:id" or without the
// method.
func routeIn(tags string) string {
	for field := range strings.SplitSeq(tags, ",") {
		key, value, ok := strings.Cut(field, ":")
		if !ok || key != "route" && key != "http.route" {
			continue
		}
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		if value = strings.TrimSpace(value); strings.Contains(value, "/") {
			return string(logs.AppendSafe(nil, []byte(value), maxNamedRoute))
		}
	}
	return ""
}

// settle learns the ids of the classes.
func (t *truth) settle(classes []slowlog.Class) {
	for i := range classes {
		t.ids[classes[i].Number] = classes[i].ID
	}
}

// callers returns who issues which query by what comments say, with the requests
// that the access log counts.
func (t *truth) callers(queries []kasoku.Query, endpoints []kasoku.Endpoint) []kasoku.Caller {
	if len(t.counts) == 0 {
		return nil
	}
	all := map[string]uint64{}
	for i := range queries {
		all[queries[i].ID] += queries[i].Calls
	}
	type pair struct {
		route int
		id    string
	}
	sums := map[pair]uint64{}
	for k, n := range t.counts {
		if id := t.ids[k.class]; id != "" {
			sums[pair{k.route, id}] += n
		}
	}
	matches := make([]matched, len(t.names))
	for i, name := range t.names {
		matches[i] = matchRoute(name, endpoints)
	}
	var out []kasoku.Caller
	for k, n := range sums {
		m := &matches[k.route]
		c := kasoku.Caller{
			QueryID: k.id, Method: m.method, Route: m.route, Class: kasoku.CallerConfirmed, Source: kasoku.FromComments,
			Requests: m.requests, Calls: float64(n), Share: float64(n) / max(float64(all[k.id]), 1), Decisive: 1, Note: m.note,
		}
		if m.requests > 0 {
			c.PerRequest = float64(n) / float64(m.requests)
			c.Least, c.Most = c.PerRequest, c.PerRequest
		}
		c.Share = min(c.Share, 1)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b kasoku.Caller) int {
		return cmp.Or(cmp.Compare(a.Endpoint(), b.Endpoint()), cmp.Compare(a.QueryID, b.QueryID))
	})
	return out
}

// mostTagged is the share of a class's statements that name their route from which
// on overlap in time has nothing to add.
const mostTagged = 0.95

// without leaves out the callers of classes whose statements name their route.
func (t *truth) without(callers []kasoku.Caller) []kasoku.Caller {
	calls, tagged := map[string]uint64{}, map[string]uint64{}
	for class, n := range t.calls {
		calls[t.ids[class]] += n
	}
	for k, n := range t.counts {
		tagged[t.ids[k.class]] += n
	}
	return slices.DeleteFunc(callers, func(c kasoku.Caller) bool {
		return calls[c.QueryID] > 0 && float64(tagged[c.QueryID]) >= mostTagged*float64(calls[c.QueryID])
	})
}

// matched is an endpoint by the name that comments give it.
type matched struct {
	method, route string
	requests      uint64
	note          string
}

// matchRoute finds the endpoints that a route means. A part of it in braces, in
// angle brackets or with a colon in front stands for anything, as does one of an
// endpoint with a colon. One that is the same counts before those.
func matchRoute(name string, endpoints []kasoku.Endpoint) matched {
	method, path, ok := strings.Cut(name, " ")
	if !ok || strings.Contains(method, "/") {
		method, path = "", name
	}
	path = strings.TrimSpace(path)
	m := matched{method: method, route: path}
	var same, alike []*kasoku.Endpoint
	for i := range endpoints {
		e := &endpoints[i]
		if method != "" && e.Method != method {
			continue
		}
		whole, _ := routes.CutChoice(e.Route) // comments name the path
		switch {
		case e.Route == path, whole == path:
			same = append(same, e)
		case alikeRoutes(path, whole):
			alike = append(alike, e)
		}
	}
	if len(same) == 0 {
		same = alike
	}
	methods := map[string]bool{}
	for _, e := range same {
		m.requests += e.Count
		methods[e.Method] = true
	}
	switch {
	case len(same) == 0:
		m.note = "the access log has no such endpoint"
	case len(same) == 1:
		m.method, m.route = same[0].Method, same[0].Route
	case len(methods) > 1:
		m.note = fmt.Sprintf("the comments do not report the method: requests are "+
			"those of %s", strings.Join(slices.Sorted(maps.Keys(methods)), ", "))
	}
	if len(same) > 1 && m.method == "" {
		m.method = same[0].Method
	}
	return m
}

// alikeRoutes reports whether a framework's route means an endpoint.
func alikeRoutes(route, endpoint string) bool {
	a, b := strings.Split(strings.Trim(route, "/"), "/"), strings.Split(strings.Trim(endpoint, "/"), "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !isParameter(a[i]) {
			return false
		}
	}
	return true
}

// isParameter reports whether a part of a framework's route stands for a value.
func isParameter(part string) bool {
	return len(part) > 1 && (part[0] == ':' || part[0] == '{' || part[0] == '<' || part[0] == '*' || part[0] == '[')
}
