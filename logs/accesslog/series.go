package accesslog

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// maxBuckets is how many steps a row's series may have: at 16 bytes each, 16 KiB.
// A run of a benchmark fits in seconds, a day of a server in steps of five
// minutes.
const maxBuckets = 1024

// longestRun is the longest run whose seconds are kept each for itself, however
// many they are.
const longestRun = 6 * time.Hour

// buckets returns how many steps the series of a table may have.
func (o *Options) buckets() int {
	if o.Clock != nil && !o.Interval.Empty() && o.Interval.Len() <= longestRun {
		return max(maxBuckets, int(o.Interval.Len()/time.Second)+2)
	}
	return maxBuckets
}

// steps are the lengths that a step of a series may have. Each divides the next,
// so that series of different steps can be added up.
var steps = []time.Duration{
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute,
	10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 24 * time.Hour,
	7 * 24 * time.Hour, 28 * 24 * time.Hour, 364 * 24 * time.Hour, 3640 * 24 * time.Hour,
}

// A bucket is one step of a series in which there were requests. Counts beyond
// 4 billion stay there.
type bucket struct {
	at            int64 // in steps since offset 0
	count, failed uint32
}

// A series is the buckets of a row, by time.
type series struct {
	buckets []bucket
	last    int32 // index of the bucket that was counted in last

	bySecond histogram.BySecond // request times, with Options.Seconds
}

// add counts one request. Logs are written in the order of time, but for
// requests that end at nearly the same moment and for logs of several servers.
func (s *series) add(at int64, failed uint32) {
	if i := int(s.last); i < len(s.buckets) && s.buckets[i].at == at {
		b := &s.buckets[i]
		if b.count < math.MaxUint32 {
			b.count++
			b.failed += failed
		}
		return
	}
	s.put(bucket{at, 1, failed})
}

// put adds a bucket.
func (s *series) put(b bucket) {
	n := len(s.buckets)
	i := n
	if n > 0 && s.buckets[n-1].at >= b.at {
		i = sort.Search(n, func(i int) bool { return s.buckets[i].at >= b.at })
	}
	s.last = int32(i)
	if i < n && s.buckets[i].at == b.at {
		s.buckets[i].count = addCapped(s.buckets[i].count, b.count)
		s.buckets[i].failed = addCapped(s.buckets[i].failed, b.failed)
		return
	}
	s.buckets = slices.Insert(s.buckets, i, b)
}

func addCapped(a, b uint32) uint32 {
	if a > math.MaxUint32-b {
		return math.MaxUint32
	}
	return a + b
}

// merge adds another series, of the same step.
func (s *series) merge(o []bucket) {
	for _, b := range o {
		s.put(b)
	}
}

// coarsen makes the step longer.
func (s *series) coarsen(from, to time.Duration) {
	n := int64(to / from)
	out := s.buckets[:0]
	for _, b := range s.buckets {
		b.at = floorDiv(b.at, n)
		if k := len(out) - 1; k >= 0 && out[k].at == b.at {
			out[k].count = addCapped(out[k].count, b.count)
			out[k].failed = addCapped(out[k].failed, b.failed)
			continue
		}
		out = append(out, b)
	}
	s.buckets, s.last = out, 0
}

// seconds returns the series by the seconds in which the steps begin, which count
// from offset start.
func (s *series) seconds(step time.Duration, start int64) map[int]kasoku.EndpointSecond {
	out := make(map[int]kasoku.EndpointSecond, len(s.buckets))
	for _, b := range s.buckets {
		at := b.at*int64(step/time.Second) - start/int64(time.Second)
		out[int(at)] = kasoku.EndpointSecond{Count: uint64(b.count), Failed: uint64(b.failed)}
	}
	return out
}

func floorDiv(a, n int64) int64 {
	q := a / n
	if a%n < 0 {
		q--
	}
	return q
}

// longerStep returns the step after that one; the last has none.
func longerStep(step time.Duration) time.Duration {
	for _, s := range steps {
		if s > step {
			return s
		}
	}
	return step
}
