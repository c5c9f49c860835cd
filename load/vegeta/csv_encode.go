package vegeta

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// csvColumns are: Unix time in ns, code, latency in ns, bytes out, bytes in,
// error, body in base64, attack, sequence, method, URL, headers in base64.
const csvColumns = 12

type csvEncoder struct {
	header []byte
	base64 base64Encoder
	texts  escapedTexts
}

// append implements coder.
func (e *csvEncoder) append(dst []byte, r *Result, h *headers) ([]byte, error) {
	dst = append(strconv.AppendInt(dst, r.Timestamp.UnixNano(), 10), ',')
	dst = append(strconv.AppendUint(dst, uint64(r.Code), 10), ',')
	dst = append(strconv.AppendInt(dst, int64(r.Latency), 10), ',')
	dst = append(strconv.AppendUint(dst, r.BytesOut, 10), ',')
	dst = append(strconv.AppendUint(dst, r.BytesIn, 10), ',')
	dst = append(e.texts.error.append(dst, r.Error), ',')
	dst = append(e.base64.append(dst, r.Body), ',')
	dst = append(e.texts.attack.append(dst, r.Attack), ',')
	dst = append(strconv.AppendUint(dst, r.Seq, 10), ',')
	dst = append(e.texts.method.append(dst, r.Method), ',')
	dst = append(e.texts.url.append(dst, r.URL), ',')
	if len(h.fields) > 0 {
		e.header = appendWire(e.header[:0], h)
		dst = e.base64.append(dst, e.header)
	}
	return append(dst, '\n'), nil
}

// appendCSV appends a field, quoted when encoding/csv would quote it.
func appendCSV(dst []byte, s string) []byte {
	if !needsQuotes(s) {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			break
		}
		dst = append(append(dst, s[:i]...), `""`...)
		s = s[i+1:]
	}
	return append(append(dst, s...), '"')
}

func needsQuotes(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c == ',' || c == '"' || c == '\r' || c == '\n' {
			return true
		}
	}
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(first) || s == `\.` // which ends data for PostgreSQL
}

// appendWire appends headers as http.Header.Write writes them, names that are
// none left out, and the empty line.
func appendWire(dst []byte, h *headers) []byte {
	for _, f := range h.fields {
		if !validName(f.name) {
			continue
		}
		for _, v := range h.values[f.from:f.to] {
			dst = append(append(dst, f.name...), ": "...)
			for len(v) > 0 && isBlank(v[0]) {
				v = v[1:]
			}
			for len(v) > 0 && isBlank(v[len(v)-1]) {
				v = v[:len(v)-1]
			}
			from := len(dst)
			dst = append(dst, v...)
			for i := from; i < len(dst); i++ {
				if dst[i] == '\r' || dst[i] == '\n' {
					dst[i] = ' '
				}
			}
			dst = append(dst, "\r\n"...)
		}
	}
	return append(dst, "\r\n"...)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// validName reports whether the name is a token of RFC 9110, section 5.6.2.
func validName(name []byte) bool {
	for _, c := range name {
		if (c|0x20) >= 'a' && (c|0x20) <= 'z' || c >= '0' && c <= '9' {
			continue
		}
		if strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return len(name) > 0
}
