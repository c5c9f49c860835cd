package memory

import (
	"encoding/json"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// without returns a service of the rows that has no database: it only reads.
func without(t testing.TB, d *isuumo.Data) *Service {
	t.Helper()
	schema, err := newSchema(&request.Conditions{Chair: d.ChairCondition, Estate: d.EstateCondition})
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{Options: Options{Log: log.New(io.Discard, "", 0)}, sell: make(chan struct{}, 1), repair: make(chan struct{}, 1)}
	c, stock := firstChairs(&schema.chair, d.Chairs)
	s.publish(&world{schema, c, firstEstates(&schema.estate, d.Estates)}, stock)
	return s
}

// ask returns the body of an answer that has to be 200.
func ask(t testing.TB, h http.Handler, method, target, body string) []byte {
	t.Helper()
	code, b := answerOf(h, method, target, body)
	if code != http.StatusOK {
		t.Fatalf("%s %s: %d", method, target, code)
	}
	return b
}

func answerOf(h http.Handler, method, target, body string) (int, []byte) {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}

// fataler is *testing.T or *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// same compares a body with what the model says, field by field.
func same[T any](t fataler, what string, body []byte, want T) {
	t.Helper()
	var got T
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%s: %v in %.200s", what, err, body)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\ngot  %.600s\nwant %.600s", what, body, must(json.Marshal(want)))
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func count(n int) *int64 {
	v := int64(n)
	return &v
}

// rows is what the model answers from, beside the service.
type rows struct {
	chairs  []*isuumo.Chair
	estates []*isuumo.Estate
}

func chairList(n *int64, c []*isuumo.Chair) model.ChairList {
	return model.ChairList{Count: n, Chairs: model.ChairAnswers(c)}
}

func estateList(n *int64, e []*isuumo.Estate) model.EstateList {
	return model.EstateList{Count: n, Estates: model.EstateAnswers(e)}
}

// checkLists compares the lists without parameters.
func (r *rows) checkLists(t testing.TB, h http.Handler) {
	t.Helper()
	same(t, "cheap chairs", ask(t, h, "GET", "/api/chair/low_priced", ""), chairList(nil, model.LowPricedChairs(r.chairs)))
	same(t, "cheap estates", ask(t, h, "GET", "/api/estate/low_priced", ""), estateList(nil, model.LowPricedEstates(r.estates)))
}

// checkRows compares every row, and each chair's recommendation.
func (r *rows) checkRows(t testing.TB, h http.Handler, recommended bool) {
	t.Helper()
	for _, c := range r.chairs {
		id := strconv.FormatInt(c.ID, 10)
		if code, body := answerOf(h, "GET", "/api/chair/"+id, ""); c.Stock > 0 {
			same(t, "chair "+id, body, model.ChairAnswer(c))
		} else if code != http.StatusNotFound {
			t.Fatalf("chair %s, sold out: %d", id, code)
		}
		if recommended {
			same(t, "recommended for "+id, ask(t, h, "GET", "/api/recommended_estate/"+id, ""), estateList(nil, model.Recommended(r.estates, c)))
		}
	}
	for _, e := range r.estates {
		id := strconv.FormatInt(e.ID, 10)
		same(t, "estate "+id, ask(t, h, "GET", "/api/estate/"+id, ""), model.EstateAnswer(e))
	}
}

// TestAnswers_equivalence: over purchases and uploads in any order, every answer is
// the model's.
func TestAnswers_equivalence(t *testing.T) {
	turn.Wait(t)
	d := data.Generate(data.Options{Size: data.Small})
	towns := make([]isuumo.Point, 0, 20)
	for _, e := range d.Estates[:20] {
		towns = append(towns, isuumo.Point{Latitude: e.Latitude, Longitude: e.Longitude})
	}
	drafts := len(d.DraftChairs)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 150).Draw(rt, "rows") // few, since the model sorts all of them for each answer
		first := *d
		first.Chairs, first.Estates = slices.Clone(d.Chairs[:n]), slices.Clone(d.Estates[:n])
		s := without(t, &first)
		all := &rows{model.Pointers(first.Chairs), model.Pointers(first.Estates)}
		next := 0
		rt.Repeat(map[string]func(*rapid.T){
			"buy": func(rt *rapid.T) {
				if len(all.chairs) == 0 {
					rt.Skip()
				}
				c := rapid.SampledFrom(all.chairs).Draw(rt, "chair")
				for range rapid.Int64Range(1, max(c.Stock, 1)).Draw(rt, "times") {
					_, err := s.take(c.ID)
					if (err == nil) != (c.Stock > 0) {
						rt.Fatalf("buy of %d in stock: %v", c.Stock, err)
					}
					c.Stock = max(c.Stock-1, 0)
				}
			},
			"upload": func(rt *rapid.T) {
				if next == drafts {
					rt.Skip()
				}
				publish(s, d.DraftChairs[next], d.DraftEstates[next])
				chairs := slices.Clone(d.DraftChairs[next])
				all.chairs = append(all.chairs, model.Pointers(chairs)...)
				all.estates = append(all.estates, model.Pointers(d.DraftEstates[next])...)
				next++
			},
			"lists":  func(*rapid.T) { all.checkLists(t, s) },
			"search": func(rt *rapid.T) { all.checkSearches(t, rt, s, d) },
			"polygon": func(rt *rapid.T) {
				polygon := model.RandomPolygon(seeded(rt), towns)
				same(rt, "polygon", ask(t, s, "POST", "/api/estate/nazotte", string(must(json.Marshal(model.PolygonRequest{Coordinates: polygon})))),
					estateListOf(model.InPolygon(all.estates, polygon)))
			},
		})
		all.checkLists(t, s)
		all.checkRows(t, s, true)
	})
}

func estateListOf(e []*isuumo.Estate) model.EstateList { return estateList(count(len(e)), e) }

// publish makes the world with further rows the service's, as uploads do.
func publish(s *Service, chairs []isuumo.Chair, estates []isuumo.Estate) {
	w := s.world.Load()
	c := newChairs(grow(w.chairs.table, &w.chair, chairs))
	stock := slices.Clone(s.stock)
	for _, row := range chairs {
		stock = append(stock, row.Stock)
	}
	c.restock(stock)
	s.publish(&world{w.schema, c, growEstates(w.estates, &w.estate, estates)}, stock)
}

func (r *rows) checkSearches(t testing.TB, rt *rapid.T, h http.Handler, d *isuumo.Data) {
	t.Helper()
	cq := chairQuery(rt, &d.ChairCondition)
	n, list := model.SearchChairs(r.chairs, &d.ChairCondition, cq)
	same(rt, cq.Values().Encode(), ask(t, h, "GET", "/api/chair/search?"+cq.Values().Encode(), ""), chairList(count(n), list))
	eq := estateQuery(rt, &d.EstateCondition)
	m, found := model.SearchEstates(r.estates, &d.EstateCondition, eq)
	same(rt, eq.Values().Encode(), ask(t, h, "GET", "/api/estate/search?"+eq.Values().Encode(), ""), estateList(count(m), found))
}

func chairQuery(t *rapid.T, c *isuumo.ChairCondition) *model.ChairQuery {
	q := &model.ChairQuery{
		Price: rangeOf(t, c.Price), Height: rangeOf(t, c.Height), Width: rangeOf(t, c.Width), Depth: rangeOf(t, c.Depth),
		Kind: textOf(t, c.Kind), Color: textOf(t, c.Color), Features: featuresOf(t, c.Feature),
		Page: rapid.Int64Range(0, 3).Draw(t, "page"), PerPage: rapid.Int64Range(0, 60).Draw(t, "perPage"),
	}
	if q.Price == nil && q.Height == nil && q.Width == nil && q.Depth == nil && q.Kind == "" && q.Color == "" && len(q.Features) == 0 {
		q.Kind = c.Kind.List[0] // a search has to have a condition
	}
	return q
}

func estateQuery(t *rapid.T, c *isuumo.EstateCondition) *model.EstateQuery {
	q := &model.EstateQuery{
		DoorHeight: rangeOf(t, c.DoorHeight), DoorWidth: rangeOf(t, c.DoorWidth), Rent: rangeOf(t, c.Rent), Features: featuresOf(t, c.Feature),
		Page: rapid.Int64Range(0, 3).Draw(t, "page"), PerPage: rapid.Int64Range(0, 60).Draw(t, "perPage"),
	}
	if q.DoorHeight == nil && q.DoorWidth == nil && q.Rent == nil && len(q.Features) == 0 {
		q.Features = c.Feature.List[:1]
	}
	return q
}

func rangeOf(t *rapid.T, r isuumo.Ranges) *int64 {
	id := rapid.Int64Range(-6, int64(len(r.Ranges))-1).Draw(t, "range")
	if id < 0 {
		return nil
	}
	return &id
}

// textOf returns a choice, a text that is none, or no text.
func textOf(t *rapid.T, l isuumo.List) string {
	return rapid.SampledFrom(append([]string{"", "", "", "", "透明"}, l.List...)).Draw(t, "text")
}

// featuresOf returns choices, parts of choices, and texts that are none.
func featuresOf(t *rapid.T, l isuumo.List) []string {
	texts := append([]string{"付き", "調節可能", "可", "ー", "無い"}, l.List...)
	return rapid.SliceOfN(rapid.SampledFrom(texts), 0, 2).Draw(t, "features")
}

// TestFeature_wildcards: a feature that is no choice of the condition is looked for
// as LIKE does, in every row.
func TestFeature_wildcards(t *testing.T) {
	d := data.Generate(data.Options{Size: data.Small})
	d.Chairs = d.Chairs[:500]
	d.Chairs[7].Features = `100%綿,a_b,c\d`
	s := without(t, d)
	for feature, want := range map[string]int{
		`%`:      500,
		`_`:      500 - countIf(d.Chairs, func(c isuumo.Chair) bool { return c.Features == "" }),
		`0\%`:    1,
		`a\_b`:   1,
		`c\\d`:   1,
		`%綿%\_%`: 1,
		`綿%100`:  0,
	} {
		var got model.ChairList
		body := ask(t, s, "GET", "/api/chair/search?page=0&perPage=10&features="+url.QueryEscape(feature), "")
		if err := json.Unmarshal(body, &got); err != nil || *got.Count != int64(want) {
			t.Errorf("%q: %d chairs, want %d (%v)", feature, *got.Count, want, err)
		}
	}
}

func countIf[T any](rows []T, holds func(T) bool) (n int) {
	for _, r := range rows {
		if holds(r) {
			n++
		}
	}
	return n
}

// seeded returns numbers that rapid can repeat.
func seeded(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
}
