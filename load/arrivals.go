package load

import (
	"math"
	"time"
)

// A position is a number of requests, with a part of one, from the start of a
// load. A float64 alone could not hold both.
type position struct {
	whole uint64
	frac  float64 // 0 <= frac < 1
}

// add returns the position that lies mass requests further on. A sum that
// differs from a whole number only by rounding is that number: 10 per minute for
// a minute is 10, although 10.0/60*60 need not be.
func (p position) add(mass float64) position {
	x := p.frac + mass
	if r := math.Round(x); r >= 1 && math.Abs(x-r) <= 1e-9+x*1e-15 {
		x = r
	}
	whole := math.Floor(x)
	return position{p.whole + uint64(whole), x - whole}
}

// ceil returns the number of the first request at or after the position.
func (p position) ceil() uint64 {
	if p.frac > 0 {
		return p.whole + 1
	}
	return p.whole
}

// A stretch is a stage in which requests are due.
type stretch struct {
	step         int           // number of its step
	from, length time.Duration // when it begins, how long it goes on
	rate         [2]float64    // per second, at both ends
	mass         float64       // requests that it holds, not rounded; +Inf when it has no end
	first, end   uint64        // numbers of its requests, the end not included; math.MaxUint64 when it has none
	lead         float64       // requests from its beginning to the first, less than 1

	secs  float64 // length
	most  float64 // length in ns, less one step of a float64: what is below it is, cut to whole ns, within
	low   float64 // the lower one of rate
	accel float64 // by how much the rate changes in a second, without sign; 0: constant
	falls bool
}

func newStretch(st Stage, from, length time.Duration, begin position) stretch {
	s := stretch{from: from, length: length, rate: [2]float64{st.From, st.To}, first: begin.ceil()}
	if begin.frac > 0 {
		s.lead = 1 - begin.frac
	}
	s.secs, s.most = length.Seconds(), math.Nextafter(float64(length), 0)
	s.low, s.falls = min(st.From, st.To), st.From > st.To
	s.accel = math.Abs(st.To-st.From) / s.secs
	if st.For == Forever {
		s.mass, s.end = math.Inf(1), math.MaxUint64
		return s
	}
	s.mass = (st.From + st.To) / 2 * s.secs
	s.end = begin.add(s.mass).ceil()
	return s
}

// offset returns how many requests of the stretch are due before request n.
func (s *stretch) offset(n uint64) float64 { return float64(int64(n-s.first)) + s.lead }

func (s *stretch) endless() bool { return s.end == math.MaxUint64 }

// due returns when x requests of the stretch are due, after the start of the
// load: the inverse of the sum of the rate. It is within the stretch.
func (s *stretch) due(x float64) time.Duration {
	var ns float64
	if s.accel == 0 {
		ns = x / s.low * 1e9
		ns += ns * 0x1p-52 // what the two roundings may have taken, so that 2.01 s is not 2.009999999 s
	} else {
		ns = s.ramp(x)*1e9 + 0.5
	}
	if ns < s.most {
		return s.from + time.Duration(ns)
	}
	return s.from + s.length - 1
}

// ramp returns the seconds after which x requests of a ramp are due. They are
// counted from the end with the lower rate r, where t seconds hold r·t + a·t²/2
// requests. Of the two forms of the root this one takes no difference of numbers
// that are nearly the same.
func (s *stretch) ramp(x float64) float64 {
	if s.falls {
		x = max(s.mass-x, 0)
	}
	t := 0.0
	if x > 0 {
		t = 2 * x / (s.low + math.Sqrt(s.low*s.low+2*s.accel*x))
	}
	if s.falls {
		t = s.secs - t
	}
	return t
}

// Arrivals returns the due times, evenly spaced.
func (t *Timetable) Arrivals() Arrivals { return &evenArrivals{walk: t.walk()} }

// A walk goes over the stretches of a timetable.
type walk struct {
	*stretch           // where it is
	rest     []stretch // what comes after
}

func (t *Timetable) walk() walk { return walk{&t.stretches[0], t.stretches[1:]} }

// next goes to the next stretch. After the last it stays and returns false.
func (w *walk) next() bool {
	if len(w.rest) == 0 {
		return false
	}
	w.stretch, w.rest = &w.rest[0], w.rest[1:]
	return true
}

// evenArrivals are due where the sum of the rate is a whole number.
type evenArrivals struct {
	walk
	n    uint64
	last time.Duration // no due time is before the last one, whatever the rounding
}

// Next implements [Arrivals].
func (a *evenArrivals) Next() (time.Duration, int, bool) {
	for a.n >= a.end {
		if !a.next() {
			return 0, 0, false
		}
	}
	a.last = max(a.last, a.due(a.offset(a.n)))
	a.n++
	return a.last, a.step, true
}
