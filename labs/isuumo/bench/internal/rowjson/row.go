package rowjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
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
	if !json.Valid(raw) || !utf8.Valid(raw) {
		return errors.New("a row that is no valid JSON in UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("a row that is no object")
	}
	seen := 0 // a bit per field
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		i := indexField(fields, key)
		switch {
		case i < 0:
			return fmt.Errorf("a row with the key %q, which the API does not have there", key)
		case seen&(1<<i) != 0:
			return fmt.Errorf("a row with the key %q twice", key)
		}
		seen |= 1 << i
		value, err := d.Token()
		if err != nil {
			return err
		}
		if err := fields[i].set(value); err != nil {
			return err
		}
	}
	for i, f := range fields {
		if seen&(1<<i) == 0 {
			return fmt.Errorf("a row without the key %q", f.key)
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one object")
	}
	return nil
}

func indexField(fields []field, key json.Token) int {
	for i, f := range fields {
		if key == f.key {
			return i
		}
	}
	return -1
}

// set takes a value, when it is of the field's kind.
func (f field) set(value json.Token) (err error) {
	number, isNumber := value.(json.Number)
	text, isText := value.(string)
	want := "a text"
	switch into := f.into.(type) {
	case *int64:
		want = "a whole number"
		if *into, err = strconv.ParseInt(string(number), 10, 64); err == nil && isNumber {
			return nil
		}
	case *float64:
		want = "a number"
		if *into, err = strconv.ParseFloat(string(number), 64); err == nil && isNumber {
			return nil
		}
	case *string:
		if *into = text; isText {
			return nil
		}
	}
	return fmt.Errorf("%s is %s, want %s", f.key, shown(value), want)
}

// shown returns a value of JSON for a message.
func shown(value json.Token) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case json.Delim:
		return "an array or object"
	case string:
		return strconv.Quote(v[:min(len(v), excerptBytes)])
	default:
		return fmt.Sprint(v)
	}
}
