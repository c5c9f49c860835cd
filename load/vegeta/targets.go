package vegeta

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
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

// TargetOptions configure how targets are read.
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
//	# weight: 3
//	POST http://localhost:8080/users/{{int 1 100}}
//	Content-Type: application/json
//	@body.json
//
// A blank line, the body, the end of the file, or another request line end a
// target. A line after a header or a comment is a request line when its URL has
// a scheme, as in GET http://localhost/: no header looks like that. (Vegeta takes
// it for a header and fails each request; it needs a blank line there.) Lines that
// begin with # are comments. "# weight: N" before a request line has its target
// asked N times as often as one of the weight 1; Vegeta passes over it.
//
// The json format is an object per line, with method, url, body in base64,
// header, and weight, which Vegeta passes over too.
//
// In the URL, the values of headers and the body, {{…}} is filled in for each
// request; [load.NewFill] says with what.
func ReadTargets(r io.Reader, o TargetOptions) ([]load.Target, error) {
	t := newTargetReader(r, o)
	var out []load.Target
	for {
		target, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		out = append(out, *target)
	}
}

// NewTargetStream returns the targets one after the other as they are read, for
// a load that takes each from a stream. It keeps no more than the one that it
// reads, and up to 16 MiB of bodies that come from files. Weights are errors: each
// target is asked once.
func NewTargetStream(r io.Reader, o TargetOptions) load.Stream {
	t := newTargetReader(r, o)
	t.lazy = true
	return t
}

// A targetReader is a [load.Stream] of the targets in a file.
type targetReader struct {
	TargetOptions
	lazy  bool // it gives each target once and forgets it
	sc    *bufio.Scanner
	parse func(line []byte) error
	line  int
	err   error // of all that comes

	cur        *load.Target // of the http format, still being read
	at         place
	ready      []*load.Target // read, not given yet
	any        bool           // a target was read
	weight     int            // of the next target; 0 when nothing was said
	weightLine int

	bodies map[string][]byte // by path
	cached int               // bytes in bodies
}

func newTargetReader(r io.Reader, o TargetOptions) *targetReader {
	if o.Name == "" {
		o.Name = "targets"
	}
	if o.maxLine == 0 {
		o.maxLine = maxLine
	}
	t := &targetReader{TargetOptions: o, sc: bufio.NewScanner(r), bodies: map[string][]byte{}}
	t.sc.Buffer(nil, o.maxLine)
	t.parse = t.httpLine
	if o.Format == JSONTargets {
		t.parse = t.jsonLine
	}
	if t.err = checkTargetFormat(o.Format); t.err == nil {
		_, t.err = t.fill("", o.Header, o.Body)
	}
	return t
}

func checkTargetFormat(format string) error {
	switch format {
	case HTTPTargets, JSONTargets, "":
		return nil
	}
	return fmt.Errorf("bad format %q of targets: want %s or %s", format, HTTPTargets, JSONTargets)
}

// Next implements [load.Stream].
func (t *targetReader) Next() (*load.Target, error) {
	for len(t.ready) == 0 {
		if t.err == nil {
			t.err = t.readLine()
		}
		if t.err != nil && len(t.ready) == 0 {
			return nil, t.err
		}
	}
	next := t.ready[0]
	t.ready = t.ready[1:]
	return next, nil
}

func (t *targetReader) readLine() error {
	if !t.sc.Scan() {
		return t.end()
	}
	t.line++
	line := t.sc.Bytes()
	if t.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff")) // the byte order mark of some editors
	}
	if err := t.parse(bytes.TrimSpace(line)); err != nil {
		return t.inLine(t.line, err)
	}
	return nil
}

// end takes what the last line left open and returns why there is no more.
func (t *targetReader) end() error {
	if err := t.sc.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("line longer than %d MiB", t.maxLine>>20)
		}
		return t.inLine(t.line+1, err)
	}
	if t.weight > 0 {
		return t.inLine(t.weightLine, errors.New("a weight, and no request line after it"))
	}
	if err := t.complete(); err != nil {
		return t.inLine(t.line, err)
	}
	if !t.any {
		return load.ErrNoTargets
	}
	return io.EOF
}

func (t *targetReader) inLine(line int, err error) error {
	return fmt.Errorf("%s:%d: %w", t.Name, line, err)
}

// begin begins a target, after the one before it. Its own headers go after those
// of all.
func (t *targetReader) begin(method, target string, body []byte, own http.Header) error {
	if err := t.complete(); err != nil {
		return err
	}
	if err := t.checkURL(target); err != nil {
		return err
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
	t.cur = &load.Target{Method: method, URL: target, Header: header, Body: body, Weight: t.weight}
	t.weight = 0
	return nil
}

// complete gives the target that was being read away.
func (t *targetReader) complete() error {
	c := t.cur
	if c == nil {
		return nil
	}
	t.cur, t.at = nil, betweenTargets
	var err error
	if c.Fill, err = t.fill(c.URL, c.Header, c.Body); err != nil {
		return err
	}
	t.ready, t.any = append(t.ready, c), true
	return nil
}

// fill returns what fills the places of a target; nil when it has none.
func (t *targetReader) fill(target string, header http.Header, body []byte) (*load.Fill, error) {
	if t.NoVariables {
		return nil, nil
	}
	return load.NewFill(load.FillOptions{URL: target, Header: header, Body: body, Seed: t.Seed, Table: t.Table})
}

func (t *targetReader) checkURL(target string) error {
	fill, err := t.fill(target, nil, nil)
	if err != nil {
		return err
	}
	sample := target
	if fill != nil {
		sample = string(fill.URL.Append(nil, 0))
	}
	u, err := url.ParseRequestURI(sample)
	switch {
	case err != nil:
		return fmt.Errorf("bad URL %q: %w", clipText(target), errors.Unwrap(err))
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return fmt.Errorf("bad URL %q: want http://host/path or https://host/path", clipText(target))
	}
	return nil
}

// weigh keeps the weight of the next target.
func (t *targetReader) weigh(weight int) error {
	switch {
	case t.lazy:
		return errors.New("a weight in a stream of targets, each of which is asked once: leave out -lazy")
	case weight < 1 || weight > math.MaxInt32:
		return fmt.Errorf("bad weight %d: want 1 or more", weight)
	}
	t.weight, t.weightLine = weight, t.line
	return nil
}

// parseHeader reads "Key: Value". The case of the name is kept.
func parseHeader(s string) (key, value string, err error) {
	key, value, ok := strings.Cut(s, ":")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !ok || key == "" || value == "" {
		return "", "", fmt.Errorf("bad header %q: want \"Key: Value\"", clipText(s))
	}
	return key, value, checkHeader(key, value)
}

func checkHeader(key, value string) error {
	if !httpguts.ValidHeaderFieldName(key) {
		return fmt.Errorf("bad header name %q: want letters, digits and -", clipText(key))
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return fmt.Errorf("bad value %q of header %s: it holds a control character", clipText(value), key)
	}
	return nil
}

// clipText cuts what is quoted in an error.
func clipText(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
