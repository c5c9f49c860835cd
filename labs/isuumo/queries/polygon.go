package queries

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
	"github.com/kasoku/kasoku/mysqlflags"
)

// inPolygon finds the estates in a polygon. The polygon's corners and the places of
// estates are compared as they are with six decimals; the bounding box is not
// rounded.
func (s *Service) inPolygon(r *http.Request) (any, error) {
	corners, err := request.Polygon(r)
	if err != nil {
		return nil, err
	}
	find := s.inside
	if s.Defects.Has("QRY-04") {
		find = s.insideOneByOne
	}
	estates, err := find(corners)
	// MySQL refuses what is no polygon, MariaDB finds nothing in it.
	if mysqlflags.ErrorNumber(err) == errInvalidGeometry {
		estates, err = []estate{}, nil
	}
	return estatePage{int64(len(estates)), estates}, err
}

// errInvalidGeometry is MySQL's ER_GIS_INVALID_DATA: a ring is not closed or has too
// few points.
const errInvalidGeometry = 3037

// insideOneByOne reads all estates in the bounding box and asks for each whether it
// is in the polygon.
func (s *Service) insideOneByOne(corners []isuumo.Point) ([]estate, error) {
	box, args := s.box(corners)
	candidates, err := list[estate](s.ctx, s.DB, "SELECT "+s.columns("id, latitude, longitude")+" FROM estate WHERE "+
		box+" ORDER BY popularity DESC, id ASC", args...)
	if err != nil {
		return nil, err
	}
	polygon := polygonText(corners)
	out := []estate{}
	for _, c := range candidates {
		point := fmt.Sprintf("ST_GeomFromText('POINT(%f %f)')", c.Latitude, c.Longitude)
		e, err := one[estate](s.ctx, s.DB, "SELECT "+s.columns(estateColumns)+
			" FROM estate WHERE id = ? AND ST_Contains(ST_PolygonFromText('"+polygon+"'), "+point+")", c.ID)
		if err != nil {
			return nil, err
		}
		if e != nil {
			out = append(out, *e)
		}
	}
	return out[:min(len(out), isuumo.PolygonLimit)], nil
}

// inside asks once. The rows, which are few, are put into order here: asked for the
// first fifty, both databases walk all estates in that order and try each.
//
// The polygon itself is the condition, with IDX-07 too, whose index of places is not
// there, as in the contest's write-up, where it was there and not used. Beside the
// polygon its bounding box would say nothing new: the index of latitudes would stand
// in for the missing one, and MariaDB 10.11 may then filter the spatial index by
// another one, which ends in an error (MDEV-26123).
func (s *Service) inside(corners []isuumo.Point) ([]estate, error) {
	holds, args := "ST_Contains(ST_PolygonFromText(?), location)", []any{polygonText(corners)}
	if s.Defects.Has("IDX-07") {
		holds = "ST_Contains(ST_PolygonFromText(?), POINT(ROUND(latitude, 6), ROUND(longitude, 6)))"
	}
	estates, err := list[estate](s.ctx, s.DB, "SELECT "+s.columns(estateColumns+", popularity")+" FROM estate WHERE "+
		holds, args...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(estates, func(a, b estate) int {
		return cmp.Or(cmp.Compare(b.Popularity, a.Popularity), cmp.Compare(a.ID, b.ID))
	})
	return estates[:min(len(estates), isuumo.PolygonLimit)], nil
}

// box returns the condition that an estate is in the bounding box of the corners.
func (s *Service) box(corners []isuumo.Point) (term string, args []any) {
	low := isuumo.Point{Latitude: math.Inf(1), Longitude: math.Inf(1)}
	high := isuumo.Point{Latitude: math.Inf(-1), Longitude: math.Inf(-1)}
	for _, c := range corners {
		low.Latitude, high.Latitude = min(low.Latitude, c.Latitude), max(high.Latitude, c.Latitude)
		low.Longitude, high.Longitude = min(low.Longitude, c.Longitude), max(high.Longitude, c.Longitude)
	}
	if !s.Defects.Has("IDX-07") {
		return "MBRIntersects(ST_PolygonFromText(?), location)", []any{polygonText([]isuumo.Point{
			low, {Latitude: high.Latitude, Longitude: low.Longitude}, high,
			{Latitude: low.Latitude, Longitude: high.Longitude}, low,
		})}
	}
	return "latitude <= ? AND latitude >= ? AND longitude <= ? AND longitude >= ?",
		[]any{high.Latitude, low.Latitude, high.Longitude, low.Longitude}
}

// polygonText writes the corners as well-known text with six decimals.
func polygonText(corners []isuumo.Point) string {
	var b strings.Builder
	b.WriteString("POLYGON((")
	for i, c := range corners {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%f %f", c.Latitude, c.Longitude)
	}
	b.WriteString("))")
	return b.String()
}
