package queries

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// buy takes one chair from the stock.
func (s *Service) buy(r *http.Request, segment string) error {
	id, err := request.Order(r, segment)
	if err != nil {
		return err
	}
	// Also after an error: a commit that failed may have been done.
	defer s.chairCounts.forget()
	if s.Defects.Has("LCK-01") {
		return s.inTx(func(tx *sql.Tx) error { return s.lockAndTake(tx, id) })
	}
	const query = "UPDATE chair SET stock = stock - 1 WHERE id = ? AND stock > 0"
	res, err := s.DB.ExecContext(s.ctx, query, id)
	if err != nil {
		return explain(query, err)
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = request.NotFound
	}
	return err
}

// lockAndTake reads the row with a lock and then changes it.
func (s *Service) lockAndTake(tx *sql.Tx, id int64) error {
	query := "SELECT " + s.columns("id") + " FROM chair WHERE id = ? AND stock > 0 FOR UPDATE"
	c, err := one[chair](s.ctx, tx, query, id)
	if err != nil {
		return err
	}
	if c == nil {
		return request.NotFound
	}
	query = "UPDATE chair SET stock = stock - 1 WHERE id = ?"
	if _, err := tx.ExecContext(s.ctx, query, id); err != nil {
		return explain(query, err)
	}
	return nil
}

// requestDocuments looks whether there is such an estate; nothing is stored.
func (s *Service) requestDocuments(r *http.Request, segment string) error {
	id, err := request.Order(r, segment)
	if err != nil {
		return err
	}
	e, err := one[estate](s.ctx, s.DB, "SELECT "+s.columns("id")+" FROM estate WHERE id = ?", id)
	if err == nil && e == nil {
		err = request.NotFound
	}
	return err
}

func (s *Service) addChairs(r *http.Request) error {
	chairs, err := request.Chairs(r)
	if err != nil {
		return err
	}
	rows := make([][]any, len(chairs))
	for i, c := range chairs {
		rows[i] = []any{c.ID, c.Name, c.Description, c.Thumbnail, c.Price, c.Height, c.Width, c.Depth, c.Color,
			c.Features, c.Kind, c.Popularity, c.Stock}
	}
	defer s.chairCounts.forget()
	return s.insert("INSERT INTO chair ("+chairColumns+", popularity, stock) VALUES ", rows)
}

func (s *Service) addEstates(r *http.Request) error {
	estates, err := request.Estates(r)
	if err != nil {
		return err
	}
	rows := make([][]any, len(estates))
	for i, e := range estates {
		rows[i] = []any{e.ID, e.Thumbnail, e.Name, e.Description, e.Latitude, e.Longitude, e.Address, e.Rent,
			e.DoorHeight, e.DoorWidth, e.Features, e.Popularity}
	}
	defer s.estateCounts.forget()
	return s.insert("INSERT INTO estate ("+estateColumns+", popularity) VALUES ", rows)
}

// chunk is how many rows one INSERT has: with 13 columns a fifth of the 65,535
// parameters that a prepared statement may have.
const chunk = 1000

// insert adds all rows or none.
func (s *Service) insert(query string, rows [][]any) error {
	return s.inTx(func(tx *sql.Tx) error {
		if s.Defects.Has("DRV-02") {
			return s.insertEach(tx, query, rows)
		}
		for len(rows) > 0 {
			part := rows[:min(chunk, len(rows))]
			rows = rows[len(part):]
			one := "(?" + strings.Repeat(", ?", len(part[0])-1) + ")"
			var args []any
			for _, r := range part {
				args = append(args, r...)
			}
			if _, err := tx.ExecContext(s.ctx, query+one+strings.Repeat(", "+one, len(part)-1), args...); err != nil {
				return explain(query, err)
			}
		}
		return nil
	})
}

// insertEach prepares a statement for each row.
func (s *Service) insertEach(tx *sql.Tx, query string, rows [][]any) error {
	for i, r := range rows {
		if err := s.insertOne(tx, query, r); err != nil {
			return fmt.Errorf("row %d: %w", i+1, explain(query, err))
		}
	}
	return nil
}

func (s *Service) insertOne(tx *sql.Tx, query string, row []any) error {
	stmt, err := tx.PrepareContext(s.ctx, query+"(?"+strings.Repeat(", ?", len(row)-1)+")")
	if err != nil {
		return err
	}
	defer func() { _ = stmt.Close() }()
	_, err = stmt.ExecContext(s.ctx, row...)
	return err
}

func (s *Service) inTx(do func(*sql.Tx) error) error {
	tx, err := s.DB.BeginTx(s.ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
