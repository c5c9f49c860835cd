package jointruth

import (
	"math"
	"slices"
	"sort"

	"github.com/kasoku/kasoku/logs/join"
)

// What is scored: pairs of at least leastRate statements for each request, of
// fingerprints with at least leastEvents statements.
const (
	leastRate   = 0.05
	leastEvents = 20
	leastProbed = 5 // of a probe, which has a dozen requests
)

// Figures define how right a join is.
type Figures struct {
	True, Claimed, Right int // pairs
	High, HighRight      int // of the claimed
	MedianError          float64
	Error90              float64 // 90th percentile
	False, Missed        []string
}

// Precision is the part of the claimed pairs that are true.
func (f *Figures) Precision() float64 { return ratioOf(f.Right, f.Claimed) }

// Recall is the part of the true pairs that are claimed.
func (f *Figures) Recall() float64 { return ratioOf(f.Right, f.True) }

func ratioOf(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

type pair struct{ endpoint, query int32 }

// a claim is what a pair is said to be.
type claim struct {
	perRequest float64
	high       bool
}

// Score compares a join with the truth of its window. Endpoints that the join
// calls a group are one, with the requests of its first.
func (r *Recording) Score(res *join.Result) Figures {
	merged := make([]int32, len(r.Endpoints))
	for i := range merged {
		merged[i] = int32(i)
	}
	for _, g := range res.Groups {
		for _, e := range g {
			merged[e] = g[0]
		}
	}
	claims := map[pair]claim{}
	for i := range res.Pairs {
		p := &res.Pairs[i]
		claims[pair{merged[p.Endpoint], p.Query}] = claim{p.PerRequest, p.Class == join.High}
	}
	return r.compare(claims, merged, res.From, res.To, leastEvents)
}

// compare scores claims on the fingerprints with at least so many statements.
func (r *Recording) compare(claims map[pair]claim, merged []int32, from, to int64, least int) Figures {
	requests := make([]float64, len(r.Endpoints))
	for i := range r.requests {
		if q := &r.requests[i]; q.End >= from && q.Start <= to && int(merged[q.Endpoint]) == int(q.Endpoint) {
			requests[q.Endpoint]++
		}
	}
	events := make([]int, len(r.Texts))
	truth := map[pair]float64{}
	for i := range r.events {
		e := &r.events[i]
		if e.start < from || e.start+e.length > to {
			continue
		}
		events[e.query]++
		if e.request >= 0 {
			ep := merged[r.requests[e.request].Endpoint]
			truth[pair{ep, e.query}] += 1 / max(requests[ep], 1)
		}
	}
	var f Figures
	var errors []float64
	for p, rate := range truth {
		if rate < leastRate || events[p.query] < least {
			continue
		}
		f.True++
		c, claimed := claims[p]
		if !claimed || c.perRequest < leastRate {
			f.Missed = append(f.Missed, r.Endpoints[p.endpoint]+": "+r.Texts[p.query])
			continue
		}
		f.Right++
		errors = append(errors, max(c.perRequest-rate, rate-c.perRequest)/rate)
	}
	for p, c := range claims {
		if c.perRequest < leastRate || events[p.query] < least {
			continue
		}
		right := truth[p] >= leastRate
		f.Claimed++
		if !right {
			f.False = append(f.False, r.Endpoints[p.endpoint]+": "+r.Texts[p.query])
		}
		if c.high {
			f.High++
			if right {
				f.HighRight++
			}
		}
	}
	sort.Float64s(errors)
	slices.Sort(f.False)
	slices.Sort(f.Missed)
	if n := len(errors); n > 0 {
		f.MedianError, f.Error90 = errors[n/2], errors[min(n*9/10, n-1)]
	}
	return f
}

// ScoreProbe counts the statements inside each request's time, when requests came
// one at a time, and compares the counts with the truth. What lies inside of none
// is the background, and taken off at its rate; what lies inside of two counts for
// neither unless their endpoints are always called together and so are one. ok is
// false when stamps of the form cannot distinguish the requests.
func (r *Recording) ScoreProbe(form Form) (f Figures, ok bool) {
	const edge = 1000 // µs: an access log's times are ms
	slack := int64(0)
	if form == Tail {
		slack = tailSlack
	}
	byStart := slices.Clone(r.requests)
	slices.SortFunc(byStart, func(a, b request) int { return int(a.Start - b.Start) })
	merged, overlapping := r.together(byStart, slack)
	if overlapping {
		return Figures{}, false
	}
	requests := make([]float64, len(r.Endpoints))
	length := make([]float64, len(r.Endpoints))
	for i := range r.requests {
		q := &r.requests[i]
		if merged[q.Endpoint] == q.Endpoint {
			requests[q.Endpoint]++
		}
		length[merged[q.Endpoint]] += float64(q.End - q.Start + 2*edge + slack)
	}
	from, to := r.Span()
	count, outside := map[pair]float64{}, map[int32]float64{}
	for i := range r.events {
		e := &r.events[i]
		end := e.start + e.length
		if form == Tail {
			end = e.stamp
		}
		inside, several := int32(-1), false
		for k := range byStart {
			q := &byStart[k]
			if end-e.length < q.Start-edge || end-slack > q.End+edge {
				continue
			}
			several = several || inside >= 0 && inside != merged[q.Endpoint]
			inside = merged[q.Endpoint]
		}
		switch {
		case inside < 0 && e.start > from && e.start < to:
			outside[e.query]++
		case inside >= 0 && !several:
			count[pair{inside, e.query}]++
		}
	}
	free := float64(to - from)
	for _, l := range length {
		free -= l
	}
	claims := map[pair]claim{}
	for p, n := range count {
		by := outside[p.query] / max(free, 1) * length[p.endpoint]
		// What chance may bring is no claim: three deviations of the background.
		if n > by+3*math.Sqrt(by) {
			claims[p] = claim{(n - by) / requests[p.endpoint], true}
		}
	}
	return r.compare(claims, merged, from-1e6, to+1e6, leastProbed), true
}

// together merges endpoints most of whose requests overlap, and says whether
// those of others do as well.
func (r *Recording) together(byStart []request, slack int64) (merged []int32, others bool) {
	merged = make([]int32, len(r.Endpoints))
	for i := range merged {
		merged[i] = int32(i)
	}
	total, both, near := map[int32]int{}, map[pair]int{}, map[pair]int{}
	for i := range byStart {
		total[byStart[i].Endpoint]++
		if i == 0 {
			continue
		}
		a, b := &byStart[i-1], &byStart[i]
		p := pair{min(a.Endpoint, b.Endpoint), max(a.Endpoint, b.Endpoint)}
		if b.Start < a.End {
			both[p]++
		} else if b.Start < a.End+slack {
			near[p]++
		}
	}
	close := 0
	for p, n := range both {
		if p.endpoint != p.query && 2*n > total[p.endpoint] {
			merged[p.query] = p.endpoint
		}
	}
	for _, n := range near {
		close += n
	}
	return merged, close > len(byStart)/20
}
