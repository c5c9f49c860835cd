package queries

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
	"github.com/kasoku/kasoku/labs/isuumo/tuning"
)

// conditionSQL writes search conditions as SQL.
type conditionSQL struct {
	conditions *request.Conditions
	// bucketed holds the columns that have a second one with the id of the range.
	bucketed map[string]bool
}

// newConditionSQL uses the columns of tuning where buckets is set and their ranges
// are those of the conditions.
func newConditionSQL(c *request.Conditions, buckets bool) conditionSQL {
	out := conditionSQL{conditions: c, bucketed: map[string]bool{}}
	if !buckets {
		return out
	}
	for column, ranges := range map[string][]isuumo.Range{
		"price": c.Chair.Price.Ranges, "height": c.Chair.Height.Ranges, "width": c.Chair.Width.Ranges,
		"depth": c.Chair.Depth.Ranges,
		"rent":  c.Estate.Rent.Ranges, "door_height": c.Estate.DoorHeight.Ranges,
		"door_width": c.Estate.DoorWidth.Ranges,
	} {
		out.bucketed[column] = slices.Equal(ranges, tuning.BucketRanges(column))
	}
	return out
}

// A where is a condition and its parameters.
type where struct {
	terms []string
	args  []any
}

func (w *where) and(term string, args ...any) {
	w.terms = append(w.terms, term)
	w.args = append(w.args, args...)
}

func (w *where) String() string { return strings.Join(w.terms, " AND ") }

// with returns the parameters of the condition followed by others.
func (w *where) with(args ...any) []any { return append(slices.Clip(w.args), args...) }

func (c conditionSQL) chairs(s *request.ChairSearch) *where {
	var w where
	of := &c.conditions.Chair
	c.inRange(&w, "price", s.Price, of.Price.Ranges)
	c.inRange(&w, "height", s.Height, of.Height.Ranges)
	c.inRange(&w, "width", s.Width, of.Width.Ranges)
	c.inRange(&w, "depth", s.Depth, of.Depth.Ranges)
	if s.Kind != "" {
		w.and("kind = ?", s.Kind)
	}
	if s.Color != "" {
		w.and("color = ?", s.Color)
	}
	withFeatures(&w, s.Features)
	w.and("stock > 0")
	return &w
}

func (c conditionSQL) estates(s *request.EstateSearch) *where {
	var w where
	of := &c.conditions.Estate
	c.inRange(&w, "door_height", s.DoorHeight, of.DoorHeight.Ranges)
	c.inRange(&w, "door_width", s.DoorWidth, of.DoorWidth.Ranges)
	c.inRange(&w, "rent", s.Rent, of.Rent.Ranges)
	withFeatures(&w, s.Features)
	return &w
}

func (c conditionSQL) inRange(w *where, column string, id int, ranges []isuumo.Range) {
	if id == request.Any {
		return
	}
	if c.bucketed[column] {
		w.and(column+"_bucket = ?", id)
		return
	}
	r := ranges[id]
	if r.Min != isuumo.Open {
		w.and(column+" >= ?", r.Min)
	}
	if r.Max != isuumo.Open {
		w.and(column+" < ?", r.Max)
	}
	if r.Min == isuumo.Open && r.Max == isuumo.Open {
		w.and("TRUE")
	}
}

func withFeatures(w *where, features []string) {
	for _, f := range features {
		w.and("features LIKE CONCAT('%', ?, '%')", f)
	}
}
