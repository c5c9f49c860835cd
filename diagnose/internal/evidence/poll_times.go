package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// The thresholds by which an endpoint waits because it is made to: MES-14.
const (
	PollFlatTo = 1.25 // the 90th percentile, of the median
	PollWork   = 0.10 // the most of its time that its statements take
	pollLength = 100 * time.Millisecond
	pollOthers = 1.0 / 3
	fewPolls   = 20
	// BusyHost is the part of the host's CPU from which requests may wait for it.
	BusyHost = 0.70
	// longPoll is longer than what hashes a password or asks another service takes as a rule.
	longPoll = time.Second
)

// waiting are names of what waits by design or takes from a queue, however busy the host is.
var waiting = []string{"poll", "longpoll", "long-poll", "long_poll", "polling", "wait", "stream", "sse", "subscribe",
	"queue", "dequeue", "pop", "job", "jobs", "next"}

// NamedToWait reports whether a segment of a route is such a name.
func NamedToWait(route string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(route), "/"), func(s string) bool {
		return slices.Contains(waiting, s)
	})
}

// PollTimes are the times that show whether an endpoint waits by design.
type PollTimes struct {
	P50, P90 time.Duration
	Work     float64 // statements' share of its time
	Exact    bool    // of its own statements
	Others   time.Duration
	held     float64 // share of its time that locks and the pool may explain
}

// Meant reports whether the endpoint is likely meant to wait: by its name, or because it waits
// longer than what other programs make it wait as a rule.
func (p PollTimes) Meant(e *kasoku.Endpoint) bool { return p.P50 >= longPoll || NamedToWait(e.Route) }

// Near returns how near the times come to those of an endpoint that waits by design; 1
// and more when it does.
func (p PollTimes) Near() float64 {
	flat := p.P90.Seconds() / max(p.P50.Seconds(), 1e-9)
	return min(p.P50.Seconds()/pollLength.Seconds(), PollFlatTo/max(flat, 1e-9), PollWork/max(p.Work, 1e-9),
		PollWork/max(p.held, 1e-9),
		pollOthers*p.P50.Seconds()/max(p.Others.Seconds(), 1e-9))
}

// WaitsByDesign reports whether an endpoint of these waits because it is made to, as
// MES-14 sees it, and the host had CPU left meanwhile.
func WaitsByDesign(c *diagnose.Case, all []kasoku.Endpoint, e *kasoku.Endpoint) bool {
	if busy, cores, err := BusiestCPU(c); err == nil && busy > BusyHost*cores {
		return false
	}
	p, ok := PollOf(c, all, e)
	return ok && p.Near() >= 1
}

// PollOf returns the times of an endpoint beside those of all others; false when it was
// asked too rarely, or failed too often, to say.
func PollOf(c *diagnose.Case, all []kasoku.Endpoint, e *kasoku.Endpoint) (PollTimes, bool) {
	if e.Count < fewPolls || e.Latency == nil || e.Latency.Count() == 0 || e.Failed()*2 > e.Count {
		return PollTimes{}, false
	}
	var p PollTimes
	p.P50, p.P90 = e.Latency.Quantile(0.5), e.Latency.Quantile(0.9)
	var count uint64
	var total time.Duration
	for i := range all {
		if o := &all[i]; o != e && o.Latency != nil {
			count += o.Count
			total += o.Total
		}
	}
	if count < fewPolls {
		return PollTimes{}, false
	}
	p.Others = total / time.Duration(count)
	p.Work, p.Exact = workOf(c, e)
	held := LockTime(c)
	if pool, err := PoolLoads(c); err == nil {
		held += time.Duration(min(max(pool.Wait.By, 0), 1e9) * float64(time.Second))
	}
	p.held = held.Seconds() / max(e.Total.Seconds(), 1e-9)
	return p, true
}

// workOf returns the share of an endpoint's time that its statements take; when it is
// not known which are its own, all count.
func workOf(c *diagnose.Case, e *kasoku.Endpoint) (share float64, exact bool) {
	var own, all float64
	for i := range c.Queries {
		q := &c.Queries[i]
		all += q.Total.Seconds()
		for _, x := range c.Statements().CallersOf(q.ID) {
			if x.Method == e.Method && x.Route == e.Route && q.Calls > 0 {
				own += x.PerRequest * float64(e.Count) * q.Total.Seconds() / float64(q.Calls)
				exact = true
			}
		}
	}
	if !exact {
		own = all
	}
	return own / max(e.Total.Seconds(), 1e-9), exact
}

// CPUOfTime returns the most of an endpoint's time that CPU can account for: as if all CPU
// that the service's programs, databases left out, used while the focus's load ran was its
// requests'. Where the service is not known that of all recorded processes counts, without
// processes the host's.
func CPUOfTime(c *diagnose.Case, e *kasoku.Endpoint) (share float64, err error) {
	loaded := c.Focus.Interval
	if c.Focus.Step != nil {
		loaded = c.Focus.Step.Interval
	}
	var within uint64
	for s, n := range e.Seconds {
		if at := time.Duration(s) * time.Second; loaded.From < at+time.Second && at < loaded.To {
			within += n.Count
		}
	}
	if len(e.Seconds) == 0 {
		within = e.Count
	}
	busy, err := usedOnAll(c)
	if members, none := c.Processes().Members(); none == nil {
		busy, err = 0, nil
		for _, p := range members {
			if p.Role == diagnose.Other {
				busy += p.Cores
			}
		}
	}
	took := e.Total.Seconds() * float64(within) / float64(max(e.Count, 1))
	return busy * loaded.Len().Seconds() / max(took, 1e-9), err
}
