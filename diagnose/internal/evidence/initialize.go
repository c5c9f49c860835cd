package evidence

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// initializePath is what the request is called that makes a benchmark's data
// anew. Where it has another name, the run's phases show it.
const initializePath = "/initialize"

// InitializeOf returns the slowest initialize of the run: its request, when it
// began and how long it took. The phases say which request it is, the access log
// how long it took, as phases end on whole seconds.
func InitializeOf(c *diagnose.Case) (slowest kasoku.Phase, ok bool) {
	for _, p := range c.Phases {
		if p.Kind != kasoku.PhaseInitialize {
			continue
		}
		name, _, _ := strings.Cut(p.Why, ",")
		if e := endpointNamed(c, name); e != nil {
			p.Interval.To = p.Interval.From + longestRequest(e)
		}
		p.Why = name
		if !ok || p.Interval.Len() > slowest.Interval.Len() {
			slowest, ok = p, true
		}
	}
	if ok {
		return slowest, true
	}
	for i := range c.Endpoints {
		e := &c.Endpoints[i]
		if path, _, _ := strings.Cut(e.Route, "?"); !strings.HasSuffix(path, initializePath) || e.Count == 0 {
			continue
		}
		// The log gives the end of a request.
		iv := kasoku.Interval{From: max(e.Last-longestRequest(e), 0), To: e.Last}
		if !ok || iv.Len() > slowest.Interval.Len() {
			slowest, ok = kasoku.Phase{Kind: kasoku.PhaseInitialize, Interval: iv, Why: e.Method + " " + e.Route}, true
		}
	}
	return slowest, ok
}

func endpointNamed(c *diagnose.Case, name string) *kasoku.Endpoint {
	i := slices.IndexFunc(c.Endpoints, func(e kasoku.Endpoint) bool {
		return e.Method+" "+e.Route == name &&
			e.Count > 0
	})
	if i < 0 {
		return nil
	}
	return &c.Endpoints[i]
}

// longestRequest returns how long the longest request took.
func longestRequest(e *kasoku.Endpoint) time.Duration {
	if e.Count > 1 && e.Latency != nil {
		return e.Latency.Max()
	}
	return e.Total
}

// RanWithin reports whether a statement came in an interval and at no other time. A
// slow log may have whole seconds only.
func RanWithin(q *kasoku.Query, iv kasoku.Interval) bool {
	return q.First >= iv.From-time.Second && q.Last <= iv.To+time.Second
}

// SortedKeys returns the keys of a map in the order of their bytes.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// OnlyInitialize reports whether a class ran in initialize only.
func OnlyInitialize(c *diagnose.Case, q *kasoku.Query) bool {
	return slices.ContainsFunc(c.Phases, func(p kasoku.Phase) bool {
		return p.Kind == kasoku.PhaseInitialize &&
			RanWithin(q, p.Interval)
	})
}
