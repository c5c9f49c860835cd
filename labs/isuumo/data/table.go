package data

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// A table is one of the two kinds of rows: all formats are written and read by it.
type table[T any] struct {
	name    string
	columns []string // as in the database and in uploads
	keys    []string // of JSON, one for each column
	widths  []int    // of text columns in characters, 0 for numbers
	// fields returns a pointer to what each column of the row holds: *int64,
	// *float64 or *string.
	fields func(row *T) []any
	id     func(row *T) int64
}

func chairTable() *table[isuumo.Chair] {
	return &table[isuumo.Chair]{
		name: "chair",
		columns: []string{"id", "name", "description", "thumbnail", "price", "height", "width", "depth", "color",
			"features", "kind", "popularity", "stock"},
		keys: []string{"id", "name", "description", "thumbnail", "price", "height", "width", "depth", "color",
			"features", "kind", "popularity", "stock"},
		widths: []int{1: 64, 2: 4096, 3: 128, 8: 64, 9: 64, 10: 64, 12: 0},
		fields: func(c *isuumo.Chair) []any {
			return []any{&c.ID, &c.Name, &c.Description, &c.Thumbnail, &c.Price, &c.Height, &c.Width, &c.Depth,
				&c.Color, &c.Features, &c.Kind, &c.Popularity, &c.Stock}
		},
		id: func(c *isuumo.Chair) int64 { return c.ID },
	}
}

func estateTable() *table[isuumo.Estate] {
	return &table[isuumo.Estate]{
		name: "estate",
		columns: []string{"id", "name", "description", "thumbnail", "address", "latitude", "longitude", "rent",
			"door_height", "door_width", "features", "popularity"},
		keys: []string{"id", "name", "description", "thumbnail", "address", "latitude", "longitude", "rent",
			"doorHeight", "doorWidth", "features", "popularity"},
		widths: []int{1: 64, 2: 4096, 3: 128, 4: 128, 10: 64, 11: 0},
		fields: func(e *isuumo.Estate) []any {
			return []any{&e.ID, &e.Name, &e.Description, &e.Thumbnail, &e.Address, &e.Latitude, &e.Longitude, &e.Rent,
				&e.DoorHeight, &e.DoorWidth, &e.Features, &e.Popularity}
		},
		id: func(e *isuumo.Estate) int64 { return e.ID },
	}
}

// check reports what the database would not take.
func (t *table[T]) check(row *T) error {
	for i, field := range t.fields(row) {
		switch v := field.(type) {
		case *int64:
			if *v != int64(int32(*v)) {
				return fmt.Errorf("column %s: want an integer of 32 bits, have %d", t.columns[i], *v)
			}
		case *string:
			if n := utf8.RuneCountInString(*v); n > t.widths[i] {
				return fmt.Errorf("column %s: want at most %d characters, have %d", t.columns[i], t.widths[i], n)
			}
		}
	}
	return nil
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
