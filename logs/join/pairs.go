package join

import (
	"cmp"
	"math"
	"slices"
)

const (
	// A pair is kept when its log likelihood ratio is above likely and it is at least
	// leastShare of the class or at least decisiveEnough of it is nearly sure.
	likely     = 10
	leastShare = 0.02
	// refitLikely is what must be left of the ratio when the other endpoints' rates
	// are fitted anew without the pair: 3 is odds of 20.
	refitLikely    = 3
	decisiveEnough = 0.8
	// nearlySure is the probability from which on a chunk counts as decisive.
	nearlySure = 0.9
	// A pair is High from these on.
	highShare    = 0.2
	highDecisive = 0.3
	// loopCalls is how many statements for each request a loop has at least.
	loopCalls = 5
)

// tally is what the chunks say of a pair.
type tally struct {
	chunks   float64
	calls    float64
	decisive float64 // calls
	llr      float64
	variance float64 // of calls
}

// tallies returns those of one kind by endpoint, for one of its queries.
func (f *fit) tallies(k int32, query int32, into []tally) {
	w := f.w
	rates, back, dispersion := f.rates[k], f.back[k], f.dispersion(k)
	for p := f.mark[k]; p < f.mark[k+1]; p++ {
		es := f.entries[f.from[p]:f.from[p+1]]
		total := back
		for i := range es {
			total += rates[es[i].endpoint] * es[i].weight
		}
		if total <= 0 {
			continue
		}
		c := &w.chunks[f.order[p]]
		calls := 0.0
		for _, m := range w.member[c.at : c.at+c.n] {
			if w.events[m].Query == query {
				calls++
			}
		}
		for i := range es {
			s := rates[es[i].endpoint] * es[i].weight / total
			if s <= 0 {
				continue
			}
			t := &into[es[i].endpoint]
			t.chunks += s
			t.calls += s * calls
			t.variance += s * (1 - s) * calls * calls
			if s >= nearlySure {
				t.decisive += s * calls
			}
			t.llr -= (math.Log1p(-min(s, 1-1e-6)) + s) / dispersion
		}
	}
}

// holds reports whether a pair is kept.
func (t *tally) holds(ofQuery float64) bool {
	if t.llr <= likely || t.calls <= 0 {
		return false
	}
	return t.calls >= leastShare*ofQuery || t.decisive >= decisiveEnough*t.calls
}

// needed reports whether the others cannot take over what seems an endpoint's.
func (f *fit) needed(kinds []int32, endpoint int, t *tally) bool {
	if t.decisive > highDecisive*t.calls {
		return true
	}
	loss := 0.0
	for _, k := range kinds {
		loss += f.without(k, endpoint) / f.dispersion(k)
	}
	return loss > refitLikely
}

// kindsOf lists the kinds that hold each query.
func (f *fit) kindsOf() [][]int32 {
	of := make([][]int32, len(f.w.in.Queries))
	for k := range f.w.kinds {
		for _, q := range f.w.kinds[k].queries {
			of[q] = append(of[q], int32(k))
		}
	}
	return of
}

// queryTallies adds up a query's kinds. calls is how many statements it has.
func (f *fit) queryTallies(kinds []int32, query int32) (sum []tally, calls float64) {
	sum = make([]tally, f.w.endpoints)
	for _, k := range kinds {
		f.tallies(k, query, sum)
		for p := f.mark[k]; p < f.mark[k+1]; p++ {
			c := &f.w.chunks[f.order[p]]
			for _, m := range f.w.member[c.at : c.at+c.n] {
				if f.w.events[m].Query == query {
					calls++
				}
			}
		}
	}
	return sum, calls
}

// prune takes from each kind the endpoints that hold for none of its queries; in
// the last round also those whose chunks others can take over.
func (f *fit) prune(last bool) {
	allowed := make([][]bool, len(f.w.kinds))
	for k := range allowed {
		allowed[k] = make([]bool, f.w.endpoints)
	}
	for q, kinds := range f.kindsOf() {
		if len(kinds) == 0 {
			continue
		}
		sum, calls := f.queryTallies(kinds, int32(q))
		for e := range sum {
			if !sum[e].holds(calls) || last && !f.needed(kinds, e, &sum[e]) {
				continue
			}
			for _, k := range kinds {
				allowed[k][e] = true
			}
		}
	}
	f.allowed = allowed
}

// long reports whether the window has no room for [LeastLengths] requests of an endpoint.
func (f *fit) long(endpoint int32) bool {
	return f.mean[f.unit[endpoint]]*LeastLengths > float64(f.w.res.To-f.w.res.From)
}

// inFlight is how many requests are open on average.
func (f *fit) inFlight() float64 {
	sum := 0.0
	for u := range f.mean {
		sum += f.mean[u] * f.sought[u]
	}
	return sum / max(float64(f.w.res.To-f.w.res.From), 1)
}

// pairs turns the fit into what is reported.
func (w *work) pairs(f *fit) {
	groupOf := make([]int32, w.endpoints)
	for i := range groupOf {
		groupOf[i] = -1
	}
	for g, set := range w.res.Groups {
		for _, e := range set {
			groupOf[e] = int32(g)
		}
	}
	for e, n := range w.count {
		if n > 0 && f.long(int32(e)) {
			w.res.Long++
		}
	}
	w.res.InLine = f.inFlight() > w.res.Open
	least := uint64(LeastRequests)
	if w.res.InLine {
		least = LeastInLine
	}
	explained := 0.0
	for q, kinds := range f.kindsOf() {
		if len(kinds) == 0 {
			continue
		}
		sum, calls := f.queryTallies(kinds, int32(q))
		of := 0.0 // that some endpoint explains
		for e := range sum {
			of += sum[e].calls
		}
		explained += of
		for e := range sum {
			t := &sum[e]
			if !t.holds(calls) {
				continue
			}
			p := Pair{
				Endpoint: int32(e), Group: groupOf[e], Query: int32(q), Requests: w.count[e], List: -1,
				Calls: t.calls, Share: min(t.calls/calls, 1), Likelihood: t.llr, Decisive: min(t.decisive/t.calls, 1),
			}
			n := float64(max(p.Requests, 1))
			// Twice the deviation: of the assignment, and of as many chunks by chance.
			spread := 2 * math.Sqrt(t.variance+t.calls*t.calls/max(t.chunks, 1))
			p.PerRequest = t.calls / n
			// Those that no request explains may all have been this endpoint's: the log of
			// a request that waits for a processor is later than the request.
			p.Least, p.Most = max(t.calls-spread, 0)/n, (t.calls+spread+max(calls-of, 0))/n
			p.Loop = w.runType[q] && p.PerRequest >= loopCalls
			p.Class = Possible
			switch {
			case p.Group >= 0:
				p.Class = Group
			case p.Share >= highShare && p.Decisive > highDecisive && !f.long(int32(e)) && p.Requests >= least:
				p.Class = High
			}
			w.res.Pairs = append(w.res.Pairs, p)
		}
	}
	w.res.Background = max(float64(len(w.events))-explained, 0)
	slices.SortFunc(w.res.Pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Query, b.Query))
	})
}
