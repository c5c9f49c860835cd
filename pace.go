package kasoku

import (
	"maps"
	"slices"
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
)

// What a step must show before its queue is said to have grown throughout it.
const (
	leastPaceSeconds = 6           // whole seconds with answers
	leastPace        = time.Second // the p50 in the last third
	leastPaceSlope   = 0.1         // the p50 grows by so much of each second
	leastPaceRise    = 2           // the p50 of the last third over that of the first
)

// Pace returns the rate, in requests a second, that the service kept up with in a step of
// an open loop, where that is less than was asked although requests succeeded: each
// second's requests waited longer than those of the second before. overrun is false when
// the service kept up, or it cannot be seen: a ramp, a closed loop, a step of few seconds.
//
// The idea: in a queue that is served at rate m and grows because a > m arrive, who
// arrives t after the start waits t·(a-m)/m, so latency rises with slope a/m - 1. Reference:
// the deterministic (fluid) queue, Kleinrock, Queueing Systems II, 2.
func (r *Recording) Pace(s Step) (perSec float64, overrun bool) {
	if s.PerSec <= 0 || s.PerSecTo > 0 && s.PerSecTo != s.PerSec {
		return 0, false
	}
	p50 := r.halfwaySeconds(s)
	third := len(p50) / 3
	if len(p50) < leastPaceSeconds {
		return 0, false
	}
	first, middle, last := meanOf(p50[:third]), meanOf(p50[third:len(p50)-third]), meanOf(p50[len(p50)-third:])
	slope := (last - first) / float64(len(p50)-third)
	risen := last - first
	if last < leastPace.Seconds() || slope < leastPaceSlope || last < leastPaceRise*first ||
		middle-first < risen/4 || last-middle < risen/4 { // a stall is a step, no slope
		return 0, false
	}
	return s.PerSec / (1 + slope), true
}

// Taken returns how long a step's requests took in all: its length or, where the service
// did not keep up with it ([Recording.Pace]), until all but the slowest 1 % of each
// second's answers had come, to half a second.
func (r *Recording) Taken(s Step) time.Duration {
	end := s.Interval.To
	if _, overrun := r.Pace(s); overrun {
		for i := range r.Seconds {
			if x := &r.Seconds[i]; x.Step == s.Number && x.Latency.Count() > 0 {
				due := time.Duration(x.Second)*time.Second + time.Second/2
				end = max(end, due+x.Latency.Quantile(0.99))
			}
		}
	}
	return end - s.Interval.From
}

// halfwaySeconds returns the median latency of the requests that were due in each whole
// second of a step, in seconds and in their order. A damaged run's step may be of any
// length: what is counted is as long as its seconds with requests.
func (r *Recording) halfwaySeconds(s Step) []float64 {
	from, to := int((s.Interval.From+time.Second-1)/time.Second), int(s.Interval.To/time.Second)
	due := map[int]*histogram.Histogram{}
	for i := range r.Seconds {
		if x := &r.Seconds[i]; x.Step == s.Number && x.Second >= from && x.Second < to && x.Latency.Count() > 0 {
			due[x.Second] = merged(due[x.Second], x.Latency)
		}
	}
	var out []float64
	for _, second := range slices.Sorted(maps.Keys(due)) {
		out = append(out, due[second].Quantile(0.5).Seconds())
	}
	return out
}

func meanOf(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}
