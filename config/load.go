package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"
)

// maxSize bounds the file; one that people write has a few kilobytes.
const maxSize = 1 << 20

// Find looks for a kasoku.toml in the directory and those above it; ok is false when there is
// none.
func Find(dir string) (path string, ok bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		path = filepath.Join(dir, Name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			return path, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// Load reads a file, validates it and makes its paths absolute. A mistake in it is an
// [*Error]. As root it refuses a file that another user could have written.
func Load(path string) (*Config, error) {
	data, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	c, err := Parse(data, path)
	if err != nil {
		return nil, err
	}
	if c.Path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	c.Dir = filepath.Dir(c.Path)
	home, _ := os.UserHomeDir() // without one, ~ stays as it is
	resolve(reflect.ValueOf(c).Elem(), c.Dir, home)
	if c.Project == "" {
		c.Project = filepath.Base(c.Dir)
	}
	return c, nil
}

func read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hang
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := checkTrust(f, path, asker()); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = fmt.Errorf("%s: larger than 1 MiB", path)
	}
	return data, err
}

// Parse reads and validates the text of a file; path only names it in errors, which are of
// type [*Error]. Of several mistakes it returns the first in the file. Paths stay as they are
// written.
func Parse(data []byte, path string) (*Config, error) {
	c, mistakes := parse(data, path, 1)
	if len(mistakes) > 0 {
		return nil, mistakes[0]
	}
	return c, nil
}

// mostMistakes of a file are returned by [Check].
const mostMistakes = 50

// Check reads a file as [Load] does and returns its mistakes in the order of the file, the
// first fifty of them. Values are looked at once all of them are of the right type. The error
// says why the file could not be read.
func Check(path string) ([]*Error, error) {
	data, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	_, mistakes := parse(data, path, mostMistakes)
	return mistakes, nil
}

// parse returns what the text says, or so many of its mistakes.
func parse(data []byte, path string, most int) (*Config, []*Error) {
	if line := tooDeep(string(data)); line > 0 {
		return nil, []*Error{{Path: path, Line: line, Text: fmt.Sprintf("brackets stand more than %d deep", maxDepth), hint: "no key takes lists or tables of lists"}}
	}
	doc := map[string]any{}
	if err := toml.Unmarshal(data, &doc); err != nil {
		return nil, []*Error{syntaxError(err, path)}
	}
	c := Default()
	d := &decoder{}
	d.table(reflect.ValueOf(&c).Elem(), doc, nil)
	if len(d.mistakes) == 0 {
		d.mistakes = c.mistakes()
	}
	if len(d.mistakes) == 0 {
		return &c, nil
	}
	index := indexLines(string(data))
	slices.SortStableFunc(d.mistakes, func(a, b mistake) int { return index.find(a.path) - index.find(b.path) })
	var out []*Error
	for _, m := range d.mistakes[:min(most, len(d.mistakes))] {
		out = append(out, &Error{Path: path, Line: index.find(m.path), Key: m.key(), Text: m.text, hint: m.hintOf()})
	}
	return nil, out
}

// syntaxError places an error of the TOML parser.
func syntaxError(err error, path string) *Error {
	var syntax toml.ParseError
	if !errors.As(err, &syntax) {
		return &Error{Path: path, Text: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	e := &Error{Path: path, Line: syntax.Position.Line, Text: syntax.Message}
	e.hint = "text stands in quotes, lists in [ ], tables begin with [name]; # begins a comment"
	return e
}

// resolve makes every path below the struct absolute.
func resolve(table reflect.Value, dir, home string) {
	for _, f := range fieldsOf(table) {
		switch to := f.value.Addr().Interface().(type) {
		case *string:
			if f.option == "path" {
				*to = absolute(*to, dir, home)
			}
		case *[]string:
			for i := range *to {
				if f.option == "path" {
					(*to)[i] = absolute((*to)[i], dir, home)
				}
			}
		default:
			if f.value.Kind() == reflect.Struct {
				resolve(f.value, dir, home)
			}
		}
	}
}

func absolute(path, dir, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
