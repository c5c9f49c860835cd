package model

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/labs/isuumo"
)

var (
	lengths = isuumo.Ranges{Suffix: "cm", Ranges: []isuumo.Range{{ID: 0, Min: -1, Max: 80}, {ID: 1, Min: 80, Max: 110}, {ID: 2, Min: 110, Max: 150}, {ID: 3, Min: 150, Max: -1}}}
	chairs  = isuumo.ChairCondition{Width: lengths, Height: lengths, Depth: lengths, Price: lengths,
		Color:   isuumo.List{List: []string{"黒", "白"}},
		Feature: isuumo.List{List: []string{"高さ調節可能", "アーム高さ調節可能", "木製", "国産"}},
		Kind:    isuumo.List{List: []string{"座椅子", "ハンモック"}}}
	estates = isuumo.EstateCondition{DoorWidth: lengths, DoorHeight: lengths, Rent: lengths, Feature: isuumo.List{List: []string{"角部屋", "ロフト", "地下室"}}}
)

func id(v int64) *int64 { return &v }

// TestChairQuery_Matches has one line for each rule of a search.
func TestChairQuery_Matches(t *testing.T) {
	row := isuumo.Chair{Price: 80, Height: 79, Width: 110, Depth: 150, Color: "黒", Kind: "座椅子", Features: "国産,アーム高さ調節可能", Stock: 1}
	f := func(q ChairQuery, want bool) {
		t.Helper()
		if got := q.Matches(&chairs, &row); got != want {
			t.Errorf("%+v: %v, want %v", q, got, want)
		}
	}
	f(ChairQuery{}, true)
	f(ChairQuery{Price: id(0)}, false) // 80 is not below 80
	f(ChairQuery{Price: id(1)}, true)  // but at least 80
	f(ChairQuery{Height: id(0)}, true) // the first range has no lower end
	f(ChairQuery{Width: id(2)}, true)
	f(ChairQuery{Width: id(1)}, false)
	f(ChairQuery{Depth: id(3)}, true) // the last one has no upper end
	f(ChairQuery{Depth: id(4)}, false)
	f(ChairQuery{Depth: id(-1)}, false)
	f(ChairQuery{Color: "黒", Kind: "座椅子"}, true)
	f(ChairQuery{Color: "白"}, false)
	f(ChairQuery{Kind: "座椅"}, false) // a kind is equal, not a part
	f(ChairQuery{Features: []string{"アーム高さ調節可能"}}, true)
	f(ChairQuery{Features: []string{"高さ調節可能"}}, true) // a part of the other feature's name
	f(ChairQuery{Features: []string{"国産", "高さ調節可能"}}, true)
	f(ChairQuery{Features: []string{"国産", "木製"}}, false) // all of them
	row.Stock = 0
	f(ChairQuery{}, false)
	f(ChairQuery{Color: "黒"}, false)
}

func TestEstateQuery_Matches(t *testing.T) {
	row := isuumo.Estate{Rent: 80, DoorHeight: 79, DoorWidth: 150, Features: "ロフト,地下室"}
	f := func(q EstateQuery, want bool) {
		t.Helper()
		if got := q.Matches(&estates, &row); got != want {
			t.Errorf("%+v: %v, want %v", q, got, want)
		}
	}
	f(EstateQuery{}, true)
	f(EstateQuery{Rent: id(1), DoorHeight: id(0), DoorWidth: id(3), Features: []string{"地下室", "ロフト"}}, true)
	f(EstateQuery{Rent: id(0)}, false)
	f(EstateQuery{DoorHeight: id(1)}, false)
	f(EstateQuery{DoorWidth: id(2)}, false)
	f(EstateQuery{Features: []string{"角部屋"}}, false)
}

func TestValues(t *testing.T) {
	c := ChairQuery{Price: id(1), Height: id(0), Width: id(2), Depth: id(3), Kind: "k", Color: "c", Features: []string{"f", "g"}, Page: 2, PerPage: 25}
	if got, want := c.Values().Encode(), "color=c&depthRangeId=3&features=f%2Cg&heightRangeId=0&kind=k&page=2&perPage=25&priceRangeId=1&widthRangeId=2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	e := EstateQuery{DoorHeight: id(1), DoorWidth: id(0), Rent: id(2), PerPage: 10}
	if got, want := e.Values().Encode(), "doorHeightRangeId=1&doorWidthRangeId=0&page=0&perPage=10&rentRangeId=2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// anyChairs draws chairs of which many share their popularity, price or lengths.
func anyChairs(t *rapid.T) []*isuumo.Chair {
	few, length := rapid.Int64Range(0, 4), rapid.Int64Range(75, 155)
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) *isuumo.Chair {
		return &isuumo.Chair{
			ID: rapid.Int64Range(1, 1000).Draw(t, "id"), Popularity: few.Draw(t, "popularity"), Stock: rapid.Int64Range(0, 2).Draw(t, "stock"),
			Price: few.Draw(t, "price"), Height: length.Draw(t, "height"), Width: length.Draw(t, "width"), Depth: length.Draw(t, "depth"),
			Color: rapid.SampledFrom(chairs.Color.List).Draw(t, "color"), Kind: rapid.SampledFrom(chairs.Kind.List).Draw(t, "kind"),
			Features: rapid.SampledFrom(append([]string{"", "国産,木製"}, chairs.Feature.List...)).Draw(t, "features"),
		}
	}), 0, 80, func(c *isuumo.Chair) int64 { return c.ID }).Draw(t, "chairs")
}

func anyEstates(t *rapid.T) []*isuumo.Estate {
	few, length := rapid.Int64Range(0, 4), rapid.Int64Range(75, 155)
	degrees := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 30).Draw(t, "tenths")) / 10 })
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) *isuumo.Estate {
		return &isuumo.Estate{
			ID: rapid.Int64Range(1, 1000).Draw(t, "id"), Popularity: few.Draw(t, "popularity"), Rent: few.Draw(t, "rent"),
			DoorHeight: length.Draw(t, "height"), DoorWidth: length.Draw(t, "width"),
			Latitude: degrees.Draw(t, "latitude"), Longitude: degrees.Draw(t, "longitude"),
			Features: rapid.SampledFrom(append([]string{"", "角部屋,ロフト"}, estates.Feature.List...)).Draw(t, "features"),
		}
	}), 0, 80, func(e *isuumo.Estate) int64 { return e.ID }).Draw(t, "estates")
}

// TestSearchChairs: the pages together are all rows that match, once each, in
// order; every page says how many there are.
func TestSearchChairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := anyChairs(t)
		q := RandomChairQuery(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), &chairs)
		if rapid.Bool().Draw(t, "without features") {
			q.Features = nil
		}
		q.PerPage = rapid.Int64Range(1, 30).Draw(t, "per page")
		var all []*isuumo.Chair
		want := 0
		for _, c := range rows {
			if q.Matches(&chairs, c) {
				want++
			}
		}
		for ; ; q.Page++ {
			count, list := SearchChairs(rows, &chairs, q)
			if count != want || list == nil || int64(len(list)) > q.PerPage {
				t.Fatalf("count %d, %d rows, want %d in all", count, len(list), want)
			}
			if len(list) == 0 {
				break
			}
			all = append(all, list...)
		}
		if len(all) != want || !slices.IsSortedFunc(all, strictly(ComparePopularChairs)) {
			t.Fatalf("pages hold %d rows, want %d in order", len(all), want)
		}
		for _, c := range all {
			if !q.Matches(&chairs, c) {
				t.Fatalf("%+v does not match %+v", c, q)
			}
		}
	})
}

func TestSearchEstates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := anyEstates(t)
		q := &EstateQuery{Rent: id(0), PerPage: 1000}
		if rapid.Bool().Draw(t, "a feature") {
			q.Features = []string{"ロフト"}
		}
		before := slices.Clone(rows)
		count, list := SearchEstates(rows, &estates, q)
		if count != len(list) || !slices.IsSortedFunc(list, strictly(ComparePopularEstates)) {
			t.Fatalf("count %d, list %v", count, list)
		}
		for _, e := range rows {
			if q.Matches(&estates, e) != slices.Contains(list, e) {
				t.Fatalf("%+v in the list: %v", e, slices.Contains(list, e))
			}
		}
		if !slices.Equal(rows, before) {
			t.Fatal("the rows were put in another order")
		}
	})
}

// strictly makes a comparison say that equal rows are out of order: no row twice.
func strictly[T any](compare func(a, b T) int) func(a, b T) int {
	return func(a, b T) int {
		if c := compare(a, b); c != 0 {
			return c
		}
		return -1
	}
}

func TestLowPriced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := anyChairs(t)
		inStock := slices.DeleteFunc(slices.Clone(rows), func(c *isuumo.Chair) bool { return c.Stock <= 0 })
		first(t, LowPricedChairs(rows), inStock, 20, func(a, b *isuumo.Chair) int {
			return cmp.Or(cmp.Compare(a.Price, b.Price), cmp.Compare(a.ID, b.ID))
		})
		all := anyEstates(t)
		first(t, LowPricedEstates(all), all, 20, func(a, b *isuumo.Estate) int {
			return cmp.Or(cmp.Compare(a.Rent, b.Rent), cmp.Compare(a.ID, b.ID))
		})
	})
}

// first fails unless the list is the first rows of a set in an order.
func first[T any](t *rapid.T, list, of []*T, most int, compare func(a, b *T) int) {
	t.Helper()
	if list == nil || len(list) != min(most, len(of)) || !slices.IsSortedFunc(list, strictly(compare)) {
		t.Fatalf("list of %d rows, want %d in order", len(list), min(most, len(of)))
	}
	for _, row := range of {
		if !slices.Contains(list, row) && len(list) > 0 && compare(row, list[len(list)-1]) < 0 {
			t.Fatalf("%+v is missing", row)
		}
	}
}

// TestRecommended: the door holds two of the three lengths in some order, as the
// contest's six pairs have it, and the stock does not matter.
func TestRecommended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := anyEstates(t)
		length := rapid.Int64Range(75, 155)
		chair := &isuumo.Chair{Width: length.Draw(t, "width"), Height: length.Draw(t, "height"), Depth: length.Draw(t, "depth")}
		fit := slices.DeleteFunc(slices.Clone(rows), func(e *isuumo.Estate) bool {
			w, h, d := chair.Width, chair.Height, chair.Depth
			fits := false
			for _, pair := range [][2]int64{{w, h}, {w, d}, {h, w}, {h, d}, {d, w}, {d, h}} {
				fits = fits || e.DoorWidth >= pair[0] && e.DoorHeight >= pair[1]
			}
			return !fits
		})
		first(t, Recommended(rows, chair), fit, 20, ComparePopularEstates)
	})
}

// TestAnswers: objects have exactly the keys of the API, lists are [] when empty.
func TestAnswers(t *testing.T) {
	keys := func(v any) (out []string) {
		for i := range reflect.TypeOf(v).NumField() {
			out = append(out, reflect.TypeOf(v).Field(i).Tag.Get("json"))
		}
		return slices.Sorted(slices.Values(out))
	}
	without := func(all []string, hidden ...string) []string {
		return slices.DeleteFunc(all, func(k string) bool { return slices.Contains(hidden, k) })
	}
	if got, want := keys(Chair{}), without(keys(isuumo.Chair{}), "popularity", "stock"); !slices.Equal(got, want) {
		t.Errorf("keys of a chair %q, want %q", got, want)
	}
	if got, want := keys(Estate{}), without(keys(isuumo.Estate{}), "popularity"); !slices.Equal(got, want) {
		t.Errorf("keys of an estate %q, want %q", got, want)
	}
	if ChairAnswers(nil) == nil || EstateAnswers(nil) == nil {
		t.Error("an empty list is nil")
	}
	chair := isuumo.Chair{ID: 1, Name: "n", Description: "d", Thumbnail: "t", Price: 2, Height: 3, Width: 4, Depth: 5, Color: "c", Features: "f", Kind: "k", Popularity: 6, Stock: 7}
	if got, want := ChairAnswer(&chair), (Chair{ID: 1, Name: "n", Description: "d", Thumbnail: "t", Price: 2, Height: 3, Width: 4, Depth: 5, Color: "c", Features: "f", Kind: "k"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	estate := isuumo.Estate{ID: 1, Thumbnail: "t", Name: "n", Description: "d", Latitude: 2, Longitude: 3, Address: "a", Rent: 4, DoorHeight: 5, DoorWidth: 6, Features: "f", Popularity: 7}
	if got, want := EstateAnswer(&estate), (Estate{ID: 1, Thumbnail: "t", Name: "n", Description: "d", Latitude: 2, Longitude: 3, Address: "a", Rent: 4, DoorHeight: 5, DoorWidth: 6, Features: "f"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestRandomQueries: what a verification asks for, by the contest's chances.
func TestRandomQueries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 20_000
	prices, kinds, features := 0, 0, [4]int{}
	for range n {
		q := RandomChairQuery(rng, &chairs)
		if q.Price != nil {
			prices++
		}
		if q.Kind != "" {
			kinds++
		}
		features[len(q.Features)]++
		if slices.Contains(q.Features, "国産") || q.PerPage < 20 || q.PerPage > 49 || q.Page != 0 {
			t.Fatalf("query %+v", q)
		}
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{{"prices", prices, n / 10}, {"kinds", kinds, n / 10}, {"queries without a feature", features[0], 0}, {"with one", features[1], n / 3}, {"with three", features[3], n / 3}} {
		if c.got < c.want*9/10 || c.got > c.want*11/10 {
			t.Errorf("%d %s, want about %d", c.got, c.what, c.want)
		}
	}
	if q := RandomChairQuery(rng, &isuumo.ChairCondition{}); q.Features != nil {
		t.Errorf("query %+v of no condition", q)
	}
}
