package logs

import "strings"

// ActsOnTerminal reports whether a character acts on a terminal, or on how a page is
// read, instead of showing: C0 and C1 controls, DEL, separators of lines, and what
// turns the direction of text (Unicode, UAX #9). Tab and line end are among them.
func ActsOnTerminal(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0x9f || r == '\u061c' || r == '\u200e' || r == '\u200f' ||
		r >= '\u2028' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// Printable returns a text of a run or a server without what acts on a terminal; tabs
// and line ends become spaces. It is the one rule of all textual exports.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case ActsOnTerminal(r):
			return -1
		}
		return r
	}, s)
}
