package load

import (
	"net/http"
)

// A Fill writes the parts of a request that differ from request to request. What
// it writes depends on the request's number and the seed alone, so that every
// engine, with any number of threads, sends the same requests. It is immutable
// and safe for concurrent use.
type Fill struct {
	URL    Text       // the whole URL, without a fragment; scheme and host have no places. Empty: Target.URL as it is
	Header []FillLine // the headers with places; they take the place of those of the same name in Target.Header
	Body   Text       // empty: Target.Body as it is
}

// A FillLine is one header with places in its value.
type FillLine struct {
	Name  string
	Value Text
}

// FillOptions say what has places to fill in.
type FillOptions struct {
	URL    string
	Header http.Header
	Body   []byte
	Seed   uint64 // of the random values
	Table  *Table // of {{csv.COLUMN}}; nil: there is none
}

// NewFill finds the places in a request; nil when there is none.
func NewFill(o FillOptions) (*Fill, error) { return nil, nil }

// A Text is text with places to fill in. The zero value is empty.
type Text struct {
	parts []part
}

type part struct {
	literal string
	fill    func(dst []byte, n uint64) []byte // nil: literal
}

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
