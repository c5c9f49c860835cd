package buckets

import "math"

// keep is how many values a Stats remembers as they are before it counts them
// by bucket. Most classes of a log are rare, and a list of the values is smaller
// than counters; it also lets Merge add the values one by one, as a reader of
// the whole log would have, so that sums agree to the last bit.
const keep = 16

// Counters are kept in pages of neighbours, which are made when needed.
const (
	pageShift = 4
	pageSize  = 1 << pageShift
	pages     = (Number + pageSize - 1) / pageSize
)

// Stats are the statistics of one attribute. The zero value is empty and ready.
// It takes 64 bytes and 16 values of 8 bytes, later 64 bytes for each 16
// neighbouring buckets that hold something, 4 KB at most. It is not safe for
// concurrent use.
type Stats struct {
	n        uint64
	sum      float64
	min, max float64
	few      []float64 // the values, in order, while n <= keep
	counts   *counts   // of all values, once n > keep
}

// counts are counters per bucket. A bucket counts up to 4,294,967,295 values.
type counts struct {
	page  [pages]uint8 // number of the page plus one, 0 for one that is not there
	pages [][pageSize]uint32
}

func (c *counts) add(i int, n uint32) {
	p := c.page[i>>pageShift]
	if p == 0 {
		c.pages = append(c.pages, [pageSize]uint32{})
		p = uint8(len(c.pages))
		c.page[i>>pageShift] = p
	}
	c.pages[p-1][i&(pageSize-1)] += n
}

// Add adds a value.
func (s *Stats) Add(v float64) {
	if s.n == 0 {
		s.min, s.max = v, v
	} else if v < s.min {
		s.min = v
	} else if v > s.max {
		s.max = v
	}
	s.sum += v
	s.n++
	if s.counts != nil {
		s.counts.add(Index(v), 1)
		return
	}
	s.addFew(v)
}

func (s *Stats) addFew(v float64) {
	if len(s.few) < keep {
		s.few = append(s.few, v)
		return
	}
	s.count()
	s.counts.add(Index(v), 1)
}

// count goes over from values to counters.
func (s *Stats) count() {
	s.counts = new(counts)
	for _, v := range s.few {
		s.counts.add(Index(v), 1)
	}
	s.few = nil
}

// Merge adds what another Stats has seen, as if it came after what this one has seen.
func (s *Stats) Merge(o *Stats) {
	if o.counts == nil {
		for _, v := range o.few {
			s.Add(v)
		}
		return
	}
	if s.n == 0 {
		s.min, s.max = o.min, o.max
	}
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
	s.sum += o.sum
	s.n += o.n
	if s.counts == nil {
		s.count()
	}
	o.Buckets(func(i int, n uint64) { s.counts.add(i, uint32(n)) })
}

// Clone returns a copy that shares nothing with s.
func (s *Stats) Clone() *Stats {
	c := new(Stats)
	c.Merge(s)
	return c
}

// Mean returns the sum divided by the count, 0 when there is no value.
func (s *Stats) Mean() float64 {
	if s.n == 0 {
		return 0
	}
	return s.sum / float64(s.n)
}

// Buckets calls f with each bucket that holds values, in ascending order.
func (s *Stats) Buckets(f func(bucket int, n uint64)) {
	c := s.counts
	if c == nil {
		c = new(counts)
		for _, v := range s.few {
			c.add(Index(v), 1)
		}
	}
	for p, at := range c.page {
		if at == 0 {
			continue
		}
		for i, n := range c.pages[at-1] {
			if n > 0 {
				f(p<<pageShift+i, uint64(n))
			}
		}
	}
}

// A Summary holds the figures that pt-query-digest prints of an attribute.
type Summary struct {
	Count               uint64
	Sum, Min, Max, Mean float64
	P95, Stddev, Median float64
}

// Summary works out the figures.
//
// One value, or equal ones, are given as they are. Of two, the greater is the 95th
// percentile, and the standard deviation is that of a sample. Of more, the figures come
// from the buckets: see [Summary.fill].
func (s *Stats) Summary() Summary {
	u := Summary{Count: s.n, Sum: s.sum, Min: s.min, Max: s.max, Mean: s.Mean()}
	switch {
	case s.n == 0:
	case s.n == 1 || s.min == s.max:
		u.P95, u.Median = s.max, s.max
	case s.n == 2:
		u.P95, u.Median = s.max, u.Mean
		d := s.min - u.Mean
		e := s.max - u.Mean
		u.Stddev = math.Sqrt(float64(d*d) + float64(e*e))
	default:
		u.fill(s)
	}
	return u
}

// fill derives the figures of at least three values that are not all equal.
//
// All go through the buckets from the top. The top 5 % are left out, rounded up
// to a whole value; of fewer than 10 values nothing is. The 95th percentile is the
// bucket with the first value below them. The median is the bucket at which half of
// all values are left or fewer. When the number of values that are not left out is
// even and the bucket holds a single value, it is the mean of that bucket and the
// one above that holds something. The standard deviation is that of the whole
// population, and at most half of the range.
func (u *Summary) fill(s *Stats) {
	kept := s.n
	if s.n >= 10 {
		kept = uint64(0.95 * float64(s.n))
	}
	left, half := s.n, s.n/2
	var sum, squares, above float64
	var median, p95, first bool
	first = true
	s.down(func(v float64, n uint64) {
		left -= n
		if !p95 && s.n-left > s.n-kept {
			u.P95, p95 = v, true
		}
		if !median && left <= half {
			u.Median, median = v, true
			if kept%2 == 0 && n == 1 && !first {
				u.Median = (v + above) / 2
			}
		}
		sum += float64(float64(n) * v)
		squares += float64(float64(n) * float64(v*v))
		above, first = v, false
	})
	mean := sum / float64(s.n)
	variance := squares/float64(s.n) - float64(mean*mean)
	if variance > 0 {
		u.Stddev = min(math.Sqrt(variance), (s.max-s.min)/2)
	}
}

// down calls f with the value and the count of each bucket that holds something,
// from the top.
func (s *Stats) down(f func(value float64, n uint64)) {
	type held struct {
		bucket int
		n      uint64
	}
	var all [Number]held
	k := 0
	s.Buckets(func(i int, n uint64) { all[k] = held{i, n}; k++ })
	for k--; k >= 0; k-- {
		f(Value(all[k].bucket), all[k].n)
	}
}
