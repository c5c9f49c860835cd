package callers

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// LogRoutes is how often one access log has each route.
type LogRoutes struct {
	path   string
	total  uint64
	counts map[string]uint64 // by method and route
}

// RoutesOf counts the requests of a log by its endpoints.
func RoutesOf(path string, endpoints []kasoku.Endpoint) LogRoutes {
	r := LogRoutes{path: path, counts: make(map[string]uint64, len(endpoints))}
	for i := range endpoints {
		e := &endpoints[i]
		r.total += e.Count
		r.counts[e.Method+" "+e.Route] += e.Count
	}
	return r
}

// How alike two logs are that have the same requests: those that one of them has not
// yet written at either end of the run may differ.
const (
	leastDoubled = 50   // requests; fewer may be alike by chance
	doubledShare = 0.01 // of the requests may be in one log only
)

// WarnDoubled warns of access logs that seem to have the same requests, as a web server's
// and that of the application that it passes to, or two formats of one server: each request
// would count twice. Two applications that a balancer gives one half each look alike,
// so it is for people to decide.
func WarnDoubled(logs []LogRoutes) []kasoku.Warning {
	var out []kasoku.Warning
	for i, a := range logs {
		for _, b := range logs[:i] {
			if !areAlike(a, b) {
				continue
			}
			out = append(out, kasoku.Warning{
				Code: "same-requests",
				Text: fmt.Sprintf("%s and %s have %s and %s, alike for every route: if they are the same requests, each "+
					"counts twice", b.path, a.path, unit.Count(b.total), unit.Counted(a.total, "request", "requests")),
				Hint: "name one of them only",
			})
			break
		}
	}
	return out
}

func areAlike(a, b LogRoutes) bool {
	if min(a.total, b.total) < leastDoubled {
		return false
	}
	var only uint64 // in one of the two
	for route, n := range a.counts {
		only += distanceOf(n, b.counts[route])
	}
	for route, n := range b.counts {
		if _, both := a.counts[route]; !both {
			only += n
		}
	}
	return float64(only) <= doubledShare*float64(a.total+b.total)
}

func distanceOf(a, b uint64) uint64 { return max(a, b) - min(a, b) }
