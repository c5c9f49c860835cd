package bench

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

var smallData = sync.OnceValue(func() *isuumo.Data { return data.Generate(data.Options{Size: data.Small}) })

// tinyData are so few rows that plain loops over them take no time.
var tinyData = sync.OnceValue(func() *isuumo.Data {
	const rows = 1000
	d := *smallData()
	d.Chairs, d.Estates = d.Chairs[:rows], d.Estates[:rows]
	return &d
})

// A reference is the service in plain loops, without a database. spoil changes what it
// answers.
type reference struct {
	d     *isuumo.Data
	robot *regexp.Regexp
	spoil func(*spoiling)

	mu      sync.Mutex
	chairs  []*isuumo.Chair
	estates []*isuumo.Estate
}

// A spoiling is an answer that may still be changed.
type spoiling struct {
	service *reference
	request *http.Request
	what    request.Endpoint
	id      string
	human   bool
	status  int
	body    any // to be written as JSON; nil: none
	raw     []byte
}

func newReference(spoil func(*spoiling)) *reference {
	exact, fold := isuumo.BotPatterns()
	s := &reference{d: tinyData(), spoil: spoil, robot: regexp.MustCompile(strings.Join(exact, "|") + "|(?i:" + strings.Join(fold, "|") + ")")}
	s.reset()
	return s
}

func (s *reference) reset() {
	s.chairs, s.estates = model.Pointers(slices.Clone(s.d.Chairs)), model.Pointers(slices.Clone(s.d.Estates))
}

// serve starts the service and returns its URL.
func (s *reference) serve(t testing.TB) string {
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return srv.URL
}

func (s *reference) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what, id := request.Route(r.Method, r.URL.Path)
	out := &spoiling{service: s, request: r, what: what, id: id, human: !s.robot.MatchString(r.UserAgent())}
	sent, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(sent))
	s.mu.Lock()
	body, err := s.answer(what, id, r)
	r.Body = io.NopCloser(bytes.NewReader(sent))
	out.status, out.body = http.StatusOK, body
	switch {
	case err != nil:
		out.status, out.body = request.Status(err), nil
	case what == request.ChairUpload || what == request.EstateUpload:
		out.status = http.StatusCreated
	}
	if s.spoil != nil {
		s.spoil(out)
	}
	if out.body != nil && out.raw == nil {
		out.raw, _ = json.Marshal(out.body)
	}
	s.mu.Unlock()
	w.WriteHeader(out.status)
	_, _ = w.Write(out.raw)
}

// answer is what the service has to say. The caller holds mu.
func (s *reference) answer(what request.Endpoint, id string, r *http.Request) (any, error) {
	switch what {
	case request.Initialize:
		s.reset()
		return map[string]string{"language": "go"}, nil
	case request.ChairDetail:
		c, err := s.chair(id)
		if err != nil || c.Stock <= 0 {
			return nil, orMissing(err)
		}
		return model.ChairAnswer(c), nil
	case request.ChairUpload:
		rows, err := request.Chairs(r)
		s.chairs = append(s.chairs, model.Pointers(rows)...)
		return nil, err
	case request.ChairSearching:
		q, err := request.ParseChairSearch(r.URL.RawQuery, &s.d.ChairCondition)
		if err != nil {
			return nil, err
		}
		count, rows := model.SearchChairs(s.chairs, &s.d.ChairCondition, &model.ChairQuery{
			Price: rangeID(q.Price), Height: rangeID(q.Height), Width: rangeID(q.Width), Depth: rangeID(q.Depth),
			Kind: q.Kind, Color: q.Color, Features: q.Features, Page: q.Offset / q.Limit, PerPage: q.Limit,
		})
		return chairList(count, rows), nil
	case request.ChairLowPriced:
		return &model.ChairList{Chairs: model.ChairAnswers(model.LowPricedChairs(s.chairs))}, nil
	case request.ChairCondition:
		return s.d.ChairCondition, nil
	case request.ChairBuy:
		n, err := request.Order(r, id)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(s.chairs, func(c *isuumo.Chair) bool { return c.ID == n && c.Stock > 0 })
		if i < 0 {
			return nil, request.NotFound
		}
		s.chairs[i].Stock--
		return nil, nil
	}
	return s.answerEstate(what, id, r)
}

func (s *reference) answerEstate(what request.Endpoint, id string, r *http.Request) (any, error) {
	switch what {
	case request.EstateDetail:
		n, err := request.ID(id)
		if err != nil {
			return nil, err
		}
		i := s.estate(n)
		if i < 0 {
			return nil, request.NotFound
		}
		return model.EstateAnswer(s.estates[i]), nil
	case request.EstateUpload:
		rows, err := request.Estates(r)
		s.estates = append(s.estates, model.Pointers(rows)...)
		return nil, err
	case request.EstateSearching:
		q, err := request.ParseEstateSearch(r.URL.RawQuery, &s.d.EstateCondition)
		if err != nil {
			return nil, err
		}
		count, rows := model.SearchEstates(s.estates, &s.d.EstateCondition, &model.EstateQuery{
			Rent: rangeID(q.Rent), DoorHeight: rangeID(q.DoorHeight), DoorWidth: rangeID(q.DoorWidth),
			Features: q.Features, Page: q.Offset / q.Limit, PerPage: q.Limit,
		})
		return estateList(count, rows), nil
	case request.EstateLowPriced:
		return &model.EstateList{Estates: model.EstateAnswers(model.LowPricedEstates(s.estates))}, nil
	case request.EstateCondition:
		return s.d.EstateCondition, nil
	case request.EstateRequest:
		n, err := request.Order(r, id)
		if err == nil && s.estate(n) < 0 {
			err = request.NotFound
		}
		return nil, err
	case request.EstatePolygon:
		corners, err := request.Polygon(r)
		if err != nil {
			return nil, err
		}
		rows := model.InPolygon(s.estates, corners)
		return estateList(len(rows), rows), nil
	case request.Recommended:
		c, err := s.chair(id)
		if err != nil {
			return nil, &request.Error{Status: http.StatusBadRequest, Reason: "no such chair"}
		}
		return &model.EstateList{Estates: model.EstateAnswers(model.Recommended(s.estates, c))}, nil
	}
	return nil, request.NotFound
}

func (s *reference) chair(id string) (*isuumo.Chair, error) {
	n, err := request.ID(id)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.chairs, func(c *isuumo.Chair) bool { return c.ID == n })
	if i < 0 {
		return nil, request.NotFound
	}
	return s.chairs[i], nil
}

func (s *reference) estate(id int64) int {
	return slices.IndexFunc(s.estates, func(e *isuumo.Estate) bool { return e.ID == id })
}

func orMissing(err error) error {
	if err != nil {
		return err
	}
	return request.NotFound
}

func rangeID(i int) *int64 {
	if i == request.Any {
		return nil
	}
	id := int64(i)
	return &id
}

func chairList(count int, rows []*isuumo.Chair) *model.ChairList {
	n := int64(count)
	return &model.ChairList{Count: &n, Chairs: model.ChairAnswers(rows)}
}

func estateList(count int, rows []*isuumo.Estate) *model.EstateList {
	n := int64(count)
	return &model.EstateList{Count: &n, Estates: model.EstateAnswers(rows)}
}

func jsonOf(body any) ([]byte, error) { return json.Marshal(body) }

// searchAll returns the first page of all chairs in stock.
func searchAll(s *spoiling) []model.Chair {
	_, rows := model.SearchChairs(s.service.chairs, &s.service.d.ChairCondition, &model.ChairQuery{PerPage: 25})
	return model.ChairAnswers(rows)
}

// again answers a request once more, after something has changed.
func again(s *spoiling) any {
	body, err := s.service.answer(s.what, s.id, s.request)
	if err != nil {
		return nil
	}
	return body
}

// boundingBox answers a polygon search with all that is in its bounding box.
func boundingBox(s *spoiling) any {
	corners, err := request.Polygon(s.request)
	if err != nil {
		return s.body
	}
	var in []*isuumo.Estate
	for _, e := range s.service.estates {
		if model.InBox(corners, isuumo.Point{Latitude: e.Latitude, Longitude: e.Longitude}) {
			in = append(in, e)
		}
	}
	slices.SortFunc(in, model.ComparePopularEstates)
	in = in[:min(len(in), isuumo.PolygonLimit)]
	return estateList(len(in), in)
}

// soldOut makes searches show chairs that are sold out.
func soldOut() func(*spoiling) {
	return on(request.ChairSearching, func(s *spoiling) {
		all := []*isuumo.Chair{}
		for _, c := range s.service.chairs {
			shown := *c
			shown.Stock = 1
			all = append(all, &shown)
		}
		now := s.service.chairs
		s.service.chairs = all
		s.body = again(s)
		s.service.chairs = now
	})
}
