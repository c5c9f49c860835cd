package truth

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// nearDegrees is the distance to the outline within which a point may count as on either
// side of it: the service as shipped rounds points and corners to 1e-6°, others
// compute with all digits.
const nearDegrees = 2e-6

// A place is where an estate is.
type place struct {
	latitude, longitude float64
	rank                int32
}

// newPlaces returns the places of all rows, which are in the order of their ranks,
// from south to north.
func newPlaces(rows []*isuumo.Estate) []place {
	out := make([]place, len(rows))
	for rank, row := range rows {
		out[rank] = place{row.Latitude, row.Longitude, int32(rank)}
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Compare(a.latitude, b.latitude) })
	return out
}

// A candidate is an estate that is in a polygon, or so near to its outline that it
// may be.
type candidate struct {
	rank int32
	sure bool
}

// inside returns the estates in a closed polygon by rank.
func (e *Estates) inside(corners []isuumo.Point) []candidate {
	low, high := corners[0], corners[0]
	for _, c := range corners {
		low.Latitude, high.Latitude = min(low.Latitude, c.Latitude), max(high.Latitude, c.Latitude)
		low.Longitude, high.Longitude = min(low.Longitude, c.Longitude), max(high.Longitude, c.Longitude)
	}
	first := sort.Search(len(e.places), func(i int) bool { return e.places[i].latitude >= low.Latitude-nearDegrees })
	var out []candidate
	for _, p := range e.places[first:] {
		if p.latitude > high.Latitude+nearDegrees {
			break
		}
		if p.longitude < low.Longitude-nearDegrees || p.longitude > high.Longitude+nearDegrees {
			continue
		}
		if in, near := locate(corners, p); in || near {
			out = append(out, candidate{p.rank, !near})
		}
	}
	slices.SortFunc(out, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
	return out
}

// locate reports whether a polygon, whose last corner repeats the first one, holds
// a place, and whether the place is near the outline.
func locate(corners []isuumo.Point, p place) (in, near bool) {
	for i := range corners[1:] {
		a, b := corners[i], corners[i+1]
		height, width := b.Latitude-a.Latitude, b.Longitude-a.Longitude
		// cross is the distance to the line through a and b, times their distance.
		cross := height*(p.longitude-a.Longitude) - width*(p.latitude-a.Latitude)
		if cross*cross <= nearDegrees*nearDegrees*(height*height+width*width) && nearBox(a, b, p) {
			near = true
		}
		if (a.Longitude > p.longitude) != (b.Longitude > p.longitude) && (cross > 0) == (width > 0) {
			// The ray along the place's longitude meets this side to the north of it.
			in = !in
		}
	}
	return in, near
}

// nearBox reports whether a place is in the box that a and b span, or near it.
func nearBox(a, b isuumo.Point, p place) bool {
	return math.Min(a.Latitude, b.Latitude)-nearDegrees <= p.latitude && p.latitude <= math.Max(a.Latitude,
		b.Latitude)+nearDegrees &&
		math.Min(a.Longitude, b.Longitude)-nearDegrees <= p.longitude && p.longitude <= math.Max(a.Longitude,
		b.Longitude)+nearDegrees
}
