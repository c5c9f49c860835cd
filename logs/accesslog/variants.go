package accesslog

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/routes"
)

// Bounds of what is counted by query keys. Clients write these names, so that hostile ones
// must neither take memory nor hide what a program's own names cost.
const (
	mostSets    = 32   // of one row; requests with later ones are [kasoku.OtherKeys]
	mostKeySets = 4096 // different sets of a table, likewise
)

// keySet is the sum of the requests of a row whose query strings have the same keys.
type keySet struct {
	keys string
	n    uint64
	took uint64 // ns
}

// keySets are those of a row, the earliest ones. A row that met more than it may have is
// closed: what it has was counted from its first request on, and all others are one. So is one
// that met a set which its table had no room for, and another table may count apart.
type keySets struct {
	sets   []keySet
	other  keySet
	closed bool
}

// ask adds a request; apart is false where the table has no room for its set.
func (k *keySets) ask(keys string, apart bool, took uint64) {
	k.closed = k.closed || !apart
	k.add(keySet{keys, 1, took})
}

func (k *keySets) add(s keySet) {
	for i := range k.sets {
		if k.sets[i].keys == s.keys {
			k.sets[i].n += s.n
			k.sets[i].took += s.took
			return
		}
	}
	if s.keys == kasoku.OtherKeys || k.closed || len(k.sets) == mostSets {
		k.closed = k.closed || s.keys != kasoku.OtherKeys
		k.other.n += s.n
		k.other.took += s.took
		return
	}
	k.sets = append(k.sets, s)
}

// merge adds those of another row. A set that one of them did not count apart is not counted
// apart by both: its figures would lack what the other has of it.
func (k *keySets) merge(o *keySets) {
	sets := slices.Clone(k.sets) // a row that was copied shares them
	k.sets = sets[:0]
	for _, s := range sets {
		if o.closed && !o.has(s.keys) {
			s.keys = kasoku.OtherKeys
		}
		if s.keys != kasoku.OtherKeys {
			k.sets = append(k.sets, s)
			continue
		}
		k.other.n += s.n
		k.other.took += s.took
	}
	for _, s := range o.sets {
		k.add(s)
	}
	k.other.n += o.other.n
	k.other.took += o.other.took
	k.closed = k.closed || o.closed
}

func (k *keySets) has(keys string) bool {
	return slices.ContainsFunc(k.sets, func(s keySet) bool { return s.keys == keys })
}

// shown returns the n sets that took the most time, and one of the rest.
func (k *keySets) shown(n int) (out []kasoku.QueryKeys) {
	sets := slices.Clone(k.sets)
	slices.SortFunc(sets, func(a, b keySet) int {
		return cmp.Or(cmp.Compare(b.took, a.took), cmp.Compare(b.n, a.n), cmp.Compare(a.keys, b.keys))
	})
	rest := k.other
	for _, s := range sets[min(n, len(sets)):] {
		rest.n += s.n
		rest.took += s.took
	}
	rest.keys = kasoku.OtherKeys
	for _, s := range append(sets[:min(n, len(sets))], rest) {
		if s.n > 0 {
			out = append(out, kasoku.QueryKeys{Keys: s.keys, Requests: s.n, Time: time.Duration(s.took)})
		}
	}
	return out
}

// queryNames are the sets of keys that a table met.
type queryNames struct {
	known map[string]string
	text  []byte
}

// of returns the names of the keys of a URI's query string, and whether there is room to count
// them apart.
func (q *queryNames) of(uri []byte) (keys string, apart bool) {
	i := bytes.IndexByte(uri, '?')
	if i < 0 || i == len(uri)-1 {
		return "", true
	}
	var ok bool
	if q.text, ok = routes.AppendKeys(q.text[:0], queryOf(uri[i+1:])); !ok {
		return kasoku.OtherKeys, true
	}
	if name, met := q.known[string(q.text)]; met {
		return name, true
	}
	if len(q.known) == mostKeySets {
		return kasoku.OtherKeys, false
	}
	if q.known == nil {
		q.known = map[string]string{}
	}
	name := string(q.text)
	q.known[name] = name
	return name, true
}

// queryOf cuts the fragment off.
func queryOf(query []byte) []byte {
	query, _, _ = bytes.Cut(query, []byte("#"))
	return query
}

// Variants returns what the rows of a table were put together from, those that took the most time
// first, n endpoints at most with so many sets each. It is counted with Options.Detail, and
// empty where rows are not those of endpoints.
func Variants(t *Table, n, sets int) (out []kasoku.Variants) {
	s := t.settle()
	for _, w := range s.rows {
		if !s.by.usual || w.detail == nil || w.key == otherKey {
			continue
		}
		key := s.by.values(w.key)
		v := kasoku.Variants{Method: shownValue(key[0]), Route: shownValue(key[1]), Paths: min(w.detail.paths.count(), w.count),
			Sets: w.detail.keys.shown(sets)}
		if v.Paths > 1 || v.Several() || len(v.Sets) == 1 && v.Sets[0].Keys != "" {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b kasoku.Variants) int {
		return cmp.Or(cmp.Compare(b.Time(), a.Time()), cmp.Compare(a.Route, b.Route), cmp.Compare(a.Method, b.Method))
	})
	return out[:min(n, len(out))]
}
