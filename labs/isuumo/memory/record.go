package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// A record is the database: the sessions that write to it. The zero value has none.
// Who opens, closes or reads must make sure that nothing writes.
type record struct {
	db       *sql.DB
	database string // known once it was open
	sales    *session
	uploads  *session
}

// open opens both sessions anew. When it returns, no earlier session of this
// service or of one before it has anything left to commit.
func (r *record) open(ctx context.Context) (err error) {
	r.close()
	if r.sales, err = openSession(ctx, r.db, saleLock, &r.database); err != nil {
		return err
	}
	if r.uploads, err = openSession(ctx, r.db, uploadLock, &r.database); err != nil {
		r.close()
	}
	return err
}

func (r *record) close() {
	r.sales.close()
	r.uploads.close()
	r.sales, r.uploads = nil, nil
}

// use makes the database that of both sessions again, after another one has dropped
// and created it.
func (r *record) use(ctx context.Context) error {
	if err := r.sales.use(ctx, r.database); err != nil {
		return err
	}
	return r.uploads.use(ctx, r.database)
}

// read reads all rows and returns the world of them, which is of no use after an
// error, with the stock of the chairs by slot.
func (r *record) read(ctx context.Context, fixtureDir string) (*world, []int64, error) {
	conditions, err := request.ReadConditions(fixtureDir)
	if err != nil {
		return nil, nil, err
	}
	s, err := newSchema(conditions)
	if err != nil {
		return nil, nil, err
	}
	var c *chairs
	var e *estates
	var stock []int64
	var chairErr, estateErr error
	var both sync.WaitGroup
	both.Go(func() {
		var rows []isuumo.Chair
		if rows, chairErr = readRows(ctx, r.sales, "chair", chairColumns, chairFields); chairErr == nil {
			c, stock = firstChairs(&s.chair, rows)
		}
	})
	both.Go(func() {
		var rows []isuumo.Estate
		if rows, estateErr = readRows(ctx, r.uploads, "estate", estateColumns, estateFields); estateErr == nil {
			e = firstEstates(&s.estate, rows)
		}
	})
	both.Wait()
	return &world{s, c, e}, stock, errors.Join(chairErr, estateErr)
}

// The columns, which may have others beside them, in the order of the fields.
const (
	chairColumns  = "id, name, description, thumbnail, price, height, width, depth, color, features, kind, popularity, stock"
	estateColumns = "id, name, description, thumbnail, address, latitude, longitude, rent, door_height, door_width, features, popularity"
)

func chairFields(c *isuumo.Chair) []any {
	return []any{
		&c.ID, &c.Name, &c.Description, &c.Thumbnail, &c.Price, &c.Height, &c.Width, &c.Depth,
		&c.Color, &c.Features, &c.Kind, &c.Popularity, &c.Stock,
	}
}

func estateFields(e *isuumo.Estate) []any {
	return []any{
		&e.ID, &e.Name, &e.Description, &e.Thumbnail, &e.Address, &e.Latitude, &e.Longitude,
		&e.Rent, &e.DoorHeight, &e.DoorWidth, &e.Features, &e.Popularity,
	}
}

// readRows reads a table.
func readRows[T any](ctx context.Context, s *session, table, columns string, fields func(*T) []any) ([]T, error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT "+columns+" FROM "+table)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	defer rows.Close()
	var out []T
	var row T
	into := fields(&row)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("read %s: row %d: %w", table, len(out)+1, err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	return out, nil
}
