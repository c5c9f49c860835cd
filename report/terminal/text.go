package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// A style is how a piece of text stands out, as an ANSI SGR parameter. Background
// colours and blue are not among them: on many themes they cannot be read.
type style string

const (
	plain   style = ""
	bold    style = "1"
	dim     style = "2"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	magenta style = "35"
	cyan    style = "36"
)

// cells counts widths as a terminal does that draws ambiguous characters, such as
// ÷ and →, in one cell.
var cells = &runewidth.Condition{EastAsianWidth: false, StrictEmojiNeutral: true}

// width returns how many cells a text takes.
func width(s string) int { return cells.StringWidth(s) }

// plainText maps the symbols that the reports use to ASCII, for --ascii.
var plainText = strings.NewReplacer(
	"━", "=", "─", "-", "│", "|", "●", "*", "○", "o", "├", "[", "┤", "]", "┼", "+", "◀", "<", "▶", ">",
	"÷", "/", "×", "x", "→", "->", "…", "...", "−", "-", "–", "-", "—", "-", "±", "+-", "≥", ">=", "≤", "<=", "µ", "u",
	"▁", "_", "▂", ",", "▃", "-", "▄", "~", "▅", "+", "▆", "*", "▇", "%", "█", "#", "·", ".",
	"▉", "#", "▊", "#", "▋", "#", "▌", "#", "▍", ".", "▎", ".", "▏", ".",
	"✓", "+", "✗", "x", "›", ">", "←", "<-", "↑", "up", "↓", "down", "“", "\"", "”", "\"", "‘", "'", "’", "'", "\u202f", " ", "\u00a0", " ",
)

// The letters that flags are made of.
const (
	flagA = '\U0001F1E6'
	flagZ = '\U0001F1FF'
)

// clean makes text safe to print on one line: control characters, escape sequences
// and marks of writing direction are taken out, tabs and line ends become spaces.
func clean(s string) string {
	if !needsCleaning(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\x1b':
			n = escapeLength(s[i:])
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case r == utf8.RuneError && n == 1:
			b.WriteRune('\uFFFD')
		case r >= flagA && r <= flagZ: // two of them are one flag, two cells wide
			b.WriteRune('A' + r - flagA)
		case !dangerous(r):
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// Clean makes text of others safe to print on one line, as reports do.
func Clean(s string) string { return clean(s) }

func needsCleaning(s string) bool {
	return strings.ContainsFunc(s, dangerous) || !utf8.ValidString(s)
}

// dangerous reports whether a character acts on the terminal instead of showing:
// C0 and C1 controls, invisible format characters, those that turn the direction of
// what follows, and those that make other characters wider than they are.
func dangerous(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0x9f || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' ||
		r >= '\ufe00' && r <= '\ufe0f' || r == '\u20e3' || r >= flagA &&
		r <= flagZ // emoji by selector, in keycaps, flags
}

// escapeLength returns how many bytes the escape sequence takes that s begins
// with: CSI up to its final byte, OSC and its kin up to their end, else two.
func escapeLength(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	if s[1] < 0x20 || s[1] > 0x7e {
		return 1
	}
	return 2
}

// cut shortens a text to n cells, marking the cut with the tail.
func cut(s string, n int, tail string) string {
	if width(s) <= n {
		return s
	}
	if n <= width(tail) {
		return cells.Truncate(s, max(n, 0), "")
	}
	return strings.TrimRight(cells.Truncate(s, n-width(tail), ""), " ") + tail
}

// cutMiddle shortens a text to n cells, marking the cut with the tail. A third of
// what is left is of its begin, the rest of its end.
func cutMiddle(s string, n int, tail string) string {
	room := n - width(tail)
	if width(s) <= n || room < 6 {
		return cut(s, n, tail)
	}
	front := cells.Truncate(s, room/3, "")
	return front + tail + cells.TruncateLeft(s, width(s)-(room-width(front)), "")
}

// wrap breaks a text at spaces into lines of at most n cells. A word that is longer
// is broken.
func wrap(s string, n int) []string {
	n = max(n, 8)
	var lines []string
	line, used := "", 0
	flush := func() {
		if line != "" {
			lines = append(lines, line)
			line, used = "", 0
		}
	}
	for _, word := range words(s) {
		w := width(word)
		if line != "" && used+1+w > n {
			flush()
		}
		if w > n {
			var broken []string
			broken, word = breakWord(word, n, w)
			lines, w = append(lines, broken...), width(word)
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+w
	}
	flush()
	return lines
}

// mostCellBytes is how many bytes a cell of a word mostly takes at most.
const mostCellBytes = 64

// breakWord breaks a word that is w cells wide into lines of n cells and what is left
// of it. The width is counted once, and a line is cut from so much of the word as it
// takes: a word can be a text of megabytes without a blank.
func breakWord(word string, n, w int) (lines []string, rest string) {
	for w > n {
		part := word[:min(len(word), mostCellBytes*n)]
		if len(part) < len(word) && width(part) <= n {
			part = word
		}
		head := cells.Truncate(part, n, "")
		if head == "" {
			break
		}
		lines = append(lines, head)
		word, w = word[len(head):], w-width(head)
	}
	return lines, word
}

// words splits at spaces, but keeps a number with its unit: 30.5 % stays in one
// line.
func words(s string) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		if n := len(out); n > 0 && (w == "%" || strings.HasPrefix(w, "%") && len(w) == 2) {
			out[n-1] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}

// prose drops the marks of strong words and keeps the backticks of code, which read
// well as they are.
func prose[T ~string](s T) string { return strings.ReplaceAll(string(s), "**", "") }
