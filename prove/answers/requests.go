package answers

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/diagnose/probe"
	"github.com/kasoku/kasoku/internal/secret"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

// DefaultPerRoute is how many URIs of a route of a log are asked.
const DefaultPerRoute = 3

// ParseRequest reads "METHOD URL", or a URL alone, which is asked with GET.
func ParseRequest(s string) (Request, error) {
	method, url, ok := strings.Cut(strings.TrimSpace(s), " ")
	if !ok {
		method, url = http.MethodGet, method
	}
	target := load.Target{Method: method, URL: strings.TrimSpace(url)}
	r := Request{Endpoint: target.Name(), Method: target.Method, URL: target.URL}
	return r, r.Validate()
}

// FromTargets returns the requests of targets. Headers that may hold secrets are named,
// and sent only by who gives them to [Asker.Header]. Targets that may change data, or that
// are filled in anew for each request, are left out.
func FromTargets(targets []load.Target) (out []Request, left []LeftOut) {
	known := map[string]bool{}
	for _, t := range targets {
		r := Request{Endpoint: t.Name(), Method: t.Method, URL: t.URL}
		why := ""
		switch err := r.Validate(); {
		case strings.Contains(t.URL, "{{"):
			why = "it is another one each time"
		case len(t.Body) > 0:
			why = "it has a body"
		case err != nil:
			why = err.Error()
		}
		if why != "" {
			left = append(left, LeftOut{r, why})
			continue
		}
		for name, values := range t.Header {
			if isSecretHeader(name) {
				r.Withheld = append(r.Withheld, http.CanonicalHeaderKey(name))
				continue
			}
			if r.Header == nil {
				r.Header = http.Header{}
			}
			r.Header[name] = slices.Clone(values)
		}
		slices.Sort(r.Withheld)
		if name := r.Method + " " + r.URL; !known[name] {
			known[name] = true
			out = append(out, r)
		}
	}
	return out, left
}

// ReadAccessLog returns the requests of a log that were answered well, with GET or HEAD:
// of each route the first few different URIs, at most so many lines of the log.
func ReadAccessLog(w *lines.Window, base string, perRoute, most int) ([]Request, error) {
	routes := probe.NewSampler()
	reader := accessformat.NewReader(w, nil)
	seen, asked := map[string]bool{}, map[string]int{}
	var out []Request
	for n := 0; n < most && len(out) < maxAnswers && reader.Scan(); n++ {
		x := reader.Record()
		method, uri := string(x.Method), string(x.Path)
		if x.Status < 200 || x.Status > 299 || method != http.MethodGet && method != http.MethodHead ||
			!strings.HasPrefix(uri, "/") || strings.Contains(uri, secret.Masked) || seen[method+uri] {
			continue
		}
		r := Request{Endpoint: method + " " + routes.Route(method, uri), Method: method, URL: strings.TrimSuffix(base, "/") + uri}
		if asked[r.Endpoint] < perRoute && r.Validate() == nil {
			seen[method+uri] = true
			asked[r.Endpoint]++
			out = append(out, r)
		}
	}
	if err := reader.Err(); err != nil {
		return out, fmt.Errorf("access log: %w", err)
	}
	return out, nil
}
