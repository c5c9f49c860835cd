package watch

import (
	"maps"
	"math"
	"time"

	"github.com/kasoku/kasoku"
)

// A Load is what a load counted, by second. Its zero value is none.
type Load struct {
	seconds map[int]*kasoku.Tally
	points  map[int]LoadPoint
}

// A LoadPoint is one second of a load.
type LoadPoint struct {
	Asked, Good, Failed uint64
	P50, P99            time.Duration
}

// LoadOf returns the load of a run.
func LoadOf(rec *kasoku.Recording) Load {
	var l Load
	l.Add(rec.Seconds)
	return l
}

// Add adds what was counted. A second may come in parts.
func (l *Load) Add(seconds []kasoku.LoadSecond) {
	if len(seconds) == 0 {
		return
	}
	if l.seconds == nil {
		l.seconds = map[int]*kasoku.Tally{}
	}
	if l.points == nil {
		l.points = map[int]LoadPoint{}
	}
	changed := map[int]bool{}
	for i := range seconds {
		s := &seconds[i]
		t := l.seconds[s.Second]
		if t == nil {
			t = kasoku.NewTally()
			l.seconds[s.Second] = t
		}
		t.Add(s)
		changed[s.Second] = true
	}
	for at := range changed {
		t := l.seconds[at]
		p := LoadPoint{Asked: t.Asked, Good: t.Success, Failed: t.Failed()}
		if t.Latency != nil && t.Latency.Count() > 0 {
			p.P50, p.P99 = t.Latency.Quantile(0.5), t.Latency.Quantile(0.99)
		}
		l.points[at] = p
	}
}

// Forget drops the seconds before.
func (l *Load) Forget(before int) {
	maps.DeleteFunc(l.seconds, func(at int, _ *kasoku.Tally) bool { return at < before })
	maps.DeleteFunc(l.points, func(at int, _ LoadPoint) bool { return at < before })
}

// Any reports whether there is a load in the seconds from the first to the last.
func (l *Load) Any(from, to int) bool {
	for at := range l.points {
		if at >= from && at <= to {
			return true
		}
	}
	return false
}

// Latest is the last second that was counted, -1 when none was.
func (l *Load) Latest() int {
	last := -1
	for at := range l.points {
		last = max(last, at)
	}
	return last
}

// over returns a copy for drawing, the points alone: those of l, and of the other load
// where l has none.
func (l *Load) over(other *Load) Load {
	out := Load{points: make(map[int]LoadPoint, len(l.points)+len(other.points))}
	maps.Copy(out.points, other.points)
	maps.Copy(out.points, l.points)
	return out
}

// shifted returns the load with its seconds so much later.
func (l *Load) shifted(by int) Load {
	out := Load{seconds: map[int]*kasoku.Tally{}, points: map[int]LoadPoint{}}
	for at, t := range l.seconds {
		out.seconds[at+by] = t
	}
	for at, p := range l.points {
		out.points[at+by] = p
	}
	return out
}

// settled is the last second of which all is known at a second, when more comes:
// what is under way is reported in parts, once a second.
func (l *Load) settled(now int, live bool) int {
	last := l.Latest()
	if live && now-last < slack {
		last--
	}
	return last
}

const (
	// slack is how many seconds after the last one that was reported a load may go on.
	slack = 3
	// mostLate is for how many seconds what was reported last is shown as now.
	mostLate = 6
)

// loadValues returns one figure of the seconds from the first to the last, not a number
// where the load counted none. A second of the load is one that begins there; it is
// shown where it ends, as the rates of all else are.
func (d *Data) loadValues(s span, of func(LoadPoint) float64) []float64 {
	out := make([]float64, s.to-s.from+1)
	known := d.Load.settled(s.to, d.Live)
	for i := range out {
		out[i] = math.NaN()
		if at := s.from + i - 1; at <= known {
			if p, ok := d.Load.points[at]; ok {
				out[i] = of(p)
			}
		}
	}
	return out
}
