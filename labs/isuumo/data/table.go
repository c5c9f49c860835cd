package data

import (
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// A table is one of the two kinds of rows: all formats are written and read by it.
type table[T any] struct {
	name    string
	columns []string // as in the database and in uploads
	keys    []string // of JSON, one for each column
	// fields returns a pointer to what each column of the row holds: *int64,
	// *float64 or *string.
	fields func(row *T) []any
	id     func(row *T) int64
}

func chairTable() *table[isuumo.Chair] {
	return &table[isuumo.Chair]{
		name:    "chair",
		columns: []string{"id", "name", "description", "thumbnail", "price", "height", "width", "depth", "color", "features", "kind", "popularity", "stock"},
		keys:    []string{"id", "name", "description", "thumbnail", "price", "height", "width", "depth", "color", "features", "kind", "popularity", "stock"},
		fields: func(c *isuumo.Chair) []any {
			return []any{&c.ID, &c.Name, &c.Description, &c.Thumbnail, &c.Price, &c.Height, &c.Width, &c.Depth, &c.Color, &c.Features, &c.Kind, &c.Popularity, &c.Stock}
		},
		id: func(c *isuumo.Chair) int64 { return c.ID },
	}
}

func estateTable() *table[isuumo.Estate] {
	return &table[isuumo.Estate]{
		name:    "estate",
		columns: []string{"id", "name", "description", "thumbnail", "address", "latitude", "longitude", "rent", "door_height", "door_width", "features", "popularity"},
		keys:    []string{"id", "name", "description", "thumbnail", "address", "latitude", "longitude", "rent", "doorHeight", "doorWidth", "features", "popularity"},
		fields: func(e *isuumo.Estate) []any {
			return []any{&e.ID, &e.Name, &e.Description, &e.Thumbnail, &e.Address, &e.Latitude, &e.Longitude, &e.Rent, &e.DoorHeight, &e.DoorWidth, &e.Features, &e.Popularity}
		},
		id: func(e *isuumo.Estate) int64 { return e.ID },
	}
}

// appendField appends what a field holds; text is written by the format.
func appendField(dst []byte, field any, text func(dst []byte, s string) []byte) []byte {
	switch v := field.(type) {
	case *int64:
		return strconv.AppendInt(dst, *v, 10)
	case *float64:
		return strconv.AppendFloat(dst, *v, 'f', -1, 64)
	case *string:
		return text(dst, *v)
	}
	return dst
}
