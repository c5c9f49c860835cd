package routes

import (
	"cmp"
	"slices"
	"strings"
)

// A Seen is a route of a log with what its requests say about it.
type Seen struct {
	Route string
	Count uint64 // requests
	Found uint64 // of them, those with another answer than 4xx
	Bytes uint64 // of their answers; 0 where the log does not say

	// For Choose: the smallest and largest answer, and how many requests have a time, with the sums of
	// these and of their squares, in s and s².
	MinBytes, MaxBytes uint64
	Timed              uint64
	Seconds, Squares   float64
}

// Limits define when the values at one place of the path are too many to be names.
// The zero value means the defaults.
type Limits struct {
	// Names is how many different segments a place may have, 48 when 0. The routes
	// that one person wrote after one prefix are rarely more; the values that
	// users bring soon are.
	Names int

	// Outstanding is how many times the requests of the Names-th most frequent
	// value another value must have to stay a route of its own, 64 when 0. Names of
	// users follow Zipf's law: the most frequent has Names times the requests of the
	// Names-th, which is less, so that it does not stay. An eighth of Outstanding is
	// enough where the next value has less than a third of the requests: by Zipf's
	// law no two neighbours differ by more than two times.
	Outstanding uint64
}

func (l Limits) withDefaults() Limits {
	if l.Names <= 0 {
		l.Names = 48
	}
	if l.Outstanding == 0 {
		l.Outstanding = 64
	}
	return l
}

// Collapse returns the final route of each: where a place has more values than
// the limits allow, those that are not far more frequent than the others become
// :name, or :id when most of the requests there are :id already. Each extension
// stays apart, so that a directory of many files is /assets/:name.js and
// /assets/:name.css.
//
// What looks much like a token beside ids that are far more frequent is one of
// them: of the tokens that random generators make, some look like words.
//
// Routes that were answered with 4xx alone count for themselves: what a scanner
// of weak points asks for does not make names of the real routes beside it.
//
// Fewer values are one as well where they are as many as the log has requests for, and their
// answers are alike; see rare.go.
//
// The result depends on the counts, not on the order of the routes.
func Collapse(seen []Seen, l Limits) []string {
	l = l.withDefaults()
	root := &place{}
	for i := range seen {
		root.insert(&seen[i], i)
	}
	names := make([]string, len(seen))
	root.settle(nil, l, elsewhere{requests: root.count, routes: len(seen)}, names)
	return names
}

// A place is a place of the path with its counts.
type place struct {
	piece        string
	count, found uint64
	bytes        uint64
	kids         []*place
	index        map[string]*place
	ends         []int // the routes that end here
}

func (p *place) kid(piece string) *place {
	if k := p.index[piece]; k != nil {
		return k
	}
	k := &place{piece: piece}
	if p.index == nil {
		p.index = map[string]*place{}
	}
	p.index[piece] = k
	p.kids = append(p.kids, k)
	return k
}

func (p *place) insert(s *Seen, i int) {
	route := []byte(s.Route)
	for {
		p.count += s.Count
		p.found += s.Found
		p.bytes += s.Bytes
		if len(route) == 0 {
			p.ends = append(p.ends, i)
			return
		}
		piece := nextPiece(route)
		p, route = p.kid(string(piece)), route[len(piece):]
	}
}

// settle decides about the values of a place and of those after it.
func (p *place) settle(path []byte, l Limits, log elsewhere, names []string) {
	path = append(path, p.piece...)
	for _, i := range p.ends {
		names[i] = string(path)
	}
	p.takeTokens()
	p.takeNumbered()
	if len(path) == 0 || !p.takeRare(l, log) {
		p.fold(l)
	}
	p.index = nil
	for _, k := range p.kids {
		k.settle(path, l, log, names)
	}
}

// rarer is how many times as many requests as a value that looks much like a token the
// ids at its place must have, so that it counts as one of them.
const rarer = 16

// takeTokens puts what looks much like a token, or a file much like one that is
// named after its content, to the ids beside it.
func (p *place) takeTokens() {
	if !slices.ContainsFunc(p.kids, func(k *place) bool { return strings.Contains(k.piece, ":id") }) {
		return
	}
	to := map[*place]*place{} // all is decided by what the log says, before anything moves
	for _, k := range p.kids {
		if id := p.idsOf(k); id != nil {
			to[k] = id
		}
	}
	p.kids = slices.DeleteFunc(p.kids, func(k *place) bool {
		id := to[k]
		if id == nil {
			return false
		}
		delete(p.index, k.piece)
		id.absorb(k)
		return true
	})
}

// idsOf returns the ids that a value belongs to, nil when it is none.
func (p *place) idsOf(k *place) *place {
	piece := []byte(k.piece)
	if stem, _, ext := cutBuilt(piece); stem != nil {
		id := p.index[string(stem)+":id"+string(ext)]
		if id != nil && k.count <= id.count && k != id {
			return id
		}
		return nil
	}
	id := p.index["/:id"]
	if id != nil && k.count <= id.count/rarer && piece[0] == '/' && likeToken(piece[1:]) {
		return id
	}
	return nil
}

// fold makes one of the values that are too many.
func (p *place) fold(l Limits) {
	if len(p.kids) <= l.Names && !p.folded() {
		return
	}
	var good, stray, rest []*place
	folded := false
	for _, k := range p.kids {
		switch {
		case isPlaceholder([]byte(k.piece)):
			folded = folded || isName(k.piece)
			rest = append(rest, k)
		case k.found > 0:
			good = append(good, k)
		default:
			stray = append(stray, k)
		}
	}
	many := len(good) > l.Names || folded
	if many {
		good = findOutstanding(good, l)
	}
	if many || len(stray) > l.Names {
		stray = nil
	}
	names := map[string]bool{}
	for _, k := range slices.Concat(good, stray, rest) {
		names[k.piece] = true
	}
	all := p.kids
	p.kids = slices.Concat(good, stray, rest)
	p.index = map[string]*place{}
	for _, k := range p.kids {
		p.index[k.piece] = k
	}
	p.gather(slices.DeleteFunc(all, func(k *place) bool { return names[k.piece] }))
}

// folded reports whether a [Tree] folded values here already.
func (p *place) folded() bool {
	return slices.ContainsFunc(p.kids, func(k *place) bool { return isName(k.piece) })
}

// gather puts the values together, by extension.
func (p *place) gather(values []*place) {
	sums := map[string]uint64{}
	for _, k := range values {
		sums[placeholderOf(k.piece)] += k.count
	}
	into := map[string]string{}
	for name, sum := range sums {
		into[name] = name
		if id := p.index[idOf(name)]; id != nil && p.index[name] == nil && id.count >= sum {
			into[name] = id.piece
		}
	}
	for _, k := range values {
		p.kid(into[placeholderOf(k.piece)]).absorb(k)
	}
}

func placeholderOf(piece string) string { return string(appendPlaceholder(nil, []byte(piece))) }

// idOf returns the placeholder of ids like that one of names.
func idOf(name string) string {
	if ext, ok := strings.CutPrefix(name, "/:name"); ok {
		return "/:id" + ext
	}
	return ""
}

// absorb adds another place, with all that follows it.
func (p *place) absorb(o *place) {
	p.count += o.count
	p.found += o.found
	p.bytes += o.bytes
	p.ends = append(p.ends, o.ends...)
	for _, k := range o.kids {
		p.kid(k.piece).absorb(k)
	}
}

// findOutstanding returns the values that are far more frequent than the others.
func findOutstanding(values []*place, l Limits) []*place {
	slices.SortFunc(values, func(a, b *place) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.piece, b.piece))
	})
	if len(values) == 0 {
		return nil
	}
	common := values[min(l.Names, len(values))-1].count
	stay := 0
	for i, v := range values {
		var next uint64
		if i+1 < len(values) {
			next = values[i+1].count
		}
		far := v.count >= l.Outstanding*common
		gap := v.count >= l.Outstanding/8*common && v.count > 3*next
		if far || gap {
			stay = i + 1
		}
	}
	return values[:stay]
}
