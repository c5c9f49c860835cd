package data

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// A Snapshot is a request and the answer to it before anything was bought or
// uploaded.
type Snapshot struct {
	Request  Request  `json:"request"`
	Response Response `json:"response"`
}

// A Request is what to send.
type Request struct {
	Method   string `json:"method"`
	Resource string `json:"resource"` // the path
	Query    string `json:"query"`    // encoded, without the question mark
	Body     string `json:"body"`
}

// A Response is what comes back. Errors have no body.
type Response struct {
	StatusCode int    `json:"statusCode"`
	Body       string `json:"body"`
}

// A SnapshotDir holds the snapshots of one route.
type SnapshotDir struct {
	Name      string // of the contest's directory
	Snapshots []Snapshot
}

// snapshotCount is how many snapshots there are of a route with parameters.
const snapshotCount = 100

// Snapshots returns what the contest verifies a service with: for each route, requests
// with the answers that the model gives. Searches and polygons are drawn from the
// seed. Details and recommendations are asked for by the ids from 0 to 99; there is
// no id 0.
func Snapshots(d *isuumo.Data, seed uint64) []SnapshotDir {
	s := &snapshots{
		rng:     rand.New(rand.NewPCG(seed, 3)),
		d:       d,
		chairs:  model.Pointers(d.Chairs),
		estates: model.Pointers(d.Estates),
		towns:   Towns()[3:],
	}
	s.chairByID = byID(s.chairs, func(c *isuumo.Chair) int64 { return c.ID })
	s.estateByID = byID(s.estates, func(e *isuumo.Estate) int64 { return e.ID })
	return []SnapshotDir{
		{"chair_detail", many(s.chairDetail)},
		{"chair_search", many(s.chairSearch)},
		{"chair_search_condition", one(get("/api/chair/search/condition", d.ChairCondition))},
		{"chair_low_priced", one(get("/api/chair/low_priced",
			model.ChairList{Chairs: model.ChairAnswers(model.LowPricedChairs(s.chairs))}))},
		{"estate_detail", many(s.estateDetail)},
		{"estate_search", many(s.estateSearch)},
		{"estate_search_condition", one(get("/api/estate/search/condition", d.EstateCondition))},
		{"estate_low_priced", one(get("/api/estate/low_priced",
			model.EstateList{Estates: model.EstateAnswers(model.LowPricedEstates(s.estates))}))},
		{"recommended_estate_with_chair", many(s.recommended)},
		{"estate_nazotte", many(s.polygon)},
	}
}

// snapshots makes them. What is random is drawn in the order of the calls.
type snapshots struct {
	rng        *rand.Rand
	d          *isuumo.Data
	chairs     []*isuumo.Chair
	estates    []*isuumo.Estate
	chairByID  map[int64]*isuumo.Chair
	estateByID map[int64]*isuumo.Estate
	towns      []isuumo.Point
}

func (s *snapshots) chairDetail(i int) Snapshot {
	path := fmt.Sprintf("/api/chair/%d", i)
	chair := s.chairByID[int64(i)]
	if chair == nil || chair.Stock <= 0 {
		return refused(path, http.StatusNotFound)
	}
	return get(path, model.ChairAnswer(chair))
}

func (s *snapshots) estateDetail(i int) Snapshot {
	path := fmt.Sprintf("/api/estate/%d", i)
	estate := s.estateByID[int64(i)]
	if estate == nil {
		return refused(path, http.StatusNotFound)
	}
	return get(path, model.EstateAnswer(estate))
}

func (s *snapshots) chairSearch(int) Snapshot {
	q := model.RandomChairQuery(s.rng, &s.d.ChairCondition)
	count, list := model.SearchChairs(s.chairs, &s.d.ChairCondition, q)
	return withQuery(get("/api/chair/search", model.ChairList{Count: counted(count),
		Chairs: model.ChairAnswers(list)}), q.Values())
}

func (s *snapshots) estateSearch(int) Snapshot {
	q := model.RandomEstateQuery(s.rng, &s.d.EstateCondition)
	count, list := model.SearchEstates(s.estates, &s.d.EstateCondition, q)
	return withQuery(get("/api/estate/search", model.EstateList{Count: counted(count),
		Estates: model.EstateAnswers(list)}), q.Values())
}

func (s *snapshots) recommended(i int) Snapshot {
	path := fmt.Sprintf("/api/recommended_estate/%d", i)
	chair := s.chairByID[int64(i)]
	if chair == nil {
		return refused(path, http.StatusBadRequest)
	}
	return get(path, model.EstateList{Estates: model.EstateAnswers(model.Recommended(s.estates, chair))})
}

func (s *snapshots) polygon(int) Snapshot {
	corners := model.RandomPolygon(s.rng, s.towns)
	list := model.InPolygon(s.estates, corners)
	out := get("/api/estate/nazotte", model.EstateList{Count: counted(len(list)), Estates: model.EstateAnswers(list)})
	out.Request.Method = http.MethodPost
	out.Request.Body = text(model.PolygonRequest{Coordinates: corners})
	return out
}

func get(path string, answer any) Snapshot {
	return Snapshot{Request{Method: http.MethodGet, Resource: path},
		Response{StatusCode: http.StatusOK, Body: text(answer)}}
}

func refused(path string, status int) Snapshot {
	return Snapshot{Request{Method: http.MethodGet, Resource: path}, Response{StatusCode: status}}
}

func withQuery(s Snapshot, v url.Values) Snapshot {
	s.Request.Query = v.Encode()
	return s
}

// text returns an answer as JSON. It panics on what JSON cannot hold: a place that
// is no number, which no loaded row has.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func counted(n int) *int64 {
	v := int64(n)
	return &v
}

func one(s Snapshot) []Snapshot { return []Snapshot{s} }

func many(next func(i int) Snapshot) []Snapshot {
	out := make([]Snapshot, snapshotCount)
	for i := range out {
		out[i] = next(i)
	}
	return out
}

func byID[T any](rows []*T, id func(*T) int64) map[int64]*T {
	out := make(map[int64]*T, len(rows))
	for _, row := range rows {
		out[id(row)] = row
	}
	return out
}
