package memory

import (
	"cmp"
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// A table holds rows of one kind in the forms that answers are made from. A row has
// a slot, the order in which it came, which it keeps; and a rank, its place among
// all by popularity, which changes when rows come.
//
// A table is immutable. The next one shares what is by slot with it: only memory
// beyond its own end is written.
type table struct {
	arena []byte // by row: features, color, kind, a comma, JSON
	rows  []row  // by slot

	slotOf  []uint32 // by rank
	rankOf  []uint32 // by slot
	byID    []uint32 // slots
	byMoney []uint32 // slots, the cheapest first, then by id
	sets    []set    // of ranks, as the catalog numbers them
}

// A row is all but the text of a row.
type row struct {
	json, size            int    // where the comma before the JSON is, and the length with it
	features, color, kind uint32 // lengths of the texts before it
	id, popularity        int64
	money                 int64 // price or rent
	sides                 sides
}

// sides are the two smallest lengths of a chair, or the two of a door, the smaller
// one first.
type sides struct{ a, b int64 }

// fits reports whether the chair goes through the door.
func (chair sides) fits(door sides) bool { return chair.a <= door.a && chair.b <= door.b }

// An entry is what a table takes of a row in addition to its JSON.
type entry struct {
	id, popularity        int64
	features, color, kind string
	numbers               [4]int64 // in the order of the catalog; the first ones
	money                 int64
	sides                 sides
}

// A kind is how rows of a kind become entries.
type kind[T any] struct {
	catalog
	entry  func(*T) entry
	encode func([]byte, *T) []byte
}

// A catalog numbers the sets of a table. Set 0 holds all rows.
type catalog struct {
	ranges   [][]isuumo.Range
	first    []int // the set of the first range, for each number
	features map[string]int
	colors   map[string]int
	kinds    map[string]int
	size     int
}

func newCatalog(features, colors, kinds isuumo.List, ranges ...isuumo.Ranges) catalog {
	c := catalog{size: 1}
	for _, r := range ranges {
		c.ranges = append(c.ranges, r.Ranges)
		c.first = append(c.first, c.size)
		c.size += len(r.Ranges)
	}
	c.features, c.colors, c.kinds = c.number(features), c.number(colors), c.number(kinds)
	return c
}

func (c *catalog) number(l isuumo.List) map[string]int {
	m := make(map[string]int, len(l.List))
	for _, text := range l.List {
		if _, known := m[text]; !known {
			m[text] = c.size
			c.size++
		}
	}
	return m
}

// appendSets appends the numbers of the sets that the row is in.
func (c *catalog) appendSets(dst []int, e *entry) []int {
	dst = append(dst, 0)
	for i, ranges := range c.ranges {
		for j, r := range ranges {
			if r.Holds(e.numbers[i]) {
				dst = append(dst, c.first[i]+j)
			}
		}
	}
	if s, ok := c.colors[e.color]; ok {
		dst = append(dst, s)
	}
	if s, ok := c.kinds[e.kind]; ok {
		dst = append(dst, s)
	}
	if e.features == "" {
		return dst
	}
	for f, s := range c.features {
		if request.Holds(e.features, f) {
			dst = append(dst, s)
		}
	}
	return dst
}

// rowBytes is what a row takes in the arena, and more than that: the rows of the
// contest have 450 to 550. What is left takes the uploads.
const rowBytes = 700

// grow returns the table with further rows, whose ids must be new. Only the newest
// table grows, and one caller at a time may do so.
func grow[T any](t *table, k *kind[T], rows []T) *table {
	g := &table{arena: t.arena, rows: t.rows}
	if len(t.rows) == 0 {
		g.arena = make([]byte, 0, rowBytes*len(rows))
	}
	entries := make([]entry, len(rows))
	fresh := make([]uint32, len(rows))
	for i := range rows {
		e := k.entry(&rows[i])
		g.arena = append(append(append(g.arena, e.features...), e.color...), e.kind...)
		at := len(g.arena)
		g.arena = k.encode(append(g.arena, ','), &rows[i])
		fresh[i], entries[i] = uint32(len(g.rows)), e
		g.rows = append(g.rows, row{
			json: at, size: len(g.arena) - at,
			features: uint32(len(e.features)), color: uint32(len(e.color)), kind: uint32(len(e.kind)),
			id: e.id, popularity: e.popularity, money: e.money, sides: e.sides,
		})
	}
	g.byID = merge(t.byID, fresh, func(a, b uint32) int { return cmp.Compare(g.rows[a].id, g.rows[b].id) })
	g.byMoney = merge(t.byMoney, fresh, func(a, b uint32) int {
		x, y := &g.rows[a], &g.rows[b]
		return cmp.Or(cmp.Compare(x.money, y.money), cmp.Compare(x.id, y.id))
	})
	g.slotOf = merge(t.slotOf, fresh, func(a, b uint32) int {
		x, y := &g.rows[a], &g.rows[b]
		return cmp.Or(cmp.Compare(y.popularity, x.popularity), cmp.Compare(x.id, y.id))
	})
	g.rankOf = make([]uint32, len(g.slotOf))
	for rank, slot := range g.slotOf {
		g.rankOf[slot] = uint32(rank)
	}
	g.fillSets(t, &k.catalog, entries)
	return g
}

// fillSets makes the sets of the table: those of the one before it, whose members
// have new ranks, with the rows that came.
func (g *table) fillSets(t *table, c *catalog, entries []entry) {
	rank := make([]uint32, len(t.slotOf)) // by rank in t
	for old, slot := range t.slotOf {
		rank[old] = g.rankOf[slot]
	}
	g.sets = newSets(c.size, len(g.rows))
	for i, s := range t.sets {
		into := g.sets[i]
		s.each(func(old uint32) { into.add(rank[old]) })
	}
	var in []int
	for i := range entries {
		in = c.appendSets(in[:0], &entries[i])
		for _, s := range in {
			g.sets[s].add(g.rankOf[len(t.rows)+i])
		}
	}
}

// merge returns the elements of both in order. The old ones are in order; the fresh
// ones, few beside them, need not be.
func merge[E any](old, fresh []E, compare func(a, b E) int) []E {
	fresh = slices.Clone(fresh)
	slices.SortFunc(fresh, compare)
	out := make([]E, 0, len(old)+len(fresh))
	for _, e := range fresh {
		n, _ := slices.BinarySearchFunc(old, e, compare)
		out = append(append(out, old[:n]...), e)
		old = old[n:]
	}
	return append(out, old...)
}

// slot returns where the row with the id is.
func (t *table) slot(id int64) (uint32, bool) {
	if len(t.byID) == 0 {
		return 0, false
	}
	// Ids without gaps are the rule.
	if i := id - t.rows[t.byID[0]].id; i >= 0 && i < int64(len(t.byID)) && t.rows[t.byID[i]].id == id {
		return t.byID[i], true
	}
	i, ok := slices.BinarySearchFunc(t.byID, id, func(slot uint32, id int64) int {
		return cmp.Compare(t.rows[slot].id,
			id)
	})
	if !ok {
		return 0, false
	}
	return t.byID[i], true
}

// has reports whether there is a row with the id.
func (t *table) has(id int64) bool {
	_, ok := t.slot(id)
	return ok
}

// object returns a row's JSON.
func (t *table) object(slot uint32) []byte { return t.element(slot)[1:] }

// element returns a comma and a row's JSON.
func (t *table) element(slot uint32) []byte {
	r := &t.rows[slot]
	return t.arena[r.json : r.json+r.size]
}

// features returns the text that features are looked for in.
func (t *table) features(slot uint32) []byte {
	r := &t.rows[slot]
	end := r.json - int(r.kind) - int(r.color)
	return t.arena[end-int(r.features) : end]
}

func (t *table) color(slot uint32) []byte {
	r := &t.rows[slot]
	end := r.json - int(r.kind)
	return t.arena[end-int(r.color) : end]
}

func (t *table) kind(slot uint32) []byte {
	r := &t.rows[slot]
	return t.arena[r.json-int(r.kind) : r.json]
}
