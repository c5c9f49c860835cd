package model

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// Inside reports whether the polygon holds the point: it is in the bounding box of
// the corners, sides included, and a ray from it crosses the outline an odd number
// of times. A point on the outline is outside, as for ST_Contains.
//
// The last corner has to repeat the first one; a polygon that is not closed, or has
// less than three corners, holds nothing.
//
// The service as it was shipped gives the database polygon and point as text with
// six decimals, but tries the bounding box with all digits. So does this function.
func Inside(corners []isuumo.Point, p isuumo.Point) bool {
	if len(corners) < 4 || corners[0] != corners[len(corners)-1] || !InBox(corners, p) {
		return false
	}
	inside := false
	p = round(p)
	for i := range corners[1:] {
		a, b := round(corners[i]), round(corners[i+1])
		if onSide(a, b, p) {
			return false
		}
		if (a.Longitude > p.Longitude) == (b.Longitude > p.Longitude) {
			continue // the side is beside the ray, which runs along the point's longitude
		}
		if at := a.Latitude + (p.Longitude-a.Longitude)/(b.Longitude-a.Longitude)*(b.Latitude-a.Latitude); at > p.Latitude {
			inside = !inside
		}
	}
	return inside
}

// InBox reports whether the point is in the bounding box of the corners or on its
// sides.
func InBox(corners []isuumo.Point, p isuumo.Point) bool {
	low := isuumo.Point{Latitude: math.Inf(1), Longitude: math.Inf(1)}
	high := isuumo.Point{Latitude: math.Inf(-1), Longitude: math.Inf(-1)}
	for _, c := range corners {
		low.Latitude, high.Latitude = min(low.Latitude, c.Latitude), max(high.Latitude, c.Latitude)
		low.Longitude, high.Longitude = min(low.Longitude, c.Longitude), max(high.Longitude, c.Longitude)
	}
	return low.Latitude <= p.Latitude && p.Latitude <= high.Latitude &&
		low.Longitude <= p.Longitude && p.Longitude <= high.Longitude
}

// onSide reports whether p is between a and b, on the line through them.
func onSide(a, b, p isuumo.Point) bool {
	return cross(a, b, p) == 0 && InBox([]isuumo.Point{a, b}, p)
}

// cross is positive when a, b and c turn to the left, 0 when they are on a line.
func cross(a, b, c isuumo.Point) float64 {
	// The conversions forbid a fused multiply-add, so that all machines agree.
	return float64((b.Latitude-a.Latitude)*(c.Longitude-a.Longitude)) - float64((b.Longitude-a.Longitude)*(c.Latitude-a.Latitude))
}

// round returns the point as text with six decimals gives it.
func round(p isuumo.Point) isuumo.Point {
	return isuumo.Point{Latitude: roundDegrees(p.Latitude), Longitude: roundDegrees(p.Longitude)}
}

func roundDegrees(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', 6, 64), 64)
	return v
}

// RandomPolygon returns a polygon as users of the contest draw it: about a centre
// that is at most 1.5° from one of the towns on either axis, in a box with sides of
// 0.1° to 1°, the convex hull of 10 to 19 points. It is closed and convex, and its
// corners have six decimals.
func RandomPolygon(rng *rand.Rand, towns []isuumo.Point) []isuumo.Point {
	town := towns[rng.IntN(len(towns))]
	latitude := town.Latitude + uniform(rng, -1.5, 1.5)
	longitude := town.Longitude + uniform(rng, -1.5, 1.5)
	height, width := uniform(rng, 0.1, 1), uniform(rng, 0.1, 1)
	points := make([]isuumo.Point, 10+rng.IntN(10))
	for i := range points {
		points[i] = round(isuumo.Point{
			Latitude:  latitude + uniform(rng, -height/2, height/2),
			Longitude: longitude + uniform(rng, -width/2, width/2),
		})
	}
	return hull(points)
}

func uniform(rng *rand.Rand, low, high float64) float64 {
	return low + float64(rng.Float64()*(high-low))
}

// hull returns the convex hull of the points, closed: each half is built from the
// points in order, and a point that does not turn left is dropped (Andrew 1979,
// "Another efficient algorithm for convex hulls in two dimensions").
func hull(points []isuumo.Point) []isuumo.Point {
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b isuumo.Point) int {
		return cmp.Or(cmp.Compare(a.Latitude, b.Latitude), cmp.Compare(a.Longitude, b.Longitude))
	})
	var out []isuumo.Point
	for range 2 {
		start := len(out)
		for _, p := range points {
			for len(out) >= start+2 && cross(out[len(out)-2], out[len(out)-1], p) <= 0 {
				out = out[:len(out)-1]
			}
			out = append(out, p)
		}
		out = out[:len(out)-1] // the last point begins the other half
		slices.Reverse(points)
	}
	return append(out, out[0])
}
