package vegeta

import (
	"bytes"
	"net/http"
)

// headers are the headers of an answer in the form in which they pass from a
// decoder to an encoder: flat, sorted by name, each name once, and parts of the
// decoder's buffer, so that converting a file makes no map and no string.
type headers struct {
	present bool // false: the answer has none at all; true without fields: an empty map
	fields  []headerField
	values  [][]byte
	text    []byte // holds what is not part of a buffer
}

// A headerField is one name with its values[from:to].
type headerField struct {
	name     []byte
	from, to int
	null     bool // has no list of values, not even an empty one
}

func (h *headers) reset() {
	h.present, h.fields, h.values, h.text = false, h.fields[:0], h.values[:0], h.text[:0]
}

// begin adds a name; its values follow by value.
func (h *headers) begin(name []byte) {
	h.fields = append(h.fields, headerField{name: name, from: len(h.values), to: len(h.values)})
}

// value adds a value to the last name.
func (h *headers) value(v []byte) {
	h.values = append(h.values, v)
	h.fields[len(h.fields)-1].to++
}

// sort puts the names in order. It returns false when one comes twice. Headers
// are few and come from Go's maps, or sorted, so insertion is the way.
func (h *headers) sort() bool {
	f := h.fields
	for i := 1; i < len(f); i++ {
		x := f[i]
		j := i
		for ; j > 0; j-- {
			c := bytes.Compare(f[j-1].name, x.name)
			if c == 0 {
				return false
			}
			if c < 0 {
				break
			}
			f[j] = f[j-1]
		}
		f[j] = x
	}
	return true
}

// set replaces the headers by those of a map.
func (h *headers) set(m http.Header) {
	h.reset()
	h.present = m != nil
	for name, values := range m {
		h.begin(h.keep(name))
		h.fields[len(h.fields)-1].null = values == nil
		for _, v := range values {
			h.value(h.keep(v))
		}
	}
	h.sort()
}

func (h *headers) keep(s string) []byte {
	n := len(h.text)
	h.text = append(h.text, s...)
	return h.text[n:len(h.text):len(h.text)]
}

// header returns the headers as a map that owns what it holds.
func (h *headers) header() http.Header {
	if !h.present {
		return nil
	}
	m := make(http.Header, len(h.fields))
	all := make([]string, len(h.values))
	for i, v := range h.values {
		all[i] = string(v)
	}
	for _, f := range h.fields {
		if f.null {
			m[string(f.name)] = nil
			continue
		}
		m[string(f.name)] = all[f.from:f.to:f.to]
	}
	return m
}
