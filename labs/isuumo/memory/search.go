package memory

import (
	"strconv"
	"sync"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// A scratch is the memory that one request works in.
type scratch struct {
	found set
	ranks []uint32
	body  []byte
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

// empty returns the set of the scratch without members, for numbers below n.
func (sc *scratch) empty(n int) set {
	if cap(sc.found) < words(n) {
		sc.found = make(set, words(n))
	}
	sc.found = sc.found[:words(n)]
	clear(sc.found)
	return sc.found
}

// A query is a search in a table.
type query struct {
	numbers     [4]int // indices of ranges in the order of the catalog, or request.Any
	color, kind string
	features    []string
}

// find leaves the ranks of the rows that the query finds in the set, which is that
// of all rows, or of those in stock, when it is called. It returns their number.
func (t *table) find(found set, c *catalog, q *query) int {
	for i := range c.ranges {
		if j := q.numbers[i]; j != request.Any {
			found.and(t.sets[c.first[i]+j])
		}
	}
	t.equal(found, c.colors, q.color, t.color)
	t.equal(found, c.kinds, q.kind, t.kind)
	for _, f := range q.features {
		if s, known := c.features[f]; known {
			found.and(t.sets[s])
			continue
		}
		found.keep(func(rank uint32) bool { return request.Holds(string(t.features(t.slotOf[rank])), f) })
	}
	return found.count()
}

// equal keeps the rows with the text in a column; an empty text is no condition.
func (t *table) equal(found set, known map[string]int, text string, column func(slot uint32) []byte) {
	if text == "" {
		return
	}
	if s, ok := known[text]; ok {
		found.and(t.sets[s])
		return
	}
	found.keep(func(rank uint32) bool { return string(column(t.slotOf[rank])) == text })
}

func (w *world) searchChairs(sc *scratch, q *request.ChairSearch) []byte {
	c := w.chairs
	found := sc.empty(len(c.rows))
	for i := range found {
		found[i] = c.inStock[i].Load()
	}
	n := c.find(found, &w.chair.catalog, &query{
		numbers: [...]int{q.Price, q.Height, q.Width, q.Depth},
		color:   q.Color, kind: q.Kind, features: q.Features,
	})
	from, to := q.Of(n)
	sc.ranks = found.appendMembers(sc.ranks[:0], from, to)
	return c.appendRanks(appendCount(sc.body[:0], n), `"chairs":[`, sc.ranks)
}

func (w *world) searchEstates(sc *scratch, q *request.EstateSearch) []byte {
	e := w.estates
	found := sc.empty(len(e.rows))
	copy(found, e.sets[0])
	n := e.find(found, &w.estate.catalog, &query{
		numbers:  [...]int{q.DoorHeight, q.DoorWidth, q.Rent, request.Any},
		features: q.Features,
	})
	from, to := q.Of(n)
	sc.ranks = found.appendMembers(sc.ranks[:0], from, to)
	return e.appendRanks(appendCount(sc.body[:0], n), `"estates":[`, sc.ranks)
}

func (w *world) cheapChairs(sc *scratch) []byte {
	c := w.chairs
	sc.ranks = sc.ranks[:0]
	for _, slot := range c.byMoney {
		if rank := c.rankOf[slot]; c.inStock.has(rank) {
			sc.ranks = append(sc.ranks, rank)
			if len(sc.ranks) == isuumo.LowPricedLimit {
				break
			}
		}
	}
	return c.appendRanks(append(sc.body[:0], '{'), `"chairs":[`, sc.ranks)
}

func (w *world) cheapEstates(sc *scratch) []byte {
	e := w.estates
	sc.ranks = sc.ranks[:0]
	for _, slot := range e.byMoney[:min(len(e.byMoney), isuumo.LowPricedLimit)] {
		sc.ranks = append(sc.ranks, e.rankOf[slot])
	}
	return e.appendRanks(append(sc.body[:0], '{'), `"estates":[`, sc.ranks)
}

// recommended returns the estates for a chair, nil when there is no such chair.
func (w *world) recommended(sc *scratch, id int64) []byte {
	slot, ok := w.chairs.slot(id)
	if !ok {
		return nil
	}
	chair := w.chairs.rows[slot].sides
	sc.ranks = sc.ranks[:0]
	for rank, door := range w.estates.doors {
		if chair.fits(door) {
			sc.ranks = append(sc.ranks, uint32(rank))
			if len(sc.ranks) == isuumo.RecommendedLimit {
				break
			}
		}
	}
	return w.estates.appendRanks(append(sc.body[:0], '{'), `"estates":[`, sc.ranks)
}

// chairDetail returns a chair in stock, nil when there is none with the id.
func (w *world) chairDetail(id int64) []byte {
	slot, ok := w.chairs.slot(id)
	if !ok || !w.chairs.inStock.has(w.chairs.rankOf[slot]) {
		return nil
	}
	return w.chairs.object(slot)
}

// estateDetail returns an estate, nil when there is none with the id.
func (w *world) estateDetail(id int64) []byte {
	slot, ok := w.estates.slot(id)
	if !ok {
		return nil
	}
	return w.estates.object(slot)
}

func appendCount(b []byte, n int) []byte {
	b = strconv.AppendInt(append(b, `{"count":`...), int64(n), 10)
	return append(b, ',')
}

// appendRanks appends the list of the rows and the end of the answer.
func (t *table) appendRanks(b []byte, name string, ranks []uint32) []byte {
	b = append(b, name...)
	for i, rank := range ranks {
		slot := t.slotOf[rank]
		if i == 0 {
			b = append(b, t.object(slot)...)
			continue
		}
		b = append(b, t.element(slot)...)
	}
	return append(b, ']', '}')
}
