package queries

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// A chair is a row as the interface shows it, and what is not shown of it.
type chair struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Thumbnail   string `json:"thumbnail"`
	Price       int64  `json:"price"`
	Height      int64  `json:"height"`
	Width       int64  `json:"width"`
	Depth       int64  `json:"depth"`
	Color       string `json:"color"`
	Features    string `json:"features"`
	Kind        string `json:"kind"`
	Popularity  int64  `json:"-"`
	Stock       int64  `json:"-"`
}

// An estate is a row as the interface shows it, and what is not shown of it.
type estate struct {
	ID          int64   `json:"id"`
	Thumbnail   string  `json:"thumbnail"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Latitude    float64 `json:"latitude"`
	Longitude   float64 `json:"longitude"`
	Address     string  `json:"address"`
	Rent        int64   `json:"rent"`
	DoorHeight  int64   `json:"doorHeight"`
	DoorWidth   int64   `json:"doorWidth"`
	Features    string  `json:"features"`
	Popularity  int64   `json:"-"`
}

// The columns of an answer.
const (
	chairColumns  = "id, name, description, thumbnail, price, height, width, depth, color, features, kind"
	estateColumns = "id, thumbnail, name, description, latitude, longitude, address, rent, door_height, door_width, features"
)

// columns returns what a query asks for: with QRY-03 everything.
func (s *Service) columns(needed string) string {
	if s.Defects.Has("QRY-03") {
		return "*"
	}
	return needed
}

// field returns where a column of the table is put, nil for a column that is not
// looked at.
func (c *chair) field(column string) any {
	switch column {
	case "id":
		return &c.ID
	case "name":
		return &c.Name
	case "description":
		return &c.Description
	case "thumbnail":
		return &c.Thumbnail
	case "price":
		return &c.Price
	case "height":
		return &c.Height
	case "width":
		return &c.Width
	case "depth":
		return &c.Depth
	case "color":
		return &c.Color
	case "features":
		return &c.Features
	case "kind":
		return &c.Kind
	case "popularity":
		return &c.Popularity
	case "stock":
		return &c.Stock
	}
	return nil
}

func (e *estate) field(column string) any {
	switch column {
	case "id":
		return &e.ID
	case "thumbnail":
		return &e.Thumbnail
	case "name":
		return &e.Name
	case "description":
		return &e.Description
	case "latitude":
		return &e.Latitude
	case "longitude":
		return &e.Longitude
	case "address":
		return &e.Address
	case "rent":
		return &e.Rent
	case "door_height":
		return &e.DoorHeight
	case "door_width":
		return &e.DoorWidth
	case "features":
		return &e.Features
	case "popularity":
		return &e.Popularity
	}
	return nil
}

// A row is a pointer to T that knows its columns.
type row[T any] interface {
	*T
	field(column string) any
}

// A querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// list returns all rows of a query by the names of its columns. It is never nil.
func list[T any, P row[T]](ctx context.Context, db querier, query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, explain(query, err)
	}
	out := []T{}
	into := make([]any, len(columns))
	for rows.Next() {
		var one T
		for i, c := range columns {
			if into[i] = P(&one).field(c); into[i] == nil {
				into[i] = new(sql.RawBytes)
			}
		}
		if err := rows.Scan(into...); err != nil {
			return nil, explain(query, err)
		}
		out = append(out, one)
	}
	if err := rows.Err(); err != nil {
		return nil, explain(query, err)
	}
	return out, nil
}

// one returns the row of a query, nil when there is none.
func one[T any, P row[T]](ctx context.Context, db querier, query string, args ...any) (*T, error) {
	rows, err := list[T, P](ctx, db, query, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// explain adds the begin of a query to its error.
func explain(query string, err error) error {
	return fmt.Errorf("%.60s: %w", strings.TrimSpace(query), err)
}
