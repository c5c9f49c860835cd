package routes

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A keeper defines which keys of query strings belong to routes.
type keeper struct {
	all    bool // with ids collapsed
	keys   []string
	masked []bool // of each key: ids in its values are collapsed
}

// newKeeper reads the keys of [Options].
func newKeeper(keep []string) (keeper, error) {
	var k keeper
	keep = slices.Clone(keep)
	slices.SortFunc(keep, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.TrimSuffix(a, "=*"), strings.TrimSuffix(b, "=*")), cmp.Compare(a, b))
	})
	for _, s := range keep {
		key, masked := strings.CutSuffix(s, "=*")
		switch {
		case key == "*":
			k.all = true
		case key == "" || strings.ContainsAny(key, "=&?#"):
			return keeper{}, fmt.Errorf("query key %q: expected a name, name=* or *", s)
		case len(k.keys) == 0 || k.keys[len(k.keys)-1] != key:
			k.keys, k.masked = append(k.keys, key), append(k.masked, masked)
		}
	}
	return k, nil
}

func (k *keeper) none() bool { return !k.all && len(k.keys) == 0 }

// append appends ? and the kept pairs of the query string, which starts with
// its question mark, in the order of the keys; nothing when none is kept.
func (k *keeper) append(dst, query []byte) []byte {
	if len(query) == 0 || query[0] != '?' {
		return dst
	}
	query = query[1:]
	if i := bytes.IndexByte(query, '#'); i >= 0 {
		query = query[:i]
	}
	if k.all {
		return k.appendAll(dst, query)
	}
	limit := len(dst) + MaxRoute
	sign := byte('?')
	for i, key := range k.keys {
		for pair, rest := nextPair(query); pair != nil; pair, rest = nextPair(rest) {
			name, value, _ := bytes.Cut(pair, []byte("="))
			if string(name) != key || len(dst) > limit {
				continue
			}
			dst = append(append(append(dst, sign), name...), '=')
			dst = appendValue(dst, value, k.masked[i])
			sign = '&'
		}
	}
	return dst
}

// appendAll appends every pair. Clients write the names of keys too, so long ones are cut.
func (k *keeper) appendAll(dst, query []byte) []byte {
	var room [16][]byte
	pairs := room[:0]
	for pair, rest := nextPair(query); pair != nil && len(pairs) < 64; pair, rest = nextPair(rest) {
		pairs = append(pairs, pair)
	}
	slices.SortStableFunc(pairs, bytes.Compare)
	limit := len(dst) + MaxRoute
	sign := byte('?')
	for _, pair := range pairs {
		name, value, some := bytes.Cut(pair, []byte("="))
		if len(dst) > limit {
			break
		}
		dst = append(append(dst, sign), name[:min(len(name), MaxRoute/3)]...)
		if some {
			dst = append(dst, '=')
			i, named := slices.BinarySearch(k.keys, string(name))
			dst = appendValue(dst, value, !named || k.masked[i])
		}
		sign = '&'
	}
	return dst
}

// appendValue appends a value of a query string, cut so that routes stay short.
func appendValue(dst, value []byte, masked bool) []byte {
	if masked && isID(value) {
		return append(dst, ":id"...)
	}
	return append(dst, value[:min(len(value), MaxRoute/3)]...)
}

// nextPair returns the next pair of a query string that is not empty, nil when
// there is none, and what comes after it.
func nextPair(query []byte) (pair, rest []byte) {
	for len(query) > 0 {
		i := bytes.IndexByte(query, '&')
		if i < 0 {
			return query, nil
		}
		if i > 0 {
			return query[:i], query[i+1:]
		}
		query = query[1:]
	}
	return nil, nil
}
