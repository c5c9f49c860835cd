package indexes

import (
	"cmp"
	"slices"
	"strings"
)

// A candidate is an index that some statement could use.
type candidate struct {
	index
	seek int // parts that find rows or give their order; the rest saves reading rows
}

// bounds of the work.
const (
	maxAccesses   = 400 // of a table, those that take the most time
	maxCandidates = 200
)

// wish is what one statement wants of an index: columns to seek by, and those that
// would be good to have with them.
type wish struct {
	base  []Part
	tests []string // of conditions
	all   []string // that the statement reads; nil when an index cannot hold them
}

// wishes returns what the statement wants.
func (a *access) wishes(shared map[string]float64) []wish {
	equal := a.equalParts(shared)
	stop := len(equal) > 0 && equal[len(equal)-1].Prefix > 0
	var bases [][]Part
	if order := a.orderParts(); len(order) > 0 && len(a.in) == 0 && !stop {
		bases = append(bases, joinParts(equal, order))
	}
	if !stop {
		for _, list := range [][]string{a.in, a.ranges} {
			for _, c := range list {
				if p, ok := a.table.part(c); ok && p.Prefix == 0 {
					bases = append(bases, joinParts(equal, []Part{p}))
				}
			}
		}
	}
	if len(equal) > 0 {
		bases = append(bases, equal)
	}
	var out []wish
	for _, b := range bases {
		if a.table.keyBytes(b) > a.table.most {
			continue
		}
		w := wish{base: b}
		for _, list := range [][]string{a.equal, a.ranges, a.in, a.filter} {
			for _, c := range list {
				w.tests = appendNew(w.tests, c)
			}
		}
		if !a.star {
			w.all = append([]string{}, a.reads...)
		}
		out = append(out, w)
	}
	if len(a.leads) > 0 {
		out = append(out, accessLed(a).wishes(shared)...)
	}
	return out
}

func joinParts(a, b []Part) []Part {
	out := slices.Clone(a)
	for _, p := range b {
		if !slices.ContainsFunc(out, func(o Part) bool { return o.Column == p.Column }) {
			out = append(out, p)
		}
	}
	return out
}

// part returns a column as part of an index, by a prefix where it is long.
func (t *table) part(name string) (Part, bool) {
	c, ok := t.column(name)
	switch {
	case !ok || c.spatial || c.json:
		return Part{}, false
	case c.text:
		return Part{Column: c.name, Prefix: textPrefix}, true
	case c.bytes > t.longest:
		return Part{Column: c.name, Prefix: longPrefix}, true
	}
	return Part{Column: c.name}, true
}

// Prefixes of long columns, in characters: most texts differ within them.
const (
	textPrefix = 32
	longPrefix = 64
)

// equalParts orders columns of equality: those that most time asks for first, so that
// one index serves many statements, then those that find the fewest rows.
func (a *access) equalParts(shared map[string]float64) []Part {
	names := slices.Clone(a.equal)
	if !a.refuses { // such columns find nothing; before an order they lead the server to it
		names = slices.DeleteFunc(names, a.table.isOneValue)
	}
	if !a.first || a.turn.probes > 0 {
		for _, c := range a.joined {
			names = appendNew(names, c)
		}
	}
	slices.SortStableFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(shared[y], shared[x]), cmp.Compare(a.table.share(x, nil, 0),
			a.table.share(y, nil, 0)), strings.Compare(x, y))
	})
	if a.refuses { // of two indexes with the same columns of equality MySQL may keep to the one that it uses
		names = a.asFound(names)
	}
	var out, long []Part
	for _, n := range names {
		if p, ok := a.table.part(n); ok && p.Prefix > 0 {
			long = append(long, p)
		} else if ok && a.table.keyBytes(append(out, p)) > a.table.most {
			long = append(long, Part{Column: p.Column, Prefix: longPrefix}) // of it so much as there is room for
		} else if ok {
			out = append(out, p)
		}
	}
	if all := append(out, long[:min(len(long), 1)]...); a.table.keyBytes(all) <= a.table.most {
		return all
	}
	return out
}

// asFound returns the names with those first, and in its order, that the index begins with by
// which the server finds the rows.
func (a *access) asFound(names []string) (out []string) {
	for _, h := range a.table.have {
		for i := 0; h.name == a.foundBy && i < len(h.parts) && containsName(names, h.parts[i].Column); i++ {
			out = append(out, h.parts[i].Column)
		}
	}
	for _, n := range names {
		out = appendNew(out, n)
	}
	return out
}

// orderParts returns the order without columns that are one value; one direction
// throughout is written ascending, as an index can be read backwards.
func (a *access) orderParts() []Part {
	if !a.sorted {
		return nil
	}
	var out []Part
	mixed := false
	for _, o := range a.order {
		p, ok := a.table.part(o.Column)
		if containsName(a.equal, o.Column) {
			continue
		}
		if !ok || p.Prefix > 0 {
			return nil
		}
		p.Desc = o.Desc
		out = append(out, p)
		mixed = mixed || out[0].Desc != p.Desc
	}
	if !mixed || a.group && !a.limit {
		for i := range out {
			out[i].Desc = false
		}
	}
	return out
}

// findCandidates makes indexes of the wishes: each base alone, with the columns of the
// conditions of all statements that its beginning serves, and with all that they read.
func findCandidates(t *table, wishes []wish, descending bool) []*candidate {
	bases := map[string][]Part{}
	var keys []string
	for _, w := range wishes {
		k := keyOf(w.base)
		if _, known := bases[k]; !known && (descending || !slices.ContainsFunc(w.base,
			func(p Part) bool { return p.Desc })) {
			bases[k] = w.base
			keys = append(keys, k)
		}
	}
	var out []*candidate
	seen := map[string]bool{}
	add := func(base []Part, tail []string, covers bool) {
		c := t.candidate(base, tail, covers)
		if c == nil || len(out) >= maxCandidates || t.has(c.parts) || t.beginsWithPrimary(c.parts) {
			return
		}
		if k := keyOf(c.parts); !seen[k] {
			seen[k] = true
			out = append(out, c)
		}
	}
	for _, k := range keys {
		base := bases[k]
		var tests, all []string
		add(base, nil, false)
		for _, w := range wishes {
			if !isPrefix(w.base, base) {
				continue
			}
			for _, c := range w.tests {
				tests = appendNew(tests, c)
			}
			for _, c := range w.all {
				all = appendNew(all, c)
			}
			if keyOf(w.base) == k {
				add(base, w.tests, false)
				add(base, w.all, true)
			}
		}
		add(base, tests, false)
		add(base, all, true)
		for _, c := range tests {
			all = appendNew(all, c)
		}
		add(base, all, true)
	}
	return out
}

// candidate appends to the base what is narrow enough of the tail, in the table's order. A column
// of one value finds nothing, but an index that covers a statement needs it.
func (t *table) candidate(base []Part, tail []string, covers bool) *candidate {
	c := &candidate{index: index{parts: slices.Clone(base)}, seek: len(base)}
	bytes, n := 0, 0
	for _, col := range t.columns {
		if !containsName(tail, col.name) || c.holds(col.name) || t.isOneValue(col.name) && !covers ||
			col.wide || col.text || col.spatial ||
			t.isPrimary(col.name) {
			continue
		}
		if bytes += col.bytes; bytes > tailBytes || n == tailColumns {
			break
		}
		n++
		c.parts = append(c.parts, Part{Column: col.name})
	}
	if t.keyBytes(c.parts) > t.most {
		c.parts = slices.Clone(base)
	}
	return c
}

func (t *table) keyBytes(parts []Part) (n int) {
	for _, p := range parts {
		c, _ := t.column(p.Column)
		if p.Prefix > 0 {
			n += 4*p.Prefix + 2
		} else {
			n += c.bytes
		}
	}
	return n
}

// has reports whether the table has an index that begins with the parts.
func (t *table) has(parts []Part) bool {
	return slices.ContainsFunc(t.have, func(ix *index) bool { return !ix.other && isPrefix(parts, ix.parts) })
}

// beginsWithPrimary reports whether parts begin with the whole primary key: the table itself is
// in that order, and more columns would only copy a part of it.
func (t *table) beginsWithPrimary(parts []Part) bool {
	return slices.ContainsFunc(t.have, func(ix *index) bool { return ix.name == "PRIMARY" && isPrefix(ix.parts, parts) })
}

func isPrefix(short, long []Part) bool {
	return len(short) <= len(long) && slices.EqualFunc(short, long[:len(short)], func(a, b Part) bool {
		return strings.EqualFold(a.Column, b.Column) && a.Desc == b.Desc && a.Prefix == b.Prefix
	})
}

func keyOf(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.String())
		b.WriteByte(0)
	}
	return b.String()
}
