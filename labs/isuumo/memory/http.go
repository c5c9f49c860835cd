package memory

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	endpoint, segment := request.Route(r.Method, r.URL.Path)
	now := s.world.Load()
	switch {
	case endpoint == request.Initialize:
		s.reply(w, r, []byte(`{"language":"go"}`), s.initialize())
	case endpoint == request.Unknown:
		w.WriteHeader(http.StatusNotFound)
	case endpoint == request.WrongMethod:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case now == nil:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.Method == http.MethodPost && endpoint != request.EstatePolygon:
		created, err := s.write(now, r, endpoint, segment)
		if err == nil && created {
			w.WriteHeader(http.StatusCreated)
			return
		}
		s.reply(w, r, nil, err)
	default:
		sc := scratches.Get().(*scratch)
		body, err := now.read(sc, r, endpoint, segment)
		s.reply(w, r, body, err)
		scratches.Put(sc) // the answer has been written, or copied
	}
}

// read returns the answer to a request that changes nothing. It may be in memory of
// the scratch.
func (w *world) read(sc *scratch, r *http.Request, endpoint request.Endpoint, segment string) ([]byte, error) {
	switch endpoint {
	case request.ChairDetail, request.EstateDetail, request.Recommended:
		id, err := request.ID(segment)
		if err != nil {
			return nil, err
		}
		return w.byID(sc, endpoint, id)
	case request.ChairSearching:
		q, err := request.ParseChairSearch(r.URL.RawQuery, &w.conditions.Chair)
		if err != nil {
			return nil, err
		}
		sc.body = w.searchChairs(sc, &q)
	case request.EstateSearching:
		q, err := request.ParseEstateSearch(r.URL.RawQuery, &w.conditions.Estate)
		if err != nil {
			return nil, err
		}
		sc.body = w.searchEstates(sc, &q)
	case request.EstatePolygon:
		corners, err := request.Polygon(r)
		if err != nil {
			return nil, err
		}
		sc.body = w.inPolygon(sc, corners)
	case request.ChairLowPriced:
		sc.body = w.cheapChairs(sc)
	case request.EstateLowPriced:
		sc.body = w.cheapEstates(sc)
	case request.ChairCondition:
		return w.chairCondition, nil
	case request.EstateCondition:
		return w.estateCondition, nil
	}
	return sc.body, nil
}

// byID returns what belongs to one id.
func (w *world) byID(sc *scratch, endpoint request.Endpoint, id int64) (body []byte, err error) {
	missing := request.NotFound
	switch endpoint {
	case request.ChairDetail:
		body = w.chairDetail(id)
	case request.EstateDetail:
		body = w.estateDetail(id)
	default:
		if body = w.recommended(sc, id); body == nil {
			missing = &request.Error{Status: http.StatusBadRequest, Reason: "no such chair"}
			break
		}
		sc.body = body
	}
	if body == nil {
		return nil, missing
	}
	return body, nil
}

// write does what changes something, or would in another shop. With created, its
// answer is 201.
func (s *Service) write(w *world, r *http.Request, endpoint request.Endpoint, segment string) (created bool,
	err error) {
	switch endpoint {
	case request.ChairBuy:
		id, err := request.Order(r, segment)
		if err != nil {
			return false, err
		}
		return false, s.buy(id)
	case request.EstateRequest:
		id, err := request.Order(r, segment)
		if err == nil && !w.estates.has(id) {
			err = request.NotFound
		}
		return false, err
	case request.ChairUpload:
		rows, err := request.Chairs(r)
		if err != nil {
			return false, err
		}
		return true, s.addChairs(rows)
	default:
		rows, err := request.Estates(r)
		if err != nil {
			return false, err
		}
		return true, s.addEstates(rows)
	}
}

// jsonType is a value that header maps share, which net/http does not change.
var jsonType = []string{"application/json; charset=UTF-8"}

// reply sends a body, or the status of an error without one.
func (s *Service) reply(w http.ResponseWriter, r *http.Request, body []byte, err error) {
	if err != nil {
		var refused *request.Error
		if !errors.As(err, &refused) {
			s.Log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		w.WriteHeader(request.Status(err))
		return
	}
	if body == nil {
		return // net/http sends 200 and no body
	}
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	_, _ = w.Write(body) // when it fails, the client is gone
}
