package export

import (
	"time"

	"github.com/kasoku/kasoku"
)

// A rater turns the frames of one source into values: it remembers the readings
// before. A series that is gone for good is forgotten.
type rater struct {
	last  map[kasoku.Key]reading
	frame uint64            // frames so far
	taken map[string]bool   // by metric, whether it is exported
	units map[string]string // of rates, by that of the counter
}

// takes is only.Takes, asked once for each metric.
func (r *rater) takes(only Selection, source, metric string) bool {
	takes, known := r.taken[metric]
	if !known {
		takes = only.Takes(source, metric)
		r.taken[metric] = takes
	}
	return takes
}

// unit is the unit of a counter's rate.
func (r *rater) unit(of string) string {
	u, known := r.units[of]
	if !known {
		u = perSecond(of)
		r.units[of] = u
	}
	return u
}

// A reading is the last value of a counter.
type reading struct {
	at    time.Duration
	value float64
	frame uint64
}

// forgetAfter is after how many frames without it a series is forgotten: ten minutes
// of seconds.
const forgetAfter = 600

// append appends the values of a frame.
func (r *rater) append(dst []Value, f *kasoku.Frame, form Form, only Selection) []Value {
	if r.last == nil {
		r.last, r.taken, r.units = map[kasoku.Key]reading{}, map[string]bool{}, map[string]string{}
	}
	r.frame++
	for i := range f.Samples {
		s := &f.Samples[i]
		if !r.takes(only, f.Source, s.Name) {
			continue
		}
		v := Value{Key: kasoku.Key{Host: f.Host, Source: f.Source, Name: s.Name, Instance: s.Instance}, Kind: s.Kind,
			Unit: s.Unit, At: f.At, Value: s.Value}
		if s.Kind == kasoku.Gauge || form == Raw {
			dst = append(dst, v)
			continue
		}
		before, seen := r.last[v.Key]
		r.last[v.Key] = reading{f.At, s.Value, r.frame}
		if !seen || f.At <= before.at {
			continue
		}
		dst = append(dst, rateOf(v, r.unit(s.Unit), before))
	}
	if r.frame%forgetAfter == 0 {
		for k, before := range r.last {
			if r.frame-before.frame >= forgetAfter {
				delete(r.last, k)
			}
		}
	}
	return dst
}

// rateOf is the growth a second from the reading before; a counter that falls was
// reset, and counts from zero.
func rateOf(v Value, unit string, before reading) Value {
	pair := [...]kasoku.Point{{At: before.at, Value: before.value}, {At: v.At, Value: v.Value}}
	s := kasoku.Series{Points: pair[:]}
	v.Value, _ = s.PerSecond(kasoku.Interval{From: before.at, To: v.At})
	v.Kind, v.Unit = kasoku.Gauge, unit
	return v
}

// appendSeries appends the values of a recorded series.
func appendSeries(dst []Value, s *kasoku.Series, form Form) []Value {
	v := Value{Key: s.Key, Kind: s.Kind, Unit: s.Unit}
	if s.Kind == kasoku.Gauge || form == Raw {
		for _, p := range s.Points {
			v.At, v.Value = p.At, p.Value
			dst = append(dst, v)
		}
		return dst
	}
	v.Kind, v.Unit = kasoku.Gauge, perSecond(s.Unit)
	for _, rate := range s.Rates() {
		v.At, v.Value = rate.Interval.To, rate.PerSec
		dst = append(dst, v)
	}
	return dst
}
