package rowjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// A field is a key of an object and where its value goes.
type field struct {
	key  string
	into any // *int64, *float64 or *string
}

// Chair decodes a chair: valid JSON in UTF-8 with exactly the keys of the API, each
// once.
func Chair(raw []byte) (model.Chair, error) {
	var c model.Chair
	err := decode(raw, []field{
		{"id", &c.ID},
		{"name", &c.Name},
		{"description", &c.Description},
		{"thumbnail", &c.Thumbnail},
		{"price", &c.Price},
		{"height", &c.Height},
		{"width", &c.Width},
		{"depth", &c.Depth},
		{"color", &c.Color},
		{"features", &c.Features},
		{"kind", &c.Kind},
	})
	return c, err
}

// Estate decodes an estate as [Chair] does a chair.
func Estate(raw []byte) (model.Estate, error) {
	var e model.Estate
	err := decode(raw, []field{
		{"id", &e.ID},
		{"thumbnail", &e.Thumbnail},
		{"name", &e.Name},
		{"description", &e.Description},
		{"latitude", &e.Latitude},
		{"longitude", &e.Longitude},
		{"address", &e.Address},
		{"rent", &e.Rent},
		{"doorHeight", &e.DoorHeight},
		{"doorWidth", &e.DoorWidth},
		{"features", &e.Features},
	})
	return e, err
}

// Language decodes the answer of POST /initialize, which may have keys beside it.
func Language(body []byte) (string, error) {
	var answer struct {
		Language string `json:"language"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", err
	}
	if answer.Language == "" {
		return "", errors.New(`no "language"`)
	}
	return answer.Language, nil
}

func decode(raw []byte, fields []field) error {
	if !utf8.Valid(raw) {
		return errors.New("a row that is no UTF-8")
	}
	s := scanner{body: raw}
	if err := s.take('{'); err != nil {
		return err
	}
	seen := 0 // a bit per field
	for more := s.peek() != '}'; more; {
		key, err := s.key()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		switch {
		case i < 0:
			return fmt.Errorf("a row with the key %q, which the API does not have there", key)
		case seen&(1<<i) != 0:
			return fmt.Errorf("a row with the key %q twice", key)
		}
		seen |= 1 << i
		if err := s.value(fields[i]); err != nil {
			return err
		}
		if more = s.peek() == ','; more {
			s.at++
		}
	}
	if err := s.take('}'); err != nil {
		return err
	}
	for i, f := range fields {
		if seen&(1<<i) == 0 {
			return fmt.Errorf("a row without the key %q", f.key)
		}
	}
	return s.end()
}

// value reads a value of the field's kind.
func (s *scanner) value(f field) (err error) {
	s.peek()
	start := s.at
	want := ""
	switch into := f.into.(type) {
	case *string:
		if *into, err = s.text(); err == nil {
			return nil
		}
		want = "a text"
	case *int64:
		if number := s.number(); number != nil {
			if *into, err = strconv.ParseInt(string(number), 10, 64); err == nil {
				return nil
			}
		}
		want = "a whole number"
	case *float64:
		if number := s.number(); number != nil {
			if *into, err = strconv.ParseFloat(string(number), 64); err == nil {
				return nil
			}
		}
		want = "a number"
	}
	s.at = start
	return fmt.Errorf("%s is %s, want %s", f.key, s.excerpt(), want)
}

// text reads a text.
func (s *scanner) text() (text string, err error) {
	if s.at == len(s.body) || s.body[s.at] != '"' {
		return "", errKind
	}
	start := s.at
	if err := s.skipText(); err != nil {
		return "", err
	}
	for _, c := range s.body[start+1 : s.at-1] {
		if c < ' ' || c == '\\' { // a character that must be escaped, or an escape
			err := json.Unmarshal(s.body[start:s.at], &text)
			return text, err
		}
	}
	return string(s.body[start+1 : s.at-1]), nil
}

var errKind = errors.New("another kind of value")

// number reads what may be a number, nil when it is none.
func (s *scanner) number() []byte {
	start := s.at
	for s.at < len(s.body) && strings.IndexByte("0123456789+-.eE", s.body[s.at]) >= 0 {
		s.at++
	}
	if text := s.body[start:s.at]; json.Valid(text) {
		return text
	}
	return nil
}
