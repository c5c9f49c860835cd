package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/load/scenario"
)

// What the contest's own benchmark looks at under load, and nothing else. It knows
// each row by its id, so its order and stock are known whatever the fields say.

func officialError(asked, format string, args ...any) error {
	return scenario.Errorf(scenario.Application, "%s: %s", asked, fmt.Sprintf(format, args...))
}

// officialLowPricedChairs checks the order of prices, and the stock.
func (c *client) officialLowPricedChairs(l *list) error {
	if !slices.IsSortedFunc(l.Rows, func(a, b int32) int {
		return cmp.Compare(c.chairs.Row(a).Price,
			c.chairs.Row(b).Price)
	}) {
		return officialError("GET /api/chair/low_priced", "prices are not in order")
	}
	return c.officialStock("GET /api/chair/low_priced", l)
}

// officialLowPricedEstates checks the order of rents.
func (c *client) officialLowPricedEstates(l *list) error {
	if !slices.IsSortedFunc(l.Rows, func(a, b int32) int {
		return cmp.Compare(c.estates.Row(a).Rent,
			c.estates.Row(b).Rent)
	}) {
		return officialError("GET /api/estate/low_priced", "rents are not in order")
	}
	return nil
}

// officialStock checks that no chair was sold out before the request.
func (c *client) officialStock(asked string, l *list) error {
	for _, rank := range l.Rows {
		if c.chairs.Gone(rank, l.span) {
			return officialError(asked, "chair %d was sold out before the request", c.chairs.Row(rank).ID)
		}
	}
	return nil
}

// officialChairs checks the order of popularity, and the stock.
func (c *client) officialChairs(l *list) error {
	if !slices.IsSortedFunc(l.Rows, func(a, b int32) int {
		return cmp.Compare(c.chairs.Row(b).Popularity,
			c.chairs.Row(a).Popularity)
	}) {
		return officialError("GET /api/chair/search", "popularities are not in order")
	}
	return c.officialStock("GET /api/chair/search", l)
}

// officialFull checks that a page whose number the count allows has rows.
func (l *list) officialFull() error {
	if len(l.Rows) == 0 {
		return officialError("GET /api/chair/search", "an empty page")
	}
	return nil
}

// officialEstates checks the order of popularity.
func (c *client) officialEstates(l *list) error {
	if !c.popularEstates(l) {
		return officialError("GET /api/estate/search", "popularities are not in order")
	}
	return nil
}

func (c *client) popularEstates(l *list) bool {
	return slices.IsSortedFunc(l.Rows, func(a, b int32) int {
		return cmp.Compare(c.estates.Row(b).Popularity,
			c.estates.Row(a).Popularity)
	})
}

// officialRecommended checks that the chair fits, and the order of popularity.
func (c *client) officialRecommended(chair int32, l *list) error {
	for _, rank := range l.Rows {
		if !model.FitsDoor(c.chairs.Row(chair), c.estates.Row(rank)) {
			return officialError("GET /api/recommended_estate/:id", "the chair does not fit into estate %d",
				c.estates.Row(rank).ID)
		}
	}
	if !c.popularEstates(l) {
		return officialError("GET /api/recommended_estate/:id", "popularities are not in order")
	}
	return nil
}

// officialPolygon checks the number of rows, their fields and the bounding box.
func (c *client) officialPolygon(corners []isuumo.Point, l *list) error {
	const asked = "POST /api/estate/nazotte"
	if len(l.Rows) > isuumo.PolygonLimit {
		return officialError(asked, "%d rows, expected at most %d", len(l.Rows), isuumo.PolygonLimit)
	}
	for _, rank := range l.Rows {
		e := c.estates.Row(rank)
		if !model.InBox(corners, isuumo.Point{Latitude: e.Latitude, Longitude: e.Longitude}) {
			return officialError(asked, "estate %d is not in the bounding box", e.ID)
		}
	}
	if l.wrong != nil {
		return officialError(asked, "%v", l.wrong)
	}
	return nil
}
