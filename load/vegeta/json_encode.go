package vegeta

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The JSON encoder writes what encoding/json writes of a Result.
type jsonEncoder struct{}

// append implements coder.
func (jsonEncoder) append(dst []byte, r *Result, h *headers) ([]byte, error) {
	from := len(dst)
	dst = appendJSON(append(dst, `{"attack":`...), r.Attack)
	dst = strconv.AppendUint(append(dst, `,"seq":`...), r.Seq, 10)
	dst = strconv.AppendUint(append(dst, `,"code":`...), uint64(r.Code), 10)
	dst, err := r.Timestamp.AppendText(append(dst, `,"timestamp":"`...))
	if err != nil {
		return dst[:from], err
	}
	dst = strconv.AppendInt(append(dst, `","latency":`...), int64(r.Latency), 10)
	dst = strconv.AppendUint(append(dst, `,"bytes_out":`...), r.BytesOut, 10)
	dst = strconv.AppendUint(append(dst, `,"bytes_in":`...), r.BytesIn, 10)
	dst = appendJSON(append(dst, `,"error":`...), r.Error)
	dst = append(dst, `,"body":`...)
	if r.Body == nil {
		dst = append(dst, "null"...)
	} else {
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), r.Body)
		dst = append(dst, '"')
	}
	dst = appendJSON(append(dst, `,"method":`...), r.Method)
	dst = appendJSON(append(dst, `,"url":`...), r.URL)
	dst = appendJSONHeaders(append(dst, `,"headers":`...), h)
	return append(dst, '}', '\n'), nil
}

func appendJSONHeaders(dst []byte, h *headers) []byte {
	if !h.present {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	for i, f := range h.fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSON(dst, f.name), ':')
		if f.null {
			dst = append(dst, "null"...)
			continue
		}
		dst = append(dst, '[')
		for j, v := range h.values[f.from:f.to] {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, v)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendJSON appends s as a string, escaped as encoding/json does.
func appendJSON[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			switch {
			case r == utf8.RuneError && size == 1:
				dst = append(append(dst, s[start:i]...), `\ufffd`...)
				start = i + size
			case r == '\u2028' || r == '\u2029': // line ends for JavaScript
				dst = append(append(dst, s[start:i]...), `\u202`...)
				dst = append(dst, hex[r&0xf])
				start = i + size
			}
			i += size
			continue
		}
		if b >= ' ' && b != '"' && b != '\\' && b != '<' && b != '>' && b != '&' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		const named, letters = "\"\\\b\f\n\r\t", `"\bfnrt`
		if n := strings.IndexByte(named, b); n >= 0 {
			dst = append(dst, '\\', letters[n])
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&0xf])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
