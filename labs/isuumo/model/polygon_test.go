package model

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/labs/isuumo"
)

func points(latLon ...float64) (out []isuumo.Point) {
	for p := range slices.Chunk(latLon, 2) {
		out = append(out, isuumo.Point{Latitude: p[0], Longitude: p[1]})
	}
	return out
}

func TestInside(t *testing.T) {
	f := func(corners []isuumo.Point, latitude, longitude float64, want bool) {
		t.Helper()
		if got := Inside(corners, isuumo.Point{Latitude: latitude, Longitude: longitude}); got != want {
			t.Errorf("%v, %v in %v: %v, want %v", latitude, longitude, corners, got, want)
		}
	}
	square := points(0, 0, 0, 4, 4, 4, 4, 0, 0, 0)
	f(square, 2, 2, true)
	f(square, 0.000001, 3.999999, true)
	f(square, 5, 2, false)
	f(square, -1, 0, false)
	f(square, 0, 2, false) // on a side
	f(square, 4, 2, false)
	f(square, 2, 4, false)
	f(square, 0, 0, false)                   // a corner
	f(square, 0.0000001, 2, false)           // on a side once it has six decimals
	f(square, 0.0000009, 2, true)            // beside it
	f(square[:4], 2, 2, false)               // not closed
	f(points(0, 0, 4, 4, 0, 0), 2, 2, false) // a line
	f(points(0, 0), 0, 0, false)
	f(nil, 0, 0, false)
	diamond := points(0, 2, 2, 4, 4, 2, 2, 0, 0, 2)
	f(diamond, 2, 2, true) // the ray passes through a corner
	f(diamond, 1, 2, true)
	f(diamond, 0.5, 0.5, false) // in the box
	f(diamond, 1, 1, false)     // on a side that is aslant
	hollow := points(0, 0, 4, 0, 4, 4, 0, 4, 2, 2, 0, 0)
	f(hollow, 3, 2, true)
	f(hollow, 1, 2, false)
	f(points(0, 0, 0, 1, 0, 4, 4, 4, 4, 0, 0, 0), 2, 2, true) // three corners on a line
}

// TestRandomPolygon: the polygon is closed and convex, of the contest's size, and
// holds what is to the left of all its sides.
func TestRandomPolygon(t *testing.T) {
	towns := points(35, 139, 43, 141)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		corners := RandomPolygon(rng, towns)
		n := len(corners)
		if n < 4 || n > 20 || corners[0] != corners[n-1] {
			t.Fatalf("corners %v", corners)
		}
		for i := range n - 2 {
			if cross(corners[i], corners[i+1], corners[i+2]) <= 0 {
				t.Fatalf("no turn to the left at corner %d of %v", i+1, corners)
			}
		}
		low, high := corners[0], corners[0]
		for _, c := range corners {
			low = isuumo.Point{Latitude: min(low.Latitude, c.Latitude), Longitude: min(low.Longitude, c.Longitude)}
			high = isuumo.Point{Latitude: max(high.Latitude, c.Latitude), Longitude: max(high.Longitude, c.Longitude)}
			if c != round(c) || !InBox(points(33, 137, 45, 143), c) {
				t.Fatalf("corner %v", c)
			}
		}
		if high.Latitude-low.Latitude > 1.000001 || high.Longitude-low.Longitude > 1.000001 {
			t.Fatalf("the polygon reaches from %v to %v", low, high)
		}
		for range 20 {
			p := round(isuumo.Point{Latitude: uniform(rng, low.Latitude, high.Latitude), Longitude: uniform(rng, low.Longitude, high.Longitude)})
			left := true
			for i := range n - 1 {
				left = left && cross(corners[i], corners[i+1], p) > 0
			}
			if Inside(corners, p) != left {
				t.Fatalf("%v in %v: %v", p, corners, !left)
			}
		}
	}
}

// TestHull: all points are in the hull, whatever their order.
func TestHull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenth := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 40).Draw(t, "tenths")) / 10 })
		all := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) isuumo.Point {
			return isuumo.Point{Latitude: tenth.Draw(t, "latitude"), Longitude: tenth.Draw(t, "longitude")}
		}), 3, 20, func(p isuumo.Point) isuumo.Point { return p }).Draw(t, "points")
		corners := hull(all)
		for _, p := range all {
			for i := range corners[1:] {
				if cross(corners[i], corners[i+1], p) < -1e-9 {
					t.Fatalf("%v is outside %v", p, corners)
				}
			}
		}
		if again := hull(rapid.Permutation(all).Draw(t, "order")); !slices.Equal(corners, again) {
			t.Fatalf("%v and %v", corners, again)
		}
	})
}

// TestInPolygon: the fifty most popular estates inside, ties by id.
func TestInPolygon(t *testing.T) {
	square := points(0, 0, 0, 4, 4, 4, 4, 0, 0, 0)
	rapid.Check(t, func(t *rapid.T) {
		rows := anyEstates(t)
		inside := slices.DeleteFunc(slices.Clone(rows), func(e *isuumo.Estate) bool { return e.Latitude == 0 || e.Longitude == 0 })
		first(t, InPolygon(rows, square), inside, 50, ComparePopularEstates)
		if list := InPolygon(rows, nil); list == nil || len(list) > 0 {
			t.Fatalf("%d estates in no polygon", len(list))
		}
	})
}
