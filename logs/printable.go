package logs

import (
	"bytes"
	"unicode/utf8"

	"github.com/kasoku/kasoku/internal/secret"
)

// AppendSafe appends text from a log as it may be kept and shown: without
// secrets, without control bytes and escape sequences of terminals, as valid
// UTF-8, and cut to about limit bytes with an ellipsis.
func AppendSafe(dst, text []byte, limit int) []byte {
	start := len(dst)
	if len(text) > 4*limit+4096 { // secrets are sought only in what may be kept
		text = text[:4*limit+4096]
	}
	masked := secret.Append(nil, text)
	for len(masked) > 0 {
		if len(dst)-start >= limit {
			return append(dst, "…"...)
		}
		if n := escapeLen(masked); n > 0 {
			masked = masked[n:]
			continue
		}
		r, n := utf8.DecodeRune(masked)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, "\uFFFD"...)
		case r == '\t' || r == '\n':
			dst = append(dst, ' ')
		case r < ' ' || r >= 0x7f && r < 0xa0 || isBidi(r):
		default:
			dst = append(dst, masked[:n]...)
		}
		masked = masked[n:]
	}
	return dst
}

// isBidi reports whether the rune changes the direction of writing, with which
// text can be made to look other than it is.
func isBidi(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f
}

// escapeLen returns the length of the terminal sequence ESC [ … letter that
// text starts with, 0 when it starts with none.
//
// Source: ECMA-48, 5.4 Control sequences.
func escapeLen(text []byte) int {
	if len(text) < 2 || text[0] != 0x1b || text[1] != '[' {
		return 0
	}
	for i := 2; i < len(text); i++ {
		if c := text[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		} else if c < 0x20 || c > 0x3f {
			return i
		}
	}
	return len(text)
}

// AppendWithoutEscapes appends the text without the sequences with which
// programs colour their output.
func AppendWithoutEscapes(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, 0x1b)
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		text = text[i+max(escapeLen(text[i:]), 1):]
	}
}
