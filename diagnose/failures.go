package diagnose

import (
	"math"
	"net/http"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// statusGivenUp is what nginx logs when the client closed the connection before it was
// answered: someone waited and gave up, or the load ended.
const statusGivenUp = 499

// GivenUp returns how many requests of the access log their client gave up (499); 0 when
// they are no more than a load cuts off where it ends. Those are the requests that were
// under way then, twice as many as there were on average at the most.
//
// Source: ngx_http_request.h, NGX_HTTP_CLIENT_CLOSED_REQUEST; J. D. C. Little, 1961.
func GivenUp(rec *kasoku.Recording) uint64 {
	var n uint64
	var busy, length float64
	_, endpoints := FrontLog(rec)
	for i := range endpoints {
		n += endpoints[i].Codes[statusGivenUp]
		busy += endpoints[i].Total.Seconds()
	}
	if n == 0 {
		return 0
	}
	times := loadTimes(rec)
	for _, iv := range times {
		length += iv.Len().Seconds()
	}
	if length <= 0 {
		return 0
	}
	cut := float64(len(times)) * (1 + math.Ceil(2*busy/length))
	if float64(n) <= cut {
		return 0
	}
	return n
}

// ordersRefusal is a directive by which nginx answers with 503 itself.
var ordersRefusal = lazyregexp.New(`(?m)^[^#\n]*\breturn\s+503\b`)

// refusesBots reports whether the service answers bots with 503 on purpose: the configuration
// of nginx has such a directive, or the contract says so. The log must say which requests were
// passed on.
func refusesBots(rec *kasoku.Recording) bool {
	_, endpoints := FrontLog(rec)
	if !slices.ContainsFunc(endpoints, func(e kasoku.Endpoint) bool { return e.UpstreamCount > 0 }) {
		return false
	}
	if v, ok := rec.Setting("app", "contract.bots"); ok && v == "503" {
		return true
	}
	return slices.ContainsFunc(rec.Configs, func(c kasoku.Config) bool {
		return c.Kind == "nginx" && c.Known() && ordersRefusal().MatchString(c.Text)
	})
}

// refusedBots returns how many answers 503 of an endpoint nginx gave to bots as its
// configuration orders, as NGX-05 proposes: those were not passed on, and are no failures.
func refusedBots(e *kasoku.Endpoint) uint64 {
	return min(e.Codes[http.StatusServiceUnavailable], e.Bots-min(e.BotsPassed, e.Bots))
}

// refusedIn returns how many requests of bots nginx refused on purpose in an interval.
func refusedIn(rec *kasoku.Recording, iv kasoku.Interval) uint64 {
	if !refusesBots(rec) {
		return 0
	}
	var n float64
	share := shareOfSecond(rec, iv)
	_, endpoints := FrontLog(rec)
	for i := range endpoints {
		e := &endpoints[i]
		of := failedShare(e)
		for s, one := range e.Seconds {
			n += share(s) * (1 - of) * float64(one.Failed)
		}
	}
	return uint64(math.Round(n))
}

// failedShare returns the part of an endpoint's 5xx that are failures: all but the bots
// that were refused. The log's seconds do not say which they were.
func failedShare(e *kasoku.Endpoint) float64 {
	failed := e.Failed()
	if failed == 0 {
		return 1
	}
	return 1 - float64(min(refusedBots(e), failed))/float64(failed)
}

// failedOf returns how many of a step's requests did not succeed, without the bots that nginx
// refused on purpose.
func failedOf(rec *kasoku.Recording, t *kasoku.Tally, iv kasoku.Interval) uint64 {
	failed := t.Failed()
	if t.Codes[http.StatusServiceUnavailable] == 0 {
		return failed
	}
	return failed - min(failed, t.Codes[http.StatusServiceUnavailable], refusedIn(rec, iv))
}

// succeeded returns the share of a step's requests that did not fail by [failedOf].
func succeeded(rec *kasoku.Recording, t *kasoku.Tally, iv kasoku.Interval) float64 {
	if t.Asked == 0 {
		return 1
	}
	return 1 - float64(failedOf(rec, t, iv))/float64(t.Asked)
}
