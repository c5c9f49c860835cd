package kasoku

import (
	"slices"
	"time"
)

// Costly returns the stretch in which a trace cost the service something: that in which it watched,
// and the loading of its programs before. It is empty where nothing was watched.
func (t *Trace) Costly() Interval {
	if t.Refused != "" {
		return Interval{}
	}
	return Interval{From: t.Interval.From - t.Attach, To: t.Interval.To}
}

// mostCostly is the longest stretch of a trace that is believed: a damaged file may say anything.
const mostCostly = time.Hour

// Unjudged returns the seconds of the run's clock by which a step is not judged: compared, listed,
// proved. They are those that a trace cost the service something, where at least half of the step
// remains; else there are none.
func (r *Recording) Unjudged(s Step) map[int]bool {
	out := map[int]bool{}
	first, end := secondsOf(s.Interval)
	for i := range r.Traces {
		iv := r.Traces[i].Costly()
		if iv.Len() > mostCostly {
			continue
		}
		from, to := secondsOf(iv)
		for at := max(first, from); at < min(end, to); at++ {
			out[at] = true
		}
	}
	if 2*len(out) > end-first {
		return nil
	}
	return out
}

// secondsOf returns the seconds of the run's clock that an interval touches: from first, before end.
func secondsOf(iv Interval) (first, end int) {
	return int(iv.From / time.Second), int((iv.To + time.Second - 1) / time.Second)
}

// JudgedTally adds up the load of a step in the seconds that it is judged by.
func (r *Recording) JudgedTally(s Step) *Tally {
	unjudged, whole := r.Unjudged(s), r.Tally(s.Number)
	if len(unjudged) == 0 {
		return whole
	}
	t := NewTally()
	var refused float64
	for i := range r.Seconds {
		if x := &r.Seconds[i]; x.Step == s.Number && !unjudged[x.Second] {
			t.Add(x)
			refused += whole.RefusedOf(x)
		}
	}
	t.Refused = uint64(refused + 0.5)
	return t
}

// CostsJudged reports whether what a trace cost is in figures that the run is judged by: a score, and
// what a log counted, are those of the whole load, and a step of few seconds is judged by all of them.
func (r *Recording) CostsJudged() bool {
	traced := func(t Trace) bool { return t.Refused == "" }
	if !slices.ContainsFunc(r.Traces, traced) {
		return false
	}
	if len(r.Steps) == 0 || len(r.Seconds) == 0 || r.Run.Score != nil {
		return true
	}
	return slices.ContainsFunc(r.Steps, func(s Step) bool {
		return len(r.Unjudged(s)) == 0 && slices.ContainsFunc(r.Traces, func(t Trace) bool {
			iv := t.Costly()
			return max(iv.From, s.Interval.From) < min(iv.To, s.Interval.To)
		})
	})
}
