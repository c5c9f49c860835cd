package accesslog

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/routes"
)

// Bounds of what is counted by query keys. Clients write these names, so that hostile ones
// must neither take memory nor hide what a program's own names cost.
const (
	mostSets    = 32   // of one row; requests with later ones are [kasoku.OtherKeys]
	mostKeySets = 4096 // different sets of a table, likewise
	mostChoices = 512  // beside them, those with a value by which the program chooses
)

// What makes a key one by whose value a program chooses what it does: most of its requests have
// values that come often, and what these take differs.
const (
	oftenChosen = 5   // requests
	choicesPart = 0.9 // of the requests
	choicesTime = 2   // times the mean of another value
)

// keySet is the sum of the requests of a row whose query strings have the same keys.
type keySet struct {
	keys string // with the value of a key by which the program may choose: action=edit&id
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
	plain  bool // no values are kept: there were too many
}

// ask adds a request; apart is false where the table has no room for its set, plain true where it
// has none for the value of its key.
func (k *keySets) ask(keys string, apart, plain bool, took uint64) {
	if plain {
		k.forgetValues()
	}
	k.closed = k.closed || !apart
	k.add(keySet{keys, 1, took})
}

// forgetValues makes the sets those of names alone.
func (k *keySets) forgetValues() {
	if k.plain {
		return
	}
	sets, closed := k.sets, k.closed // a row that was copied shares them
	k.sets, k.plain, k.closed = nil, true, false
	for _, s := range sets {
		k.add(s)
	}
	k.closed = closed
}

// namesOf leaves out the value in a set.
func namesOf(keys string) string {
	at := strings.IndexByte(keys, '=')
	if at < 0 {
		return keys
	}
	rest := ""
	if end := strings.IndexByte(keys[at:], '&'); end >= 0 {
		rest = keys[at+end:]
	}
	return keys[:at] + rest
}

func (k *keySets) add(s keySet) {
	if k.plain {
		s.keys = namesOf(s.keys)
	}
	for i := range k.sets {
		if k.sets[i].keys == s.keys {
			k.sets[i].n += s.n
			k.sets[i].took += s.took
			return
		}
	}
	if len(k.sets) == mostSets && !k.plain && k.hasValues(s.keys) {
		k.forgetValues()
		k.add(s)
		return
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
	if k.plain || o.plain || k.closed || o.closed { // what one knows by its names alone, both do
		k.forgetValues()
		plain := *o
		plain.forgetValues()
		o = &plain
	}
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

// hasValues reports whether a set, or another one, has the value of a key.
func (k *keySets) hasValues(keys string) bool {
	return strings.Contains(keys, "=") ||
		slices.ContainsFunc(k.sets, func(s keySet) bool { return strings.Contains(s.keys, "=") })
}

// chosen reports whether the program chooses by the values what it does: they are few, come
// often, and differ in what they take.
func (k *keySets) chosen() bool {
	sums := map[string]keySet{}
	var all, often uint64
	for _, s := range k.sets {
		_, value, ok := strings.Cut(s.keys, "=")
		if !ok {
			continue
		}
		value, _, _ = strings.Cut(value, "&")
		sum := sums[value]
		sum.n, sum.took = sum.n+s.n, sum.took+s.took
		sums[value], all = sum, all+s.n
	}
	least, most := math.Inf(1), 0.0
	for _, s := range sums {
		if s.n < oftenChosen {
			continue
		}
		often += s.n
		mean := float64(s.took) / float64(s.n)
		least, most = min(least, mean), max(most, mean)
	}
	return float64(often) >= choicesPart*float64(all) && most > 0 && most >= choicesTime*least
}

func (k *keySets) has(keys string) bool {
	return slices.ContainsFunc(k.sets, func(s keySet) bool { return s.keys == keys })
}

// shown returns the n sets that took the most time, and one of the rest.
func (k *keySets) shown(n int) (out []kasoku.QueryKeys) {
	if k.hasValues("") && !k.chosen() {
		plain := *k
		plain.forgetValues()
		k = &plain
	}
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
	known   map[string]string
	choices int // of these, those with a value
	text    []byte
}

// of returns the names of the keys of a URI's query string, with the value by which the program
// may choose what it does, and whether there is room to count them apart; plain where there is
// room for the names alone.
func (q *queryNames) of(uri []byte) (keys string, apart, plain bool) {
	i := bytes.IndexByte(uri, '?')
	if i < 0 || i == len(uri)-1 {
		return "", true, false
	}
	query := queryOf(uri[i+1:])
	var ok bool
	if q.text, ok = routes.AppendKeys(q.text[:0], query); !ok {
		return kasoku.OtherKeys, true, false
	}
	names := len(q.text)
	if q.text, ok = routes.AppendDispatched(q.text, q.text[:names], query); ok {
		if name, met := q.known[string(q.text[names:])]; met {
			return name, true, false
		}
		if q.choices < mostChoices {
			q.choices++
			return q.keep(q.text[names:]), true, false
		}
		plain = true
	}
	if name, met := q.known[string(q.text[:names])]; met {
		return name, true, plain
	}
	if len(q.known)-q.choices == mostKeySets {
		return kasoku.OtherKeys, false, plain
	}
	return q.keep(q.text[:names]), true, plain
}

func (q *queryNames) keep(text []byte) string {
	if q.known == nil {
		q.known = map[string]string{}
	}
	name := string(text)
	q.known[name] = name
	return name
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
