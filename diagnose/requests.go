package diagnose

import (
	"errors"
	"math"
	"time"

	"github.com/kasoku/kasoku"
)

// Requests is how many requests came in an interval.
type Requests struct {
	Count  uint64
	Failed uint64 // answered with 5xx; as the load saw it also those that were not answered
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

// Requests returns the requests of an interval, from the access log, else from
// the load's own counts. Seconds that lie partly in the interval count in part,
// so that requests may be set against counters of the same interval.
//
// When both are there and differ by more than half, the load's count is taken:
// the log was then of something else, of two servers in a row, or of errors
// only.
func (c *Case) Requests(iv kasoku.Interval) (Requests, error) {
	log, haveLog := logged(c.Recording, iv)
	load, haveLoad := offered(c.Recording, iv)
	switch {
	case haveLog && haveLoad && apart(log.Count, load.Count):
		return load, nil
	case haveLog:
		return log, nil
	case haveLoad:
		return load, nil
	}
	return Requests{}, errNoRequests
}

func apart(a, b uint64) bool { return a < b/2 || b < a/2 }

// logged counts the requests that the access log has in an interval.
func logged(rec *kasoku.Recording, iv kasoku.Interval) (Requests, bool) {
	var count, failed float64
	for i := range rec.Endpoints {
		for s, n := range rec.Endpoints[i].Seconds {
			part := overlap(s, iv)
			count += part * float64(n.Count)
			failed += part * float64(n.Failed)
		}
	}
	return rounded(count, failed, "access log")
}

// offered counts the requests that were due in an interval.
func offered(rec *kasoku.Recording, iv kasoku.Interval) (Requests, bool) {
	var count, failed float64
	for i := range rec.Seconds {
		s := &rec.Seconds[i]
		part := overlap(s.Second, iv)
		if part == 0 {
			continue
		}
		var good uint64
		for code, n := range s.Codes {
			if code >= 200 && code < 400 {
				good += n
			}
		}
		count += part * float64(s.Asked)
		failed += part * float64(s.Asked-min(good, s.Asked))
	}
	return rounded(count, failed, "load")
}

func rounded(count, failed float64, source string) (Requests, bool) {
	r := Requests{uint64(math.Round(count)), uint64(math.Round(failed)), source}
	return r, r.Count > 0
}

// second returns the interval of one second of the run's clock.
func second(s int) kasoku.Interval {
	from := time.Duration(s) * time.Second
	return kasoku.Interval{From: from, To: from + time.Second}
}

// overlap returns the part of the second that lies in the interval, 0..1.
func overlap(s int, iv kasoku.Interval) float64 {
	in := second(s)
	d := min(in.To, iv.To) - max(in.From, iv.From)
	return min(max(d.Seconds(), 0), 1)
}

// Busiest returns the endpoint with most requests in the interval, as "PUT
// /orders/7"; from the load's targets when there is no access log, and empty when
// there is neither.
func (c *Case) Busiest(iv kasoku.Interval) string {
	counts := map[string]float64{}
	for i := range c.Endpoints {
		e := &c.Endpoints[i]
		for s, n := range e.Seconds {
			counts[e.Method+" "+e.Route] += overlap(s, iv) * float64(n.Count)
		}
	}
	if len(counts) == 0 {
		for i := range c.Seconds {
			counts[c.Seconds[i].Target] += overlap(c.Seconds[i].Second, iv) * float64(c.Seconds[i].Asked)
		}
	}
	var name string
	for k, n := range counts {
		if best := counts[name]; n > best || n == best && (name == "" || k < name) {
			name = k
		}
	}
	return name
}

// BySecond returns how many requests came in each second of the run's clock, and
// what counted them: the access log, else the load. It is empty when nothing did.
func (c *Case) BySecond() (counts map[int]uint64, source string) {
	counts = map[int]uint64{}
	for i := range c.Endpoints {
		for s, n := range c.Endpoints[i].Seconds {
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
