package vegeta

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxCached bounds the bodies that a stream of targets keeps, in bytes.
const maxCached = 16 << 20

// What the line before was, for the http format.
type place int

const (
	betweenTargets place = iota
	afterRequest         // a request line
	afterComment         // a comment after a request line or a header
	afterHeader          // a header
)

func (t *targetReader) httpLine(line []byte) error {
	switch {
	case len(line) == 0:
		return t.complete()
	case line[0] == '#':
		return t.commentLine(string(line))
	case t.at == betweenTargets, t.at == afterRequest && startsRequest(string(line)), isRequest(string(line)):
		return t.requestLine(string(line))
	case t.weight > 0:
		return errors.New("a weight inside a target: put it before the request line")
	case line[0] == '@':
		return t.bodyLine(string(line[1:]))
	}
	return t.headerLine(string(line))
}

// startsRequest reports whether the first word is in upper case letters.
func startsRequest(line string) bool {
	i := 0
	for i < len(line) && line[i] >= 'A' && line[i] <= 'Z' {
		i++
	}
	return i > 0 && i < len(line) && (line[i] == ' ' || line[i] == '\t')
}

// isRequest reports whether the line is a request line wherever it stands: the
// space before its colon makes it no header.
func isRequest(line string) bool {
	if !startsRequest(line) {
		return false
	}
	_, target, _ := strings.Cut(line, " ")
	scheme, _, ok := strings.Cut(strings.TrimSpace(target), "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

func (t *targetReader) commentLine(line string) error {
	if t.at != betweenTargets {
		t.at = afterComment
	}
	value, ok := strings.CutPrefix(strings.TrimSpace(line[1:]), "weight:")
	if !ok {
		return nil
	}
	weight, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil {
		return fmt.Errorf("bad weight %q: want a whole number", clipText(strings.TrimSpace(value)))
	}
	return t.weigh(weight)
}

func (t *targetReader) requestLine(line string) error {
	method, target, ok := strings.Cut(line, " ")
	if !ok {
		return fmt.Errorf("bad target %q: want a method and a URL, such as GET http://localhost/", clipText(line))
	}
	if !startsRequest(line) {
		return fmt.Errorf("bad method %q: want upper case letters, such as GET", clipText(method))
	}
	if err := t.begin(method, strings.TrimSpace(target), t.Body, nil); err != nil {
		return err
	}
	t.at = afterRequest
	return nil
}

func (t *targetReader) headerLine(line string) error {
	if name, _, _ := strings.Cut(line, ":"); startsRequest(line) &&
		!httpguts.ValidHeaderFieldName(strings.TrimSpace(name)) {
		after := "a header"
		if t.at == afterComment {
			after = "a comment"
		}
		return fmt.Errorf("request line %q after %s: put a blank line before it", clipText(line), after)
	}
	key, value, err := parseHeader(line)
	if err != nil {
		return err
	}
	if _, err := t.fill("", http.Header{key: {value}}, nil); err != nil {
		return err
	}
	t.cur.Header[key] = append(t.cur.Header[key], value)
	t.at = afterHeader
	return nil
}

// bodyLine reads the body from a file and ends the target.
func (t *targetReader) bodyLine(path string) error {
	body, ok := t.bodies[path]
	if !ok {
		var err error
		if body, err = t.readBody(path); err != nil {
			return fmt.Errorf("bad body: %w", err)
		}
		if t.cached += len(body); !t.lazy || t.cached <= maxCached {
			t.bodies[path] = body
		}
	}
	t.cur.Body = body
	return t.complete()
}

func (t *targetReader) readBody(path string) ([]byte, error) {
	body, err := os.ReadFile(path)
	if t.Dir != "" && errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(path) {
		if b, err2 := os.ReadFile(filepath.Join(t.Dir, path)); err2 == nil {
			return b, nil
		}
	}
	return body, err
}
