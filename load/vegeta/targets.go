package vegeta

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/load"
	"golang.org/x/net/http/httpguts"
)

// The formats of targets.
const (
	HTTPTargets = "http"
	JSONTargets = "json"
)

// maxLine bounds a line of a file of targets or results; the longest lines are
// bodies in base64.
const maxLine = 64 << 20

// TargetOptions say how targets are read.
type TargetOptions struct {
	Name   string      // of the file, for errors; empty means "targets"
	Format string      // HTTPTargets, also when empty, or JSONTargets
	Body   []byte      // of targets that have none of their own
	Header http.Header // of all targets; a target's own values are added to those of the same name
	Dir    string      // where @body files are looked for when the working directory has none; empty: only there

	NoVariables bool        // {{…}} in URLs, headers and bodies stays as it is
	Seed        uint64      // of random values
	Table       *load.Table // of {{csv.COLUMN}}; nil: there is none

	maxLine int // overridable in tests
}

// ReadTargets reads all targets. An error names the file and the line; input
// without a target is [load.ErrNoTargets].
//
// The http format is a request line, headers and a body per target:
//
//	POST http://localhost:8080/users
//	Content-Type: application/json
//	@body.json
//
// A blank line, the body, the end of the file, or another request line right
// after a request line end a target. Lines that begin with # are comments.
func ReadTargets(r io.Reader, o TargetOptions) ([]load.Target, error) {
	if o.Name == "" {
		o.Name = "targets"
	}
	if o.maxLine == 0 {
		o.maxLine = maxLine
	}
	t := &targetReader{TargetOptions: o, sc: bufio.NewScanner(r), bodies: map[string][]byte{}}
	t.sc.Buffer(nil, o.maxLine)
	var parse func([]byte) error
	switch o.Format {
	case HTTPTargets, "":
		parse = t.httpLine
	case JSONTargets:
		parse = t.jsonLine
	default:
		return nil, fmt.Errorf("bad format %q of targets: want %s or %s", o.Format, HTTPTargets, JSONTargets)
	}
	for t.sc.Scan() {
		t.line++
		line := t.sc.Bytes()
		if t.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // the byte order mark of some editors
		}
		if err := parse(bytes.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", o.Name, t.line, err)
		}
	}
	if err := t.sc.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("line longer than %d MiB", o.maxLine>>20)
		}
		return nil, fmt.Errorf("%s:%d: %w", o.Name, t.line+1, err)
	}
	if len(t.targets) == 0 {
		return nil, load.ErrNoTargets
	}
	return t.targets, nil
}

// NewTargetStream returns the targets one after the other as they are read, for
// loads that take each from a stream.
func NewTargetStream(r io.Reader, o TargetOptions) load.Stream { return nil }

// What the line before was, for the http format.
type place int

const (
	betweenTargets place = iota // targets
	afterRequest                // a request line
	afterComment                // a comment after a request line or a header
	afterHeader                 // a header
)

type targetReader struct {
	TargetOptions
	sc      *bufio.Scanner
	line    int
	at      place
	targets []load.Target
	bodies  map[string][]byte // by path
}

func (t *targetReader) httpLine(line []byte) error {
	if len(line) == 0 {
		t.at = betweenTargets
		return nil
	}
	if line[0] == '#' {
		if t.at != betweenTargets {
			t.at = afterComment
		}
		return nil
	}
	switch t.at {
	case betweenTargets:
		return t.requestLine(string(line))
	case afterRequest:
		if startsRequest(line) {
			return t.requestLine(string(line))
		}
	}
	if line[0] == '@' {
		return t.bodyLine(string(line[1:]))
	}
	return t.headerLine(string(line))
}

// startsRequest reports whether the first word is in upper case letters.
func startsRequest(line []byte) bool {
	i := 0
	for i < len(line) && line[i] >= 'A' && line[i] <= 'Z' {
		i++
	}
	return i > 0 && i < len(line) && (line[i] == ' ' || line[i] == '\t')
}

func (t *targetReader) requestLine(line string) error {
	method, target, ok := strings.Cut(line, " ")
	if !ok {
		return fmt.Errorf("bad target %q: want a method and a URL, such as GET http://localhost/", clip(line))
	}
	if !startsRequest([]byte(line)) {
		return fmt.Errorf("bad method %q: want upper case letters, such as GET", clip(method))
	}
	return t.add(method, strings.TrimSpace(target), t.Body, nil)
}

// add checks and appends a target. Its own headers go after those of all.
func (t *targetReader) add(method, target string, body []byte, own http.Header) error {
	u, err := url.ParseRequestURI(target)
	switch {
	case err != nil:
		return fmt.Errorf("bad URL %q: %w", clip(target), errors.Unwrap(err))
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return fmt.Errorf("bad URL %q: want http://host/path or https://host/path", clip(target))
	}
	header := http.Header{}
	for k, vs := range t.Header {
		header[k] = slices.Clone(vs)
	}
	for _, k := range slices.Sorted(maps.Keys(own)) {
		for _, v := range own[k] {
			if err := checkHeader(k, v); err != nil {
				return err
			}
			header[k] = append(header[k], v)
		}
	}
	t.targets = append(t.targets, load.Target{Method: method, URL: target, Header: header, Body: body})
	t.at = afterRequest
	return nil
}

func (t *targetReader) headerLine(line string) error {
	key, value, ok := strings.Cut(line, ":")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if startsRequest([]byte(line)) && !httpguts.ValidHeaderFieldName(key) {
		after := "a header"
		if t.at == afterComment {
			after = "a comment"
		}
		return fmt.Errorf("request line %q after %s: put a blank line before it", clip(line), after)
	}
	if !ok || key == "" || value == "" {
		return fmt.Errorf("bad header %q: want \"Key: Value\"", clip(line))
	}
	if err := checkHeader(key, value); err != nil {
		return err
	}
	h := t.targets[len(t.targets)-1].Header
	h[key] = append(h[key], value)
	t.at = afterHeader
	return nil
}

func checkHeader(key, value string) error {
	if !httpguts.ValidHeaderFieldName(key) {
		return fmt.Errorf("bad header name %q: want letters, digits and -", clip(key))
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return fmt.Errorf("bad value %q of header %s: it holds a control character", clip(value), key)
	}
	return nil
}

// bodyLine reads the body from a file and ends the target.
func (t *targetReader) bodyLine(path string) error {
	body, ok := t.bodies[path]
	if !ok {
		var err error
		body, err = os.ReadFile(path)
		if t.Dir != "" && errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(path) {
			if b, err2 := os.ReadFile(filepath.Join(t.Dir, path)); err2 == nil {
				body, err = b, nil
			}
		}
		if err != nil {
			return fmt.Errorf("bad body: %w", err)
		}
		t.bodies[path] = body
	}
	t.targets[len(t.targets)-1].Body = body
	t.at = betweenTargets
	return nil
}

// jsonTarget is a target in Vegeta's target.schema.json.
type jsonTarget struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Body   []byte      `json:"body,omitempty"`
	Header http.Header `json:"header,omitempty"`
}

func (t *targetReader) jsonLine(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	var j jsonTarget
	if err := json.Unmarshal(line, &j); err != nil {
		return fmt.Errorf("bad JSON: %w", err)
	}
	switch {
	case j.Method == "":
		return errors.New("bad target: method is missing")
	case j.URL == "":
		return errors.New("bad target: url is missing")
	case !httpguts.ValidHeaderFieldName(j.Method): // both are tokens of RFC 9110
		return fmt.Errorf("bad method %q: want one word, such as GET", clip(j.Method))
	}
	body := t.Body
	if j.Body != nil {
		body = j.Body
	}
	return t.add(j.Method, j.URL, body, j.Header)
}

// clip cuts what is quoted in an error.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
