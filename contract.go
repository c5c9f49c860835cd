package kasoku

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// ContractScope is the scope of the settings by which a run says what its clients are
// promised. The name of one is a word, a space and the route: "stale GET /api/trend".
const ContractScope = "contract"

// The words before a route in the names of settings of [ContractScope].
const (
	contractStale   = "stale"
	contractLimit   = "limit"
	contractFailure = "failure"
)

// Terms are what the clients of some routes are promised.
type Terms struct {
	// Route is a method and a pattern of paths, "GET /api/items/*", or the pattern
	// alone for all methods; [Terms.Cover] says what it matches.
	Route string
	// Stale is how old an answer may be; nil when that is not said.
	Stale   *time.Duration
	Limit   time.Duration // within which an answer must come; 0 when not said
	Failure string        // what a failure costs, in words; empty when not said
}

// Settings returns the terms as a run keeps them.
func (t Terms) Settings() (out []Setting) {
	add := func(word, value string) {
		out = append(out, Setting{Scope: ContractScope, Name: word + " " + t.Route, Value: value})
	}
	if t.Stale != nil {
		add(contractStale, t.Stale.String())
	}
	if t.Limit > 0 {
		add(contractLimit, t.Limit.String())
	}
	if t.Failure != "" {
		add(contractFailure, t.Failure)
	}
	return out
}

// Contract returns the terms that a run keeps, by their routes. What is no duration,
// or a negative one, is passed over: a run file may come from anywhere.
func (r *Recording) Contract() []Terms {
	byRoute := map[string]*Terms{}
	for _, s := range r.Settings {
		word, route, ok := strings.Cut(s.Name, " ")
		if s.Scope != ContractScope || !ok || route == "" {
			continue
		}
		t := byRoute[route]
		if t == nil {
			t = &Terms{Route: route}
			byRoute[route] = t
		}
		d, err := time.ParseDuration(s.Value)
		switch {
		case word == contractFailure:
			t.Failure = s.Value
		case err != nil || d < 0:
		case word == contractStale:
			t.Stale = &d
		case word == contractLimit:
			t.Limit = d
		}
	}
	var out []Terms
	for _, t := range byRoute {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Terms) int { return cmp.Compare(a.Route, b.Route) })
	return out
}

// TermsOf returns the terms of an endpoint: those of the pattern with the most literal
// segments that covers it, and at equal numbers the one that names the method.
func (r *Recording) TermsOf(method, route string) (best Terms, ok bool) {
	most := -1
	for _, t := range r.Contract() {
		if n := t.literals(); t.Cover(method, route) && n > most {
			best, ok, most = t, true, n
		}
	}
	return best, ok
}

// Cover reports whether an endpoint is one of the terms' routes. A segment "*", "{id}"
// or ":id" of the pattern stands for any one segment, a last segment "**" for all that
// follow. The query of the endpoint does not count.
func (t Terms) Cover(method, route string) bool {
	of, pattern := t.split()
	if of != "" && of != method {
		return false
	}
	path, _, _ := strings.Cut(route, "?")
	want, have := segmentsOf(pattern), segmentsOf(path)
	for i, w := range want {
		switch {
		case w == "**" && i == len(want)-1:
			return true
		case i >= len(have), w != have[i] && !isAnySegment(w):
			return false
		}
	}
	return len(want) == len(have)
}

// literals weighs a pattern: two for each literal segment, one for a method.
func (t Terms) literals() int {
	method, pattern := t.split()
	n := 0
	if method != "" {
		n++
	}
	for _, s := range segmentsOf(pattern) {
		if !isAnySegment(s) && s != "**" {
			n += 2
		}
	}
	return n
}

// split returns the method, empty for all, and the pattern.
func (t Terms) split() (method, pattern string) {
	method, pattern, ok := strings.Cut(t.Route, " ")
	if !ok {
		return "", t.Route
	}
	return method, strings.TrimSpace(pattern)
}

func segmentsOf(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

func isAnySegment(s string) bool {
	return s == "*" || strings.HasPrefix(s, ":") || strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}")
}
