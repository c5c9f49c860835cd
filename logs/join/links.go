package join

import "math"

const (
	// A link is reported from these on; unrelated queries correlate by 0.31 at most.
	leastCorrelation = 0.5
	leastSlope       = 0.8
	mostSlope        = 1.2
	// longestLinked bounds the requests that are looked at, in µs.
	longestLinked = 60_000_000
	// leastLinked is how many requests must have both.
	leastLinked = 20
)

// links looks for the list query whose rows a lookup's statements are for: over
// the requests that are open alone among their endpoint's, rows of the one and
// number of the other go together. A pool that is used up scatters them too much.
func (w *work) links() {
	if w.res.Saturated {
		return
	}
	for i := 0; i < len(w.res.Pairs); {
		n := i
		loop := false
		for ; n < len(w.res.Pairs) && w.res.Pairs[n].Endpoint == w.res.Pairs[i].Endpoint; n++ {
			p := &w.res.Pairs[n]
			loop = loop || p.PerRequest >= loopCalls && p.Group < 0
		}
		if loop {
			w.link(w.res.Pairs[i:n])
		}
		i = n
	}
}

// link looks for the lists of one endpoint's loops.
func (w *work) link(pairs []Pair) {
	endpoint := pairs[0].Endpoint
	slots := make([]int32, len(w.in.Queries)) // of each query: its pair, from 1
	for i := range pairs {
		slots[pairs[i].Query] = int32(i) + 1
	}
	calls, rows := w.perRequest(endpoint, slots, len(pairs))
	for i := range pairs {
		p := &pairs[i]
		if p.PerRequest < loopCalls || p.Group >= 0 {
			continue
		}
		for k := range pairs {
			if k == i || pairs[k].PerRequest >= p.PerRequest {
				continue
			}
			slope, r := fitRegression(rows, calls, k, i)
			if r >= leastCorrelation && slope >= leastSlope && slope <= mostSlope && r > p.Correlation {
				p.List, p.Slope, p.Correlation = pairs[k].Query, slope, r
			}
		}
	}
}

// perRequest counts the statements and the rows of each query within each request
// of the endpoint that overlaps no other of it.
func (w *work) perRequest(endpoint int32, slots []int32, n int) (calls, rows [][]float64) {
	var own []int32
	latest := int64(math.MinInt64)
	for i := range w.requests {
		r := &w.requests[i]
		if r.Endpoint != endpoint {
			continue
		}
		if r.Start-2*edge <= latest && len(own) > 0 {
			own[len(own)-1] = -1
			own = append(own, -1)
		} else {
			own = append(own, int32(i))
		}
		latest = max(latest, r.End)
	}
	at := make(map[int64][]int32) // requests by the tenth of a second
	const slot = 100_000
	for k, i := range own {
		if i < 0 || w.requests[i].End-w.requests[i].Start > longestLinked {
			continue
		}
		r := &w.requests[i]
		for s := (r.Start - edge) / slot; s <= (r.End+edge)/slot; s++ {
			at[s] = append(at[s], int32(k))
		}
	}
	calls, rows = make([][]float64, len(own)), make([][]float64, len(own))
	for i := range w.events {
		e := &w.events[i]
		q := slots[e.Query]
		if q == 0 {
			continue
		}
		for _, k := range at[e.Start/slot] {
			r := &w.requests[own[k]]
			if e.Start < r.Start-edge || e.End-e.Slack > r.End+edge {
				continue
			}
			if calls[k] == nil {
				calls[k], rows[k] = make([]float64, n), make([]float64, n)
			}
			calls[k][q-1]++
			rows[k][q-1] += float64(e.RowsSent)
		}
	}
	return calls, rows
}

// fitRegression is that of the calls of one query on the rows of another.
func fitRegression(rows, calls [][]float64, list, lookup int) (slope, r float64) {
	var n, sx, sy, sxx, syy, sxy float64
	for k := range rows {
		if rows[k] == nil || calls[k][list] == 0 || calls[k][lookup] == 0 {
			continue
		}
		x, y := rows[k][list], calls[k][lookup]
		n, sx, sy, sxx, syy, sxy = n+1, sx+x, sy+y, sxx+x*x, syy+y*y, sxy+x*y
	}
	varX, varY, both := sxx-sx*sx/n, syy-sy*sy/n, sxy-sx*sy/n
	if n < leastLinked || varX <= 0 || varY <= 0 {
		return 0, 0
	}
	return both / varX, both / math.Sqrt(varX*varY)
}
