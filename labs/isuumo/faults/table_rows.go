package faults

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// polygonFaults are polygon searches that find others than the most popular estates inside.
func polygonFaults() []Fault {
	const named = `POST /api/estate/nazotte with .*`
	return []Fault{
		{"the estate next to the outline is left out under load", Polygon, named + `expected estate`, Overlooked,
			same(at(request.EstatePolygon, editLists(leaveOutNearest)).within(Loading))},
		{"all estates in the bounding box are in the polygon", Polygon,
			named + `(expected estate|does not belong there)`, ByChance,
			same(at(request.EstatePolygon, editLists(inBox)))},
		{"polygons end after 49 estates", Polygon, named + `the list ends after 49 rows, expected estate`, ByChance,
			same(at(request.EstatePolygon, editLists(func(_ *Exchange,
				l *list[model.Estate]) {
				setRows(l, l.rows[:min(len(l.rows), 49)])
			})))},
		{"polygons come by id under load", Polygon, named + `row \d+ is estate \d+, expected`, Overlooked,
			same(at(request.EstatePolygon, editLists(func(_ *Exchange, l *list[model.Estate]) {
				slices.SortFunc(l.rows, func(a, b model.Estate) int { return cmp.Compare(a.ID, b.ID) })
			})).within(Loading))},
		{"corners are rounded to a hundredth of a degree", Polygon, named + `(expected estate|does not belong there)`,
			ByChance,
			same(editPolygons(func(c []isuumo.Point) []isuumo.Point {
				for i := range c {
					c[i] = isuumo.Point{Latitude: roundTo(c[i].Latitude, 2), Longitude: roundTo(c[i].Longitude, 2)}
				}
				return c
			}))},
		{"the last corner is cut off", Polygon, named + `(expected estate|does not belong there)`, ByChance,
			same(editPolygons(func(c []isuumo.Point) []isuumo.Point {
				if len(c) < 5 { // a triangle
					return c
				}
				return slices.Delete(c, len(c)-2, len(c)-1)
			}))},
	}
}

// setRows sets rows and their number.
func setRows(l *list[model.Estate], rows []model.Estate) { l.rows, l.count = rows, int64(len(rows)) }

// editPolygons changes the polygons that are searched.
func editPolygons(edit func([]isuumo.Point) []isuumo.Point) Rule {
	return Rule{At: []request.Endpoint{request.EstatePolygon}, Before: func(x *Exchange) {
		if c := cornersOf(x); len(c) > 0 {
			x.Sent = encodeJSON(model.PolygonRequest{Coordinates: edit(c)})
		}
	}}
}

func roundTo(v float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return math.Round(v*unit) / unit
}

// leaveOutNearest leaves out the estate that is the nearest to the outline.
func leaveOutNearest(x *Exchange, l *list[model.Estate]) {
	c := cornersOf(x)
	if len(l.rows) == 0 || len(c) == 0 {
		return
	}
	far := func(e model.Estate) float64 {
		least := math.Inf(1)
		for i := range c[1:] {
			height, width := c[i+1].Latitude-c[i].Latitude, c[i+1].Longitude-c[i].Longitude
			cross := height*(e.Longitude-c[i].Longitude) - width*(e.Latitude-c[i].Latitude)
			least = min(least, math.Abs(cross)/math.Hypot(height, width)) // inside a convex outline
		}
		return least
	}
	nearest := slices.MinFunc(l.rows, func(a, b model.Estate) int { return cmp.Compare(far(a), far(b)) })
	setRows(l, slices.DeleteFunc(l.rows, func(e model.Estate) bool { return e.ID == nearest.ID }))
}

// inBox finds the estates in the bounding box among those of the beginning.
func inBox(x *Exchange, l *list[model.Estate]) {
	var in []*isuumo.Estate
	c := cornersOf(x)
	for i := range x.Data().Estates {
		e := &x.Data().Estates[i]
		if model.InBox(c, isuumo.Point{Latitude: e.Latitude, Longitude: e.Longitude}) {
			in = append(in, e)
		}
	}
	slices.SortFunc(in, model.ComparePopularEstates)
	setRows(l, model.EstateAnswers(in[:min(len(in), isuumo.PolygonLimit)]))
}

// fieldFaults are rows with other fields.
func fieldFaults() []Fault {
	return []Fault{
		{"height and width of chairs by id are swapped", Field, `GET /api/chair/\d+: .* has height \d+, expected`,
			Failed,
			same(at(request.ChairDetail, editRows(func(c *model.Chair) { c.Height, c.Width = c.Width, c.Height })))},
		{"latitude and longitude of estates in searches are swapped", Field,
			`GET /api/estate/search.* has latitude 1.*, expected`, Overlooked,
			same(at(request.EstateSearching, editRows(func(e *model.Estate) {
				e.Latitude, e.Longitude = e.Longitude,
					e.Latitude
			})))},
		{"features of chairs by id are sorted", Field, `GET /api/chair/\d+: .* has features`, ByChance,
			same(at(request.ChairDetail, editRows(func(c *model.Chair) {
				f := strings.Split(c.Features, ",")
				slices.Sort(f)
				c.Features = strings.Join(f, ",")
			})))},
		{"the popularity of chairs by id is shown", Field, `the key "popularity", which the API does not have there`,
			Overlooked,
			same(at(request.ChairDetail,
				editObject(func(o map[string]json.RawMessage) { o["popularity"] = json.RawMessage("1") })))},
		{"the stock of cheapest chairs is shown", Field,
			`GET /api/chair/low_priced: .*the key "stock", which the API does not have there`, Overlooked,
			same(at(request.ChairLowPriced, replaceBytes(`"id":`, `"stock":1,"id":`)))},
		{"cheapest estates have a count", Field, `the key "count", which the API does not have there`, Overlooked,
			same(at(request.EstateLowPriced, replaceBytes(`{"estates":`, `{"count":20,"estates":`)))},
		{"no rows are null", Field, `GET /api/estate/search.*null`, Overlooked,
			same(at(request.EstateSearching, replaceBytes(`"estates":[]`, `"estates":null`)))},
		{"no features are null", Field, `features is .*null`, Overlooked,
			same(at(request.EstateDetail, replaceBytes(`"features":""`, `"features":null`)))},
		{"doorHeight is written doorheight", Field, `the key "doorheight", which the API does not have there`,
			Overlooked,
			same(at(request.EstateDetail, replaceBytes(`"doorHeight"`, `"doorheight"`)))},
		{"the first two colors change places under load", Field, `GET /api/chair/search/condition: not the choices`,
			Overlooked,
			same(at(request.ChairCondition, editGood(func(x *Exchange) {
				c := x.Data().ChairCondition
				c.Color.List = slices.Clone(c.Color.List)
				c.Color.List[0], c.Color.List[1] = c.Color.List[1], c.Color.List[0]
				x.Body = encodeJSON(c)
			})).within(Loading))},
		{"crawlers see a higher price", Field, `GET /api/chair/.* has price \d+, expected`, Overlooked,
			same(at(request.ChairDetail, editRows(func(c *model.Chair) { c.Price++ })).only(Crawlers))},
	}
}

// cutFaults are answers that end too early.
func cutFaults() []Fault {
	return []Fault{
		{"descriptions in searches end after 10 characters under load", Cut, `GET /api/chair/search.* has description`,
			Overlooked,
			same(at(request.ChairSearching, editRows(func(c *model.Chair) {
				if text := []rune(c.Description); len(text) > 10 {
					c.Description = string(text[:10])
				}
			})).within(Loading))},
		{"descriptions end within a character", Cut, `GET /api/estate/\d+: .*UTF-8`, Failed,
			same(at(request.EstateDetail, editObject(func(o map[string]json.RawMessage) {
				text := bytes.Trim(o["description"], `"`)
				o["description"] = slices.Concat([]byte(`"`), text[:min(len(text), 10)],
					[]byte(`"`)) // of three bytes each
			})))},
		{"searches end within their JSON", Cut, `GET /api/estate/search.*ends early`, Failed,
			same(at(request.EstateSearching,
				editGood(func(x *Exchange) { x.Body = x.Body[:len(x.Body)-3] })).within(Loading))},
		{"searches end before the length that was announced", Cut, `GET /api/chair/search.*unexpected EOF`, Failed,
			same(at(request.ChairSearching, editGood(func(x *Exchange) {
				x.Body = x.Body[:len(x.Body)/2]
				x.Missing = len(x.Body)
			})).within(Loading))},
		{"estates by id are empty under load", Cut, `GET /api/estate/\d+: .*ends early`, Failed,
			same(at(request.EstateDetail, editGood(func(x *Exchange) { x.Body = nil })).within(Loading))},
	}
}

// numberFaults are values that are nearly right.
func numberFaults() []Fault {
	return []Fault{
		{"prices of chairs by id are texts", Number, `GET /api/chair/\d+: price is .*want a whole number`, Failed,
			same(at(request.ChairDetail,
				editObject(func(o map[string]json.RawMessage) {
					o["price"] = slices.Concat([]byte(`"`), o["price"],
						[]byte(`"`))
				})))},
		{"prices of chairs by id have a fraction", Number, `GET /api/chair/\d+: price is .*want a whole number`, Failed,
			same(at(request.ChairDetail, editObject(func(o map[string]json.RawMessage) {
				o["price"] = append(o["price"],
					".0"...)
			})))},
		{"latitudes in searches have four decimals", Number, `GET /api/estate/search.* has latitude .*, expected`,
			Overlooked,
			same(at(request.EstateSearching, editRows(func(e *model.Estate) { e.Latitude = roundTo(e.Latitude, 4) })))},
		{"longitudes in searches have single precision", Number, `GET /api/estate/search.* has longitude .*, expected`,
			Overlooked,
			same(at(request.EstateSearching,
				editRows(func(e *model.Estate) { e.Longitude = float64(float32(e.Longitude)) })))},
		{"rents of cheapest estates are one too high under load", Number,
			`GET /api/estate/low_priced: .* has rent \d+, expected`, Overlooked,
			same(at(request.EstateLowPriced, editRows(func(e *model.Estate) { e.Rent++ })).within(Loading))},
		{"depths in searches are one too high under load", Number, `GET /api/chair/search.* has depth \d+, expected`,
			Overlooked,
			same(at(request.ChairSearching, editRows(func(c *model.Chair) { c.Depth++ })).within(Loading))},
	}
}
