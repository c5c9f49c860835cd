package truth

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// Estates are the estates of a run. They come, and stay.
type Estates struct {
	*table
	*estateFacts
}

// estateFacts are what never changes of a data set's estates.
type estateFacts struct {
	rows   []*isuumo.Estate // by rank
	byRent []int32          // ranks in the order rent ASC, id ASC
	doors  []door           // by rank
	places []place          // by latitude

	doorHeight, doorWidth, rent []set // by range
	feature                     map[string]set
}

// A door is the lengths of an estate's door.
type door struct {
	short, long int64
}

// NewEstates returns the estates of a run before its first request.
func NewEstates(d *isuumo.Data) *Estates {
	rows := model.Pointers(append([][]isuumo.Estate{d.Estates, d.VerifyEstates}, d.DraftEstates...)...)
	slices.SortFunc(rows, model.ComparePopularEstates)
	first := make(map[int64]bool, len(d.Estates))
	for i := range d.Estates {
		first[d.Estates[i].ID] = true
	}
	ids := make([]int64, len(rows))
	e := &Estates{estateFacts: &estateFacts{rows: rows, doors: make([]door, len(rows)), places: newPlaces(rows)}}
	for rank, row := range rows {
		ids[rank] = row.ID
		e.doors[rank] = door{min(row.DoorHeight, row.DoorWidth), max(row.DoorHeight, row.DoorWidth)}
	}
	e.table = newTable("estate", ids, func(id int64) bool { return first[id] })
	e.byRent = sortedRanks(len(rows), func(a, b int32) int {
		return cmp.Or(cmp.Compare(rows[a].Rent, rows[b].Rent), cmp.Compare(rows[a].ID, rows[b].ID))
	})
	cond := &d.EstateCondition
	e.doorHeight = rangeSets(cond.DoorHeight, rows, func(r *isuumo.Estate) int64 { return r.DoorHeight })
	e.doorWidth = rangeSets(cond.DoorWidth, rows, func(r *isuumo.Estate) int64 { return r.DoorWidth })
	e.rent = rangeSets(cond.Rent, rows, func(r *isuumo.Estate) int64 { return r.Rent })
	e.feature = textSets(cond.Feature, rows, hasEstateFeature)
	return e
}

// Again returns the estates before the first request of another run.
func (e *Estates) Again() *Estates { return &Estates{e.again(), e.estateFacts} }

func hasEstateFeature(r *isuumo.Estate, feature string) bool {
	return strings.Contains(r.Features, feature)
}

// Row returns the estate of a rank.
func (e *Estates) Row(rank int32) *isuumo.Estate { return e.rows[rank] }

// Search reports what is wrong with an answer of GET /api/estate/search.
func (e *Estates) Search(q *model.EstateQuery, s Span, got Page) error {
	var few [8]set // enough for most queries, without an allocation
	sets := few[:0]
	sets = appendRange(sets, e.doorHeight, q.DoorHeight)
	sets = appendRange(sets, e.doorWidth, q.DoorWidth)
	sets = appendRange(sets, e.rent, q.Rent)
	for _, f := range q.Features {
		fits, ok := e.feature[f]
		if !ok {
			fits = setOf(e.rows, func(r *isuumo.Estate) bool { return hasEstateFeature(r, f) })
		}
		sets = append(sets, fits)
	}
	e.none(sets)
	return e.explainPage(sets, s, pageWindow(q.Page, q.PerPage), got)
}

// LowPriced reports what is wrong with an answer of GET /api/estate/low_priced.
func (e *Estates) LowPriced(s Span, rows []int32) error {
	return e.explainList(allOf(e.byRent), s, isuumo.LowPricedLimit, rows)
}

// Recommended reports what is wrong with an answer of GET
// /api/recommended_estate/:id for the chair.
func (e *Estates) Recommended(chair *isuumo.Chair, s Span, rows []int32) error {
	return e.explainList(e.fitting(chair), s, isuumo.RecommendedLimit, rows)
}

// fitting gives the estates whose door the chair fits through: its two smallest
// lengths decide.
func (e *Estates) fitting(chair *isuumo.Chair) iter.Seq2[int32, bool] {
	sides := [...]int64{chair.Width, chair.Height, chair.Depth}
	slices.Sort(sides[:])
	return func(yield func(int32, bool) bool) {
		for rank, d := range e.doors {
			if d.short >= sides[0] && d.long >= sides[1] && !yield(int32(rank), true) {
				return
			}
		}
	}
}

// InPolygon reports what is wrong with an answer of POST /api/estate/nazotte, whose
// count is the length of its list.
func (e *Estates) InPolygon(corners []isuumo.Point, s Span, got Page) error {
	inside := e.inside(corners)
	err := e.explainList(func(yield func(int32, bool) bool) {
		for _, c := range inside {
			if !yield(c.rank, c.sure) {
				return
			}
		}
	}, s, isuumo.PolygonLimit, got.Rows)
	if err == nil && got.Count != int64(len(got.Rows)) {
		err = fmt.Errorf("count %d with %d rows, expected the same", got.Count, len(got.Rows))
	}
	return err
}
