package callers

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/join"
)

// What a join by overlap rests on. The limits are those with which it was measured.
const (
	leastLogged  = 0.98             // of the statements that the server counted are in its log
	mostGivenUp  = 0.001            // of the requests; their statements run on when they are over
	shortWindow  = 10 * time.Second // of the run, unless there are statements enough
	clocksDiffer = 2 * time.Second  // of the times of a log and of this host
)

// checks measures what the join rests on.
func (joiner *Joiner) checks(run *Run, j *kasoku.Join, r *join.Result) []kasoku.JoinCheck {
	return []kasoku.JoinCheck{
		checkLogged(joiner.stats.logged, joiner.stats.asked),
		checkGivenUp(run.Endpoints, run.Configs),
		checkClocks(joiner.stats.offsets),
		checkRequests(j, r, joiner.feed.requests, run.Endpoints),
		checkPool(r),
		checkResolution(j.Resolution),
	}
}

// weaken makes what overlap in time concludes possible at most where it does not rest on
// what it was measured with: all of it when statements are missing from the log or are
// not of the requests beside them, else what is said of an endpoint with few requests.
//
// A pool that is in use to its last connection is not among them: the join then looks for
// no sequences on connections.
func weaken(callers []kasoku.Caller, checks []kasoku.JoinCheck) []kasoku.Caller {
	all := slices.ContainsFunc(checks, func(c kasoku.JoinCheck) bool {
		return !c.Holds && slices.Contains([]string{nameLogged, nameGivenUp, nameClocks, nameResolution}, c.Name)
	})
	for i := range callers {
		if c := &callers[i]; c.Class == kasoku.CallerHigh && (all || c.Requests < join.LeastRequests) {
			c.Class = kasoku.CallerPossible
		}
	}
	return callers
}

// Names of checks, as documents have them.
const (
	nameLogged     = "logged statements"
	nameGivenUp    = "requests given up"
	nameClocks     = "clocks"
	nameResolution = "resolution"
)

// checkLogged compares the statements of the log with those that the server
// counted; asked is below 1 or NaN when it did not say.
func checkLogged(logged uint64, asked float64) kasoku.JoinCheck {
	c := kasoku.JoinCheck{Name: nameLogged}
	if !(asked >= 1) {
		c.Text = "the server did not report how many statements it ran (Questions)"
		return c
	}
	share := min(float64(logged)/asked, 1)
	c.Holds = share >= leastLogged || asked < 20
	c.Text = fmt.Sprintf("%s of %s statements are in the slow log (%.1f %%), at least %.0f %% "+
		"are needed", unit.Count(logged), unit.Count(uint64(asked)), 100*share, 100*leastLogged)
	return c
}

var ignoresAbort = regexp.MustCompile(`(?m)^[^#\n]*\bproxy_ignore_client_abort\s+on\s*;`)

// checkGivenUp looks for requests that their clients gave up: the application goes
// on with their statements when they are over.
func checkGivenUp(endpoints []kasoku.Endpoint, configs []kasoku.Config) kasoku.JoinCheck {
	var given, all uint64
	for i := range endpoints {
		all += endpoints[i].Count
		given += endpoints[i].Codes[499]
	}
	share := float64(given) / max(float64(all), 1)
	c := kasoku.JoinCheck{Name: nameGivenUp, Holds: share <= mostGivenUp}
	c.Text = fmt.Sprintf("%s of %s requests have status 499 (%.2f %%), at most "+
		"%.1f %% may", unit.Count(given), unit.Count(all), 100*share, 100*mostGivenUp)
	if !c.Holds && slices.ContainsFunc(configs, func(k kasoku.Config) bool {
		return k.Kind == capture.KindNginx && ignoresAbort.MatchString(k.Text)
	}) {
		c.Holds = true
		c.Text += "; nginx waits for their answers all the same (proxy_ignore_client_abort)"
	} else if !c.Holds {
		c.Text += "; their statements run on afterwards, unless nginx has proxy_ignore_client_abort on"
	}
	return c
}

// checkClocks compares the times of the access logs with when their lines came.
func checkClocks(offsets []time.Duration) kasoku.JoinCheck {
	c := kasoku.JoinCheck{Name: nameClocks, Holds: true, Text: "both logs are of this host"}
	for _, off := range offsets {
		if off.Abs() > clocksDiffer {
			c.Holds = false
			c.Text = fmt.Sprintf("the access log's times are %s off this host's clock, at most "+
				"%s may be", off.Round(100*time.Millisecond), clocksDiffer)
		}
	}
	return c
}

// checkRequests looks for enough requests.
func checkRequests(j *kasoku.Join, r *join.Result, requests []join.Request, endpoints []kasoku.Endpoint) kasoku.JoinCheck {
	counts := make([]uint64, len(endpoints))
	for i := range requests {
		counts[requests[i].Endpoint]++
	}
	least := uint64(join.LeastRequests)
	if r.InLine {
		least = join.LeastInLine
	}
	few, some := 0, 0
	for _, n := range counts {
		if n > 0 {
			some++
		}
		if n > 0 && n < least {
			few++
		}
	}
	length := j.Interval.To - j.Interval.From
	c := kasoku.JoinCheck{Name: "requests", Holds: few == 0 && r.Long == 0 && some > 0 && (length >= shortWindow || j.Statements >= mostJoined)}
	c.Text = fmt.Sprintf("%s requests of %d endpoints in %.1f s were "+
		"looked at", unit.Count(j.Requests), some, length.Seconds())
	if few > 0 {
		c.Text += fmt.Sprintf("; %d of the endpoints have fewer than %d", few, least)
		if r.InLine {
			c.Text += ", which are needed where requests wait in line for a worker or a connection"
		}
	}
	if r.Long > 0 {
		c.Text += fmt.Sprintf("; requests of %d endpoints are so long that fewer than %d fit into that time, one after the other", r.Long, join.LeastLengths)
	}
	if length < shortWindow && j.Statements < mostJoined {
		c.Text += fmt.Sprintf("; at least %.0f s are needed", shortWindow.Seconds())
	}
	return c
}

// checkPool reports whether successive statements on a connection are of one request.
func checkPool(r *join.Result) kasoku.JoinCheck {
	c := kasoku.JoinCheck{Name: "pool", Holds: !r.Saturated && r.Refused == "" && r.Events > 0}
	c.Text = fmt.Sprintf("%.1f of %.1f open connections are in use", r.Busy, r.Open)
	switch {
	case r.Events == 0:
		c.Text = "no statement was looked at"
	case r.Saturated:
		c.Text += ": the pool is full, so neighbours on one connection are of different requests and loops are not seen"
	}
	return c
}

// checkResolution reports whether the statements' times are fine enough.
func checkResolution(r time.Duration) kasoku.JoinCheck {
	return kasoku.JoinCheck{
		Name: nameResolution, Holds: r <= join.MaxResolution,
		Text: fmt.Sprintf("statements' times are known to %s, %s are needed", r, join.MaxResolution),
	}
}
