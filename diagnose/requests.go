package diagnose

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
)

// Requests is how many requests came in an interval.
type Requests struct {
	Count  uint64
	Failed uint64 // answered with 5xx, without bots refused on purpose; in the load's counts also without an answer
	Source string // access log, load
}

// SuccessRatio returns the share that did not fail, 1 when there were none.
func (r Requests) SuccessRatio() float64 {
	if r.Count == 0 {
		return 1
	}
	return 1 - float64(min(r.Failed, r.Count))/float64(r.Count)
}

var errNoRequests = errors.New("neither an access log nor a load counted requests")

// Requests returns the requests of an interval, from the access log, else from the load's own
// counts. Seconds that lie partly in the interval count in part, so that requests may be set
// against counters of the same interval; of the whole run and of the load phase of a run
// without steps they count whole, so that the sum is that of the endpoints.
//
// Of a run with several hosts it is the log of one, see [kasoku.Recording.FrontLog].
//
// When both are there and one is less than half of the other, the load's count is taken: the
// log was then of something else, of two servers in a row, or of errors only. It fails when
// neither counted requests.
func (c *Case) Requests(iv kasoku.Interval) (Requests, error) {
	log, haveLog := countLogged(c.Recording, iv)
	load, haveLoad := countOffered(c.Recording, iv)
	switch {
	case haveLog && haveLoad && farApart(log.Count, load.Count):
		return load, nil
	case haveLog:
		return log, nil
	case haveLoad:
		return load, nil
	}
	return Requests{}, errNoRequests
}

// RequestsBySecond returns how many requests came in each second of the run's clock,
// counted by the source that [Requests.Source] names.
func (c *Case) RequestsBySecond(source string) map[int]float64 {
	out := map[int]float64{}
	if source == "load" {
		for i := range c.Seconds {
			out[c.Seconds[i].Second] += float64(c.Seconds[i].Asked)
		}
		return out
	}
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		for s, n := range endpoints[i].Seconds {
			out[s] += float64(n.Count)
		}
	}
	return out
}

func farApart(a, b uint64) bool { return a < b/2 || b < a/2 }

// countLogged counts the requests that the access log has in an interval.
func countLogged(rec *kasoku.Recording, iv kasoku.Interval) (Requests, bool) {
	return loggedBy(rec, shareOfSecond(rec, iv))
}

// loggedBy counts the requests in the access log, of each second its share.
func loggedBy(rec *kasoku.Recording, share func(s int) float64) (Requests, bool) {
	var count, failed float64
	_, endpoints := rec.FrontLog()
	refused := rec.RefusedBots()
	for i := range endpoints {
		e := &endpoints[i]
		of := 1 - float64(refused(e))/float64(max(e.Failed(), 1)) // the log's seconds do not say which they were
		for s, n := range e.Seconds {
			part := share(s)
			count += part * float64(n.Count)
			failed += part * of * float64(n.Failed)
		}
	}
	return roundRequests(count, failed, "access log")
}

// countOffered counts the requests that were due in an interval.
func countOffered(rec *kasoku.Recording, iv kasoku.Interval) (Requests, bool) {
	var count, failed float64
	share := shareOfSecond(rec, iv)
	good := successesBySecond(rec)
	for i := range rec.Seconds {
		s := &rec.Seconds[i]
		part := share(s.Second)
		count += part * float64(s.Asked)
		failed += part * max(float64(s.Asked)-good[i], 0)
	}
	return roundRequests(count, failed, "load")
}

func roundRequests(count, failed float64, source string) (Requests, bool) {
	r := Requests{uint64(math.Round(count)), uint64(math.Round(failed)), source}
	return r, r.Count > 0
}

// secondInterval returns the interval of one second of the run's clock.
func secondInterval(s int) kasoku.Interval {
	from := time.Duration(s) * time.Second
	return kasoku.Interval{From: from, To: from + time.Second}
}

// overlapOf returns the part of the second that lies in the interval, 0..1.
func overlapOf(s int, iv kasoku.Interval) float64 {
	in := secondInterval(s)
	d := min(in.To, iv.To) - max(in.From, iv.From)
	return min(max(d.Seconds(), 0), 1)
}

// shareOfSecond returns how much of a second's requests count for the interval. All do of
// the whole run, also those that a log dates a little before or after it, and of
// each second that the load phase of a run without steps has a part of: neither has
// a neighbour whose requests could be meant.
func shareOfSecond(rec *kasoku.Recording, iv kasoku.Interval) func(s int) float64 {
	if iv.From <= 0 && iv.To >= endOf(rec) {
		return func(int) float64 { return 1 }
	}
	whole := len(rec.Steps) == 0 && slices.ContainsFunc(rec.Phases, func(p kasoku.Phase) bool {
		return p.Kind == kasoku.PhaseLoad && p.Interval == iv
	})
	return func(s int) float64 {
		part := overlapOf(s, iv)
		if whole && part > 0 {
			return 1
		}
		return part
	}
}

// Busiest returns the endpoint with most requests in the interval, as "PUT
// /orders/7"; from the load's targets when there is no access log, and empty when
// there is neither.
func (c *Case) Busiest(iv kasoku.Interval) string {
	name, _ := greatest(countByEndpoint(c, iv, func(n kasoku.EndpointSecond) uint64 { return n.Count },
		func(i int) float64 { return float64(c.Seconds[i].Asked) }))
	return name
}

// MostFailed returns the endpoint that most of the requests were sent to that failed in the interval, and
// which part of them; empty when none failed, or it is not known which.
func MostFailed(c *Case, iv kasoku.Interval) (name string, share float64) {
	good := successesBySecond(c.Recording)
	counts := countByEndpoint(c, iv, func(n kasoku.EndpointSecond) uint64 { return n.Failed },
		func(i int) float64 { return max(float64(c.Seconds[i].Asked)-good[i], 0) })
	name, most := greatest(counts)
	if most <= 0 {
		return "", 0
	}
	var all float64
	for _, n := range counts {
		all += n
	}
	return name, most / all
}

// countByEndpoint adds up what seconds of an interval count, by endpoint; by the load's targets when there is
// no access log.
func countByEndpoint(c *Case, iv kasoku.Interval, logged func(kasoku.EndpointSecond) uint64,
	offered func(i int) float64) map[string]float64 {
	counts := map[string]float64{}
	share := shareOfSecond(c.Recording, iv)
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		e := &endpoints[i]
		for s, n := range e.Seconds {
			counts[e.Method+" "+e.Route] += share(s) * float64(logged(n))
		}
	}
	if len(counts) == 0 {
		for i := range c.Seconds {
			counts[c.Seconds[i].Target] += share(c.Seconds[i].Second) * offered(i)
		}
	}
	return counts
}

// greatest returns the name with the most, of equal ones the first in their order.
func greatest(counts map[string]float64) (name string, most float64) {
	for k, n := range counts {
		if n > most || n == most && (name == "" || k < name) {
			name, most = k, n
		}
	}
	return name, most
}

// BySecond returns how many requests came in each second of the run's clock, and
// what counted them: the access log, else the load. It is empty when nothing did.
func (c *Case) BySecond() (counts map[int]uint64, source string) {
	counts = map[int]uint64{}
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		for s, n := range endpoints[i].Seconds {
			counts[s] += n.Count
		}
	}
	if len(counts) > 0 {
		return counts, "access"
	}
	for i := range c.Seconds {
		counts[c.Seconds[i].Second] += c.Seconds[i].Asked
	}
	return counts, "load"
}
