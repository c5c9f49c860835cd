package probe

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/secret"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/routes"
)

// An Endpoint is a method and a route with requests to it, which are sent in turn.
type Endpoint struct {
	Method, Route string
	Targets       []load.Target
}

// String returns "GET /users/:id".
func (e *Endpoint) String() string { return e.Method + " " + e.Route }

// Skipped is an endpoint that is not asked.
type Skipped struct {
	Endpoint string
	Why      string
}

// Selection defines which endpoints are asked.
type Selection struct {
	Base  string   // URL before the paths of logs: http://127.0.0.1:8080
	Allow []string // endpoints that are asked whatever their method: "POST:/users", "POST /users"

	// Endpoints are those of the log of the same run, nil without one: what of them programs choose by
	// a value of the query are endpoints of targets, too.
	Endpoints []kasoku.Endpoint
}

// named returns the route that a request has among the endpoints: with what its query chooses where the
// log has that apart, else its path.
func (s *Selection) named(method, route string) string {
	path, choice := routes.CutChoice(route)
	if choice == "" || slices.ContainsFunc(s.Endpoints, func(e kasoku.Endpoint) bool {
		return e.Method == method && (e.Route == route || routes.Covers(e.Route, route))
	}) {
		return route
	}
	return path
}

// allowed reports whether an endpoint may be asked.
func (s *Selection) allowed(method, route string) bool {
	if method == http.MethodGet || method == http.MethodHead {
		return true
	}
	return slices.ContainsFunc(s.Allow, func(a string) bool {
		m, path, _ := strings.Cut(strings.Replace(a, ":/", " /", 1), " ")
		of, _ := routes.CutChoice(route)
		return strings.EqualFold(m, method) && (path == route || path == of || routes.Covers(route, path))
	})
}

const notIdempotent = "not idempotent by its method"

// mapper finds routes as reports do.
type mapper struct{ m *routes.Mapper }

func newMapper() mapper { return mapper{routes.Automatic().Mapper()} }

func (m mapper) route(method, uri string) string {
	route, _ := m.m.Append(nil, []byte(method), []byte(uri))
	return string(route)
}

// FromTargets returns the endpoints of targets, in their order.
func FromTargets(targets []load.Target, s Selection) (out []Endpoint, skipped []Skipped, err error) {
	m := newMapper()
	for _, t := range targets {
		u, err := url.Parse(t.URL)
		if err != nil {
			return nil, nil, fmt.Errorf("target %q: %w", t.URL, err)
		}
		route := s.named(t.Method, m.route(t.Method, u.RequestURI()))
		if t.Fill != nil {
			_, route, _ = strings.Cut(t.Name(), " ")
		}
		if !s.allowed(t.Method, route) {
			skipped = skipRoute(skipped, t.Method+" "+route, notIdempotent)
			continue
		}
		i := slices.IndexFunc(out, func(e Endpoint) bool { return e.Method == t.Method && e.Route == route })
		if i < 0 {
			i, out = len(out), append(out, Endpoint{Method: t.Method, Route: route})
		}
		out[i].Targets = append(out[i].Targets, t)
	}
	return out, skipped, nil
}

func skipRoute(list []Skipped, endpoint, why string) []Skipped {
	if slices.ContainsFunc(list, func(s Skipped) bool { return s.Endpoint == endpoint }) {
		return list
	}
	return append(list, Skipped{endpoint, why})
}

// A Sample is a request of a log.
type Sample struct{ Method, URI string }

// mostSamples is how many different requests of an endpoint are asked.
const mostSamples = 12

// FromRecording returns the endpoints of a run, the one that took the most time
// first, with requests of the run itself and of samples.
func FromRecording(rec *kasoku.Recording, samples []Sample, s Selection) (out []Endpoint, skipped []Skipped) {
	m := newMapper()
	s.Endpoints = rec.Endpoints
	all := slices.Clone(samples)
	for _, r := range rec.Slowest {
		if r.Status < 400 {
			all = append(all, Sample{r.Method, r.URI})
		}
	}
	byMethod := map[string][]located{}
	for _, x := range all {
		if strings.HasPrefix(x.URI, "/") && !strings.Contains(x.URI, secret.Masked) {
			byMethod[x.Method] = append(byMethod[x.Method], located{x.URI, s.named(x.Method, m.route(x.Method, x.URI))})
		}
	}
	for i := range rec.Endpoints {
		e := &rec.Endpoints[i]
		if slices.ContainsFunc(out, func(o Endpoint) bool { return o.Method == e.Method && o.Route == e.Route }) ||
			e.Method == "" {
			continue // of another host
		}
		targets, why := s.requests(e, byMethod[e.Method])
		if why != "" {
			skipped = skipRoute(skipped, e.Method+" "+e.Route, why)
			continue
		}
		out = append(out, Endpoint{Method: e.Method, Route: e.Route, Targets: targets})
	}
	return out, skipped
}

// A located is the URI of a request with its route.
type located struct{ uri, route string }

// requests returns what is sent to an endpoint of a log, or why nothing is.
func (s *Selection) requests(e *kasoku.Endpoint, samples []located) ([]load.Target, string) {
	switch {
	case e.Method != http.MethodGet && e.Method != http.MethodHead && !s.allowed(e.Method, e.Route):
		return nil, notIdempotent
	case e.Method != http.MethodGet && e.Method != http.MethodHead:
		return nil, "its body is in no log: name it in targets"
	case e.Codes != nil && !wasAnswered(e):
		return nil, "it was never answered well"
	}
	var uris []string
	for _, x := range samples {
		if len(uris) < mostSamples && (x.route == e.Route || routes.Covers(e.Route, x.route)) &&
			!slices.Contains(uris, x.uri) {
			uris = append(uris, x.uri)
		}
	}
	if len(uris) == 0 {
		if strings.ContainsAny(e.Route, ":*{ ()") || !strings.HasPrefix(e.Route, "/") {
			return nil, "no request to it was kept"
		}
		uris = []string{e.Route}
	}
	var out []load.Target
	for _, uri := range uris {
		out = append(out, load.Target{Method: e.Method, URL: strings.TrimSuffix(s.Base, "/") + uri})
	}
	return out, ""
}

// wasAnswered reports whether any answer was below 400.
func wasAnswered(e *kasoku.Endpoint) bool {
	for code, n := range e.Codes {
		if code < 400 && n > 0 {
			return true
		}
	}
	return len(e.Codes) == 0
}

// A Sampler keeps some different requests for each route of a log.
type Sampler struct {
	m    mapper
	kept map[string][]string // by method and route
	out  []Sample
}

// NewSampler returns a sampler that has seen nothing yet.
func NewSampler() *Sampler { return &Sampler{m: newMapper(), kept: map[string][]string{}} }

// mostRoutes bounds the routes of a sampler.
const mostRoutes = 10_000

// Add looks at a request that was answered well.
func (s *Sampler) Add(method, uri string) {
	key := method + " " + s.m.route(method, uri)
	kept, known := s.kept[key]
	if len(kept) >= mostSamples || !known && len(s.kept) >= mostRoutes || slices.Contains(kept, uri) {
		return
	}
	s.kept[key] = append(kept, uri)
	s.out = append(s.out, Sample{method, uri})
}

// Route returns the route of a request, as samples are grouped by it.
func (s *Sampler) Route(method, uri string) string { return s.m.route(method, uri) }

// Read adds the requests of a log, at most so many lines of it.
func (s *Sampler) Read(w *lines.Window, most int) error {
	r := accessformat.NewReader(w, nil)
	for n := 0; n < most && r.Scan(); n++ {
		if x := r.Record(); x.Status < 400 && len(x.Method) > 0 {
			s.Add(string(x.Method), string(x.Path))
		}
	}
	return r.Err()
}

// Samples returns what was kept, in the order of the log.
func (s *Sampler) Samples() []Sample { return s.out }

// CheckAllow reports what is wrong with an element of [Selection.Allow].
func CheckAllow(s string) error {
	method, path, ok := strings.Cut(strings.Replace(s, ":/", " /", 1), " ")
	if !ok || method == "" || !strings.HasPrefix(path, "/") {
		return fmt.Errorf("%q: want METHOD:/path", s)
	}
	return nil
}
