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
	return s.chairsKept.write(-1, func() (soldOut []chair, err error) {
		if s.Defects.Has("LCK-01") {
			err = s.inTx(func(tx *sql.Tx) (err error) { soldOut, err = s.lockAndTake(tx, id); return err })
			return soldOut, err
		}
		return s.take(id)
	})
}

// take takes a chair in one statement, and returns it when it was the last one and counts are kept: of those
// that two take at once the one that makes the stock 0 is the last, which LAST_INSERT_ID hands back.
func (s *Service) take(id int64) (soldOut []chair, err error) {
	query := "UPDATE chair SET stock = stock - 1 WHERE id = ? AND stock > 0"
	if s.chairsKept != nil {
		query = "UPDATE chair SET stock = LAST_INSERT_ID(stock - 1) WHERE id = ? AND stock > 0"
	}
	res, err := s.DB.ExecContext(s.ctx, query, id)
	if err != nil {
		return nil, explain(query, err)
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = request.NotFound
	}
	if err != nil || s.chairsKept == nil {
		return nil, err
	}
	if left, err := res.LastInsertId(); err != nil || left > 0 {
		return nil, err
	}
	c, err := one[chair](s.ctx, s.DB, "SELECT "+s.columns(chairColumns)+" FROM chair WHERE id = ?", id)
	if err != nil || c == nil {
		return nil, err
	}
	return []chair{*c}, nil
}

// lockAndTake reads the row with a lock and then changes it. It returns the chair when it was the last one and
// counts are kept.
func (s *Service) lockAndTake(tx *sql.Tx, id int64) (soldOut []chair, err error) {
	columns := "id"
	if s.chairsKept != nil {
		columns = chairColumns + ", stock"
	}
	query := "SELECT " + s.columns(columns) + " FROM chair WHERE id = ? AND stock > 0 FOR UPDATE"
	c, err := one[chair](s.ctx, tx, query, id)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, request.NotFound
	}
	query = "UPDATE chair SET stock = stock - 1 WHERE id = ?"
	if _, err := tx.ExecContext(s.ctx, query, id); err != nil {
		return nil, explain(query, err)
	}
	if s.chairsKept != nil && c.Stock == 1 {
		return []chair{*c}, nil
	}
	return nil, nil
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
	var inStock []chair
	for i, c := range chairs {
		if c.Stock > 0 {
			inStock = append(inStock, chair{Price: c.Price, Height: c.Height, Width: c.Width, Depth: c.Depth,
				Color: c.Color, Features: c.Features, Kind: c.Kind})
		}
		rows[i] = []any{c.ID, c.Name, c.Description, c.Thumbnail, c.Price, c.Height, c.Width, c.Depth, c.Color,
			c.Features, c.Kind, c.Popularity, c.Stock}
	}
	defer s.chairCounts.forget()
	return s.chairsKept.write(1, func() ([]chair, error) {
		return inStock, s.insert("INSERT INTO chair ("+chairColumns+", popularity, stock) VALUES ", rows)
	})
}

func (s *Service) addEstates(r *http.Request) error {
	estates, err := request.Estates(r)
	if err != nil {
		return err
	}
	rows, added := make([][]any, len(estates)), make([]estate, len(estates))
	for i, e := range estates {
		added[i] = estate{Rent: e.Rent, DoorHeight: e.DoorHeight, DoorWidth: e.DoorWidth, Features: e.Features}
		rows[i] = []any{e.ID, e.Thumbnail, e.Name, e.Description, e.Latitude, e.Longitude, e.Address, e.Rent,
			e.DoorHeight, e.DoorWidth, e.Features, e.Popularity}
	}
	defer s.estateCounts.forget()
	return s.estatesKept.write(1, func() ([]estate, error) {
		return added, s.insert("INSERT INTO estate ("+estateColumns+", popularity) VALUES ", rows)
	})
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
