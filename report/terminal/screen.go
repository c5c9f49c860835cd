package terminal

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/kasoku/kasoku/logs"
)

// A Screen passes text on to a terminal, or to what will be shown on one: letters,
// tabs, line ends and colours (ECMA-48, SGR). Everything else that acts on a terminal
// is taken out: what is printed holds names and messages of servers, logs, run files
// and processes, and any of these may hold the sequences that change a window's title,
// rewrite what stands above, or turn the direction of text.
//
// Reports are cleaned word by word before; a Screen is what holds where that was
// forgotten. It is safe for concurrent use.
type Screen struct {
	mu   sync.Mutex // guards rest, and orders the writes
	w    io.Writer
	rest []byte // the begin of a colour or of a character, which the next Write ends
}

// NewScreen returns a Screen in front of w.
func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// Raw returns the writer in front of which a Screen stands, for bytes that are no text
// and for what draws on the terminal itself; w when it is no Screen.
func Raw(w io.Writer) io.Writer {
	if s, ok := w.(*Screen); ok {
		return s.w
	}
	return w
}

// Write implements io.Writer. It reports all of b as written when what is left of it
// was.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := b
	if len(s.rest) > 0 {
		text = append(s.rest, b...)
	}
	out, rest := appendShown(make([]byte, 0, len(text)), text)
	s.rest = bytes.Clone(rest)
	if len(out) == 0 {
		return len(b), nil
	}
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// longestColor is how long the parameters of a colour may be.
const longestColor = 32

// appendShown appends what of a text only shows, and returns what may go on in the
// next part.
func appendShown(dst, text []byte) (shown, rest []byte) {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c >= 0x20 && c < 0x7f || c == '\n' || c == '\t':
			dst = append(dst, c)
			i++
		case c == 0x1b:
			n, whole := colorLength(text[i:])
			if !whole {
				return dst, text[i:]
			}
			dst = append(dst, text[i:i+n]...)
			if n == 0 {
				n = sequenceLength(text[i:])
			}
			i += n
		case c < utf8.RuneSelf:
			i++
		case !utf8.FullRune(text[i:]):
			return dst, text[i:]
		default:
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 {
				dst = utf8.AppendRune(dst, utf8.RuneError)
			} else if !logs.ActsOnTerminal(r) {
				dst = append(dst, text[i:i+n]...)
			}
			i += n
		}
	}
	return dst, nil
}

// colorLength returns the length of the colour that a text begins with, 0 when it is
// another sequence; whole is false when that cannot be known yet.
func colorLength(text []byte) (n int, whole bool) {
	if len(text) == 1 {
		return 0, false
	}
	if text[1] != '[' {
		return 0, true
	}
	for i := 2; i < len(text) && i < longestColor; i++ {
		switch c := text[i]; {
		case c == 'm':
			return i + 1, true
		case c != ';' && (c < '0' || c > '9'):
			return 0, true
		}
	}
	return 0, len(text) >= longestColor
}

// sequenceLength returns how much of a line a sequence that is no colour takes. One
// that has no end there loses its beginning alone: the rest is text then.
func sequenceLength(text []byte) int {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	n := escapeLength(string(line[:min(len(line), longestSequence)]))
	if n >= len(line) {
		return min(2, len(line))
	}
	return n
}

// longestSequence bounds the search for the end of a sequence.
const longestSequence = 256
