package isucond

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
)

// A reported condition, as chairs post it.
type reported struct {
	Sitting   bool   `json:"is_sitting"`
	Condition string `json:"condition"`
	Message   string `json:"message"`
	Timestamp int64  `json:"timestamp"` // Unix seconds
}

const (
	shedReports = 0.6 // of all, with APP-04

	insert = "INSERT INTO isu_condition (jia_isu_uuid, timestamp, is_sitting, state, message) VALUES "
	marks  = "(?, ?, ?, ?, ?)"
)

func (c *reported) args(id string) []any {
	return []any{id, time.Unix(c.Timestamp, 0).UTC(), c.Sitting, c.Condition, c.Message}
}

// shedOf is the share of reports that a service confirms and drops.
func shedOf(c kit.Config) float64 {
	if c.Shed == 0 && c.Defects.Has("APP-04") {
		return shedReports
	}
	return c.Shed
}

// report takes what a chair reports, or drops it unread.
func (s *server) report(w http.ResponseWriter, r *http.Request) {
	if s.shed > 0 && rand.Float64() < s.shed {
		fmt.Fprintln(s.log, "warning: drop report")
		s.reports.Add(1)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	var all []reported
	if err := json.NewDecoder(r.Body).Decode(&all); err != nil || len(all) == 0 {
		http.Error(w, "bad request body", http.StatusBadRequest)
		return
	}
	ctx, id := r.Context(), r.PathValue("id")
	err := s.exists(ctx, id)
	if err == nil {
		err = s.keep(ctx, id, all)
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	s.reports.Add(1)
	w.WriteHeader(http.StatusAccepted)
}

// exists fails with sql.ErrNoRows for an id that is no chair's.
func (s *server) exists(ctx context.Context, id string) error {
	return s.isThere(ctx, "isu", "jia_isu_uuid", id)
}

// isThere fails with sql.ErrNoRows when the table has no row with this value.
func (s *server) isThere(ctx context.Context, table, column, value string) error {
	var n int
	if !s.d.Has("QRY-02") {
		return s.db.QueryRowContext(ctx, "SELECT 1 FROM "+table+" WHERE "+column+" = ? LIMIT 1", value).Scan(&n)
	}
	if err := s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table+" WHERE "+column+" = ?",
		value).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		return sql.ErrNoRows
	}
	return nil
}

// keep inserts the conditions, all or none of them.
func (s *server) keep(ctx context.Context, id string, all []reported) error {
	if !s.d.Has("DRV-03") {
		var args []any
		for i := range all {
			args = append(args, all[i].args(id)...)
		}
		_, err := s.db.ExecContext(ctx, insert+strings.Repeat(marks+", ", len(all)-1)+marks, args...)
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i := range all {
		if _, err := tx.ExecContext(ctx, insert+marks, all[i].args(id)...); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}
