package data

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// parseLines reads JSON lines and hands each row on; blank lines are skipped.
func parseLines[T any](r io.Reader, t *table[T], add func(line int, row T) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxText)
	line := 0
	for s.Scan() {
		line++
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		row, err := parseRow(t, s.Bytes())
		if err == nil {
			err = add(line, row)
		}
		if err != nil {
			return &lineError{line, err}
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return &lineError{line + 1, fmt.Errorf("want lines below %d bytes", maxText)}
	}
	return s.Err()
}

// unset is a text that no row has; it distinguishes an absent key from an empty text.
const unset = "\x00unset"

// parseRow reads a JSON object that has all keys of the row. Others are ignored.
func parseRow[T any](t *table[T], line []byte) (row T, err error) {
	var none T
	if !utf8.Valid(line) {
		return none, fmt.Errorf("want UTF-8")
	}
	fields := t.fields(&row)
	for _, f := range fields {
		switch v := f.(type) {
		case *int64:
			*v = math.MinInt64
		case *float64:
			*v = math.NaN()
		case *string:
			*v = unset
		}
	}
	if err := json.Unmarshal(line, &row); err != nil {
		return none, fmt.Errorf("want one %s as a JSON object: %w", t.name, err)
	}
	for i, f := range fields {
		absent := false
		switch v := f.(type) {
		case *int64:
			absent = *v == math.MinInt64
		case *float64:
			absent = math.IsNaN(*v)
		case *string:
			absent = *v == unset
		}
		if absent {
			return none, fmt.Errorf("want one %s with the key %q", t.name, t.keys[i])
		}
	}
	return row, nil
}

// loadCondition reads the choices of a search from the first directory that has them.
func loadCondition[T any](dirs []string, name string, parse func([]byte) (T, error), into *T) error {
	var files []string
	for _, dir := range dirs {
		files = append(files, filepath.Join(dir, name))
	}
	path, err := firstOf(files...)
	if err != nil {
		return err
	}
	b, err := readBounded(path)
	if err != nil {
		return fmt.Errorf("load data: %w", err)
	}
	if *into, err = parse(b); err != nil {
		return fmt.Errorf("load data: %s:%d: want the choices of a search: %w", path, lineOf(b, err), err)
	}
	return nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(b) > maxText {
		err = fmt.Errorf("%s: want at most %d bytes", path, maxText)
	}
	return b, err
}

// lineOf returns the line that a JSON error is at; 1 when it does not say.
func lineOf(b []byte, err error) int {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(0)
	if errors.As(err, &syntax) {
		at = syntax.Offset
	} else if errors.As(err, &kind) {
		at = kind.Offset
	}
	return 1 + bytes.Count(b[:min(int(at), len(b))], []byte("\n"))
}

func parseChairCondition(b []byte) (c isuumo.ChairCondition, err error) {
	if err := unmarshalKnown(b, &c); err != nil {
		return isuumo.ChairCondition{}, err
	}
	err = errors.Join(
		checkRanges("width", c.Width), checkRanges("height", c.Height), checkRanges("depth", c.Depth),
		checkRanges("price", c.Price),
		checkList("color", c.Color), checkList("feature", c.Feature), checkList("kind", c.Kind))
	return c, err
}

func parseEstateCondition(b []byte) (c isuumo.EstateCondition, err error) {
	if err := unmarshalKnown(b, &c); err != nil {
		return isuumo.EstateCondition{}, err
	}
	err = errors.Join(
		checkRanges("doorWidth", c.DoorWidth), checkRanges("doorHeight", c.DoorHeight), checkRanges("rent", c.Rent),
		checkList("feature", c.Feature))
	return c, err
}

// unmarshalKnown reads one JSON value that has no other keys than those of into: a range
// with a misspelt bound would begin or end at 0.
func unmarshalKnown(b []byte, into any) error {
	if err := json.Unmarshal(b, into); err != nil {
		return err // it knows the line
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func checkRanges(key string, r isuumo.Ranges) error {
	if len(r.Ranges) == 0 {
		return fmt.Errorf("%q: want ranges", key)
	}
	for i, x := range r.Ranges {
		if x.ID != int64(i) {
			return fmt.Errorf("%q: want range %d to have its index as id, have %d", key, i, x.ID)
		}
		if x.Min != isuumo.Open && x.Max != isuumo.Open && x.Min >= x.Max {
			return fmt.Errorf("%q: want range %d to end above %d, where it begins; have %d", key, i, x.Min, x.Max)
		}
	}
	return nil
}

func checkList(key string, l isuumo.List) error {
	if len(l.List) == 0 {
		return fmt.Errorf("%q: want a list of words", key)
	}
	return nil
}
