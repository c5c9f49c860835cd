package compare

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

// Both is one thing on both sides.
type Both[T any] struct {
	Before, After *T // nil where the side does not have it
}

// Either returns the thing of the side after, else that of before.
func (b Both[T]) Either() *T {
	if b.After != nil {
		return b.After
	}
	return b.Before
}

// match pairs the things of both sides that have one key, in the order in which they
// are met. Of several with one key on a side the first counts. There are no pairs
// when a side has nothing: it may not have been looked at.
func match[T any, K comparable](before, after []T, key func(*T) K) []Both[T] {
	if len(before) == 0 || len(after) == 0 {
		return nil
	}
	var out []Both[T]
	at := map[K]int{}
	place := func(x *T) *Both[T] {
		k := key(x)
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k], out = i, append(out, Both[T]{})
		}
		return &out[i]
	}
	for i := range before {
		if p := place(&before[i]); p.Before == nil {
			p.Before = &before[i]
		}
	}
	for i := range after {
		if p := place(&after[i]); p.After == nil {
			p.After = &after[i]
		}
	}
	return out
}

// longestFirst sorts pairs by the larger total time of their sides.
func longestFirst[T any](pairs []Both[T], total func(*T) time.Duration) []Both[T] {
	most := func(b Both[T]) (d time.Duration) {
		for _, x := range []*T{b.Before, b.After} {
			if x != nil {
				d = max(d, total(x))
			}
		}
		return d
	}
	slices.SortStableFunc(pairs, func(x, y Both[T]) int { return cmp.Compare(most(y), most(x)) })
	return pairs
}

// hostOf returns what distinguishes hosts in a key: their names when a run has several,
// else nothing, so that a run on another machine matches.
func hostOf(before, after *kasoku.Recording) func(string) string {
	if len(before.Run.Hosts) > 1 || len(after.Run.Hosts) > 1 {
		return func(host string) string { return host }
	}
	return func(string) string { return "" }
}

// addLogs matches what the logs of two runs reported.
func (m *Matched) addLogs(before, after *kasoku.Recording) {
	host := hostOf(before, after)
	type key struct{ host, name, more string }
	m.Endpoints = longestFirst(
		match(before.Endpoints, after.Endpoints, func(e *kasoku.Endpoint) key {
			return key{host(e.Host), e.Method,
				e.Route}
		}),
		func(e *kasoku.Endpoint) time.Duration { return e.Total })
	m.Queries = longestFirst(
		match(before.Queries, after.Queries, func(q *kasoku.Query) key { return key{host(q.Host), q.ID, ""} }),
		func(q *kasoku.Query) time.Duration { return q.Total })
	m.Transactions = longestFirst(
		match(before.Transactions, after.Transactions, func(t *kasoku.Transaction) key {
			return key{host(t.Host), strings.Join(t.Shape, " "), t.Tag}
		}),
		func(t *kasoku.Transaction) time.Duration { return t.Total })
}
