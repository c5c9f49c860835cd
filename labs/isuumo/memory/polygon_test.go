package memory

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestMillionths: as text with six decimals, for numbers of all lengths.
func TestMillionths(t *testing.T) {
	f := func(v float64) {
		t.Helper()
		want, err := strconv.ParseInt(strings.Replace(strconv.FormatFloat(v, 'f', 6, 64), ".", "", 1), 10, 64)
		if err != nil || math.Abs(v) >= 1000 {
			want = int64(math.Copysign(maxMicro, v))
		}
		if got := millionths(v); got != want {
			t.Errorf("%v: %d, want %d", v, got, want)
		}
	}
	for _, v := range []float64{0, 1, 35.6812345, 35.68123449999, 0.0000005, 0.00000049999, 139.7671245, 0.5e-6, 1.5e-6, 2.5e-6, 999.9999995, 999.99999949, 1000, -1e18, 1e300, 5e-324} {
		f(v)
		f(-v)
	}
	rapid.Check(t, func(rt *rapid.T) { f(rapid.Float64().Draw(rt, "degrees")) })
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		f(float64(rng.IntN(360e7)-180e7) / 1e7) // one digit more: half of a millionth is common
	}
}

// world4 has four estates around 35, 139: at the corners of a square and, the most
// popular one, in its middle.
func world4(t *testing.T) *Service {
	d := &isuumo.Data{}
	for i, p := range []isuumo.Point{{Latitude: 35, Longitude: 139}, {Latitude: 35, Longitude: 139.1}, {Latitude: 35.1, Longitude: 139.1}, {Latitude: 35.1, Longitude: 139}, {Latitude: 35.05, Longitude: 139.05}} {
		d.Estates = append(d.Estates, isuumo.Estate{ID: int64(i + 1), Latitude: p.Latitude, Longitude: p.Longitude, Popularity: int64(i)})
	}
	return without(t, d)
}

// TestPolygon: outlines by hand, as pairs of latitude and longitude.
func TestPolygon(t *testing.T) {
	s := world4(t)
	f := func(want string, numbers ...float64) {
		t.Helper()
		var q model.PolygonRequest
		for i := 0; i < len(numbers); i += 2 {
			q.Coordinates = append(q.Coordinates, isuumo.Point{Latitude: numbers[i], Longitude: numbers[i+1]})
		}
		var got model.EstateList
		if err := json.Unmarshal(ask(t, s, "POST", "/api/estate/nazotte", string(must(json.Marshal(q)))), &got); err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, e := range got.Estates {
			ids = append(ids, strconv.FormatInt(e.ID, 10))
		}
		if text := strings.Join(ids, " "); text != want || *got.Count != int64(len(ids)) {
			t.Errorf("%v: %q, count %d; want %q", numbers, text, *got.Count, want)
		}
	}
	f("5", 35, 139, 35, 139.1, 35.1, 139.1, 35.1, 139, 35, 139) // corners are on the outline
	f("5", 35, 139, 35.1, 139, 35.1, 139.1, 35, 139.1, 35, 139) // the other way round
	f("5 4 3 2 1", 34, 138, 34, 140, 36, 140, 36, 138, 34, 138)
	f("", 35, 139, 35.05, 139.05, 35.1, 139.1, 35, 139) // no area
	f("", 35, 139, 35, 139.1, 35.1, 139.1, 35.1, 139)   // not closed
	f("", 35.05, 139.05)                                // a point
	f("", 34, 138, 36, 140, 34, 138)                    // a line
	f("2", 34.9, 138.95, 34.9, 139.2, 35.2, 139.2, 34.9, 138.95)
	f("", 34.9, 139.05, 35.2, 139.05, 35.2, 139.0500000001, 34.9, 139.05) // without area once rounded
	f("5 4 3 2 1", -1e300, -1e300, -1e300, 1e300, 1e300, 1e300, 1e300, -1e300, -1e300, -1e300)
	f("5 4 3 2 1", 0, 0, 0, 300, 300, 300, 300, 0, 0, 0)
}

// testContains: triangles and points with few decimals are as MariaDB's ST_Contains
// has them, but for the outline. MariaDB 10.11 counts points on it as inside,
// unlike MySQL and the contest's service.
func testContains(t *testing.T, server *sandbox.Server) {
	db := sandboxtest.DB(t, server, "")
	rng := rand.New(rand.NewPCG(7, 7))
	onGrid := func() isuumo.Point {
		return isuumo.Point{Latitude: 35 + float64(rng.IntN(9))/1000, Longitude: 139 + float64(rng.IntN(9))/1000}
	}
	var held, onOutline int
	for range 300 {
		corners := []isuumo.Point{onGrid(), onGrid(), onGrid()}
		corners = append(corners, corners[0])
		var text []string
		var outline []micro
		for _, c := range corners {
			text = append(text, fmt.Sprintf("%f %f", c.Latitude, c.Longitude))
			outline = append(outline, micro{millionths(c.Latitude), millionths(c.Longitude)})
		}
		polygon := "ST_PolygonFromText('POLYGON((" + strings.Join(text, ",") + "))')"
		for range 20 {
			point := onGrid()
			at := micro{millionths(point.Latitude), millionths(point.Longitude)}
			want := inside(outline, at)
			if want {
				held++
			} else if touches(outline, at) {
				onOutline++
				continue
			}
			query := fmt.Sprintf("SELECT ST_Contains(%s, ST_PointFromText('POINT(%f %f)'))", polygon, point.Latitude, point.Longitude)
			var got bool
			if err := db.QueryRow(query).Scan(&got); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			if got != want {
				t.Errorf("%s: %t", query, got)
			}
		}
	}
	if held < 200 || onOutline < 200 {
		t.Errorf("%d points were inside, %d on an outline", held, onOutline)
	}
}

// touches reports whether the point is on the outline: on a line with two of its
// corners, and between them.
func touches(outline []micro, p micro) bool {
	for i := range outline[1:] {
		a, b := outline[i], outline[i+1]
		sameLine := (b.latitude-a.latitude)*(p.longitude-a.longitude) == (b.longitude-a.longitude)*(p.latitude-a.latitude)
		if sameLine && between(a.latitude, b.latitude, p.latitude) && between(a.longitude, b.longitude, p.longitude) {
			return true
		}
	}
	return false
}
