package vegeta

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The JSON encoder writes what encoding/json writes of a Result.
type jsonEncoder struct {
	base64 base64Encoder
	texts  escapedTexts
}

// append implements coder.
func (e *jsonEncoder) append(dst []byte, r *Result, h *headers) ([]byte, error) {
	from := len(dst)
	dst = e.texts.attack.append(append(dst, `{"attack":`...), r.Attack)
	dst = strconv.AppendUint(append(dst, `,"seq":`...), r.Seq, 10)
	dst = strconv.AppendUint(append(dst, `,"code":`...), uint64(r.Code), 10)
	dst, err := r.Timestamp.AppendText(append(dst, `,"timestamp":"`...))
	if err != nil {
		return dst[:from], err
	}
	dst = strconv.AppendInt(append(dst, `","latency":`...), int64(r.Latency), 10)
	dst = strconv.AppendUint(append(dst, `,"bytes_out":`...), r.BytesOut, 10)
	dst = strconv.AppendUint(append(dst, `,"bytes_in":`...), r.BytesIn, 10)
	dst = e.texts.error.append(append(dst, `,"error":`...), r.Error)
	dst = append(dst, `,"body":`...)
	if r.Body == nil {
		dst = append(dst, "null"...)
	} else {
		dst = e.base64.append(append(dst, '"'), r.Body)
		dst = append(dst, '"')
	}
	dst = e.texts.method.append(append(dst, `,"method":`...), r.Method)
	dst = e.texts.url.append(append(dst, `,"url":`...), r.URL)
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
	dst = append(dst, '"')
	n := countVerbatim(s)
	dst = append(dst, s[:n]...)
	for n < len(s) {
		var size int
		dst, size = appendEscaped(dst, string(s[n:min(len(s), n+utf8.UTFMax)]))
		s = s[n+size:]
		n = countVerbatim(s)
		dst = append(dst, s[:n]...)
	}
	return append(dst, '"')
}

// countVerbatim returns how many bytes at the head of s stand for themselves in a
// string of JSON: those of ASCII but controls, quotes, backslashes, and what
// HTML gives a meaning.
func countVerbatim[T string | []byte](s T) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// Each term has the high bit of a byte set, one that is not verbatim or
		// one above such a byte. The quote and & differ in one bit, as < and > do.
		quote := (x | 0x04*low) ^ '&'*low
		angle := (x | 0x02*low) ^ '>'*low
		slash := x ^ '\\'*low
		if (x|(x-' '*low)|(quote-low)|(angle-low)|(slash-low))&high != 0 {
			break
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf && s[i] >= ' ' &&
		s[i] != '"' && s[i] != '\\' && s[i] != '<' && s[i] != '>' && s[i] != '&' {
		i++
	}
	return i
}

// appendEscaped appends what stands for the first character of s, which is not
// verbatim as it is or not of ASCII, and returns its size.
func appendEscaped(dst []byte, s string) (_ []byte, size int) {
	const hex = "0123456789abcdef"
	const named, short = "\"\\\b\f\n\r\t", `"\bfnrt`
	r, size := utf8.DecodeRuneInString(s)
	switch n := strings.IndexByte(named, s[0]); {
	case n >= 0:
		return append(dst, '\\', short[n]), 1
	case s[0] < utf8.RuneSelf:
		return append(dst, '\\', 'u', '0', '0', hex[s[0]>>4], hex[s[0]&0xf]), 1
	case r == utf8.RuneError && size == 1:
		return append(dst, `\ufffd`...), 1
	case r == '\u2028' || r == '\u2029': // ends of lines for JavaScript
		return append(append(dst, `\u202`...), hex[r&0xf]), size
	}
	return append(dst, s[:size]...), size
}
