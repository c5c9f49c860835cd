//go:build !race

package memory

import (
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// TestAllocs: answers are made in memory that is used again.
func TestAllocs(t *testing.T) {
	d := data.Generate(data.Options{Size: data.Small})
	s := without(t, d)
	w, sc := s.world.Load(), &scratch{}
	q, err := request.ParseChairSearch("priceRangeId=2&features="+d.ChairCondition.Feature.List[3]+"&page=0&perPage=25", &d.ChairCondition)
	if err != nil {
		t.Fatal(err)
	}
	e, err := request.ParseEstateSearch("rentRangeId=2&page=0&perPage=25", &d.EstateCondition)
	if err != nil {
		t.Fatal(err)
	}
	corners := []isuumo.Point{{Latitude: 30, Longitude: 130}, {Latitude: 30, Longitude: 145}, {Latitude: 45, Longitude: 145}, {Latitude: 30, Longitude: 130}}
	for name, answer := range map[string]func(){
		"chair search":  func() { sc.body = w.searchChairs(sc, &q) },
		"estate search": func() { sc.body = w.searchEstates(sc, &e) },
		"cheap chairs":  func() { sc.body = w.cheapChairs(sc) },
		"cheap estates": func() { sc.body = w.cheapEstates(sc) },
		"recommended":   func() { sc.body = w.recommended(sc, 7) },
		"detail":        func() { w.chairDetail(7) },
		"polygon":       func() { sc.body = w.inPolygon(sc, corners) },
	} {
		answer()
		if n := testing.AllocsPerRun(100, answer); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
