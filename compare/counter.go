package compare

import (
	"sort"
	"time"

	"github.com/kasoku/kasoku"
)

// reach is how far from the edge of an interval the nearest sample of a counter
// may lie: a tick and a half at the usual second. Beyond it the counter is
// taken as not measured there.
const reach = 1500 * time.Millisecond

// A growth is how much a counter has grown since its first sample, at any time
// of the run. Between two samples it is taken to grow evenly, so that seconds
// of two sources can be put beside each other though their ticks differ by
// milliseconds; what a missed sample covers is thus spread over its time.
type growth struct {
	at    []time.Duration
	grown []float64
}

// growthOf reads a counter.
func growthOf(s *kasoku.Series) growth {
	var g growth
	if s == nil {
		return g
	}
	sum := 0.0
	for i, p := range s.Points {
		if i > 0 {
			sum += kasoku.Growth(s.Points[i-1].Value, p.Value)
		}
		g.at = append(g.at, p.At)
		g.grown = append(g.grown, sum)
	}
	return g
}

// in returns the growth in the interval; ok is false when no sample lies within
// reach of one of its ends.
func (g growth) in(iv kasoku.Interval) (grown float64, ok bool) {
	n := len(g.at)
	if n < 2 || g.at[0] > iv.From+reach || g.at[n-1] < iv.To-reach {
		return 0, false
	}
	return g.until(iv.To) - g.until(iv.From), true
}

// until returns the growth up to t, held at the first and the last sample.
func (g growth) until(t time.Duration) float64 {
	i := sort.Search(len(g.at), func(i int) bool { return g.at[i] >= t })
	switch {
	case i == 0:
		return g.grown[0]
	case i == len(g.at):
		return g.grown[i-1]
	}
	share := float64(t-g.at[i-1]) / float64(g.at[i]-g.at[i-1])
	return g.grown[i-1] + share*(g.grown[i]-g.grown[i-1])
}
