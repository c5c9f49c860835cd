package analyze

import (
	"bytes"
	"unicode/utf8"
)

// Masked stands where a secret stood.
const Masked = "***"

// AppendSafe appends text from a log as it may be kept and shown: without
// secrets, without control bytes and escape sequences of terminals, as valid
// UTF-8, and cut to about limit bytes with an ellipsis.
func AppendSafe(dst, text []byte, limit int) []byte {
	start := len(dst)
	if len(text) > 4*limit+4096 { // secrets are sought only in what may be kept
		text = text[:4*limit+4096]
	}
	masked := AppendWithoutSecrets(nil, text)
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

// secretNames are the ends of names whose values are secrets. Those behind which a
// value stands without a sign come first, the names of headers whose values hold
// blanks last. "Duplicate entry" is what MySQL says with the value of a row.
var secretNames = [...]string{
	"identified by", "bearer", "duplicate entry",
	"password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "api-key", "apikey", "access_key",
	"private_key", "session_id", "sessionid", "credential", "credentials",
	"authorization", "cookie",
}

const (
	withoutSign = 3
	firstHeader = len(secretNames) - 2
)

// AppendWithoutSecrets appends text with the values of passwords, tokens,
// cookies and authorizations, the passwords of data source names and URLs, and the
// rows' values that MySQL names as duplicates, replaced by [Masked].
func AppendWithoutSecrets(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		from, to := 0, 0
		switch lower(text[i]) {
		case '@':
			if at := userPassword(text, i); at > 0 {
				dst = append(dst[:len(dst)-(i-at)], Masked...)
			}
		case 'a', 'b', 'c', 'd', 'i', 'p', 's', 't':
			from, to = secretValue(text, i)
		}
		if to > from {
			dst = append(append(dst, text[i:from]...), Masked...)
			i = to
			continue
		}
		dst = append(dst, text[i])
		i++
	}
	return dst
}

// secretValue returns where the value lies when a secret's name starts at i.
func secretValue(text []byte, i int) (from, to int) {
	for n, name := range secretNames {
		if !hasFold(text[i:], name) {
			continue
		}
		p := i + len(name)
		if p < len(text) && (text[p] == '"' || text[p] == '\'') { // "password":
			p++
		}
		sep := n < withoutSign
		for p < len(text) && (text[p] == ' ' || !sep && (text[p] == '=' || text[p] == ':')) {
			sep = sep || text[p] != ' '
			p++
		}
		if !sep || p >= len(text) || n < withoutSign && text[p-1] != ' ' {
			continue
		}
		if end := valueEnd(text, p, n >= firstHeader); end > p && !isHarmless(text[p:end]) {
			return p, end
		}
	}
	return 0, 0
}

// isHarmless reports whether the value is masked, or only says that there is one, as in
// "Access denied for user 'a'@'b' (using password: YES)".
func isHarmless(value []byte) bool {
	return bytes.EqualFold(value, []byte("yes")) || bytes.EqualFold(value, []byte("no")) || string(value) == Masked || string(value) == "?"
}

// valueEnd returns the end of the value at p: behind a quoted string, the end
// of the word, or for a header up to a quote or the end.
func valueEnd(text []byte, p int, header bool) int {
	stop := " \t,;&)}]'\"\r\n"
	if header {
		stop = "\"'\r\n"
	}
	if c := text[p]; c == '"' || c == '\'' {
		for e := p + 1; e < len(text); e++ {
			if text[e] == '\\' {
				e++
			} else if text[e] == c {
				return e + 1
			}
		}
		return len(text)
	}
	if e := bytes.IndexAny(text[p:], stop); e >= 0 {
		return p + e
	}
	return len(text)
}

// userPassword returns where the password starts in user:password@, with the
// last @ of the word at i, 0 when there is none.
func userPassword(text []byte, i int) int {
	if next := bytes.IndexAny(text[i+1:], "@ \t\r\n\"'<>(,/"); next >= 0 && text[i+1+next] == '@' {
		return 0
	}
	colon := 0
	for p := i - 1; p >= 0; p-- {
		switch c := text[p]; {
		case c == ':' && p+2 < i && text[p+1] == '/' && text[p+2] == '/':
			return colon
		case c == ':':
			colon = p + 1
		case c <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '(' || c == ',':
			return colon
		}
	}
	return colon
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// hasFold reports whether text starts with the lower-case prefix, in any case.
func hasFold(text []byte, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(text[i]) != prefix[i] {
			return false
		}
	}
	return true
}
