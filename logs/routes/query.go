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
	all   bool // with ids collapsed
	named bool // the names of all keys
	keys  []string
	how   []keptValue // of each key
}

// keptValue is what a route has of the value of a key.
type keptValue uint8

const (
	valueSent   keptValue = iota
	valueMasked           // ids in it are collapsed
	valueNone             // the name of the key alone
)

// newKeeper reads the keys of [Options].
func newKeeper(keep []string) (keeper, error) {
	var k keeper
	type kept struct {
		text, key string
		how       keptValue
	}
	var all []kept
	for _, s := range keep {
		one := kept{text: s, key: s}
		if key, ok := strings.CutSuffix(s, "=*"); ok {
			one.key, one.how = key, valueMasked
		} else if key, ok := strings.CutSuffix(s, "="); ok {
			one.key, one.how = key, valueNone
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.how, b.how)) })
	for _, s := range all {
		switch {
		case s.key == "*" && s.how == valueNone:
			k.named = true
		case s.key == "*":
			k.all = true
		case s.key == "" || strings.ContainsAny(s.key, "=&?#"):
			return keeper{}, fmt.Errorf("query key %q: expected a name, name=, name=*, *= or *", s.text)
		case len(k.keys) == 0 || k.keys[len(k.keys)-1] != s.key:
			k.keys, k.how = append(k.keys, s.key), append(k.how, s.how)
		}
	}
	return k, nil
}

func (k *keeper) none() bool { return !k.all && !k.named && len(k.keys) == 0 }

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
	switch {
	case k.all:
		return k.appendAll(dst, query)
	case k.named:
		return appendNamed(dst, query)
	}
	limit := len(dst) + MaxRoute
	sign := byte('?')
	for i, key := range k.keys {
		for pair, rest := nextPair(query); pair != nil; pair, rest = nextPair(rest) {
			name, value, _ := bytes.Cut(pair, []byte("="))
			if string(name) != key || len(dst) > limit {
				continue
			}
			dst = append(append(dst, sign), name...)
			sign = '&'
			if k.how[i] == valueNone {
				break
			}
			dst = appendValue(append(dst, '='), value, k.how[i] == valueMasked)
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
			dst = appendValue(dst, value, !named || k.how[i] == valueMasked)
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

// appendNamed appends the names of the keys, and ?* where they are no names that a program
// gives.
func appendNamed(dst, query []byte) []byte {
	if len(query) == 0 {
		return dst
	}
	start := len(dst)
	dst, ok := AppendKeys(append(dst, '?'), query)
	if !ok {
		return append(dst[:start], "?*"...)
	}
	return dst
}

// Bounds of the names of [AppendKeys].
const (
	mostKeys   = 12 // of one query string
	longestKey = 32 // bytes
)

// AppendKeys appends the names of the keys of a query string, without its question mark, in
// alphabetical order, each once: "page&q". Places of lists are left out: item[12][name] is
// item[][name]. It reports false, and appends nothing, where something is no name that a program
// gives: a word without a value may be a value itself, also one that ends in = as base64 does, and
// what is long, has other characters or looks like an id comes from who asks.
func AppendKeys(dst, query []byte) ([]byte, bool) {
	var text [mostKeys * longestKey]byte
	var spans [mostKeys]span // in alphabetical order; of places in the text, so that it stays on the stack
	buf, n := text[:0], 0
	for pair, rest := nextPair(query); pair != nil; pair, rest = nextPair(rest) {
		name, value, some := bytes.Cut(pair, []byte("="))
		if !some || n == mostKeys || len(value) > 0 && value[0] == '=' || len(value) == 0 && len(pair) == len(query) {
			return dst, false
		}
		start := len(buf)
		var ok bool
		if buf, ok = appendName(buf, name); !ok {
			return dst, false
		}
		at, order := 0, 1
		for at < n {
			if order = bytes.Compare(buf[spans[at].from:spans[at].to], buf[start:]); order >= 0 {
				break
			}
			at++
		}
		if order == 0 { // it is there
			buf = buf[:start]
			continue
		}
		copy(spans[at+1:], spans[at:n])
		spans[at] = span{start, len(buf)}
		n++
	}
	for i, s := range spans[:n] {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(dst, buf[s.from:s.to]...)
	}
	return dst, true
}

type span struct{ from, to int }

// appendName appends the name of a key, and reports whether it is one that a program gives.
func appendName(dst, name []byte) (_ []byte, ok bool) {
	start, inside, digits := len(dst), false, 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '%' && i+2 < len(name) {
			b, ok := hexByte(name[i+1], name[i+2])
			if !ok || b != '[' && b != ']' && b != '$' {
				return dst, false
			}
			c, i = b, i+2
		}
		switch {
		case len(dst)-start == longestKey:
			return dst, false
		case c == '[' || c == ']':
			inside = c == '['
		case '0' <= c && c <= '9':
			if inside {
				continue
			}
			digits++
		case c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z':
		case c == '$' && (len(dst) == start || dst[len(dst)-1] == '['): // an operator: filters[slug][$eq], $top
		case len(dst) == start || c != '.' && c != '-':
			return dst, false
		}
		dst = append(dst, c)
	}
	key := dst[start:]
	return dst, len(key) > 0 && (key[0] < '0' || key[0] > '9') && digits <= 4 && !isID(key)
}
