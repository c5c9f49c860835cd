package kasoku

import (
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// ordersRefusal is a directive by which nginx answers with 503 itself.
var ordersRefusal = lazyregexp.New(`(?m)^[^#\n]*\breturn\s+503\b`)

// RefusedBots returns what says how many answers 503 of an endpoint nginx gave to bots on
// purpose, as NGX-05 proposes: its configuration has such a directive, or the contract says so,
// and they were not passed on. They are no failures. It is 0 where the log does not say what was
// passed on. The configuration is read once, when an endpoint may have some.
func (r *Recording) RefusedBots() func(e *Endpoint) uint64 {
	refuses := sync.OnceValue(r.refusesBots)
	return func(e *Endpoint) uint64 {
		n := min(e.Codes[http.StatusServiceUnavailable], e.Bots-min(e.BotsPassed, e.Bots))
		if n == 0 || !refuses() {
			return 0
		}
		return n
	}
}

// refusesBots reports whether the service answers bots with 503 on purpose, and its log says
// which requests were passed on.
func (r *Recording) refusesBots() bool {
	_, endpoints := r.FrontLog()
	if !slices.ContainsFunc(endpoints, func(e Endpoint) bool { return e.UpstreamCount > 0 }) {
		return false
	}
	if v, ok := r.Setting("app", "contract.bots"); ok && v == "503" {
		return true
	}
	return slices.ContainsFunc(r.Configs, func(c Config) bool {
		return c.Kind == "nginx" && c.Known() && ordersRefusal().MatchString(c.Text)
	})
}

// refusedIn returns how many of the n answers 503 that the load got in a step, 0 for the whole
// load, were given to bots on purpose. Where the log has others too, its seconds decide, which
// lie on its clock and not on that of the load.
func (r *Recording) refusedIn(step int, n uint64) uint64 {
	var refused, all, load uint64
	_, endpoints := r.FrontLog()
	refusedOf := r.RefusedBots()
	for i := range endpoints {
		refused += refusedOf(&endpoints[i])
		all += endpoints[i].Codes[http.StatusServiceUnavailable]
	}
	for i := range r.Seconds {
		load += r.Seconds[i].Codes[http.StatusServiceUnavailable]
	}
	at := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Number == step })
	switch {
	case refused == 0:
		return 0
	case refused == all && load <= all:
		return n
	case at < 0:
		return min(n, refused)
	}
	var sum float64
	for i := range endpoints {
		e := &endpoints[i]
		of := float64(refusedOf(e)) / float64(max(e.Failed(), 1))
		for s, one := range e.Seconds {
			begin := time.Duration(s) * time.Second
			in := min(begin+time.Second, r.Steps[at].Interval.To) - max(begin, r.Steps[at].Interval.From)
			sum += max(in, 0).Seconds() * of * float64(one.Failed)
		}
	}
	return min(n, uint64(math.Round(sum)))
}

// RefusedOf returns the part of a second's requests that were refused on purpose; the second
// is one of those of the tally.
func (t *Tally) RefusedOf(s *LoadSecond) float64 {
	if t.Refused == 0 {
		return 0
	}
	const code = http.StatusServiceUnavailable
	return float64(s.Codes[code]) * float64(t.Refused) / float64(t.Codes[code])
}

// FrontLog returns the endpoints of the host whose access log has most requests, and
// that host. In a run of several hosts, as of a proxy and of the applications that it passes to,
// their logs have the same requests: added up they would count twice.
func (r *Recording) FrontLog() (host string, endpoints []Endpoint) {
	counts := map[string]uint64{}
	for i := range r.Endpoints {
		counts[r.Endpoints[i].Host] += r.Endpoints[i].Count
	}
	for i := range r.Endpoints { // the first of equals
		if h := r.Endpoints[i].Host; i == 0 || counts[h] > counts[host] {
			host = h
		}
	}
	if len(counts) < 2 {
		return host, r.Endpoints
	}
	for i := range r.Endpoints {
		if r.Endpoints[i].Host == host {
			endpoints = append(endpoints, r.Endpoints[i])
		}
	}
	return host, endpoints
}
