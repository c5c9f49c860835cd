package alp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// A jsonReader reads lines that are JSON objects.
type jsonReader struct {
	names [][]byte
}

// read reads flat objects itself and leaves others, and whatever it doubts, to
// encoding/json.
func (r *jsonReader) read(line []byte, values [][]byte) string {
	clear(values)
	if r.readFlat(bytes.TrimSpace(line), values) {
		return ""
	}
	var object map[string]any
	if err := json.Unmarshal(line, &object); err != nil {
		return "no JSON object"
	}
	for i, name := range r.names {
		values[i] = nil
		if v, ok := object[string(name)]; ok {
			values[i] = jsonText(v)
		}
	}
	return ""
}

// jsonText returns a value as text, never nil; a number in digits, as most logs write it.
func jsonText(v any) []byte {
	if f, ok := v.(float64); ok && math.Abs(f) < 1e21 {
		return strconv.AppendFloat(nil, f, 'f', -1, 64)
	}
	return fmt.Append([]byte{}, v) // nil would say that the key is missing
}

// readFlat reports whether the line is an object without objects, lists and
// escapes, which it has read then.
func (r *jsonReader) readFlat(b []byte, values [][]byte) bool {
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return false
	}
	for i := skipValue(b, 1); ; {
		key, next, ok := plainString(b, i)
		if !ok {
			return false
		}
		i = skipValue(b, next)
		if i >= len(b) || b[i] != ':' {
			return false
		}
		i = skipValue(b, i+1)
		var v []byte
		if i < len(b) && b[i] == '"' {
			v, i, ok = plainString(b, i)
		} else {
			v, i, ok = plainNumber(b, i)
		}
		if !ok {
			return false
		}
		for n, name := range r.names {
			if string(name) == string(key) {
				values[n] = v
			}
		}
		if i = skipValue(b, i); i >= len(b) {
			return false
		}
		switch b[i] {
		case ',':
			i = skipValue(b, i+1)
		case '}':
			return i == len(b)-1
		default:
			return false
		}
	}
}

// skipValue returns the index of the next character that is no space.
func skipValue(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// plainString returns the text of a string that has no escapes, and where it
// ends.
func plainString(b []byte, i int) (text []byte, end int, ok bool) {
	if i >= len(b) || b[i] != '"' {
		return nil, i, false
	}
	from := i + 1
	n := bytes.IndexByte(b[from:], '"')
	if n < 0 {
		return nil, i, false
	}
	text = b[from : from+n]
	ascii := true
	for _, c := range text {
		if c < ' ' || c == '\\' {
			return nil, i, false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return text, from + n + 1, ascii || utf8.Valid(text)
}

// plainNumber returns the text of a number of digits with perhaps a point, zeros
// at its end left out.
func plainNumber(b []byte, i int) (text []byte, end int, ok bool) {
	from := i
	point := -1
	for ; i < len(b); i++ {
		if c := b[i]; c == '.' && point < 0 {
			point = i
		} else if c-'0' > 9 {
			break
		}
	}
	text = b[from:i]
	switch {
	case len(text) == 0 || len(text) > 15 || point == from || point == i-1:
		return nil, i, false
	case text[0] == '0' && len(text) > 1 && point != from+1:
		return nil, i, false
	case point >= 0 && text[len(text)-1] == '0':
		text = bytes.TrimRight(text, "0")
		text = bytes.TrimSuffix(text, []byte("."))
	}
	return text, i, true
}
