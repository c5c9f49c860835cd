package model

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// A ChairQuery is what GET /api/chair/search asks for. A number is the id of a
// range of the [isuumo.ChairCondition]; nil and "" stand for no condition.
type ChairQuery struct {
	Price, Height, Width, Depth *int64
	Kind, Color                 string
	Features                    []string // all of them
	Page, PerPage               int64    // pages count from 0
}

// An EstateQuery is what GET /api/estate/search asks for; see [ChairQuery].
type EstateQuery struct {
	DoorHeight, DoorWidth, Rent *int64
	Features                    []string
	Page, PerPage               int64
}

// Values returns the parameters of the request. What is no condition is left out.
func (q *ChairQuery) Values() url.Values {
	v := url.Values{}
	setRange(v, "priceRangeId", q.Price)
	setRange(v, "heightRangeId", q.Height)
	setRange(v, "widthRangeId", q.Width)
	setRange(v, "depthRangeId", q.Depth)
	setText(v, "kind", q.Kind)
	setText(v, "color", q.Color)
	setCommon(v, q.Features, q.Page, q.PerPage)
	return v
}

// Values returns the parameters of the request. What is no condition is left out.
func (q *EstateQuery) Values() url.Values {
	v := url.Values{}
	setRange(v, "doorHeightRangeId", q.DoorHeight)
	setRange(v, "doorWidthRangeId", q.DoorWidth)
	setRange(v, "rentRangeId", q.Rent)
	setCommon(v, q.Features, q.Page, q.PerPage)
	return v
}

func setRange(v url.Values, name string, id *int64) {
	if id != nil {
		v.Set(name, strconv.FormatInt(*id, 10))
	}
}

func setText(v url.Values, name, text string) {
	if text != "" {
		v.Set(name, text)
	}
}

func setCommon(v url.Values, features []string, page, perPage int64) {
	setText(v, "features", strings.Join(features, ","))
	v.Set("page", strconv.FormatInt(page, 10))
	v.Set("perPage", strconv.FormatInt(perPage, 10))
}

// Matches reports whether the chair is one that the query finds: it fits all
// conditions and is not sold out. A range that the condition does not list fits
// nothing; a service refuses such a query.
func (q *ChairQuery) Matches(c *isuumo.ChairCondition, chair *isuumo.Chair) bool {
	return chair.Stock > 0 && q.Fits(c, chair)
}

// Fits is Matches regardless of the stock.
func (q *ChairQuery) Fits(c *isuumo.ChairCondition, chair *isuumo.Chair) bool {
	return inRange(c.Price, q.Price, chair.Price) &&
		inRange(c.Height, q.Height, chair.Height) &&
		inRange(c.Width, q.Width, chair.Width) &&
		inRange(c.Depth, q.Depth, chair.Depth) &&
		isText(q.Kind, chair.Kind) &&
		isText(q.Color, chair.Color) &&
		hasFeatures(q.Features, chair.Features)
}

// Matches reports whether the estate fits all conditions of the query. A range that
// the condition does not list fits nothing; a service refuses such a query.
func (q *EstateQuery) Matches(c *isuumo.EstateCondition, estate *isuumo.Estate) bool {
	return inRange(c.DoorHeight, q.DoorHeight, estate.DoorHeight) &&
		inRange(c.DoorWidth, q.DoorWidth, estate.DoorWidth) &&
		inRange(c.Rent, q.Rent, estate.Rent) &&
		hasFeatures(q.Features, estate.Features)
}

func inRange(r isuumo.Ranges, id *int64, v int64) bool {
	if id == nil {
		return true
	}
	return *id >= 0 && *id < int64(len(r.Ranges)) && r.Ranges[*id].Holds(v)
}

func isText(asked, is string) bool { return asked == "" || asked == is }

// hasFeatures looks for each feature as a part of the row's whole text, as LIKE
// '%x%' does: a feature that is part of another one's name is found in it. The signs
// % and _ stand for themselves here.
func hasFeatures(asked []string, features string) bool {
	for _, f := range asked {
		if !strings.Contains(features, f) {
			return false
		}
	}
	return true
}
