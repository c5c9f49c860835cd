package applog

import (
	"bytes"
	"strings"
)

// A level is how bad a program says a message is.
type level uint8

const (
	unknown level = iota
	debug
	info
	warning
	failure
)

// String returns the level as a [kasoku.Message] has it.
func (l level) String() string {
	return [...]string{"", "debug", "info", "warn", "error"}[l]
}

// levelNames are the names of levels, in lower case.
var levelNames = [...]struct {
	name  string
	level level
}{
	{"error", failure}, {"err", failure}, {"erro", failure}, {"fatal", failure}, {"fata", failure}, {"ftl", failure},
	{"panic", failure}, {"pani", failure}, {"dpanic", failure}, {"critical", failure}, {"crit", failure},
	{"emerg", failure}, {"emergency", failure}, {"alert", failure}, {"severe", failure},
	{"warn", warning}, {"warning", warning}, {"wrn", warning},
	{"info", info}, {"inf", info}, {"notice", info}, {"information", info},
	{"debug", debug}, {"debu", debug}, {"dbg", debug}, {"trace", debug}, {"trac", debug}, {"trc", debug},
	{"fine", debug}, {"verbose", debug},
}

// levelNamed returns the level of that name, in any case.
func levelNamed(word []byte) level {
	if len(word) < 3 || len(word) > 11 {
		return unknown
	}
	for i := range levelNames {
		if n := levelNames[i].name; len(n) == len(word) && hasFold(word, n) {
			return levelNames[i].level
		}
	}
	return unknown
}

// maxHeadItems bounds what is stripped from the start of a line: time, level,
// process, thread, and their separators.
const maxHeadItems = 8

// stripHead returns the line without the time stamps, levels and process ids at
// its start, the level, and whether there was a time.
func stripHead(line []byte) (rest []byte, stated level, stamped bool) {
	rest = bytes.TrimLeft(line, " \t")
	for range maxHeadItems {
		n := 0
		if l, k := klogHead(rest); k > 0 {
			return bytes.TrimLeft(rest[k:], " "), l, true
		}
		if k := stampLen(rest); k > 0 {
			n, stamped = k, true
		} else if l, k := bracketedLevel(rest, stamped); k > 0 {
			n = k
			stamped = stamped || l == unknown
			stated = max(stated, l)
		} else if l, k := levelWord(rest); l != unknown && stated == unknown {
			n, stated = k, l
			if k == 0 {
				return rest, stated, stamped
			}
		}
		if n == 0 {
			break
		}
		rest = bytes.TrimLeft(rest[n:], " \t")
		for len(rest) > 1 && (rest[0] == '-' || rest[0] == '|' || rest[0] == ':') && rest[1] == ' ' {
			rest = bytes.TrimLeft(rest[2:], " \t")
		}
	}
	return bytes.TrimRight(rest, " \t\r"), stated, stamped
}

// bracketedLevel returns the length of a time, a level or, after a time, a process
// id in brackets.
func bracketedLevel(b []byte, stamped bool) (level, int) {
	const longest = 48
	if len(b) == 0 || b[0] != '[' && b[0] != '<' {
		return unknown, 0
	}
	end := bytes.IndexByte(b[:min(len(b), longest)], b[0]+2) // ] or >
	if end < 2 {
		return unknown, 0
	}
	inner := b[1:end]
	if n := stampLen(inner); n > 0 && n == len(inner) {
		return unknown, end + 1
	}
	if l := levelNamed(bytes.TrimSpace(inner)); l != unknown {
		return l, end + 1
	}
	if stamped && countDigits(inner) == len(inner) {
		return unknown, end + 1
	}
	return unknown, 0
}

// levelWord returns the level that the text starts with and how many bytes of it
// may go. None go of a word that is part of the message: "Error 1040: …".
func levelWord(b []byte) (level, int) {
	n := 0
	for n < len(b) && n < 12 && (b[n]|0x20) >= 'a' && (b[n]|0x20) <= 'z' {
		n++
	}
	l := levelNamed(b[:n])
	if l == unknown {
		return unknown, 0
	}
	upper, lower := b[n-1] <= 'Z', b[0] >= 'a'
	switch {
	case n == len(b):
		return l, 0
	case hasFold(b, "panic") || hasFold(b, "fatal") && !upper:
		if b[n] != ':' && !upper {
			return unknown, 0
		}
		return l, 0
	case upper && b[n] == '[': // logrus: INFO[0000]
		if end := bytes.IndexByte(b[n:min(len(b), n+16)], ']'); end > 0 {
			return l, n + end + 1
		}
		return l, 0
	case b[n] == ':' && (upper || lower):
		return withoutNumber(b, l, n+1)
	case b[n] == ':' || l == failure && n+1 < len(b) && b[n] == ' ' && isDigit(b[n+1]):
		return l, 0
	case upper && (b[n] == ' ' || b[n] == '\t' || b[n] == '|' || b[n] == ','):
		return withoutNumber(b, l, n+1)
	}
	return unknown, 0
}

// withoutNumber keeps the word when an error number follows.
func withoutNumber(b []byte, l level, n int) (level, int) {
	if rest := bytes.TrimLeft(b[n:], " "); len(rest) == 0 || l == failure && isDigit(rest[0]) {
		return l, 0
	}
	return l, n
}

// guessLevel guesses the level of a line that does not start with one: from an
// error number, a panic, or a level in capitals near the start, as Python's
// logging writes it after the logger's name.
func guessLevel(text []byte, hasCode bool) level {
	if hasCode || bytes.HasPrefix(text, []byte("panic: ")) || bytes.HasPrefix(text, []byte("fatal error: ")) ||
		bytes.Contains(text[:min(len(text), 100)], []byte("panic serving ")) {
		return failure
	}
	const near = 60
	text = text[:min(len(text), near)]
	for i := 0; i < len(text); i++ {
		if text[i] < 'A' || text[i] > 'Z' || i > 0 && isWord(text[i-1]) {
			continue
		}
		n := i
		for n < len(text) && text[n] >= 'A' && text[n] <= 'Z' {
			n++
		}
		if n == len(text) || !isWord(text[n]) {
			if l := levelNamed(text[i:n]); l != unknown && l != debug {
				return l
			}
		}
		i = n
	}
	return unknown
}

// klogHead reads "E1120 14:02:11.123456   12345 file.go:12] ".
func klogHead(b []byte) (level, int) {
	if len(b) < 22 || countDigits(b[1:]) != 4 || b[5] != ' ' {
		return unknown, 0
	}
	i := strings.IndexByte("DIWEF", b[0])
	if i < 0 || clockLen(b[6:]) == 0 {
		return unknown, 0
	}
	end := bytes.Index(b[:min(len(b), 200)], []byte("] "))
	if end < 0 {
		return unknown, 0
	}
	return [...]level{debug, info, warning, failure, failure}[i], end + 2
}
