package truth

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// Chairs are the chairs of a run.
type Chairs struct {
	*table
	*chairFacts
	stocks stocks
}

// chairFacts are what never changes of a data set's chairs.
type chairFacts struct {
	rows    []*isuumo.Chair // by rank
	byPrice []int32         // ranks in the order price ASC, id ASC

	price, height, width, depth []set // by range
	kind, color, feature        map[string]set
}

// NewChairs returns the chairs of a run before its first request.
func NewChairs(d *isuumo.Data) *Chairs {
	rows := model.Pointers(append([][]isuumo.Chair{d.Chairs, d.VerifyChairs}, d.DraftChairs...)...)
	slices.SortFunc(rows, model.ComparePopularChairs)
	first := make(map[int64]bool, len(d.Chairs))
	for i := range d.Chairs {
		first[d.Chairs[i].ID] = true
	}
	ids := make([]int64, len(rows))
	for rank, row := range rows {
		ids[rank] = row.ID
	}
	c := &chairFacts{rows: rows}
	c.byPrice = sortedRanks(len(rows), func(a, b int32) int {
		return cmp.Or(cmp.Compare(rows[a].Price, rows[b].Price), cmp.Compare(rows[a].ID, rows[b].ID))
	})
	cond := &d.ChairCondition
	c.price = rangeSets(cond.Price, rows, func(r *isuumo.Chair) int64 { return r.Price })
	c.height = rangeSets(cond.Height, rows, func(r *isuumo.Chair) int64 { return r.Height })
	c.width = rangeSets(cond.Width, rows, func(r *isuumo.Chair) int64 { return r.Width })
	c.depth = rangeSets(cond.Depth, rows, func(r *isuumo.Chair) int64 { return r.Depth })
	c.kind = textSets(cond.Kind, rows, func(r *isuumo.Chair, kind string) bool { return r.Kind == kind })
	c.color = textSets(cond.Color, rows, func(r *isuumo.Chair, color string) bool { return r.Color == color })
	c.feature = textSets(cond.Feature, rows, hasChairFeature)
	return newChairs(newTable("chair", ids, func(id int64) bool { return first[id] }), c)
}

func newChairs(t *table, f *chairFacts) *Chairs {
	return &Chairs{table: t, chairFacts: f, stocks: stocks{units: map[int32]*units{}}}
}

// Again returns the chairs before the first request of another run.
func (c *Chairs) Again() *Chairs { return newChairs(c.again(), c.chairFacts) }

func hasChairFeature(r *isuumo.Chair, feature string) bool {
	return strings.Contains(r.Features, feature)
}

// Row returns the chair of a rank.
func (c *Chairs) Row(rank int32) *isuumo.Chair { return c.rows[rank] }

// Search reports what is wrong with an answer of GET /api/chair/search.
func (c *Chairs) Search(q *model.ChairQuery, s Span, got Page) error {
	var few [8]set // enough for most queries, without an allocation
	sets := few[:0]
	sets = appendRange(sets, c.price, q.Price)
	sets = appendRange(sets, c.height, q.Height)
	sets = appendRange(sets, c.width, q.Width)
	sets = appendRange(sets, c.depth, q.Depth)
	if q.Kind != "" {
		sets = append(sets, c.kind[q.Kind])
	}
	if q.Color != "" {
		sets = append(sets, c.color[q.Color])
	}
	for _, f := range q.Features {
		fits, ok := c.feature[f]
		if !ok {
			fits = setOf(c.rows, func(r *isuumo.Chair) bool { return hasChairFeature(r, f) })
		}
		sets = append(sets, fits)
	}
	c.none(sets)
	return c.explainPage(sets, s, pageWindow(q.Page, q.PerPage), got)
}

// LowPriced reports what is wrong with an answer of GET /api/chair/low_priced.
func (c *Chairs) LowPriced(s Span, rows []int32) error {
	return c.explainList(allOf(c.byPrice), s, isuumo.LowPricedLimit, rows)
}

// none replaces what no row has, such as an unknown colour, by the empty set.
func (t *table) none(sets []set) {
	for i, x := range sets {
		if x == nil {
			sets[i] = newSet(len(t.ids))
		}
	}
}

func appendRange(sets, ranges []set, id *int64) []set {
	switch {
	case id == nil:
		return sets
	case *id < 0 || *id >= int64(len(ranges)):
		return append(sets, nil)
	}
	return append(sets, ranges[*id])
}

func setOf[T any](rows []*T, fits func(*T) bool) set {
	s := newSet(len(rows))
	for rank, row := range rows {
		if fits(row) {
			s.add(int32(rank))
		}
	}
	return s
}

func rangeSets[T any](r isuumo.Ranges, rows []*T, value func(*T) int64) []set {
	out := make([]set, len(r.Ranges))
	for i, of := range r.Ranges {
		out[i] = setOf(rows, func(row *T) bool { return of.Holds(value(row)) })
	}
	return out
}

func textSets[T any](l isuumo.List, rows []*T, has func(*T, string) bool) map[string]set {
	out := make(map[string]set, len(l.List))
	for _, text := range l.List {
		out[text] = setOf(rows, func(row *T) bool { return has(row, text) })
	}
	return out
}

// sortedRanks returns all ranks in an order.
func sortedRanks(n int, compare func(a, b int32) int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	slices.SortFunc(out, compare)
	return out
}

// allOf gives ranks that fit for certain.
func allOf(ranks []int32) iter.Seq2[int32, bool] {
	return func(yield func(int32, bool) bool) {
		for _, rank := range ranks {
			if !yield(rank, true) {
				return
			}
		}
	}
}
