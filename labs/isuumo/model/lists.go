package model

import (
	"cmp"
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// ComparePopularChairs is the order of chairs in a search: negative when a comes
// before b.
func ComparePopularChairs(a, b *isuumo.Chair) int {
	return cmp.Or(cmp.Compare(b.Popularity, a.Popularity), cmp.Compare(a.ID, b.ID))
}

// ComparePopularEstates is the order of estates in a search, in recommendations
// and in a polygon: negative when a comes before b.
func ComparePopularEstates(a, b *isuumo.Estate) int {
	return cmp.Or(cmp.Compare(b.Popularity, a.Popularity), cmp.Compare(a.ID, b.ID))
}

// SearchChairs returns how many of the chairs the query finds, and the page that it
// asks for: empty beyond the last one.
func SearchChairs(chairs []*isuumo.Chair, c *isuumo.ChairCondition, q *ChairQuery) (count int, list []*isuumo.Chair) {
	found := keep(chairs, func(chair *isuumo.Chair) bool { return q.Matches(c, chair) })
	slices.SortFunc(found, ComparePopularChairs)
	return len(found), page(found, q.Page, q.PerPage)
}

// SearchEstates returns how many of the estates the query finds, and the page that
// it asks for: empty beyond the last one.
func SearchEstates(estates []*isuumo.Estate, c *isuumo.EstateCondition, q *EstateQuery) (count int,
	list []*isuumo.Estate) {
	found := keep(estates, func(estate *isuumo.Estate) bool { return q.Matches(c, estate) })
	slices.SortFunc(found, ComparePopularEstates)
	return len(found), page(found, q.Page, q.PerPage)
}

// LowPricedChairs returns the cheapest chairs that are not sold out.
func LowPricedChairs(chairs []*isuumo.Chair) []*isuumo.Chair {
	found := keep(chairs, func(chair *isuumo.Chair) bool { return chair.Stock > 0 })
	slices.SortFunc(found, func(a, b *isuumo.Chair) int {
		return cmp.Or(cmp.Compare(a.Price, b.Price), cmp.Compare(a.ID, b.ID))
	})
	return page(found, 0, isuumo.LowPricedLimit)
}

// LowPricedEstates returns the cheapest estates.
func LowPricedEstates(estates []*isuumo.Estate) []*isuumo.Estate {
	found := slices.Clone(estates)
	slices.SortFunc(found, func(a, b *isuumo.Estate) int {
		return cmp.Or(cmp.Compare(a.Rent, b.Rent), cmp.Compare(a.ID, b.ID))
	})
	return page(found, 0, isuumo.LowPricedLimit)
}

// Recommended returns the most popular estates with a door that the chair fits
// through, whether it is sold out or not.
func Recommended(estates []*isuumo.Estate, chair *isuumo.Chair) []*isuumo.Estate {
	found := keep(estates, func(estate *isuumo.Estate) bool { return FitsDoor(chair, estate) })
	slices.SortFunc(found, ComparePopularEstates)
	return page(found, 0, isuumo.RecommendedLimit)
}

// FitsDoor reports whether the chair, turned as it may be, goes through the door:
// two of its lengths, in either order, are at most the door's width and height.
// Only the two smallest matter.
func FitsDoor(chair *isuumo.Chair, estate *isuumo.Estate) bool {
	sides := []int64{chair.Width, chair.Height, chair.Depth}
	slices.Sort(sides)
	door := []int64{estate.DoorWidth, estate.DoorHeight}
	slices.Sort(door)
	return sides[0] <= door[0] && sides[1] <= door[1]
}

// InPolygon returns the most popular estates in the polygon, see [Inside]. The
// answer's count is the length of the list.
func InPolygon(estates []*isuumo.Estate, corners []isuumo.Point) []*isuumo.Estate {
	found := keep(estates, func(estate *isuumo.Estate) bool {
		return Inside(corners, isuumo.Point{Latitude: estate.Latitude, Longitude: estate.Longitude})
	})
	slices.SortFunc(found, ComparePopularEstates)
	return page(found, 0, isuumo.PolygonLimit)
}

// keep returns the rows that a claim holds for, in a slice of its own.
func keep[T any](rows []*T, holds func(*T) bool) []*T {
	var out []*T
	for _, row := range rows {
		if holds(row) {
			out = append(out, row)
		}
	}
	return out
}

// page returns rows [number × size, number × size + size), as far as there are any.
func page[T any](rows []*T, number, size int64) []*T {
	out := []*T{}
	for i, row := range rows {
		if size > 0 && int64(i)/size == number {
			out = append(out, row)
		}
	}
	return out
}

// Pointers returns a pointer to each row of one or several slices.
func Pointers[T any](rows ...[]T) []*T {
	var out []*T
	for _, part := range rows {
		for i := range part {
			out = append(out, &part[i])
		}
	}
	return out
}
