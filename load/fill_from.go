package load

import "slices"

// From returns the places as request first and those after it fill them: what a
// load that goes on where another ended needs, whose own requests begin at 0.
func (f *Fill) From(first uint64) *Fill {
	if f == nil || first == 0 {
		return f
	}
	out := &Fill{URL: f.URL.from(first), Header: slices.Clone(f.Header), Body: f.Body.from(first)}
	for i := range out.Header {
		out.Header[i].Value = out.Header[i].Value.from(first)
	}
	return out
}

func (t *Text) from(first uint64) Text {
	out := Text{slices.Clone(t.parts)}
	for i := range out.parts {
		if fill := out.parts[i].fill; fill != nil {
			out.parts[i].fill = func(dst []byte, n uint64) []byte { return fill(dst, first+n) }
		}
	}
	return out
}
