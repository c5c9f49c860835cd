// Package queries is the lab's service as the contest shipped it: every answer is
// read from the database by SQL. Each of its defects can be mended by itself, and
// what it answers is the same with and without it:
//
//	QRY-03   every query asks for all columns; mended, for those that are used; with
//	         QRY-03S, searches find their page in a narrow table, and look its rows up
//	QRY-04   the polygon search reads the bounding box and asks once more for each
//	         estate in it; mended, one query finds what is inside
//	QRY-08   each search counts its matches; mended, counts are kept until the next
//	         write to the table, or, with QRY-08K, changed with each write
//	DRV-02   an upload prepares, executes and closes an INSERT for each row; mended,
//	         one INSERT has a thousand rows
//	LCK-01   a purchase reads its row FOR UPDATE and then changes it; mended, one
//	         UPDATE has the stock as its condition
//	IDX-05   a range is two comparisons, and a door is compared with a chair turned in
//	         each of six ways; mended, a range is one comparison with a column that
//	         holds its id, and two of the six ways are enough
//	IDX-07   the polygon is tried against a point made of two columns, of each row or,
//	         with QRY-04, of those in the bounding box; mended, a column with a spatial
//	         index holds the point
//	OPS-02   /initialize changes the tables when they are full
//	OPS-09   /initialize leaves kept counts as they are
//
// DRV-01 and POOL-06 are how the database was opened: that is up to package app.
// IDX-04 and IDX-06 are the database's alone. The columns of IDX-05 and IDX-07 come
// from package tuning.
//
// A request that was begun is worked off even when its client is gone, as it was in
// the contest.
package queries

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strconv"
	"sync"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
	"github.com/kasoku/kasoku/labs/isuumo/sqlfile"
)

// Options is what the service needs.
type Options struct {
	DB         *sql.DB // opened as the defects DRV-01 and POOL-06 say
	SQLDir     string  // with the files that /initialize runs
	FixtureDir string  // with chair_condition.json and estate_condition.json
	Defects    isuumo.Defects
	Log        *log.Logger // of what could not be answered
}

// A Service answers the requests of the interface.
type Service struct {
	Options
	conditions *request.Conditions
	where      conditionSQL

	chairCounts, estateCounts *counts // nil with QRY-08, and with QRY-08K
	chairsKept                *keptCounts[chair]
	estatesKept               *keptCounts[estate] // nil without QRY-08K

	ctx     context.Context // of all queries
	cancel  context.CancelFunc
	serving sync.RWMutex // read-locked by each request

	initializing sync.Mutex // held by POST /initialize
}

// New reads the conditions. It does not touch the database.
func New(o Options) (*Service, error) {
	c, err := request.ReadConditions(o.FixtureDir)
	if err != nil {
		return nil, err
	}
	s := &Service{Options: o, conditions: c, where: newConditionSQL(c, !o.Defects.Has("IDX-05"))}
	switch {
	case o.Defects.Has("QRY-08"):
	case o.Defects.Has("QRY-08K"):
		s.chairsKept, s.estatesKept = newKeptCounts[chair](), newKeptCounts[estate]()
	default:
		s.chairCounts, s.estateCounts = newCounts(), newCounts()
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Close breaks off all queries and waits for their requests. The database stays
// open: it is the caller's.
func (s *Service) Close() error {
	s.cancel()
	s.serving.Lock()
	defer s.serving.Unlock()
	return nil
}

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.serving.RLock()
	defer s.serving.RUnlock()
	status, answer, err := s.answer(r)
	if err != nil {
		status, answer = request.Status(err), nil
		var refused *request.Error
		if !errors.As(err, &refused) {
			s.Log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
		}
	}
	if answer == nil {
		w.WriteHeader(status)
		return
	}
	b, err := json.Marshal(answer)
	if err != nil {
		s.Log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b) // when it fails, the client is gone
}

// answer does what is asked; a nil answer is an empty body.
func (s *Service) answer(r *http.Request) (status int, answer any, err error) {
	endpoint, id := request.Route(r.Method, r.URL.Path)
	status = http.StatusOK
	switch endpoint {
	case request.Initialize:
		answer, err = s.initialize()
	case request.ChairDetail:
		answer, err = s.chair(id)
	case request.ChairUpload:
		status, err = http.StatusCreated, s.addChairs(r)
	case request.ChairSearching:
		answer, err = s.searchChairs(r.URL.RawQuery)
	case request.ChairLowPriced:
		answer, err = s.lowPricedChairs()
	case request.ChairCondition:
		answer = s.conditions.Chair
	case request.ChairBuy:
		err = s.buy(r, id)
	case request.EstateDetail:
		answer, err = s.estate(id)
	case request.EstateUpload:
		status, err = http.StatusCreated, s.addEstates(r)
	case request.EstateSearching:
		answer, err = s.searchEstates(r.URL.RawQuery)
	case request.EstateLowPriced:
		answer, err = s.lowPricedEstates()
	case request.EstateCondition:
		answer = s.conditions.Estate
	case request.EstateRequest:
		err = s.requestDocuments(r, id)
	case request.EstatePolygon:
		answer, err = s.inPolygon(r)
	case request.Recommended:
		answer, err = s.recommended(id)
	case request.WrongMethod:
		status = http.StatusMethodNotAllowed
	default:
		status = http.StatusNotFound
	}
	return status, answer, err
}

// initialize is called once at a time: two would drop each other's tables.
func (s *Service) initialize() (any, error) {
	s.initializing.Lock()
	defer s.initializing.Unlock()
	if err := sqlfile.Run(s.ctx, s.DB, s.SQLDir, s.Defects.Has("OPS-02")); err != nil {
		return nil, err
	}
	if !s.Defects.Has("OPS-09") {
		s.chairCounts.forget()
		s.estateCounts.forget()
		if err := recountAll(s); err != nil {
			return nil, err
		}
	}
	return struct {
		Language string `json:"language"`
	}{"go"}, nil
}
