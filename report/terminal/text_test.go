package terminal

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/recording"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                              "plain",
		"\x1b[31mred\x1b[0m":                 "red",
		"\x1b]0;title\x07after":              "after",
		"\x1b]8;;http://x\x1b\\link":         "link",
		"\x1b(Bcharset":                      "Bcharset",
		"\x1b[":                              "",
		"a\tb\r\nc":                          "a b  c",
		"bell\x07 null\x00 del\x7f":          "bell null del",
		"c1 \u009b31m":                       "c1 31m",
		"turn \u202eabc\u202c \u2066x\u2069": "turn abc x",
		"\u2764\ufe0f 1\ufe0f\u20e3 \U0001F1EF\U0001F1F5": "\u2764 1 JP",
		"bad \xff utf8": "bad \uFFFD utf8",
		"山田太郎":          "山田太郎",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) is %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, m := range sample.Before().Messages {
		f.Add(m.Sample)
	}
	f.Add("\x1b[38;5;196m\x1b]0;x\x07\u202e\x9b\xff\x1b")
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) || len(got) > 3*len(s) {
			t.Fatalf("clean(%q) is %q", s, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("clean(%q) lets %q through", s, r)
			}
		}
		if again := clean(got); again != got {
			t.Fatalf("clean(%q) is %q, and that cleaned %q", s, got, again)
		}
	})
}

func TestCutMiddle(t *testing.T) {
	f := func(s string, n int, want string) {
		t.Helper()
		if got := cutMiddle(s, n, "…"); got != want || width(got) > n {
			t.Errorf("cutMiddle(%q, %d) is %q, want %q", s, n, got, want)
		}
	}
	f("short", 5, "short")
	f("Get: connection refused", 13, "Get:… refused")
	f("a long text", 6, "a lon…") // no room for two ends
	f("山田太郎山田太郎", 10, "山… 田太郎")   // half of a character is a space
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("ab 山%\u0301→"))).Draw(t, "text")
		n := rapid.IntRange(0, 60).Draw(t, "width")
		if got := cutMiddle(s, n, "…"); width(got) > n {
			t.Fatalf("%q of %q is %d wide, want %d at most", got, s, width(got), n)
		}
	})
}

func TestCutAndWrap(t *testing.T) {
	for _, x := range []struct {
		s    string
		n    int
		want string
	}{
		{"short", 10, "short"}, {"a long text", 6, "a lon…"}, {"a b c", 4, "a b…"}, {"山田太郎", 5, "山田…"}, {"山田太郎", 4, "山…"}, {"abc", 0, ""}, {"abc", 1, "a"},
	} {
		if got := cut(x.s, x.n, "…"); got != x.want || width(got) > x.n {
			t.Errorf("cut(%q, %d) is %q, want %q", x.s, x.n, got, x.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("ab 山%\u0301→"))).Draw(t, "text")
		n := rapid.IntRange(8, 60).Draw(t, "width")
		lines := wrap(s, n)
		for _, l := range lines {
			if width(l) > n {
				t.Fatalf("line %q of %q is %d wide, want %d at most", l, s, width(l), n)
			}
		}
		if got, want := strings.Join(strings.Fields(strings.Join(lines, "")), ""), strings.Join(strings.Fields(s), ""); got != want {
			t.Fatalf("wrapping %q gave %q", s, lines)
		}
	})
}

// TestSaidCode: code that is wider than the line is not broken where a line of the terminal
// ends: it would not hold when it is pasted.
func TestSaidCode(t *testing.T) {
	f := func(s string, want ...string) {
		t.Helper()
		var out bytes.Buffer
		p := &sheet{w: bufio.NewWriter(&out), o: Options{Width: 30}}
		p.said("hint:", dim, s, dim)
		if err := p.w.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"); !slices.Equal(got, want) {
			t.Errorf("%s:\n%q\nwant\n%q", s, got, want)
		}
	}
	f("in nginx.conf: `log_format kasoku \"time:$msec\";`, and `access_log x kasoku;` where it is",
		"hint: in nginx.conf:", `      log_format kasoku "time:$msec";`, "      and `access_log x", "      kasoku;` where it is")
	f("`a` and `b", "hint: `a` and `b")
	f("see `"+strings.Repeat("x", 2001)+"`", append([]string{"hint: see"}, func() (lines []string) {
		for l := range slices.Chunk([]byte("`"+strings.Repeat("x", 2001)+"`"), 24) {
			lines = append(lines, "      "+string(l))
		}
		return lines
	}()...)...)
}

// No line but code that is there to be pasted is wider than the terminal, whatever
// its width.
func TestNothingIsWiderThanTheTerminal(t *testing.T) {
	docs := map[string]*report.Document{
		"show": recording.Show(sample.Before(), options()), "stopped": recording.Show(sample.Stopped(), options()), "long": recording.Show(sample.Long(), options()),
		"command": recording.Show(sample.Command(), options()), "compare": compared(t), "empty": recording.Show(&kasoku.Recording{}, options()),
	}
	code := []string{"testuser:…@tcp", "# + 149", "SET GLOBAL", "db.Set", "sql.Open"}
	for name, d := range docs {
		for n := leastWidth; n <= 160; n += 7 {
			for _, o := range []Options{{Width: n}, {Width: n, Brief: true}, {Width: n, ASCII: true}} {
				for _, l := range strings.Split(write(t, d, o), "\n") {
					isCode := false
					for _, c := range code {
						isCode = isCode || strings.Contains(l, c)
					}
					if width(l) > n && !isCode {
						t.Errorf("%s at %d cells, %+v: %q is %d wide", name, n, o, l, width(l))
					}
				}
			}
		}
	}
}

func TestASCII(t *testing.T) {
	out := write(t, recording.Show(sample.Quiet(), options()), Options{ASCII: true})
	for _, r := range out {
		if r > 0x7e {
			t.Errorf("%q is not ASCII in\n%s", r, out)
			break
		}
	}
}

func TestColourOnlyWhenAsked(t *testing.T) {
	d := recording.Show(sample.Before(), options())
	if s := write(t, d, Options{}); strings.Contains(s, "\x1b") {
		t.Error("escape sequences without colour")
	}
	s := write(t, d, Options{Color: true})
	for _, part := range strings.Split(s, "\x1b[")[1:] {
		sgr, _, _ := strings.Cut(part, "m")
		if !strings.Contains(" 0 1 2 31 32 33 35 36 ", " "+sgr+" ") {
			t.Errorf("SGR %q is not one of the ANSI colours in use", sgr)
		}
	}
}
