package join

import (
	"context"
	"math"
	"slices"

	"github.com/kasoku/kasoku/internal/median"
)

const (
	// runDuration caps the time in which statements of a run are spread over a
	// request, in µs: a loop goes on at one pace however long the request is.
	runDuration = 300_000
	iterations  = 120
	// expectedBackground is the part of a kind's chunks that no request runs, as far
	// as nothing is known: it counts like one chunk that was seen.
	expectedBackground = 0.02
	// freeBackground is how many iterations the background's rate is free before it
	// is capped.
	freeBackground = 25
	// stray is the part of statements whose times are wrong by more than is allowed
	// for: of stamps twice as many.
	stray = 0.01
	// settled ends the iterations when no rate changes by more of the chunks.
	settled = 3e-5
	// plausible is the part of a kind's chunks from which on an endpoint's time
	// does not count as background.
	plausible = 0.02
)

// An entry is what a chunk has of one endpoint: the weights of its requests that
// were open, of those without and of those with a matching literal.
type entry struct {
	endpoint    int32
	other, same [2]float32 // by kind.run: spread over the request, and at one pace
	weight      float64    // of both, with the likelihood of the match
}

// fit holds the candidates of all chunks, kind by kind.
type fit struct {
	w       *work
	unit    []int32   // of each endpoint: the first of its group
	sought  []float64 // requests by unit, and the exposure of kinds that come in runs
	capped  []float64
	pace    []float64 // of each unit, the length up to which a loop is spread over a request, µs
	mean    []float64 // length of each unit's requests, µs
	order   []int32   // chunks by kind
	from    []int32   // entries of each chunk in order
	entries []entry
	shuffle []shuffled // of each entry
	mark    []int32    // where each kind begins in order
	rates   [][]float64
	back    []float64
	limit   []float64 // of back
	allowed [][]bool  // endpoints that a kind may have; nil for all
	cover   map[string]coverage
	slack   int64 // the greatest of a chunk
}

// shuffled is how many open requests of an endpoint a chunk's literals were tried
// on and how many they match, and how many of as many others they match by chance.
type shuffled struct{ tried, matched, chance uint16 }

// coverage is the time in which no request of a set of endpoints is open, in µs.
type coverage struct{ uncovered float64 }

// candidates finds the requests that each chunk may be of.
func (w *work) candidates() *fit {
	f := &fit{w: w, unit: make([]int32, w.endpoints), cover: map[string]coverage{}}
	for i := range f.unit {
		f.unit[i] = int32(i)
	}
	for _, g := range w.res.Groups {
		for _, e := range g {
			f.unit[e] = g[0]
		}
	}
	f.pace = w.paces(f.unit)
	f.sought, f.capped, f.mean = make([]float64, w.endpoints), make([]float64, w.endpoints), make([]float64, w.endpoints)
	for i := range w.requests {
		r := &w.requests[i]
		u := f.unit[r.Endpoint]
		f.sought[u]++
		d := w.length(r)
		f.mean[u] += d
		f.capped[u] += d / min(d, f.pace[u])
	}
	for u := range f.mean {
		f.mean[u] /= max(f.sought[u], 1)
	}
	for i := range w.chunks {
		f.slack = max(f.slack, w.chunks[i].slack)
	}
	f.sortChunks()
	byTime := make([]int32, len(w.chunks))
	for i := range byTime {
		byTime[i] = int32(i)
	}
	slices.SortFunc(byTime, func(a, b int32) int {
		x, y := &w.chunks[f.order[a]], &w.chunks[f.order[b]]
		if x.start != y.start {
			if x.start < y.start {
				return -1
			}
			return 1
		}
		return int(a) - int(b)
	})
	f.sweep(byTime)
	return f
}

// length is the time in which a request's statements may seem to be, in µs.
func (w *work) length(r *Request) float64 {
	return float64(r.End-r.Start) + edge
}

// inside is how much of what is possible for a chunk's time lies within r: 1 when
// all of it does, and 0 when it is more than edge outside. The chunk may be moved
// to earlier by its slack, and both ways by half an edge against a request that is
// half an edge longer at both ends.
func (c *chunk) inside(r *Request) float64 {
	const half = edge / 2
	most := min(c.slack+half, c.start-r.Start+half)
	least := max(-half, c.end-r.End-half)
	return max(float64(most-least), 0) / float64(c.slack+2*half)
}

// mode is the index of a kind's weights in an entry.
func (f *fit) mode(k int32) int {
	if f.w.kinds[k].run {
		return 1
	}
	return 0
}

// paces is the median length of each unit's requests, at most runDuration.
func (w *work) paces(unit []int32) []float64 {
	lengths := make([][]float64, w.endpoints)
	for i := range w.requests {
		u := unit[w.requests[i].Endpoint]
		lengths[u] = append(lengths[u], w.length(&w.requests[i]))
	}
	paces := make([]float64, w.endpoints)
	for u, l := range lengths {
		paces[u] = runDuration
		if len(l) > 0 {
			paces[u] = min(median.High(l), runDuration)
		}
	}
	return paces
}

// sortChunks orders chunks by kind.
func (f *fit) sortChunks() {
	w := f.w
	f.mark = make([]int32, len(w.kinds)+1)
	for i := range w.chunks {
		f.mark[w.chunks[i].kind+1]++
	}
	for k := 1; k < len(f.mark); k++ {
		f.mark[k] += f.mark[k-1]
	}
	next := slices.Clone(f.mark)
	f.order = make([]int32, len(w.chunks))
	for i := range w.chunks {
		k := w.chunks[i].kind
		f.order[next[k]] = int32(i)
		next[k]++
	}
}

// run fits every kind, prunes and fits again.
func (f *fit) run(ctx context.Context) error {
	kinds := len(f.w.kinds)
	f.rates, f.back, f.allowed = make([][]float64, kinds), make([]float64, kinds), make([][]bool, kinds)
	f.limit = make([]float64, kinds)
	for k := range kinds {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.fitKind(int32(k))
		f.tryPace(int32(k))
	}
	for round := range pruneRounds {
		f.prune(round == pruneRounds-1)
		for k := range kinds {
			if err := ctx.Err(); err != nil {
				return err
			}
			if f.allowed[k] != nil {
				f.fitKind(int32(k))
			}
		}
	}
	return nil
}

// pruneRounds is how often pairs that do not hold are taken away before the last fit.
const pruneRounds = 2

// fitKind finds the rates that make the kind's chunks as likely as can be.
func (f *fit) fitKind(k int32) {
	w := f.w
	n := float64(f.mark[k+1] - f.mark[k])
	exposure := f.exposure(k)
	window := float64(w.res.To-w.res.From) + 1
	rates := make([]float64, w.endpoints)
	for e := range rates {
		if exposure[e] > 0 && (f.allowed[k] == nil || f.allowed[k][e]) {
			rates[e] = n / float64(w.endpoints) / exposure[e]
		}
	}
	back, limit := 0.1*n/window, math.Inf(1)
	match := make([]matches, w.endpoints)
	f.weigh(k, nil)
	sums := make([]float64, w.endpoints)
	for i := range iterations {
		if i == literalsFrom || i == 2*literalsFrom || i == freeBackground {
			f.learn(k, rates, back, match)
			f.weigh(k, match)
		}
		if i == freeBackground {
			limit = f.backgroundLimit(k, rates, exposure)
		}
		var change float64
		back, change = f.step(k, rates, back, limit, sums)
		if i > freeBackground && change < settled*n {
			break
		}
	}
	f.rates[k], f.back[k], f.limit[k] = rates, back, limit
}

// tryPace looks whether a kind that a request has many of is likelier as a loop
// that goes on at one pace.
func (f *fit) tryPace(k int32) {
	if f.w.kinds[k].run || slices.Max(f.rates[k]) < loopCalls {
		return
	}
	before := f.likelihood(k, f.rates[k], f.back[k])
	f.w.kinds[k].run = true
	f.fitKind(k)
	if f.likelihood(k, f.rates[k], f.back[k]) < before {
		f.w.kinds[k].run = false
		f.fitKind(k)
	}
}

// exposure is what a kind's rates of each endpoint are multiplied by.
func (f *fit) exposure(k int32) []float64 {
	if f.w.kinds[k].run {
		return f.capped
	}
	return f.sought
}

// step is one iteration. It changes rates, and returns the background's rate and
// by how many chunks a rate has changed at most.
func (f *fit) step(k int32, rates []float64, back, limit float64, sums []float64) (nextBack, change float64) {
	w, exposure := f.w, f.exposure(k)
	window := float64(w.res.To-w.res.From) + 1
	strays := stray * float64(f.mark[k+1]-f.mark[k]) / window
	if !w.exact {
		strays *= 2
	}
	clear(sums)
	sumBack := f.expect(f.mark[k], f.mark[k+1], rates, back, sums)
	for e, s := range sums {
		if exposure[e] == 0 {
			continue
		}
		change = max(change, math.Abs(s-rates[e]*exposure[e]))
		if had := rates[e] * exposure[e]; had > 0 {
			rates[e] *= math.Pow(s/had, overRelaxed)
		}
	}
	return max(min(sumBack/window, limit), strays), change
}

// without is how much less likely a kind's chunks are when an endpoint runs none
// of them and the others' rates are fitted anew.
func (f *fit) without(k int32, endpoint int) float64 {
	rates := slices.Clone(f.rates[k])
	before := f.likelihood(k, rates, f.back[k])
	rates[endpoint] = 0
	back, sums := f.back[k], make([]float64, len(rates))
	for range refits {
		back, _ = f.step(k, rates, back, f.limit[k], sums)
	}
	return before - f.likelihood(k, rates, back)
}

// refits is how many iterations the others have to take over an endpoint's chunks.
const refits = 15

// likelihood is the logarithm of the chunks' likelihood.
func (f *fit) likelihood(k int32, rates []float64, back float64) float64 {
	sum := -back * (float64(f.w.res.To-f.w.res.From) + 1)
	for e, x := range f.exposure(k) {
		sum -= rates[e] * x
	}
	for p := f.mark[k]; p < f.mark[k+1]; p++ {
		total := back
		for _, e := range f.entries[f.from[p]:f.from[p+1]] {
			total += rates[e.endpoint] * e.weight
		}
		if total > 0 {
			sum += math.Log(total)
		}
	}
	return sum
}

// overRelaxed is by how much a step goes further than plain expectation and
// maximisation: below 2 it goes to the same rates in fewer iterations.
const overRelaxed = 1.7

// dispersion is how many chunks come at once: those of a loop in one request are not
// independent observations.
func (f *fit) dispersion(k int32) float64 {
	chunks, weighted := 0.0, 0.0
	for e, r := range f.rates[k] {
		if f.sought[e] > 0 {
			n := r * f.exposure(k)[e]
			chunks += n
			weighted += n * n / f.sought[e]
		}
	}
	if chunks <= 0 {
		return 1
	}
	return math.Sqrt(max(weighted/chunks, 1))
}

// literalsFrom is the iteration at which matches of literals are first learned.
const literalsFrom = 8

// expect adds each chunk's shares to sums and returns that of the background.
func (f *fit) expect(first, last int32, rates []float64, back float64, sums []float64) float64 {
	sumBack := 0.0
	for p := first; p < last; p++ {
		es := f.entries[f.from[p]:f.from[p+1]]
		total := back
		for i := range es {
			total += rates[es[i].endpoint] * es[i].weight
		}
		if total <= 0 {
			continue
		}
		inverse := 1 / total
		for i := range es {
			e := es[i].endpoint
			sums[e] += rates[e] * es[i].weight * inverse
		}
		sumBack += back * inverse
	}
	return sumBack
}

// backgroundLimit is the kind's rate in the time that no endpoint covers that
// plausibly runs it.
func (f *fit) backgroundLimit(k int32, rates, exposure []float64) float64 {
	n := float64(f.mark[k+1] - f.mark[k])
	key := make([]byte, len(rates))
	for e := range rates {
		if rates[e]*exposure[e] >= plausible*n {
			key[e] = 1
		}
	}
	c, known := f.cover[string(key)]
	if !known {
		c = f.uncovered(key)
		f.cover[string(key)] = c
	}
	alone := 0.0
	for p := f.mark[k]; p < f.mark[k+1]; p++ {
		covered := false
		for _, e := range f.entries[f.from[p]:f.from[p+1]] {
			covered = covered || key[e.endpoint] == 1
		}
		if !covered {
			alone++
		}
	}
	usual := expectedBackground * n / (float64(f.w.res.To-f.w.res.From) + 1)
	return (alone + 1) / (c.uncovered + 1/usual)
}

// uncovered measures the time without an open request of the set.
func (f *fit) uncovered(set []byte) coverage {
	w := f.w
	until, free := w.res.From, int64(0)
	for i := range w.requests {
		r := &w.requests[i]
		if set[f.unit[r.Endpoint]] == 0 {
			continue
		}
		if r.Start-edge > until {
			free += r.Start - edge - until
		}
		until = max(until, r.End+edge)
	}
	return coverage{float64(free + max(w.res.To-until, 0))}
}
