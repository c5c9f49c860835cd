package truth

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"pgregory.net/rapid"
)

var smallData = sync.OnceValue(func() *isuumo.Data { return data.Generate(data.Options{Size: data.Small}) })

// drawSpan returns a table of n rows and a span in which they came and went in any
// way that is possible.
func drawSpan(t *rapid.T, n int) (*table, Span) {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(100 + i)
	}
	tab := newTable("chair", ids, func(int64) bool { return false })
	moment := func() *Moment {
		return &Moment{arriving: newSet(n), arrived: newSet(n), leaving: newSet(n), gone: newSet(n)}
	}
	from, to := moment(), moment()
	for i := range int32(n) {
		// A row's life: nothing, arriving, arrived, leaving, gone.
		sets := func(m *Moment) []set { return []set{m.arriving, m.arrived, m.leaving, m.gone} }
		begin := rapid.IntRange(0, 4).Draw(t, "begin")
		end := rapid.IntRange(begin, 4).Draw(t, "end")
		for at, s := range sets(from) {
			if at < begin {
				s.add(i)
			}
		}
		for at, s := range sets(to) {
			if at < end {
				s.add(i)
			}
		}
	}
	return tab, Span{from, to}
}

// states calls f with each choice of rows that may have counted at one time of the
// span, out of those that fit.
func states(n int, s Span, fits, sure func(int32) bool, f func(rows []int32)) {
	var choose func(rank int32, rows []int32)
	choose = func(rank int32, rows []int32) {
		if int(rank) == n {
			f(rows)
			return
		}
		if fits(rank) && s.possible(rank) {
			choose(rank+1, append(slices.Clone(rows), rank))
		}
		if !fits(rank) || !sure(rank) || !s.certain(rank) {
			choose(rank+1, rows)
		}
	}
	choose(0, nil)
}

func part(rows []int32, w window) []int32 {
	first := min(w.offset, int64(len(rows)))
	return rows[first:min(first+w.limit, int64(len(rows)))]
}

// drawAnswer returns rows that may be an answer, or nearly one.
func drawAnswer(t *rapid.T, n int, answers [][]int32) []int32 {
	rows := slices.Clone(answers[rapid.IntRange(0, len(answers)-1).Draw(t, "answer")])
	switch {
	case rapid.Bool().Draw(t, "as it is"):
	case len(rows) == 0 || rapid.Bool().Draw(t, "insert"):
		rank := int32(rapid.IntRange(0, n-1).Draw(t, "rank"))
		rows = slices.Insert(rows, rapid.IntRange(0, len(rows)).Draw(t, "at"), rank)
	case rapid.Bool().Draw(t, "delete"):
		at := rapid.IntRange(0, len(rows)-1).Draw(t, "at")
		rows = slices.Delete(rows, at, at+1)
	default:
		i, j := rapid.IntRange(0, len(rows)-1).Draw(t, "i"), rapid.IntRange(0, len(rows)-1).Draw(t, "j")
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

// TestPage: an answer of a search is taken if and only if some rows that may have
// counted give its list, and some its count.
func TestPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "rows")
		tab, s := drawSpan(t, n)
		fits := newSet(n)
		for i := range int32(n) {
			if rapid.IntRange(0, 3).Draw(t, "fits") > 0 {
				fits.add(i)
			}
		}
		w := window{rapid.Int64Range(0, 5).Draw(t, "offset"), rapid.Int64Range(0, 5).Draw(t, "limit")}
		var answers [][]int32
		counts := map[int64]bool{}
		states(n, s, fits.has, func(int32) bool { return true }, func(rows []int32) {
			counts[int64(len(rows))] = true
			answers = append(answers, part(rows, w))
		})
		rows := drawAnswer(t, n, answers)
		got := Page{Count: rapid.Int64Range(0, int64(n)).Draw(t, "count"), Rows: rows}
		right := counts[got.Count] && slices.ContainsFunc(answers, func(a []int32) bool { return slices.Equal(a, rows) })
		if err := tab.explainPage([]set{fits}, s, w, got); (err == nil) != right {
			t.Fatalf("%+v of %+v: %v; right: %v", got, w, err, right)
		}
	})
}

// TestList is TestPage for lists in any order, without pages, some of whose rows
// need not fit.
func TestList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "rows")
		tab, s := drawSpan(t, n)
		ranks := make([]int32, n)
		for i := range ranks {
			ranks[i] = int32(i)
		}
		order := rapid.Permutation(ranks).Draw(t, "order")
		place := make([]int, n)
		for i, rank := range order {
			place[rank] = i
		}
		fits, sure := newSet(n), newSet(n)
		for i := range int32(n) {
			switch rapid.IntRange(0, 4).Draw(t, "fits") {
			case 0:
			case 1:
				fits.add(i)
			default:
				fits.add(i)
				sure.add(i)
			}
		}
		limit := rapid.IntRange(0, 5).Draw(t, "limit")
		var answers [][]int32
		states(n, s, fits.has, sure.has, func(rows []int32) {
			rows = slices.Clone(rows)
			slices.SortFunc(rows, func(a, b int32) int { return cmp.Compare(place[a], place[b]) })
			answers = append(answers, part(rows, window{0, int64(limit)}))
		})
		rows := drawAnswer(t, n, answers)
		right := slices.ContainsFunc(answers, func(a []int32) bool { return slices.Equal(a, rows) })
		err := tab.explainList(func(yield func(int32, bool) bool) {
			for _, rank := range order {
				if fits.has(rank) && !yield(rank, sure.has(rank)) {
					return
				}
			}
		}, s, limit, rows)
		if (err == nil) != right {
			t.Fatalf("%v, at most %d of %v: %v; right: %v", rows, limit, order, err, right)
		}
	})
}

// TestSet: sets of any size count and find as a slice of booleans does.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Bool(), 1, 200).Draw(t, "in")
		s := newSet(len(in))
		for i, is := range in {
			if is {
				s.add(int32(i))
			}
		}
		at := rapid.IntRange(0, len(in)).Draw(t, "at")
		var below int64
		next := int32(-1)
		for i, is := range in {
			if is && i < at {
				below++
			}
			if is && i >= at && next < 0 {
				next = int32(i)
			}
			if s.has(int32(i)) != is {
				t.Fatalf("has(%d) = %v", i, !is)
			}
		}
		if got := s.below(int32(at)); got != below {
			t.Fatalf("below(%d) = %d, want %d", at, got, below)
		}
		if got := s.next(int32(at)); got != next {
			t.Fatalf("next(%d) = %d, want %d", at, got, next)
		}
	})
}

// A service is what a service would hold at one time.
type service struct {
	data    *isuumo.Data
	chairs  []*isuumo.Chair
	estates []*isuumo.Estate
}

func newService(d *isuumo.Data) *service {
	chairs := slices.Clone(d.Chairs) // their stock changes
	return &service{d, model.Pointers(chairs), model.Pointers(d.Estates)}
}

// TestQuietEqualsModel: while nothing comes or goes, what the reference answers is
// right, and anything else is not, for every kind of list.
func TestQuietEqualsModel(t *testing.T) {
	d := smallData()
	chairs, estates, sv := NewChairs(d), NewEstates(d), newService(d)
	towns := data.Towns()[3:]
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		chairSpan, estateSpan := chairs.Since(chairs.Now()), estates.Since(estates.Now())
		cq := model.RandomChairQuery(rng, &d.ChairCondition)
		cq.Page, cq.Features = rapid.Int64Range(0, 3).Draw(t, "page"), cq.Features[:rapid.IntRange(0, 1).Draw(t, "features")]
		eq := model.RandomEstateQuery(rng, &d.EstateCondition)
		eq.Page, eq.Features = cq.Page, eq.Features[:len(cq.Features)]
		count, found := model.SearchChairs(sv.chairs, &d.ChairCondition, cq)
		checkAnswer(t, "chairs", ranksOf(chairs.table, found), chairs.Len(), func(rows []int32) error {
			return chairs.Search(cq, chairSpan, Page{int64(count), rows})
		})
		count, places := model.SearchEstates(sv.estates, &d.EstateCondition, eq)
		checkAnswer(t, "estates", ranksOf(estates.table, places), estates.Len(), func(rows []int32) error {
			return estates.Search(eq, estateSpan, Page{int64(count), rows})
		})
		if err := estates.Search(eq, estateSpan, Page{int64(count) + 1, ranksOf(estates.table, places)}); err == nil {
			t.Fatal("a wrong count was taken")
		}
		chair := sv.chairs[rng.IntN(len(sv.chairs))]
		checkAnswer(t, "recommended", ranksOf(estates.table, model.Recommended(sv.estates, chair)), estates.Len(), func(rows []int32) error {
			return estates.Recommended(chair, estateSpan, rows)
		})
		corners := model.RandomPolygon(rng, towns)
		checkAnswer(t, "polygon", ranksOf(estates.table, model.InPolygon(sv.estates, corners)), estates.Len(), func(rows []int32) error {
			return estates.InPolygon(corners, estateSpan, Page{int64(len(rows)), rows})
		})
	})
	chairSpan, estateSpan := chairs.Since(chairs.Now()), estates.Since(estates.Now())
	if err := chairs.LowPriced(chairSpan, ranksOf(chairs.table, model.LowPricedChairs(sv.chairs))); err != nil {
		t.Error(err)
	}
	if err := estates.LowPriced(estateSpan, ranksOf(estates.table, model.LowPricedEstates(sv.estates))); err != nil {
		t.Error(err)
	}
}

// ranksOf returns the ranks of rows, which the table has.
func ranksOf[T isuumo.Chair | isuumo.Estate](tab *table, rows []*T) []int32 {
	out := make([]int32, len(rows))
	for i, row := range rows {
		switch row := any(row).(type) {
		case *isuumo.Chair:
			out[i] = tab.ranks[row.ID]
		case *isuumo.Estate:
			out[i] = tab.ranks[row.ID]
		}
	}
	return out
}

// checkAnswer: the rows are right, and wrong after a change.
func checkAnswer(t *rapid.T, what string, rows []int32, all int, check func([]int32) error) {
	if err := check(rows); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	wrong := drawAnswer(t, all, [][]int32{rows})
	if !slices.Equal(wrong, rows) && check(wrong) == nil {
		t.Fatalf("%s: %v was taken for %v", what, wrong, rows)
	}
}

// TestLiveEqualsModel: whatever of the purchases and uploads that are under way has
// happened at the service already, its answers are right.
func TestLiveEqualsModel(t *testing.T) {
	turn.Wait(t)
	d := smallData()
	rapid.Check(t, func(t *rapid.T) {
		chairs, sv := NewChairs(d), newService(d)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		q := &model.ChairQuery{PerPage: 5}
		price := rng.Int64N(6)
		q.Price, q.Page = &price, rng.Int64N(3)
		_, popular := model.SearchChairs(sv.chairs, &d.ChairCondition, &model.ChairQuery{Price: &price, PerPage: 20})
		from := chairs.Now()
		var under []int32 // purchases under way
		buyOne := func(c *isuumo.Chair) {
			rank, _ := chairs.Rank(c.ID)
			chairs.BuyBegins(rank)
			came := Refused
			if c.Stock > 0 {
				c.Stock--
				came = Sold
			}
			if rapid.Bool().Draw(t, "confirmed") {
				if err := chairs.BuyEnds(rank, came); err != nil {
					t.Fatal(err)
				}
				return
			}
			under = append(under, rank)
		}
		ids := make([]int64, len(d.VerifyChairs))
		for i := range d.VerifyChairs {
			ids[i] = d.VerifyChairs[i].ID
		}
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				from = chairs.Now() // a request begins
			case 1:
				if chairs.UploadBegins(ids); len(sv.chairs) == len(d.Chairs) && rapid.Bool().Draw(t, "uploaded") {
					sv.chairs = append(sv.chairs, model.Pointers(slices.Clone(d.VerifyChairs))...)
					chairs.UploadEnds(ids)
				}
			case 2: // the answer is there
				count, rows := model.SearchChairs(sv.chairs, &d.ChairCondition, q)
				if err := chairs.Search(q, chairs.Since(from), Page{int64(count), ranksOf(chairs.table, rows)}); err != nil {
					t.Fatal(err)
				}
				if err := chairs.LowPriced(chairs.Since(from), ranksOf(chairs.table, model.LowPricedChairs(sv.chairs))); err != nil {
					t.Fatal(err)
				}
			default:
				buyOne(popular[rng.IntN(len(popular))])
			}
		}
	})
}

// TestStale: what was sold before a request is not in its answer, and what is being
// sold may be.
func TestStale(t *testing.T) {
	d := smallData()
	chairs, sv := NewChairs(d), newService(d)
	price := int64(0)
	q := &model.ChairQuery{Price: &price, PerPage: 25}
	count, rows := model.SearchChairs(sv.chairs, &d.ChairCondition, q)
	list := ranksOf(chairs.table, rows)
	full := Page{int64(count), list}
	without := Page{int64(count) - 1, list[1:]}
	first := chairs.Row(list[0])

	before := chairs.Now()
	for range first.Stock {
		chairs.BuyBegins(list[0])
	}
	under := chairs.Now()
	for range first.Stock {
		if err := chairs.BuyEnds(list[0], Sold); err != nil {
			t.Fatal(err)
		}
	}
	after := chairs.Now()
	f := func(what string, s Span, got Page, want string) {
		t.Helper()
		err := chairs.Search(q, s, got)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	f("there before", Span{before, before}, full, "")
	f("missing before", Span{before, before}, without, "expected")
	f("there while it is bought", Span{before, under}, full, "")
	f("there in a request that began before the end", Span{under, after}, full, "")
	f("there afterwards", Span{after, after}, full, "which was sold out before the request")
	f("counted afterwards", Span{after, after}, Page{full.Count, nil}, "count 278, expected 277")
}

func TestStock(t *testing.T) {
	d := *smallData()
	d.Chairs = slices.Clone(d.Chairs)
	d.Chairs[0].Stock = 2
	f := func(script, want string) {
		t.Helper()
		c := NewChairs(&d)
		rank, _ := c.Rank(d.Chairs[0].ID)
		var errs []string
		for _, step := range script {
			var err error
			switch step {
			case 'b':
				c.BuyBegins(rank)
			case 's':
				err = c.BuyEnds(rank, Sold)
			case 'r':
				err = c.BuyEnds(rank, Refused)
			case 'u':
				err = c.BuyEnds(rank, Unknown)
			}
			if err != nil {
				errs = append(errs, err.Error())
			}
		}
		now := c.Now()
		left, known := c.Left(rank)
		got := strings.Join(errs, "; ")
		if !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q, want %q (left %d, %v; gone %v)", script, got, want, left, known, now.gone.has(rank))
		}
	}
	f("bsbs", "")
	f("bsbsbr", "")
	f("bbbssr", "")
	f("bbbrss", "") // the two others may have been first
	f("bububr", "") // unknown
	f("br", "a unit of chair 1 was refused, at least 2 of 2 are left")
	f("bsbr", "at least 1 of 2 are left")
	f("bbrr", "at least 1 of 2 are left; a unit of chair 1 was refused, at least 2 of 2 are left")
	f("bsbsbs", "3 units of chair 1 were sold, the stock was 2")
	f("bbbsss", "3 units of chair 1 were sold, the stock was 2")
}

// TestInsideEqualsModel: away from the outline, and only there, the reference must
// agree on what a polygon holds.
func TestInsideEqualsModel(t *testing.T) {
	d := smallData()
	e := NewEstates(d)
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		corners := model.RandomPolygon(rng, data.Towns()[3:])
		held := map[int32]candidate{}
		for _, c := range e.inside(corners) {
			held[c.rank] = c
		}
		for rank, row := range e.rows {
			c, ok := held[int32(rank)]
			in := model.Inside(corners, isuumo.Point{Latitude: row.Latitude, Longitude: row.Longitude})
			if in && !ok || !in && ok && c.sure {
				t.Fatalf("estate %d at %v, %v: %v, the model says %v", row.ID, row.Latitude, row.Longitude, c, in)
			}
		}
	})
	square := []isuumo.Point{{Latitude: 0, Longitude: 0}, {Latitude: 1, Longitude: 0}, {Latitude: 1, Longitude: 1}, {Latitude: 0, Longitude: 1}, {Latitude: 0, Longitude: 0}}
	for _, c := range []struct {
		latitude, longitude float64
		in, near            bool
	}{
		{0.5, 0.5, true, false},
		{0.5, 1.5, false, false},
		{0.5, 1.000001, false, true},
		{1.5, 1, false, false}, // on the line of a side, not beside it
		{0.999999, 0.5, true, true},
	} {
		if in, near := locate(square, place{latitude: c.latitude, longitude: c.longitude}); in != c.in || near != c.near {
			t.Errorf("locate(%v, %v) = %v, %v; want %v, %v", c.latitude, c.longitude, in, near, c.in, c.near)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	d := data.Generate(data.Options{})
	c, sv := NewChairs(d), newService(d)
	price, height := int64(2), int64(1)
	q := &model.ChairQuery{Price: &price, Height: &height, Page: 2, PerPage: 25}
	count, rows := model.SearchChairs(sv.chairs, &d.ChairCondition, q)
	got := Page{int64(count), ranksOf(c.table, rows)}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Search(q, c.Since(c.Now()), got); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInPolygon(b *testing.B) {
	d := data.Generate(data.Options{})
	e := NewEstates(d)
	rng := rand.New(rand.NewPCG(1, 2))
	var polygons [][]isuumo.Point
	for range 100 {
		polygons = append(polygons, model.RandomPolygon(rng, data.Towns()[3:]))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_ = e.InPolygon(polygons[i%len(polygons)], e.Since(e.Now()), Page{})
	}
}
