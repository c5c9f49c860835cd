package load

// A Fill writes the parts of a request that differ from request to request. What
// it writes depends on the request's number and the seed alone, so that every
// engine, with any number of threads, sends the same requests. It is immutable
// and safe for concurrent use.
type Fill struct {
	URL    Text       // the whole URL; scheme and host have no places
	Header []FillLine // the headers with places; they take the place of those of the same name in Target.Header
	Body   Text       // zero: Target.Body as it is
}

// A FillLine is one header with places in its value.
type FillLine struct {
	Name  string
	Value Text
}

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
