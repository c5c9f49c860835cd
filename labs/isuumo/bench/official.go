package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/bench/internal/truth"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/load/scenario"
)

// official looks at what the contest's own benchmark looks at under load, and at nothing
// else. It knows each row by its id, so its order and stock are known whatever the fields
// say.
type official struct {
	chairs  *truth.Chairs
	estates *truth.Estates
}

func officialError(asked, format string, args ...any) error {
	return scenario.Errorf(scenario.Application, "%s: %s", asked, fmt.Sprintf(format, args...))
}

// lowPricedChairs checks the order of prices, and the stock.
func (o official) lowPricedChairs(l *list) error {
	if !slices.IsSortedFunc(l.Rows, func(a, b int32) int {
		return cmp.Compare(o.chairs.Row(a).Price, o.chairs.Row(b).Price)
	}) {
		return officialError("GET /api/chair/low_priced", "prices are not in order")
	}
	return o.stock("GET /api/chair/low_priced", l)
}

// lowPricedEstates checks the order of rents.
func (o official) lowPricedEstates(l *list) error {
	if !slices.IsSortedFunc(l.Rows, func(a, b int32) int {
		return cmp.Compare(o.estates.Row(a).Rent, o.estates.Row(b).Rent)
	}) {
		return officialError("GET /api/estate/low_priced", "rents are not in order")
	}
	return nil
}

// stock checks that no chair was sold out before the request.
func (o official) stock(asked string, l *list) error {
	for _, rank := range l.Rows {
		if o.chairs.Gone(rank, l.span) {
			return officialError(asked, "chair %d was sold out before the request", o.chairs.Row(rank).ID)
		}
	}
	return nil
}

// foundChairs checks the order of popularity, and the stock.
func (o official) foundChairs(l *list) error {
	if !slices.IsSortedFunc(l.Rows, func(a, b int32) int {
		return cmp.Compare(o.chairs.Row(b).Popularity, o.chairs.Row(a).Popularity)
	}) {
		return officialError("GET /api/chair/search", "popularities are not in order")
	}
	return o.stock("GET /api/chair/search", l)
}

// full checks that a page whose number the count allows has rows.
func (official) full(l *list) error {
	if len(l.Rows) == 0 {
		return officialError("GET /api/chair/search", "an empty page")
	}
	return nil
}

// foundEstates checks the order of popularity.
func (o official) foundEstates(l *list) error {
	if !o.popularEstates(l) {
		return officialError("GET /api/estate/search", "popularities are not in order")
	}
	return nil
}

func (o official) popularEstates(l *list) bool {
	return slices.IsSortedFunc(l.Rows, func(a, b int32) int {
		return cmp.Compare(o.estates.Row(b).Popularity, o.estates.Row(a).Popularity)
	})
}

// recommended checks that the chair fits, and the order of popularity.
func (o official) recommended(chair int32, l *list) error {
	for _, rank := range l.Rows {
		if !model.FitsDoor(o.chairs.Row(chair), o.estates.Row(rank)) {
			return officialError("GET /api/recommended_estate/:id", "the chair does not fit into estate %d",
				o.estates.Row(rank).ID)
		}
	}
	if !o.popularEstates(l) {
		return officialError("GET /api/recommended_estate/:id", "popularities are not in order")
	}
	return nil
}

// polygon checks the number of rows, their fields and the bounding box.
func (o official) polygon(corners []isuumo.Point, l *list) error {
	const asked = "POST /api/estate/nazotte"
	if len(l.Rows) > isuumo.PolygonLimit {
		return officialError(asked, "%d rows, expected at most %d", len(l.Rows), isuumo.PolygonLimit)
	}
	for _, rank := range l.Rows {
		e := o.estates.Row(rank)
		if !model.InBox(corners, isuumo.Point{Latitude: e.Latitude, Longitude: e.Longitude}) {
			return officialError(asked, "estate %d is not in the bounding box", e.ID)
		}
	}
	if l.wrong != nil {
		return officialError(asked, "%v", l.wrong)
	}
	return nil
}
