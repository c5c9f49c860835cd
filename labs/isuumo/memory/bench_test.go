package memory

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

var full = sync.OnceValue(func() *isuumo.Data { return data.Generate(data.Options{}) })

// nowhere takes an answer.
type nowhere struct {
	header http.Header
	size   int
}

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) WriteHeader(int)             {}
func (n *nowhere) Write(b []byte) (int, error) { n.size += len(b); return len(b), nil }

func benchRequests(b *testing.B, s *Service, requests []*http.Request, bodies []string) {
	b.Helper()
	b.ReportAllocs()
	w := &nowhere{header: http.Header{}}
	i := 0
	for b.Loop() {
		r := requests[i%len(requests)]
		if bodies != nil {
			r.Body = body{strings.NewReader(bodies[i%len(requests)])}
		}
		s.ServeHTTP(w, r)
		i++
	}
	b.ReportMetric(float64(w.size)/float64(i), "answer-B/op")
}

type body struct{ *strings.Reader }

func (body) Close() error { return nil }

func gets(targets ...string) (out []*http.Request) {
	for _, t := range targets {
		out = append(out, httptest.NewRequest("GET", t, nil))
	}
	return out
}

// loadQueries are searches as the benchmark makes them at its highest level.
func loadQueries(d *isuumo.Data) (chairs, estates []string) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		c := model.ChairQuery{PerPage: 25, Page: rng.Int64N(3)}
		for range 6 {
			switch rng.IntN(9) {
			case 0, 1, 2:
				c.Price = new(rng.Int64N(6))
			case 3, 4:
				c.Height = new(rng.Int64N(4))
			case 5:
				c.Width = new(rng.Int64N(4))
			case 6:
				c.Depth = new(rng.Int64N(4))
			case 7:
				c.Kind = d.ChairCondition.Kind.List[rng.IntN(4)]
			default:
				c.Color = d.ChairCondition.Color.List[rng.IntN(12)]
			}
		}
		chairs = append(chairs, "/api/chair/search?"+c.Values().Encode())
		e := model.EstateQuery{PerPage: 25, Page: rng.Int64N(3), Rent: new(rng.Int64N(4)), DoorHeight: new(rng.Int64N(4))}
		estates = append(estates, "/api/estate/search?"+e.Values().Encode())
	}
	return chairs, estates
}

func BenchmarkAnswer(b *testing.B) {
	d := full()
	s := without(b, d)
	chairs, estates := loadQueries(d)
	b.Run("of=chair-search", func(b *testing.B) { benchRequests(b, s, gets(chairs...), nil) })
	b.Run("of=estate-search", func(b *testing.B) { benchRequests(b, s, gets(estates...), nil) })
	b.Run("of=chair-low-priced", func(b *testing.B) { benchRequests(b, s, gets("/api/chair/low_priced"), nil) })
	var details, recommended []string
	for i := range 1000 {
		id := strconv.Itoa(1 + i*29)
		details = append(details, "/api/chair/"+id)
		recommended = append(recommended, "/api/recommended_estate/"+id)
	}
	b.Run("of=chair-detail", func(b *testing.B) { benchRequests(b, s, gets(details...), nil) })
	b.Run("of=recommended", func(b *testing.B) { benchRequests(b, s, gets(recommended...), nil) })
	b.Run("of=polygon", func(b *testing.B) {
		rng := rand.New(rand.NewPCG(1, 2))
		var towns []isuumo.Point
		for _, e := range d.Estates[:30] {
			towns = append(towns, isuumo.Point{Latitude: e.Latitude, Longitude: e.Longitude})
		}
		var requests []*http.Request
		var bodies []string
		for range 500 {
			bodies = append(bodies, string(must(json.Marshal(model.PolygonRequest{Coordinates: model.RandomPolygon(rng, towns)}))))
			r := httptest.NewRequest("POST", "/api/estate/nazotte", nil)
			r.Header.Set("Content-Type", "application/json")
			requests = append(requests, r)
		}
		benchRequests(b, s, requests, bodies)
	})
}

// BenchmarkTake is a purchase without the database.
func BenchmarkTake(b *testing.B) {
	d := *full()
	d.Chairs = slices.Clone(d.Chairs)
	for i := range d.Chairs {
		d.Chairs[i].Stock = 1 << 40
	}
	s := without(b, &d)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := s.take(int64(i*31%len(d.Chairs) + 1)); err != nil {
			b.Fatal(err)
		}
		if i++; i%64 == 0 {
			salesQuery(s.queue)
			s.queue = s.queue[:0]
		}
	}
}

// BenchmarkGrow is the world that an upload makes.
func BenchmarkGrow(b *testing.B) {
	d := full()
	s := without(b, d)
	w := s.world.Load()
	b.Run("rows=chairs", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newChairs(grow(w.chairs.table, &w.chair, d.DraftChairs[0])).restock(s.stock)
		}
	})
	b.Run("rows=estates", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			growEstates(w.estates, &w.estate, d.DraftEstates[0])
		}
	})
	b.Run("rows=all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			firstChairs(&w.chair, d.Chairs)
			firstEstates(&w.estate, d.Estates)
		}
	})
}
