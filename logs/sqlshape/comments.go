package sqlshape

import (
	"bytes"
)

// maxFields bounds the fields of a statement, maxField the bytes of one.
const (
	maxFields = 32
	maxField  = 256
)

// AppendTag appends what the block comments of a statement say of where it comes
// from and what is the same for many statements: plain tags and key:value pairs,
// with commas between. What distinguishes single requests, such as a traceparent,
// is left out.
func AppendTag(dst, sql []byte) []byte {
	start := len(dst)
	eachComment(sql, func(text []byte) bool {
		eachField(text, func(key, value []byte) bool {
			if isRequest(key) || len(dst)-start > maxField {
				return true
			}
			if len(dst) > start {
				dst = append(dst, ',')
			}
			if len(key) > 0 {
				dst = append(append(dst, key...), ':')
			}
			if n := len(value); n >= 2 && value[0] == '\'' {
				value = value[1 : n-1]
			}
			dst = append(dst, value...)
			return true
		})
		return true
	})
	return dst
}

// isRequest reports whether the values of a key belong to single requests.
func isRequest(key []byte) bool {
	for _, k := range [...]string{
		"traceparent", "tracestate", "trace_id", "span_id", "traceid", "spanid", "request_id", "job_id", "pid", "line",
	} {
		if equalFold(key, k) {
			return true
		}
	}
	return false
}

// eachComment yields what is in each block comment, without blanks at its ends.
// Comments whose inside counts, and hints, are none.
func eachComment(sql []byte, yield func(text []byte) bool) {
	opens := &tab.opens
	for i := 0; i < len(sql); {
		for i < len(sql) && !opens[sql[i]] {
			i++
		}
		if i == len(sql) {
			return
		}
		if end := plainQuoted(sql, i); end > 0 {
			i = end
			continue
		}
		l := Lexer{src: sql, pos: i}
		t := l.Raw()
		i = l.pos
		text := bytes.TrimPrefix(t.Text, []byte("/*"))
		if t.Kind != Comment || len(text) == len(t.Text) || len(text) == 0 || text[0] == '!' || text[0] == '+' ||
			text[0] == 'M' && len(text) > 1 && text[1] == '!' {
			continue
		}
		if !yield(trimSpace(bytes.TrimSuffix(text, []byte("*/")))) {
			return
		}
	}
}

// plainQuoted returns the end of the string or name without escapes that starts at
// i, 0 when none does. Of a doubled quote the first one ends it.
func plainQuoted(sql []byte, i int) int {
	quote := sql[i]
	if quote != '\'' && quote != '"' && quote != '`' {
		return 0
	}
	end := bytes.IndexByte(sql[i+1:], quote)
	if end < 0 || quote != '`' && bytes.IndexByte(sql[i+1:i+1+end], '\\') >= 0 {
		return 0
	}
	return i + end + 2
}

// eachField yields the fields of a comment. What is neither keys and values nor a
// plain tag yields nothing.
func eachField(text []byte, yield func(key, value []byte) bool) {
	if tag := plainTag(text); tag != nil && bytes.IndexByte(tag, ':') < 0 {
		yield(nil, tag)
		return
	}
	for len(text) > 0 {
		key, value, rest := nextField(text)
		if key == nil {
			return
		}
		if len(value) <= maxField && !yield(key, value) {
			return
		}
		text = rest
	}
}

// nextField splits key:value or key='value' from the front of a list with commas;
// the key is nil when the list does not start with one.
func nextField(text []byte) (key, value, rest []byte) {
	text = trimSpace(text)
	i := 0
	for i < len(text) && (isName(text[i]) || text[i] == '%' || text[i] == '-' || text[i] == '.') {
		i++
	}
	if i == 0 || i > maxTag || i == len(text) || text[i] != ':' && text[i] != '=' {
		return nil, nil, nil
	}
	key, text = text[:i], text[i+1:]
	end := 0
	if len(text) > 0 && text[0] == '\'' {
		for end = 1; end < len(text) && text[end] != '\''; end++ {
			if text[end] == '\\' {
				end++
			}
		}
		if end >= len(text) {
			return nil, nil, nil
		}
		end++
	} else if end = bytes.IndexByte(text, ','); end < 0 {
		end = len(text)
	}
	value, rest = trimSpace(text[:end]), trimSpace(text[end:])
	return key, value, bytes.TrimPrefix(rest, []byte(","))
}
