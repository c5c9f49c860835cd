package conformance

import (
	"net/http"
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

const polygonPath = "/api/estate/nazotte"

// box is a closed polygon about a place.
func box(at isuumo.Point, half float64) []isuumo.Point {
	corner := func(a, b float64) isuumo.Point {
		return isuumo.Point{Latitude: at.Latitude + a*half, Longitude: at.Longitude + b*half}
	}
	return []isuumo.Point{corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1), corner(-1, -1)}
}

func place(x *isuumo.Estate) isuumo.Point {
	return isuumo.Point{Latitude: x.Latitude, Longitude: x.Longitude}
}

// beside returns a place a few metres off: no polygon here has an estate on its
// outline, which ST_Contains counts on MariaDB 10.11 and does not on MySQL 9.7.
func beside(p isuumo.Point) isuumo.Point {
	return isuumo.Point{Latitude: p.Latitude + 0.000013, Longitude: p.Longitude + 0.000029}
}

// polygons: those that users draw, in both directions, small and large, and with a
// notch.
func (c *checker) polygons() {
	var towns []isuumo.Point
	for i := range 20 {
		towns = append(towns, place(c.estates[(i*911)%len(c.estates)]))
	}
	for range 30 {
		corners := model.RandomPolygon(c.rng, towns)
		c.inPolygon(corners)
		slices.Reverse(corners)
		c.inPolygon(corners)
	}
	for _, town := range towns[:5] {
		c.inPolygon(box(town, 0.5))
		c.inPolygon(box(town, 0.00001))
		p := beside(town)
		c.inPolygon([]isuumo.Point{p, {Latitude: p.Latitude + 0.2, Longitude: p.Longitude},
			{Latitude: p.Latitude, Longitude: p.Longitude + 0.2}, p})
		c.inPolygon(slices.Insert(box(p, 0.4), 2, p))
	}
	japan := isuumo.Point{Latitude: 38, Longitude: 137}
	c.inPolygon(box(japan, 15))
	c.inPolygon(box(isuumo.Point{Latitude: 0, Longitude: 0}, 1))
	// Keys in another order, spaces, an exponent, what is not asked for.
	n := int64(0)
	nothing := model.EstateList{Count: &n, Estates: []model.Estate{}}
	c.answers(post(polygonPath, `{ "name": "x", "coordinates": [ {"longitude": 0, "latitude": 0}, {"latitude": 1e0, "longitude": 0}, {"latitude": 1, "longitude": 1}, {"latitude": 0, "longitude": 0} ] }`), nothing)
}

// noPolygons: what encloses nothing holds nothing, even where its bounding box holds
// estates. What cannot be read or has no corner is 400.
func (c *checker) noPolygons() {
	town := beside(place(c.estates[0]))
	square := box(town, 0.5)
	for name, corners := range map[string][]isuumo.Point{
		"not closed":    square[:4],
		"one point":     square[:1],
		"two points":    square[:2],
		"back and back": {square[0], square[2], square[0]},
		"on one line":   {square[0], town, square[2], square[0]},
		"one place":     {town, town, town, town},
	} {
		if found := model.InPolygon(c.estates, corners); len(found) > 0 {
			c.fail("%s: the reference finds %d", name, len(found))
		}
		c.inPolygon(corners)
	}
	for _, body := range []string{"", "{", "x", `"x"`, "[]", "{}", "null", `{"coordinates":[]}`,
		`{"coordinates":null}`, `{"coordinates":{}}`,
		`{"coordinates":[1]}`, `{"coordinates":[{"latitude":"35","longitude":135}]}`,
		`{"coordinates":[{"latitude":1e999,"longitude":1}]}`,
		`{"coordinates":[{"latitude":01,"longitude":1}]}`, `{"coordinates":[{"latitude":1,"longitude":1}`} {
		c.empty(post(polygonPath, body), http.StatusBadRequest)
	}
}
