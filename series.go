package kasoku

import (
	"sort"
	"time"
)

// Kind defines how a series' values are to be read.
type Kind uint8

// The kinds of series.
const (
	Gauge   Kind = iota // the value itself
	Counter             // only grows, save for a reset; differences are what counts
)

// A Key names a series. The host is part of it from the first schema, so that
// runs of several machines merge.
type Key struct {
	Host     string
	Source   string // host, process, mysql, self
	Name     string // cpu.user, Threads_connected
	Instance string // cpu0, vda, "1204 userapi"; empty when there is one
}

// A Point is one raw sample.
type Point struct {
	At    time.Duration
	Value float64
}

// A Series is what one source said of one quantity, oldest first. Values are
// raw: counters are stored as counters and rates are computed when read.
type Series struct {
	Key    Key
	Kind   Kind
	Unit   string // s, bytes, count, ratio …
	Points []Point
}

// At returns the last value at or before t.
func (s *Series) At(t time.Duration) (float64, bool) {
	n := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].At > t })
	if n == 0 {
		return 0, false
	}
	return s.Points[n-1].Value, true
}

// Within returns the points with From <= At < To, none where To is before From.
// The slice is shared.
func (s *Series) Within(iv Interval) []Point {
	lo := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].At >= iv.From })
	hi := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].At >= iv.To })
	return s.Points[lo:max(lo, hi)]
}

// Delta returns how much a counter grew from the last sample at or before
// iv.From (or the first one after it) to the first sample at or after iv.To (or
// the last one before it). A counter that falls was reset; what it shows then
// is counted from zero. ok is false with fewer than two samples.
func (s *Series) Delta(iv Interval) (grown float64, ok bool) {
	pts := s.around(iv)
	if len(pts) < 2 {
		return 0, false
	}
	for i := 1; i < len(pts); i++ {
		grown += Growth(pts[i-1].Value, pts[i].Value)
	}
	return grown, true
}

// PerSecond returns how fast a counter grew over the samples that Delta takes; they
// reach beyond iv, so Delta by the length of iv alone would be too much. ok is false
// with fewer than two samples.
func (s *Series) PerSecond(iv Interval) (rate float64, ok bool) {
	pts := s.around(iv)
	grown, ok := s.Delta(iv)
	if !ok || pts[len(pts)-1].At <= pts[0].At {
		return 0, false
	}
	return grown / (pts[len(pts)-1].At - pts[0].At).Seconds(), true
}

// Max returns the largest value of the points within the interval, and false when there
// are none.
func (s *Series) Max(iv Interval) (float64, bool) {
	pts := s.Within(iv)
	if len(pts) == 0 {
		return 0, false
	}
	m := pts[0].Value
	for _, p := range pts[1:] {
		m = max(m, p.Value)
	}
	return m, true
}

// Mean returns the plain mean of the gauge's samples in the interval.
func (s *Series) Mean(iv Interval) (float64, bool) {
	pts := s.Within(iv)
	if len(pts) == 0 {
		return 0, false
	}
	var sum float64
	for _, p := range pts {
		sum += p.Value
	}
	return sum / float64(len(pts)), true
}

// A Rate is how fast a counter grew over the time between two samples. After a
// gap the interval is longer than a tick and covers the gap.
type Rate struct {
	Interval Interval
	PerSec   float64
}

// Rates returns the counter's growth per second between neighbouring samples.
func (s *Series) Rates() []Rate {
	if len(s.Points) < 2 {
		return nil
	}
	out := make([]Rate, 0, len(s.Points)-1)
	for i := 1; i < len(s.Points); i++ {
		a, b := s.Points[i-1], s.Points[i]
		d := (b.At - a.At).Seconds()
		if d <= 0 {
			continue
		}
		out = append(out, Rate{Interval{a.At, b.At}, Growth(a.Value, b.Value) / d})
	}
	return out
}

func (s *Series) around(iv Interval) []Point {
	lo := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].At > iv.From })
	if lo > 0 {
		lo--
	}
	hi := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].At >= iv.To })
	if hi < len(s.Points) {
		hi++
	}
	if lo >= hi {
		return nil
	}
	return s.Points[lo:hi]
}

// Growth returns how much a counter grew from one reading to the next. One that falls was
// reset; what it shows then is counted from zero.
func Growth[T ~int64 | ~uint64 | ~float64](from, to T) T {
	if to < from {
		return to
	}
	return to - from
}
