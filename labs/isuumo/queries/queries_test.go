package queries

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

func TestCounts(t *testing.T) {
	asked := 0
	ask := func(n int64) func() (int64, error) {
		return func() (int64, error) { asked++; return n, nil }
	}
	c := newCounts()
	f := func(query string, n, want int64, times int) {
		t.Helper()
		asked = 0
		got, err := c.of(query, ask(n))
		if err != nil || got != want || asked != times {
			t.Errorf("%s: %d, %v, asked %d times; want %d, %d times", query, got, err, asked, want, times)
		}
	}
	f("a", 1, 1, 1)
	f("a", 2, 1, 0)
	f("b", 3, 3, 1)
	c.forget()
	f("a", 2, 2, 1)
	// A write while the query runs: what it saw may be what was before.
	if n, err := c.of("c", func() (int64, error) { c.forget(); return 7, nil }); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	f("c", 8, 8, 1)
	if _, err := c.of("d", func() (int64, error) { return 9, errors.New("gone") }); err == nil {
		t.Error("no error")
	}
	f("d", 10, 10, 1)
	for i := range maxCounts + 10 {
		if _, err := c.of("more"+strconv.Itoa(i), ask(1)); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.byQuery) > maxCounts {
		t.Errorf("%d counts are kept", len(c.byQuery))
	}
	c = nil
	f("a", 1, 1, 1)
	f("a", 2, 2, 1)
	c.forget()
}

// TestKeptCounts: a write changes the counts of searches that find its rows; a count that was asked for while a
// write was under way is not kept.
func TestKeptCounts(t *testing.T) {
	asked := 0
	c := newKeptCounts[estate]()
	f := func(name string, n, want int64, times int) {
		t.Helper()
		asked = 0
		got, err := c.of(name, func(e *estate) bool { return e.Name == name }, func() (int64, error) { asked++; return n, nil })
		if err != nil || got != want || asked != times {
			t.Errorf("%s: %d, %v, asked %d times; want %d, %d times", name, got, err, asked, want, times)
		}
	}
	write := func(by int64, err error, names ...string) {
		t.Helper()
		got := c.write(by, func() (rows []estate, _ error) {
			for _, n := range names {
				rows = append(rows, estate{Name: n})
			}
			return rows, err
		})
		if !errors.Is(got, err) {
			t.Errorf("%v, want %v", got, err)
		}
	}
	f("a", 3, 3, 1)
	f("b", 5, 5, 1)
	write(1, nil, "a", "a", "c")
	f("a", 0, 5, 0)
	write(-1, nil, "b")
	f("b", 0, 4, 0)
	write(-1, request.NotFound, "b")
	f("b", 0, 4, 0)
	write(1, errors.New("gone"), "a")
	f("a", 7, 7, 1)
	// A write that begins, or goes on, while the query runs.
	if n, err := c.of("d", nil, func() (int64, error) { write(1, nil, "d"); return 1, nil }); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	f("d", 2, 2, 1)
	err := c.write(1, func() ([]estate, error) { f("e", 1, 1, 1); return nil, nil })
	if err != nil {
		t.Error(err)
	}
	f("e", 2, 2, 1)
	c.forget()
	f("e", 3, 3, 1)
	c = nil
	write(1, nil, "a")
}

// TestWhere: ranges are comparisons, or one of a column made for them; not where the
// ranges are others than those of the column.
func TestWhere(t *testing.T) {
	conditions := func() *request.Conditions {
		return &request.Conditions{Chair: data.ChairCondition(), Estate: data.EstateCondition()}
	}
	f := func(c *request.Conditions, buckets bool, query, want string, args ...any) {
		t.Helper()
		q, err := request.ParseChairSearch(query+"&page=0&perPage=1", &c.Chair)
		if err != nil {
			t.Fatal(err)
		}
		w := newConditionSQL(c, buckets).chairs(&q)
		if w.String() != want || !slices.Equal(w.args, args) {
			t.Errorf("%s: %s %v, want %s %v", query, w, w.args, want, args)
		}
	}
	f(conditions(), false, "priceRangeId=0&heightRangeId=3", "price < ? AND height >= ? AND stock > 0", int64(3000), int64(150))
	f(conditions(), false, "widthRangeId=1&kind=a&features=x,y", "width >= ? AND width < ? AND kind = ? AND features LIKE CONCAT('%', ?, '%') AND features LIKE CONCAT('%', ?, '%') AND stock > 0",
		int64(80), int64(110), "a", "x", "y")
	f(conditions(), true, "priceRangeId=0&color=b", "price_bucket = ? AND color = ? AND stock > 0", 0, "b")
	other := conditions()
	other.Chair.Price.Ranges = slices.Clone(other.Chair.Price.Ranges)
	other.Chair.Price.Ranges[0].Max = 4000
	f(other, true, "priceRangeId=0&depthRangeId=0", "price < ? AND depth_bucket = ? AND stock > 0", int64(4000), 0)
	other.Chair.Price.Ranges = []isuumo.Range{{ID: 0, Min: isuumo.Open, Max: isuumo.Open}}
	f(other, true, "priceRangeId=0", "TRUE AND stock > 0")
}

func TestFits(t *testing.T) {
	six, args := (&Service{Options: Options{Defects: isuumo.Defects{"IDX-05"}}}).fits(&chair{Width: 3, Height: 1, Depth: 2})
	if len(args) != 12 {
		t.Errorf("%s %v", six, args)
	}
	two, args := (&Service{}).fits(&chair{Width: 3, Height: 1, Depth: 2})
	if !slices.Equal(args, []any{int64(1), int64(2), int64(2), int64(1)}) {
		t.Errorf("%s %v", two, args)
	}
}

func TestPolygonText(t *testing.T) {
	got := polygonText([]isuumo.Point{{Latitude: 35.12345678, Longitude: -1}, {Latitude: 1e7, Longitude: 0}})
	if want := "POLYGON((35.123457 -1.000000,10000000.000000 0.000000))"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
