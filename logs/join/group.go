package join

import (
	"math"
	"slices"
)

const (
	// groupSlot is the time in which starts are counted, in µs.
	groupSlot = 20_000
	// together is the correlation of endpoints' starts from which on no times can
	// distinguish them.
	together = 0.9
	// leastStarts is how many requests an endpoint needs to be distinguished at all.
	leastStarts = 20
)

// group finds the endpoints that are always called together.
func (w *work) group() {
	counts := make([]map[int64]int64, w.endpoints)
	for i := range counts {
		counts[i] = map[int64]int64{}
	}
	for i := range w.requests {
		r := &w.requests[i]
		// A start near a slot's border counts for both sides in part, so that pairs
		// that the border divides still look alike. In whole µs, so that no order of
		// addition shows.
		at := r.Start - w.res.From + 2*groupSlot // the window may begin within a request
		counts[r.Endpoint][at/groupSlot] += groupSlot - at%groupSlot
		counts[r.Endpoint][at/groupSlot+1] += at % groupSlot
	}
	slots := float64((w.res.To-w.res.From)/groupSlot + 1)
	parent := make([]int32, w.endpoints)
	for i := range parent {
		parent[i] = int32(i)
	}
	for a := range counts {
		for b := a + 1; b < len(counts); b++ {
			if w.count[a] < leastStarts || w.count[b] < leastStarts {
				continue
			}
			if correlationOf(counts[a], counts[b], slots) > together {
				parent[rootOf(parent, int32(b))] = rootOf(parent, int32(a))
			}
		}
	}
	sets := map[int32][]int32{}
	for e := range parent {
		r := rootOf(parent, int32(e))
		sets[r] = append(sets[r], int32(e))
	}
	for _, set := range sets {
		if len(set) > 1 {
			w.res.Groups = append(w.res.Groups, set)
		}
	}
	slices.SortFunc(w.res.Groups, func(a, b []int32) int { return int(a[0]) - int(b[0]) })
}

func rootOf(parent []int32, e int32) int32 {
	for parent[e] != e {
		e = parent[e]
	}
	return e
}

// correlationOf is Pearson's of two sparse series of n values.
func correlationOf(a, b map[int64]int64, n float64) float64 {
	if len(b) < len(a) {
		a, b = b, a
	}
	var products int64
	for s, v := range a {
		products += v * b[s]
	}
	both := float64(products)
	sumA, squaresA := momentsOf(a)
	sumB, squaresB := momentsOf(b)
	spread := math.Sqrt(max(squaresA-sumA*sumA/n, 0) * max(squaresB-sumB*sumB/n, 0))
	if spread == 0 {
		return 0
	}
	return (both - sumA*sumB/n) / spread
}

func momentsOf(a map[int64]int64) (sum, squares float64) {
	var n, n2 int64
	for _, v := range a {
		n += v
		n2 += v * v
	}
	return float64(n), float64(n2)
}
