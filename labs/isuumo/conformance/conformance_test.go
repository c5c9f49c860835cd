package conformance

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// A reference is the service in plain loops. It can be broken in one way.
type reference struct {
	data   *isuumo.Data
	broken string

	mu      sync.Mutex
	chairs  []*isuumo.Chair
	estates []*isuumo.Estate
}

func (s *reference) reset() {
	if s.broken == "initialize keeps rows" && s.chairs != nil {
		return
	}
	s.chairs, s.estates = nil, nil
	for _, c := range s.data.Chairs {
		s.chairs = append(s.chairs, &c)
	}
	for _, e := range s.data.Estates {
		s.estates = append(s.estates, &e)
	}
}

func (s *reference) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	endpoint, id := request.Route(r.Method, r.URL.Path)
	if s.broken == "ids before segments" && endpoint == request.ChairLowPriced {
		endpoint, id = request.ChairDetail, "low_priced"
	}
	status := http.StatusOK
	answer, err := s.answer(r, endpoint, id)
	if err != nil {
		status, answer = request.Status(err), nil
	}
	created := endpoint == request.ChairUpload || endpoint == request.EstateUpload
	switch {
	case err == nil && created && s.broken != "200 for 201":
		status = http.StatusCreated
	case endpoint == request.Recommended && status == http.StatusBadRequest && s.broken == "404 for 400":
		status = http.StatusNotFound
	case status == http.StatusInternalServerError && strings.Contains(r.URL.RawQuery, "page=-1") && s.broken == "400 for 500":
		status = http.StatusBadRequest
	case endpoint == request.ChairBuy && status == http.StatusBadRequest && strings.HasSuffix(r.URL.Path, "/0") && s.broken == "row before address":
		status = http.StatusNotFound
	}
	w.WriteHeader(status)
	if answer == nil {
		if status != http.StatusOK && s.broken == "bodies of errors" {
			_, _ = w.Write([]byte(`{"message":"no"}`))
		}
		return
	}
	text, _ := json.Marshal(answer)
	switch s.broken {
	case "null for none":
		text = []byte(strings.ReplaceAll(string(text), "[]", "null"))
	case "a key too many":
		text = []byte(strings.ReplaceAll(string(text), `"thumbnail"`, `"popularity":1,"thumbnail"`))
	case "a key too few":
		text = []byte(strings.ReplaceAll(string(text), `"features":"",`, ``))
	case "something after":
		text = append(text, "{}"...)
	case "pretty":
		text, _ = json.MarshalIndent(answer, "", "  ")
	}
	_, _ = w.Write(text)
}

func (s *reference) answer(r *http.Request, e request.Endpoint, segment string) (any, error) {
	switch e {
	case request.Initialize:
		s.reset()
		return map[string]string{"language": "go"}, nil
	case request.ChairCondition:
		return s.data.ChairCondition, nil
	case request.EstateCondition:
		return s.data.EstateCondition, nil
	case request.ChairLowPriced:
		list := model.ChairList{Chairs: model.ChairAnswers(model.LowPricedChairs(s.chairs))}
		if n := int64(len(list.Chairs)); s.broken == "count of low prices" {
			list.Count = &n
		}
		return list, nil
	case request.EstateLowPriced:
		return model.EstateList{Estates: model.EstateAnswers(model.LowPricedEstates(s.estates))}, nil
	case request.ChairSearching:
		return s.searchChairs(r.URL.RawQuery)
	case request.EstateSearching:
		return s.searchEstates(r.URL.RawQuery)
	case request.EstatePolygon:
		return s.inPolygon(r)
	case request.ChairUpload:
		rows, err := request.Chairs(r)
		if err != nil {
			return nil, err
		}
		return nil, add(&s.chairs, rows, func(c *isuumo.Chair) (int64, bool) { return c.ID, len(c.Name) <= 3*64 && c.Price < 1<<31 }, s.broken == "half an upload")
	case request.EstateUpload:
		rows, err := request.Estates(r)
		if err != nil {
			return nil, err
		}
		return nil, add(&s.estates, rows, func(e *isuumo.Estate) (int64, bool) { return e.ID, true }, s.broken == "half an upload")
	case request.Unknown:
		return nil, request.NotFound
	case request.WrongMethod:
		return nil, &request.Error{Status: http.StatusMethodNotAllowed}
	}
	return s.one(r, e, segment)
}

// one answers what has an id.
func (s *reference) one(r *http.Request, e request.Endpoint, segment string) (any, error) {
	id, err := request.ID(segment)
	if e == request.ChairBuy || e == request.EstateRequest {
		id, err = request.Order(r, segment)
	}
	if err != nil {
		return nil, err
	}
	c := slices.IndexFunc(s.chairs, func(c *isuumo.Chair) bool { return c.ID == id })
	inStock := c >= 0 && s.chairs[c].Stock > 0
	x := slices.IndexFunc(s.estates, func(e *isuumo.Estate) bool { return e.ID == id })
	switch {
	case e == request.Recommended && (c < 0 || s.broken == "recommended only in stock" && !inStock):
		return nil, &request.Error{Status: http.StatusBadRequest}
	case e == request.Recommended:
		return model.EstateList{Estates: model.EstateAnswers(model.Recommended(s.estates, s.chairs[c]))}, nil
	case e == request.ChairDetail && (inStock || c >= 0 && s.broken == "sold out in detail"):
		return model.ChairAnswer(s.chairs[c]), nil
	case e == request.ChairBuy && (inStock || c >= 0 && s.broken == "oversold"):
		if s.broken != "stock is not taken" {
			s.chairs[c].Stock--
		}
		return nil, nil
	case e == request.EstateDetail && x >= 0:
		return model.EstateAnswer(s.estates[x]), nil
	case e == request.EstateRequest && x >= 0:
		return nil, nil
	}
	return nil, request.NotFound
}

// add adds all rows or none; with half, those before the first that is refused.
func add[T any](to *[]*T, rows []T, check func(*T) (id int64, fits bool), half bool) error {
	before := *to
	for i := range rows {
		id, fits := check(&rows[i])
		taken := slices.ContainsFunc(*to, func(x *T) bool { other, _ := check(x); return other == id })
		if !fits || taken {
			if !half {
				*to = before
			}
			return &request.Error{Status: http.StatusInternalServerError}
		}
		*to = append(*to, &rows[i])
	}
	return nil
}

func (s *reference) searchChairs(query string) (any, error) {
	q, err := request.ParseChairSearch(query, &s.data.ChairCondition)
	if err != nil {
		return nil, err
	}
	id := func(i int) *int64 {
		if i == request.Any {
			return nil
		}
		return at(i)
	}
	all := &model.ChairQuery{Price: id(q.Price), Height: id(q.Height), Width: id(q.Width), Depth: id(q.Depth), Kind: q.Kind, Color: q.Color, PerPage: 1 << 40}
	_, found := model.SearchChairs(s.chairs, &s.data.ChairCondition, all)
	found = slices.DeleteFunc(found, func(c *isuumo.Chair) bool {
		return slices.ContainsFunc(q.Features, func(f string) bool { return !s.holds(c.Features, f) })
	})
	if s.broken == "no order of ids" {
		slices.SortStableFunc(found, func(a, b *isuumo.Chair) int {
			if a.Popularity == b.Popularity {
				return int(b.ID - a.ID)
			}
			return 0
		})
	}
	n := int64(len(found))
	from, to := q.Of(len(found))
	if found = found[from:to]; s.broken == "count of the page" {
		n = int64(len(found))
	}
	return model.ChairList{Count: &n, Chairs: model.ChairAnswers(found)}, nil
}

func (s *reference) searchEstates(query string) (any, error) {
	q, err := request.ParseEstateSearch(query, &s.data.EstateCondition)
	if err != nil {
		return nil, err
	}
	all := model.EstateQuery{PerPage: 1 << 40}
	if q.Rent != request.Any {
		all.Rent = at(q.Rent)
	}
	if q.DoorHeight != request.Any {
		all.DoorHeight = at(q.DoorHeight)
	}
	if q.DoorWidth != request.Any {
		all.DoorWidth = at(q.DoorWidth)
	}
	if s.broken == "door turned" {
		all.DoorHeight, all.DoorWidth = all.DoorWidth, all.DoorHeight
	}
	_, found := model.SearchEstates(s.estates, &s.data.EstateCondition, &all)
	found = slices.DeleteFunc(found, func(e *isuumo.Estate) bool {
		return slices.ContainsFunc(q.Features, func(f string) bool { return !s.holds(e.Features, f) })
	})
	n := int64(len(found))
	from, to := q.Of(len(found))
	return model.EstateList{Count: &n, Estates: model.EstateAnswers(found[from:to])}, nil
}

func (s *reference) holds(features, f string) bool {
	switch s.broken {
	case "features by name":
		return slices.Contains(strings.Split(features, ","), f)
	case "no patterns":
		return strings.Contains(features, f)
	}
	return request.Holds(features, f)
}

func (s *reference) inPolygon(r *http.Request) (any, error) {
	corners, err := request.Polygon(r)
	if err != nil {
		return nil, err
	}
	if s.broken == "closes polygons" {
		corners = append(corners, corners[0])
	}
	found := model.InPolygon(s.estates, corners)
	if s.broken == "bounding box" {
		found = nil
		for _, e := range s.estates {
			if model.InBox(corners, place(e)) {
				found = append(found, e)
			}
		}
		slices.SortFunc(found, model.ComparePopularEstates)
		found = found[:min(len(found), isuumo.PolygonLimit)]
	}
	n := int64(len(found))
	return model.EstateList{Count: &n, Estates: model.EstateAnswers(found)}, nil
}

// TestCheck: the reference passes, also with spaces in its JSON, and each way to
// break it is reported in the step where it belongs.
func TestCheck(t *testing.T) {
	turn.Wait(t)
	d := data.Generate(data.Options{Size: data.Small})
	d.Chairs, d.Estates = d.Chairs[:300], d.Estates[:300]
	for broken, step := range map[string]string{
		"":                          "",
		"pretty":                    "",
		"initialize keeps rows":     "initialize again",
		"ids before segments":       "low priced",
		"200 for 201":               "upload",
		"404 for 400":               "recommended",
		"400 for 500":               "refused searches",
		"row before address":        "purchase",
		"bodies of errors":          "details",
		"null for none":             "chair search",
		"a key too many":            "details",
		"a key too few":             "low priced",
		"something after":           "conditions",
		"count of low prices":       "low priced",
		"half an upload":            "refused uploads",
		"recommended only in stock": "upload",
		"sold out in detail":        "upload",
		"oversold":                  "purchase",
		"stock is not taken":        "purchase",
		"no order of ids":           "upload",
		"count of the page":         "chair search",
		"door turned":               "estate search",
		"features by name":          "chair search",
		"no patterns":               "chair search",
		"closes polygons":           "polygon that is none",
		"bounding box":              "polygon",
	} {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(&reference{data: d, broken: broken})
			defer srv.Close()
			errs := Check(t.Context(), srv.URL, d)
			if step == "" {
				for _, err := range errs {
					t.Error(err)
				}
				return
			}
			if !slices.ContainsFunc(errs, func(err error) bool { return strings.HasPrefix(err.Error(), step+": ") }) {
				t.Errorf("nothing is reported in step %q: %v", step, errs)
			}
		})
	}
}

// TestCheck_Unreachable: a service that is gone is reported once.
func TestCheck_Unreachable(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	if errs := Check(t.Context(), srv.URL, &isuumo.Data{}); len(errs) == 0 || len(errs) > 2 {
		t.Errorf("%v", errs)
	}
}

func TestDifference(t *testing.T) {
	f := func(got, want, where string) {
		t.Helper()
		g, err := decode([]byte(got))
		if err != nil {
			t.Fatal(err)
		}
		w, err := decode([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		if d := difference("", g, w); d != where {
			t.Errorf("%s for %s: %q, want %q", got, want, d, where)
		}
	}
	f(`{"a":[1,{"b":2}]}`, `{"a":[1,{"b":2}]}`, "")
	f(`{"a":[1,{"b":3}]}`, `{"a":[1,{"b":2}]}`, `.a[1].b is 3, want 2`)
	f(`{"a":null}`, `{"a":[]}`, `.a is null, want []`)
	f(`{"a":[]}`, `{"a":[1]}`, `.a has 0 elements, want 1`)
	f(`{"a":1,"b":2}`, `{"a":1}`, `.b is too many`)
	f(`{}`, `{"a":1}`, `.a is missing`)
	f(`1`, `"1"`, `the answer is 1, want "1"`)
	f(`[]`, `{}`, `the answer is [], want {}`)
}
