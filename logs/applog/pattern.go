package applog

import (
	"bytes"

	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// maxPattern and maxSample bound what is kept of a pattern and of a sample, in
// bytes: about four lines of a terminal.
const (
	maxPattern = 500
	maxSample  = 300
)

// maxQuoted is how far the end of a quoted string is sought, in bytes, so that a
// line full of quotes takes a time that grows with its length only.
const maxQuoted = 4 << 10

// longID is the length from which a word of letters and digits is an id, and
// longHex that of a hexadecimal one.
const (
	longID  = 16
	longHex = 8
)

// safeText returns text from a log as it may be kept.
func safeText(text []byte, limit int) string {
	text = bytes.TrimSpace(text)
	return string(logs.AppendSafe(nil, text[:min(len(text), maxJoined)], limit))
}

// PatternOf returns the pattern of a message that has neither time nor level, and the
// message, both as a [kasoku.Message] keeps them.
func PatternOf(message string) (pattern, sample string) {
	text := []byte(message[:min(len(message), maxJoined)])
	return safeText(appendPattern(nil, text), maxPattern), safeText(text, maxSample)
}

// appendPattern appends the text with numbers, ids, quoted strings, durations,
// times and addresses replaced by ?, and blanks collapsed. It stops at a bit
// more than is kept of a pattern.
func appendPattern(dst, text []byte) []byte {
	start := len(dst)
	for i := 0; i < len(text) && len(dst)-start < 2*maxPattern; {
		c := text[i]
		switch tab.class[c] {
		case blankClass:
			if len(dst) > start && dst[len(dst)-1] != ' ' {
				dst = append(dst, ' ')
			}
			i++
		case quoteClass:
			end := endOfQuoted(text, i)
			if end == 0 {
				dst = append(dst, c)
				i++
				continue
			}
			dst = appendQuestion(dst)
			i = end
		case wordClass:
			var end int
			dst, end = appendWord(dst, text, i)
			i = end
		case signClass: // of a number
			if (i == 0 || !isWord(text[i-1])) && i+1 < len(text) && isDigit(text[i+1]) {
				i++
				continue
			}
			dst = append(dst, c)
			i++
		default:
			if c == '[' {
				if end := endOfAddress(text, i); end > 0 {
					dst = appendQuestion(dst)
					i = end
					continue
				}
			}
			dst = append(dst, c)
			i++
		}
	}
	return bytes.TrimRight(dst, " ")
}

// appendQuestion appends a ?, one for several in a row.
func appendQuestion(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] == '?' {
		return dst
	}
	return append(dst, '?')
}

// endOfQuoted returns the end of a quoted string at i, 0 when the quote is only an
// apostrophe or does not end.
func endOfQuoted(text []byte, i int) int {
	if text[i] == '\'' && i > 0 && isWord(text[i-1]) {
		return 0
	}
	return max(sqlshape.ClosingQuote(text[:min(len(text), i+maxQuoted)], i+1, text[i]), 0)
}

// appendWord appends the word at i, or ? for what its digits show to be a value,
// and returns its end.
func appendWord(dst, text []byte, i int) ([]byte, int) {
	end, numbers, hex := i, 0, true
	for end < len(text) && isWord(text[end]) {
		c := text[end]
		if isDigit(c) {
			numbers++
		} else if c|0x20 < 'a' || c|0x20 > 'f' {
			hex = false
		}
		end++
	}
	if end-i == 8 && hex && isUUID(text[i:]) {
		return appendQuestion(dst), i + uuidLen
	}
	switch {
	case numbers == 0:
		return append(dst, text[i:end]...), end
	case isDigit(text[i]):
		return appendQuestion(dst), numberEnd(text, end)
	case hex && end-i >= longHex:
		return appendQuestion(dst), end
	case end-i >= longID && numbers > 2 && !isKey(text, end):
		return appendQuestion(dst), end
	}
	for ; i < end; i++ {
		if isDigit(text[i]) {
			dst = appendQuestion(dst)
		} else {
			dst = append(dst, text[i])
		}
	}
	return dst, end
}

// isKey reports whether a value follows at i; a key stays, so that a secret is
// known by it.
func isKey(text []byte, i int) bool {
	return i < len(text) && (text[i] == '=' || text[i] == ':')
}

// numberEnd continues after the first digits of a number, a duration, a time or
// an address, as long as a sign is followed by a digit.
func numberEnd(text []byte, i int) int {
	for i < len(text) {
		switch c := text[i]; {
		case isWord(c):
			i++
		case (c == '.' || c == ':' || c == ',' || c == '-') && i+1 < len(text) && isDigit(text[i+1]):
			i += 2
		case (c == 0xc2 || c == 0xce) && i+1 < len(text) && (text[i+1] == 0xb5 ||
			text[i+1] == 0xbc): // µ, in both of its forms
			i += 2
		default:
			return i
		}
	}
	return i
}

const uuidLen = 36

func isUUID(b []byte) bool {
	if len(b) < uuidLen || len(b) > uuidLen && isWord(b[uuidLen]) {
		return false
	}
	for i, c := range b[:uuidLen] {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// endOfAddress returns the end of an IPv6 address in brackets, with its port.
func endOfAddress(text []byte, i int) int {
	const longest = 48
	colons := 0
	for p := i + 1; p < len(text) && p < i+longest; p++ {
		switch c := text[p]; {
		case c == ':':
			colons++
		case c == ']' && colons >= 2:
			p++
			if p+1 < len(text) && text[p] == ':' && isDigit(text[p+1]) {
				p += 1 + countDigits(text[p+1:])
			}
			return p
		case !isDigit(c) && c != '.' && (c|0x20 < 'a' || c|0x20 > 'f'):
			return 0
		}
	}
	return 0
}
