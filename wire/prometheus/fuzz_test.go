package prometheus

import (
	"strings"
	"testing"
)

// FuzzLabel: whatever a value holds, it stays in its quotes and comes back.
func FuzzLabel(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b", "\\", "\\n", "\n", "\x00\xff", "é\u2028", `",x="y`, "} 1\n# EOF"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, value string, open bool) {
		format := Text
		if open {
			format = OpenMetrics
		}
		e := NewEncoder(format)
		e.Counter("c", value)
		e.Count([]Label{{"l", value}}, 1)
		lines := strings.Split(strings.TrimSuffix(string(e.Bytes()), "# EOF\n"), "\n")
		if len(lines) != 4 || lines[3] != "" || !strings.HasPrefix(lines[0], "# HELP c ") {
			t.Fatalf("%q are %d lines", lines, len(lines))
		}
		_, rest, _ := strings.Cut(lines[2], `{l="`)
		got, rest := unquote(t, rest)
		if want := strings.ToValidUTF8(value, "\uFFFD"); !sameText(got, want) || rest != `} 1` {
			t.Fatalf("%q comes back as %q, then %q", value, got, rest)
		}
	})
}

// sameText compares texts in which runs of U+FFFD may have different lengths.
func sameText(a, b string) bool {
	squeeze := func(s string) string {
		for strings.Contains(s, "\uFFFD\uFFFD") {
			s = strings.ReplaceAll(s, "\uFFFD\uFFFD", "\uFFFD")
		}
		return s
	}
	return squeeze(a) == squeeze(b)
}

// unquote reads a value up to its quote, as a scraper does.
func unquote(t *testing.T, s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			if i++; i == len(s) {
				t.Fatalf("%q ends in an escape", s)
			}
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case '\\', '"':
				b.WriteByte(s[i])
			default:
				t.Fatalf("%q has the escape %q", s, s[i-1:i+1])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	t.Fatalf("%q has no end", s)
	return "", ""
}
