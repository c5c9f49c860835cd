package kasoku

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// VariantScope is the scope of the settings by which a run keeps what it put together as an
// endpoint: the name of one is the endpoint.
const VariantScope = "variants"

// OtherKeys stands for sets of query keys that are not counted apart: those with a name that
// no program gives, and those beyond a bound.
const OtherKeys = "*"

// Variants are what an endpoint was put together from. An endpoint is a method and a route, with
// any query string; which keys that has often decides what a request costs.
type Variants struct {
	Host, Method, Route string
	// Paths is how many different paths were asked for, within 6.5 %; 1 where the route is
	// its path.
	Paths uint64
	// Sets are the sets of query keys, the one that took the most time first.
	Sets []QueryKeys
}

// QueryKeys are the requests of an endpoint whose query strings have the same keys.
type QueryKeys struct {
	// Keys are the names in alphabetical order, "page&q", the key by whose value the program chooses
	// what it does with it: "action=edit&id"; empty without a query string.
	Keys     string
	Requests uint64
	Time     time.Duration // sum of the request times
}

// Text names the keys for people: "?page&q", "no query".
func (q QueryKeys) Text() string {
	switch q.Keys {
	case "":
		return "no query"
	case OtherKeys:
		return "other keys"
	}
	return "?" + q.Keys
}

// Mean is the mean of the request times.
func (q QueryKeys) Mean() time.Duration { return q.Time / time.Duration(max(q.Requests, 1)) }

// Several reports whether requests of the endpoint differ in the keys that they have.
func (v *Variants) Several() bool { return len(v.Sets) > 1 }

// The values of settings in [VariantScope].
const (
	formatPaths = "%d paths"
	formatKeys  = "%d requests, %d us"
)

// Setting returns the form in which a run keeps it.
func (v *Variants) Setting(host string) Setting {
	value := fmt.Sprintf(formatPaths, v.Paths)
	for _, q := range v.Sets {
		value += "; " + fmt.Sprintf(formatKeys, q.Requests, q.Time.Microseconds()) + " ?" + q.Keys
	}
	return Setting{Host: host, Scope: VariantScope, Name: v.Method + " " + v.Route, Value: value}
}

// mostKeptSets is how many sets of keys are read of one endpoint; a run keeps fewer.
const mostKeptSets = 64

// Variants returns what the endpoints of a host's access log were put together from, the one
// whose requests took the most time first. What is not written so is passed over: a run file
// may come from anywhere.
func (r *Recording) Variants(host string) (out []Variants) {
	for _, s := range r.Settings {
		if s.Scope != VariantScope || s.Host != host {
			continue
		}
		if v, ok := parseVariants(s); ok {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b Variants) int {
		return cmp.Or(cmp.Compare(b.Time(), a.Time()), cmp.Compare(a.Route, b.Route), cmp.Compare(a.Method, b.Method))
	})
	return out
}

func parseVariants(s Setting) (Variants, bool) {
	method, route, ok := strings.Cut(s.Name, " ")
	v := Variants{Host: s.Host, Method: method, Route: route}
	parts := strings.Split(s.Value, "; ")
	if n, err := fmt.Sscanf(parts[0], formatPaths, &v.Paths); !ok || n != 1 || err != nil || len(parts) > mostKeptSets {
		return Variants{}, false
	}
	for _, part := range parts[1:] {
		var q QueryKeys
		var us int64
		figures, keys, ok := strings.Cut(part, " ?")
		n, err := fmt.Sscanf(figures, formatKeys, &q.Requests, &us)
		if !ok || n != 2 || err != nil || us < 0 || us > maxMicroseconds {
			return Variants{}, false
		}
		q.Keys, q.Time = keys, time.Duration(us)*time.Microsecond
		v.Sets = append(v.Sets, q)
	}
	return v, true
}

// maxMicroseconds is the longest sum of times that is believed: four years of requests, so that
// those of 64 sets still fit.
const maxMicroseconds = 4 * 365 * 24 * 3600 * 1_000_000

// Time is the sum of the times of all sets.
func (v *Variants) Time() (d time.Duration) {
	for _, q := range v.Sets {
		d += q.Time
	}
	return d
}
