// Package queries is the lab's service as it was shipped: every answer is read from
// the database by SQL, and each of its defects can be mended by itself.
package queries

import (
	"database/sql"
	"log"
	"net/http"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// Options is what the service needs.
type Options struct {
	DB         *sql.DB // opened as the defects DRV-01 and POOL-06 say
	SQLDir     string  // with the files that /initialize runs
	FixtureDir string  // with chair_condition.json and estate_condition.json
	Defects    isuumo.Defects
	Log        *log.Logger
}

// A Service answers the requests of the interface.
type Service struct {
	Options
	conditions *request.Conditions
}

// New reads the conditions.
func New(o Options) (*Service, error) {
	c, err := request.ReadConditions(o.FixtureDir)
	if err != nil {
		return nil, err
	}
	return &Service{Options: o, conditions: c}, nil
}

// Close ends the service. The database stays open: it is the caller's.
func (s *Service) Close() error { return nil }

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusNotImplemented)
}
