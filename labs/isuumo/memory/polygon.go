package memory

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// bandsPerDegree is how finely latitudes are cut into bands. Within a band places
// are in the order of their longitudes, so a polygon is tried against those that
// are in its box or, by their latitude alone, less than two bands beside it. The
// contest's boxes are 0.1° to 1° high; each band that one touches costs two binary
// searches, which is more than trying a dozen places.
const bandsPerDegree = 4

// A place is where an estate is. Places are ordered by band, then by longitude.
type place struct {
	band                float64 // whole; a float so that no latitude is out of range
	latitude, longitude float64
	at                  micro
	slot                uint32
}

func newPlace(latitude, longitude float64, slot uint32) place {
	return place{math.Floor(latitude * bandsPerDegree), latitude, longitude,
		micro{millionths(latitude), millionths(longitude)}, slot}
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.band, b.band), cmp.Compare(a.longitude, b.longitude))
}

// micro is a point in millionths of a degree: polygons and points are text with six
// decimals where the service was shipped, and whole numbers show exactly on which
// side of a line a point is.
type micro struct{ latitude, longitude int64 }

// maxMicro keeps products of differences within 63 bits: 1,000 degrees. What lies
// beyond is taken to be there.
const maxMicro = 1e9

// millionths returns the degrees as text with six decimals gives them.
func millionths(degrees float64) int64 {
	v := degrees * 1e6
	if !(math.Abs(v) < maxMicro) {
		return int64(math.Copysign(maxMicro, v))
	}
	whole := math.Round(v)
	if math.Abs(v-whole) < 0.499999 {
		return int64(whole)
	}
	// About half a millionth: all digits decide.
	text := strconv.FormatFloat(degrees, 'f', 6, 64)
	point := len(text) - 7
	n, _ := strconv.ParseInt(text[:point]+text[point+1:], 10, 64) // below 1e9 by the check above
	return n
}

// inPolygon returns the most popular estates inside the polygon. A polygon that is
// not closed or has less than three sides holds nothing; a point on the outline is
// outside.
func (w *world) inPolygon(sc *scratch, corners []isuumo.Point) []byte {
	e := w.estates
	found := sc.empty(len(e.rows))
	outline := make([]micro, len(corners), 32)
	for i, c := range corners {
		outline[i] = micro{millionths(c.Latitude), millionths(c.Longitude)}
	}
	if len(outline) >= 4 && outline[0] == outline[len(outline)-1] {
		e.eachInBox(corners, func(p *place) {
			if inside(outline, p.at) {
				found.add(e.rankOf[p.slot])
			}
		})
	}
	sc.ranks = found.appendMembers(sc.ranks[:0], 0, isuumo.PolygonLimit)
	return e.appendRanks(appendCount(sc.body[:0], len(sc.ranks)), `"estates":[`, sc.ranks)
}

// eachInBox calls f with each place in the bounding box of the corners, or on its
// sides.
func (e *estates) eachInBox(corners []isuumo.Point, f func(*place)) {
	low, high := corners[0], corners[0]
	for _, c := range corners[1:] {
		low.Latitude, high.Latitude = min(low.Latitude, c.Latitude), max(high.Latitude, c.Latitude)
		low.Longitude, high.Longitude = min(low.Longitude, c.Longitude), max(high.Longitude, c.Longitude)
	}
	first, last := math.Floor(low.Latitude*bandsPerDegree), math.Floor(high.Latitude*bandsPerDegree)
	places := e.places
	skipTo := func(band, longitude float64) {
		n, _ := slices.BinarySearchFunc(places, place{band: band, longitude: longitude}, comparePlaces)
		places = places[n:]
	}
	skipTo(first, low.Longitude)
	for len(places) > 0 && places[0].band <= last {
		switch p := &places[0]; {
		case p.longitude < low.Longitude:
			skipTo(p.band, low.Longitude)
		case p.longitude > high.Longitude:
			skipTo(p.band, math.Inf(1))
		default:
			if low.Latitude <= p.latitude && p.latitude <= high.Latitude {
				f(p)
			}
			places = places[1:]
		}
	}
}

// inside reports whether a ray from the point crosses the closed outline an odd
// number of times, and the point is not on it.
func inside(outline []micro, p micro) (odd bool) {
	for i := range outline[1:] {
		a, b := outline[i], outline[i+1]
		// Where the side spans the point's range, the sign of turn says whether the point is before it.
		turn := (b.latitude-a.latitude)*(p.longitude-a.longitude) - (b.longitude-a.longitude)*(p.latitude-a.latitude)
		if turn == 0 && between(a.latitude, b.latitude, p.latitude) && between(a.longitude, b.longitude, p.longitude) {
			return false
		}
		if up := b.longitude > p.longitude; (a.longitude > p.longitude) != up && (turn > 0) == up {
			odd = !odd
		}
	}
	return odd
}

func between(a, b, v int64) bool { return min(a, b) <= v && v <= max(a, b) }
