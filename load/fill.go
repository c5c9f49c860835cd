package load

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Fill writes the parts of a request that differ from request to request. What
// it writes depends on the request's number and the seed alone, so that every
// engine, with any number of threads, sends the same requests. It is immutable
// and safe for concurrent use.
type Fill struct {
	URL    Text       // the whole URL, without a fragment; scheme and host have no places. Empty: Target.URL as it is
	Header []FillLine // the headers with places, sorted by name; they take the place of those of the same name in Target.Header
	Body   Text       // empty: Target.Body as it is
}

// A FillLine is one header with places in its value.
type FillLine struct {
	Name  string
	Value Text
}

// FillOptions configure what has places to fill in.
type FillOptions struct {
	URL    string
	Header http.Header
	Body   []byte
	Seed   uint64 // of the random values
	Table  *Table // of {{csv.COLUMN}}; nil: there is none
}

// NewFill finds the places in the path and the query of a URL, in the values of
// headers and in a body; nil when there is none. A place is one of
//
//	{{seq}}            the number of the request, from 0
//	{{int 1 100}}      a whole number, both ends included
//	{{float 0.00 1}}   a number with as many decimals as are written, 6 when there are none
//	{{uuid}}           a random UUID (RFC 9562, version 4)
//	{{hex 16}}         16 hexadecimal digits, in lower case
//	{{alnum 12}}       12 letters and digits
//	{{pick a|b|c}}     one of these; {{pick {{}} is how to write two braces
//	{{csv.COLUMN}}     of the table's row n, and from the first row again after the last
//
// Each place has values of its own, but those of a table: they come from one row
// in all places of a request. Text that goes into a path or a query is
// percent-encoded as [url.PathEscape] and [url.QueryEscape] do it, save that a
// slash in a path stays, so that a column may hold paths, and that a space is
// always %20. Nothing is escaped in a body: only pick and csv can hold what would
// have to be.
//
// A body that is no text (UTF-8 without NUL) has no places. What is wrong in one
// is a [*VariableError].
func NewFill(o FillOptions) (*Fill, error) {
	f := &Fill{}
	p := &placeParser{seed: o.Seed, table: o.Table}
	var err error
	if hasPlaces(o.URL) {
		if f.URL, err = p.url(o.URL); err != nil {
			return nil, wrapIn("URL", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Header)) {
		if !slices.ContainsFunc(o.Header[name], hasPlaces) {
			continue
		}
		for _, v := range o.Header[name] {
			t, err := p.text(v, inHeader)
			if err != nil {
				return nil, wrapIn("header "+name, err)
			}
			f.Header = append(f.Header, FillLine{name, t})
		}
	}
	if bytes.Contains(o.Body, []byte("{{")) && isText(o.Body) {
		if f.Body, err = p.text(string(o.Body), inBody); err != nil {
			return nil, wrapIn("body", err)
		}
	}
	if f.URL.IsZero() && f.Body.IsZero() && len(f.Header) == 0 {
		return nil, nil
	}
	return f, nil
}

func hasPlaces(s string) bool { return strings.Contains(s, "{{") }

func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// wrapIn describes where a variable is wrong.
func wrapIn(what string, err error) error {
	if v := (*VariableError)(nil); errors.As(err, &v) {
		v.In = what
	}
	return err
}

// A VariableError reports what is wrong with a {{…}} of a target.
type VariableError struct {
	In     string // "URL", "header X-Id", "body"
	Line   int    // of the body, from 1; 0 elsewhere
	Text   string // as it was written, clipped
	Reason string
}

// Error names the place and what was expected.
func (e *VariableError) Error() string {
	where := e.In
	if e.Line > 0 {
		where = fmt.Sprintf("%s line %d", where, e.Line)
	}
	return fmt.Sprintf("%s: bad variable %q: %s", where, e.Text, e.Reason)
}

// Hint returns how to send the text as it is.
func (e *VariableError) Hint() string { return "--no-variables sends {{…}} as it is" }

// A Text is text with places to fill in. The zero value is empty.
type Text struct {
	parts []part
}

type part struct {
	literal string
	fill    fillFunc // nil: literal
}

// A fillFunc appends the value of request n.
type fillFunc func(dst []byte, n uint64) []byte

// IsZero reports whether there is no text.
func (t *Text) IsZero() bool { return len(t.parts) == 0 }

// Append appends the text of request n. It does not allocate beyond dst.
func (t *Text) Append(dst []byte, n uint64) []byte {
	for i := range t.parts {
		if p := &t.parts[i]; p.fill != nil {
			dst = p.fill(dst, n)
		} else {
			dst = append(dst, p.literal...)
		}
	}
	return dst
}

func (t *Text) add(literal string) {
	if literal != "" {
		t.parts = append(t.parts, part{literal: literal})
	}
}

// labelOf returns a URL with a name for each place, as routes have them:
// /users/{{int 1 100}} is /users/:int, /users/{{csv.id}} is /users/:id.
func labelOf(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "{{")
		inside, after, closed := strings.Cut(rest, "}}")
		if !ok || !closed {
			b.WriteString(s)
			return b.String()
		}
		name, _, _ := strings.Cut(strings.TrimSpace(inside), " ")
		if column, ok := strings.CutPrefix(strings.TrimSpace(inside), csvPrefix); ok {
			name = column
		}
		b.WriteString(before + ":" + url.PathEscape(name))
		s = after
	}
}
