package compare

import (
	"maps"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/routes"
)

// alike returns recordings whose endpoints are of one kind on both sides: where one has a path in the
// values by which the program chooses what it does, and another one has it whole, as those of older
// versions have, all have it whole. What they had stays as it is.
func alike(before, after []*kasoku.Recording) (_, _ []*kasoku.Recording) {
	type path struct{ method, path string }
	of := func(e *kasoku.Endpoint) (path, bool) {
		p, choice := routes.CutChoice(e.Route)
		return path{e.Method, p}, choice != ""
	}
	whole, some := map[path]bool{}, false
	for _, rec := range slices.Concat(before, after) {
		apart := map[path]bool{}
		for i := range rec.Endpoints {
			p, chosen := of(&rec.Endpoints[i])
			apart[p] = apart[p] || chosen
			some = some || chosen
		}
		for p, chosen := range apart {
			whole[p] = whole[p] || !chosen
		}
	}
	if !some {
		return before, after
	}
	fold := func(rec *kasoku.Recording) *kasoku.Recording {
		out := *rec
		out.Endpoints = nil
		for i := range rec.Endpoints {
			e := rec.Endpoints[i]
			p, chosen := of(&e)
			if !whole[p] {
				out.Endpoints = append(out.Endpoints, e)
				continue
			}
			if chosen {
				e.Route = p.path
			}
			at := slices.IndexFunc(out.Endpoints, func(o kasoku.Endpoint) bool {
				return o.Host == e.Host && o.Method == e.Method && o.Route == e.Route
			})
			if at < 0 {
				out.Endpoints = append(out.Endpoints, e)
			} else {
				out.Endpoints[at] = sum(&out.Endpoints[at], &e)
			}
		}
		return &out
	}
	folded := func(side []*kasoku.Recording) (out []*kasoku.Recording) {
		for _, rec := range side {
			out = append(out, fold(rec))
		}
		return out
	}
	return folded(before), folded(after)
}

// sum returns the requests of two endpoints as those of one, with which it shares nothing.
func sum(a, b *kasoku.Endpoint) kasoku.Endpoint {
	out := *a
	out.Codes, out.Seconds = maps.Clone(a.Codes), maps.Clone(a.Seconds)
	if out.Codes == nil {
		out.Codes = map[int]uint64{}
	}
	for code, n := range b.Codes {
		out.Codes[code] += n
	}
	if out.Seconds == nil {
		out.Seconds = map[int]kasoku.EndpointSecond{}
	}
	for at, s := range b.Seconds {
		have := out.Seconds[at]
		out.Seconds[at] = kasoku.EndpointSecond{Count: have.Count + s.Count, Failed: have.Failed + s.Failed}
	}
	switch {
	case a.Latency == nil:
		out.Latency = b.Latency
	case b.Latency != nil:
		out.Latency = a.Latency.Clone()
		out.Latency.Merge(b.Latency)
	}
	out.BySecond = nil // half of them would be taken for all
	if a.BySecond != nil && b.BySecond != nil {
		out.BySecond = a.BySecond.Clone()
		out.BySecond.Merge(b.BySecond)
	}
	out.First, out.Last = min(a.First, b.First), max(a.Last, b.Last)
	out.MinBytes, out.MaxBytes = min(a.MinBytes, b.MinBytes), max(a.MaxBytes, b.MaxBytes)
	out.MaxRequestBytes = max(a.MaxRequestBytes, b.MaxRequestBytes)
	out.Count += b.Count
	out.Bytes += b.Bytes
	out.Total += b.Total
	out.Squares += b.Squares
	out.RequestBytes += b.RequestBytes
	out.Upstream += b.Upstream
	out.UpstreamCount += b.UpstreamCount
	out.Bots += b.Bots
	out.Connects += b.Connects
	out.ConnectCount += b.ConnectCount
	out.BotsPassed += b.BotsPassed
	out.BotsUpstream += b.BotsUpstream
	out.Paths += b.Paths
	out.Varied += b.Varied
	out.Variants += b.Variants
	return out
}
