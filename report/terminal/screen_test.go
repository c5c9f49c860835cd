package terminal

import (
	"bytes"
	"io"
	"testing"
)

// TestScreen writes each text whole and in two parts at each byte.
func TestScreen(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		for cut := range len(text) + 1 {
			var out bytes.Buffer
			s := NewScreen(&out)
			for _, part := range []string{text[:cut], text[cut:]} {
				if n, err := io.WriteString(s, part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if cut == 0 && out.String() != want {
				t.Errorf("%q: %q, want %q", text, out.String(), want)
			}
			if b := out.Bytes(); acts(b) {
				t.Errorf("%q cut at %d: %q acts on a terminal", text, cut, b)
			}
		}
	}
	f("plain\tテキスト\n", "plain\tテキスト\n")
	f("\x1b[1;31mred\x1b[0m \x1b[mplain", "\x1b[1;31mred\x1b[0m \x1b[mplain")
	f("a\x1b[2Jb\x1b[Hc\x1b[?1049hd\x1b[5nx", "abcdx")
	f("a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\link", "ablink")
	f("a\x1bPq#0\x1b\\b\x1bcd", "abd")
	f("over\rwritten\b\x00\x7f\u0085\u009b2J", "overwritten2J")
	f("a\u202eb\u2066c\u2028d\u200f", "abcd")
	f("bad \xff\xc3", "bad \ufffd")
	f("\x1b[38;5;1", "")
	f("open \x1b]0;title\nnext", "open 0;title\nnext")
}

// acts reports whether bytes hold anything that acts on a terminal but colours.
func acts(b []byte) bool {
	shown, rest := appendShown(nil, b)
	return len(rest) > 0 || !bytes.Equal(shown, b)
}

func FuzzScreen(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\x1b]0;x\x07\xc2\x9b2J\u202e"), 3)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		var out bytes.Buffer
		s := NewScreen(&out)
		cut = min(max(cut, 0), len(text))
		for _, part := range [][]byte{text[:cut], text[cut:]} {
			if n, err := s.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if acts(out.Bytes()) {
			t.Errorf("%q: %q acts", text, out.Bytes())
		}
		if out.Len() > 3*len(text) {
			t.Errorf("%d bytes of %d", out.Len(), len(text))
		}
	})
}
