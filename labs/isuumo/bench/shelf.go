package bench

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo/bench/internal/rowjson"
	"github.com/kasoku/kasoku/labs/isuumo/bench/internal/truth"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// A shelf turns the rows of answers into ranks, those of one table. It is safe for
// concurrent use.
type shelf[T comparable] struct {
	list   string // the key of lists: "chairs"
	clock  clock
	strict func(raw []byte) (T, error)
	known  *rowjson.Known
	// find returns the rank of a row by its id, and the row as it has to be.
	find func(got T) (rank int32, want T, ok bool)
	id   func(T) int64
	blur func(T) T // leaves out the place; nil: the rows have none
}

// A clock gives the moments of a table.
type clock interface {
	Now() *truth.Moment
	Since(from *truth.Moment) truth.Span
}

// A reading defines how rows are read.
type reading struct {
	lax       bool // other keys, and missing ones, are no reason not to read a row
	placeless bool // where an estate is does not matter
}

func chairShelf(chairs *truth.Chairs) *shelf[model.Chair] {
	return &shelf[model.Chair]{
		list: "chairs", clock: chairs, strict: rowjson.Chair, known: rowjson.NewKnown(),
		find: func(got model.Chair) (int32, model.Chair, bool) {
			rank, ok := chairs.Rank(got.ID)
			if !ok {
				return 0, model.Chair{}, false
			}
			return rank, model.ChairAnswer(chairs.Row(rank)), true
		},
		id: func(c model.Chair) int64 { return c.ID },
	}
}

func estateShelf(estates *truth.Estates) *shelf[model.Estate] {
	return &shelf[model.Estate]{
		list: "estates", clock: estates, strict: rowjson.Estate, known: rowjson.NewKnown(),
		find: func(got model.Estate) (int32, model.Estate, bool) {
			rank, ok := estates.Rank(got.ID)
			if !ok {
				return 0, model.Estate{}, false
			}
			return rank, model.EstateAnswer(estates.Row(rank)), true
		},
		id: func(e model.Estate) int64 { return e.ID },
		blur: func(e model.Estate) model.Estate {
			e.Latitude, e.Longitude = 0, 0
			return e
		},
	}
}

// rank returns the rank of a row. wrong says that a field is not what it has to be,
// err that the row cannot be read, or that there is none of its id.
func (s *shelf[T]) rank(raw []byte, how reading) (rank int32, wrong, err error) {
	if rank, ok := s.known.Find(raw); ok {
		return rank, nil, nil
	}
	got, err := s.strict(raw)
	exact := err == nil
	if err != nil && how.lax {
		err = json.Unmarshal(raw, &got)
	}
	if err != nil {
		return 0, nil, err
	}
	rank, want, ok := s.find(got)
	switch {
	case !ok:
		return 0, nil, fmt.Errorf("a row with the id %d, which nothing has", s.id(got))
	case got == want && exact:
		s.known.Add(raw, rank)
		return rank, nil, nil
	case got == want || how.placeless && s.blur != nil && s.blur(got) == s.blur(want):
		return rank, nil, nil
	}
	return rank, fmt.Errorf("the row with the id %d has %s", s.id(got), difference(got, want)), nil
}

// difference names the first field in which two rows differ.
func difference[T comparable](got, want T) string {
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if g.Field(i).Interface() != w.Field(i).Interface() {
			key, _, _ := strings.Cut(g.Type().Field(i).Tag.Get("json"), ",")
			return fmt.Sprintf("%s %s, expected %s", key, brief(g.Field(i)), brief(w.Field(i)))
		}
	}
	return "a difference" // not reached: rows that differ do so in a field
}

// maxBrief is how many characters of a text messages show.
const maxBrief = 40

func brief(v reflect.Value) string {
	if v.Kind() != reflect.String {
		return fmt.Sprint(v)
	}
	runes := []rune(v.String())
	if len(runes) > maxBrief {
		return fmt.Sprintf("%q…", string(runes[:maxBrief]))
	}
	return fmt.Sprintf("%q", string(runes))
}
