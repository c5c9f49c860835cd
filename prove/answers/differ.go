package answers

import (
	"encoding/binary"
	"encoding/json"
	"hash"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A change is what differs at a place.
type change struct {
	at       *place
	what     string
	count    int // how often
	of       int // elements of the list, for those
	was, now any // of the first time
}

// A differ compares trees and adds up what differs by place.
type differ struct {
	root    *place
	hash    func() hash.Hash64
	sets    bool // lists have no order
	changes []*change
	known   map[changeKey]*change
}

type changeKey struct {
	at   *place
	what string
}

func newDiffer(root *place) *differ {
	seed := maphash.MakeSeed()
	hashes := func() hash.Hash64 {
		var h maphash.Hash
		h.SetSeed(seed)
		return &h
	}
	return &differ{root: root, hash: hashes, known: map[changeKey]*change{}}
}

// add counts a difference, unless the place is volatile in that.
func (d *differ) add(at *place, what string, count, of int, was, now any) {
	if count == 0 || at.volatile[what] {
		return
	}
	k := changeKey{at, what}
	c := d.known[k]
	if c == nil {
		c = &change{at: at, what: what, was: was, now: now}
		d.known[k] = c
		d.changes = append(d.changes, c)
	}
	c.count += count
	c.of += of
}

// compare walks both trees.
func (d *differ) compare(at *place, was, now any) {
	if at.volatile[ofKind] {
		return
	}
	if kindOf(was) != kindOf(now) {
		d.add(at, ofKind, 1, 0, was, now)
		return
	}
	switch was := was.(type) {
	case map[string]any:
		d.members(at, was, now.(map[string]any))
	case []any:
		d.lists(at, was, now.([]any))
	default:
		if !equalScalars(was, now) {
			d.add(at, ofValue, 1, 0, was, now)
		}
	}
}

func (d *differ) members(at *place, was, now map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if v, ok := now[name]; ok {
			d.compare(at.member(name), was[name], v)
		} else {
			d.add(at.member(name), ofPresence, 1, 0, was[name], nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, ok := was[name]; !ok && !at.member(name).volatile[ofPresence] {
			d.add(at.member(name), isAdded, 1, 0, nil, now[name])
		}
	}
}

// A pair is an element of both lists, by their indexes.
type pair struct{ was, now int }

// lists compares the elements by what identifies them: a key such as id, else their
// content; the rest of lists of objects is paired in order.
func (d *differ) lists(at *place, was, now []any) {
	each := at.each()
	a, b := d.digests(each, was), d.digests(each, now)
	if slices.Equal(a, b) {
		return
	}
	key, keyed := keyOf(each, was, now)
	var pairs []pair
	ordered := true // which element is which is known, and so their order
	if keyed {
		pairs = pairEqual(keysOf(was, key), keysOf(now, key))
	} else {
		pairs = pairEqual(a, b)
		ordered = len(pairs) == len(was) && len(pairs) == len(now) || areUnique(a) && areUnique(b)
		pairs = append(pairs, d.pairRest(was, now, pairs)...)
	}
	loose := at.volatile[ofElements]
	d.add(at, ofElements, len(was)-len(pairs), len(was), nil, nil)
	if !loose {
		d.add(at, isLonger, len(now)-len(pairs), len(was), nil, nil)
		if ordered {
			d.add(at, ofOrder, moved(pairs), len(pairs), nil, nil)
		}
	} else if allScalars(was) {
		d.add(at, hasLost, len(was)-len(pairs), len(was), nil, nil) // they were in each ask
	}
	for _, p := range pairs {
		if a[p.was] != b[p.now] && (keyed || !loose) {
			d.compare(each, was[p.was], now[p.now])
		}
	}
}

// pairEqual pairs equal elements: those that both lists begin and end with, then the rest
// in its order.
func pairEqual[T comparable](was, now []T) (out []pair) {
	from, end := 0, 0
	for from < min(len(was), len(now)) && was[from] == now[from] {
		out = append(out, pair{from, from})
		from++
	}
	for end < min(len(was), len(now))-from && was[len(was)-1-end] == now[len(now)-1-end] {
		end++
		out = append(out, pair{len(was) - end, len(now) - end})
	}
	where := map[T][]int{}
	for j := from; j < len(now)-end; j++ {
		where[now[j]] = append(where[now[j]], j)
	}
	for i := from; i < len(was)-end; i++ {
		v := was[i]
		if js := where[v]; len(js) > 0 {
			out = append(out, pair{i, js[0]})
			where[v] = js[1:]
		}
	}
	return out
}

// pairRest pairs what is left of both lists in order: objects and lists, which can be
// compared further, scalars whose kind has changed, and the only ones of both lists.
func (d *differ) pairRest(was, now []any, pairs []pair) (out []pair) {
	left := func(all []any, taken func(pair) int) (rest []int) {
		have := make([]bool, len(all))
		for _, p := range pairs {
			have[taken(p)] = true
		}
		for i := range all {
			if !have[i] {
				rest = append(rest, i)
			}
		}
		return rest
	}
	a := left(was, func(p pair) int { return p.was })
	b := left(now, func(p pair) int { return p.now })
	for k := range min(len(a), len(b)) {
		kind, other := kindOf(was[a[k]]), kindOf(now[b[k]])
		if kind != other || kind == "object" || kind == "list" || len(was) == 1 && len(now) == 1 {
			out = append(out, pair{a[k], b[k]})
		}
	}
	return out
}

// moved counts the places that another element has now, of those that are in both.
func moved(pairs []pair) (n int) {
	pairs = slices.Clone(pairs)
	slices.SortFunc(pairs, func(a, b pair) int { return a.was - b.was })
	sorted := make([]int, len(pairs))
	for i, p := range pairs {
		sorted[i] = p.now
	}
	slices.Sort(sorted)
	for i, p := range pairs {
		if p.now != sorted[i] {
			n++
		}
	}
	return n
}

// identities are names that commonly identify an element, the best first.
var identities = []string{"id", "uuid", "key", "code", "slug", "name"}

// keyOf returns a member by which each element of both lists is one of its own.
func keyOf(each *place, was, now []any) (string, bool) {
	if len(was) == 0 || len(now) == 0 {
		return "", false
	}
	first, ok := was[0].(map[string]any)
	if !ok {
		return "", false
	}
	names := slices.Clone(identities)
	for _, name := range slices.Sorted(maps.Keys(first)) {
		if low := strings.ToLower(name); strings.HasSuffix(low, "id") && low != "id" && len(names) < 12 {
			names = append(names, name)
		}
	}
	for _, name := range names {
		m := each.members[name]
		fixed := m == nil || len(m.volatile) == 0
		if _, has := first[name]; has && fixed && areUnique(keysOf(was, name)) && areUnique(keysOf(now, name)) {
			return name, true
		}
	}
	return "", false
}

// keysOf returns a member of all elements as text; nil when one has none that is a
// text or a number.
func keysOf(list []any, name string) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		object, _ := v.(map[string]any)
		switch v := object[name].(type) {
		case string:
			out = append(out, v)
		case json.Number:
			out = append(out, v.String())
		default:
			return nil
		}
	}
	return out
}

func areUnique[T comparable](keys []T) bool {
	seen := make(map[T]bool, len(keys))
	for _, k := range keys {
		if seen[k] {
			return false
		}
		seen[k] = true
	}
	return keys != nil
}

func allScalars(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool { k := kindOf(v); return k == "object" || k == "list" })
}

// kindOf names the kind of a value as people call it.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case json.Number:
		return "number"
	case string:
		return "text"
	case []any:
		return "list"
	}
	return "object"
}

// equalScalars takes 1.0 for 1; whole numbers are compared digit by digit.
func equalScalars(a, b any) bool {
	x, isNumber := a.(json.Number)
	if a == b || !isNumber {
		return a == b
	}
	y := b.(json.Number)
	if !strings.ContainsAny(x.String()+y.String(), ".eE") {
		return false
	}
	f, err := strconv.ParseFloat(x.String(), 64)
	g, other := strconv.ParseFloat(y.String(), 64)
	return err == nil && other == nil && f == g
}

func (d *differ) digests(each *place, list []any) []uint64 {
	out := make([]uint64, len(list))
	for i, v := range list {
		out[i] = d.digest(each, v)
	}
	return out
}

// digest is the same for values that do not differ but in what is volatile.
func (d *differ) digest(at *place, v any) uint64 {
	if at != nil && at.volatile[ofKind] {
		return 0
	}
	is := func(what string) bool { return at != nil && at.volatile[what] }
	h := d.hash()
	_, _ = io.WriteString(h, kindOf(v))
	word := func(n uint64) { _, _ = h.Write(binary.LittleEndian.AppendUint64(nil, n)) }
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			var m *place
			if at != nil {
				m = at.members[name]
			}
			if m != nil && m.volatile[ofPresence] {
				continue
			}
			_, _ = io.WriteString(h, name)
			word(d.digest(m, v[name]))
		}
	case []any:
		if is(ofElements) {
			break
		}
		var each *place
		if at != nil {
			each = at.elements
		}
		all := d.digests(each, v)
		if d.sets || is(ofOrder) {
			slices.Sort(all)
		}
		for _, n := range all {
			word(n)
		}
	default:
		if !is(ofValue) {
			_, _ = io.WriteString(h, plain(v))
		}
	}
	return h.Sum64()
}

// plain is a scalar as text; a number that is not whole in its shortest form.
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		if f, err := strconv.ParseFloat(v.String(), 64); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
		return v.String()
	}
	return "null"
}
