package patterns

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// logFormats are expressions for whole lines of logs.
var logFormats = []string{
	`^([^ ]+) ([^ ]+) ([^ ]+) \[([^\]]+)\] "((?:\\"|[^"])*)" (\d+) (\d+|-) "((?:\\"|[^"])*)" "((?:\\"|[^"])*)" ([0-9.]+)$`,
	`^\[([^\]]+)\] "((?:\\"|[^"])*)" (\d+) ([^ ]+) (\d+|-) (\d+|-) (\d+) (\d+) "((?:\\"|[^"])*)"`,
	`^([^ ]+) ([^ ]+) ([^ ]+) \[([^\]]+)\] "((?:\\"|[^"])*)" (\d+) (\d+|-) ([0-9.]+)$`,
	`^(\S+) (.*?) \[(.+?)\] "([^"]*)" (?:(\d+)|-)(?:\s(?P<time>\S+))?$`,
	`status:(\d+)`,
}

var logLines = []string{
	`192.168.0.12 - - [21/Aug/2021:10:00:00 +0900] "GET /api/isu/bdb2a3f0-c90a-4610-b7f5-f4e31fecf12d/icon HTTP/1.1" 304 0 "-" "isucandar" 0.021`,
	`10.160.3.77 - - [21/Aug/2021:10:00:00 +0900] "GET /a\"b\\ HTTP/1.1" 201 - "-" "x \"y\" z" 0.050`,
	`10.160.3.77 - - [21/Aug/2021:10:00:00 +0900] "GET /a\" 201 - "-" "x" 0.050`,
	`[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0" "locations" "tcp://10.0.2.1:80"`,
	`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /logo.gif HTTP/1.0" 200 2326 0.0012`,
	`h - 日本 [x] "GET /" - 0.1`,
	"h - - [x] \"GET /\xff\" 200",
	`time:x	status:200	uri:/`,
	``,
}

func checkFind(t testing.TB, f *Finder, b []byte) {
	t.Helper()
	want := f.re.FindSubmatchIndex(b)
	got := f.Find(nil, b)
	if !slices.Equal(got, want) || (got == nil) != (want == nil) {
		t.Fatalf("Find(%q) of %q\ngot  %v\nwant %v", b, f.re, got, want)
	}
}

func TestFind(t *testing.T) {
	for _, expr := range logFormats {
		f, err := CompileFinder(expr)
		if err != nil {
			t.Fatal(err)
		}
		if f.steps == nil && expr[0] == '^' {
			t.Errorf("%s is left to regexp", expr)
		}
		for _, line := range logLines {
			checkFind(t, f, []byte(line))
		}
	}
}

// TestCompileFinder_Backtracking: expressions in which a way that failed may fit
// after going back are left to regexp.
func TestCompileFinder_Backtracking(t *testing.T) {
	for _, expr := range []string{`(?:(?:a|ab)c|abcd)`, `(?:a*ab|aab)`, `(a*)*`, `(?:(a)|b)+`, `a\b`, `(?i)abc`, `[^日]`, "\ufffd", `(a*?)(b)?`, `(?m)a$`} {
		f, err := CompileFinder(expr)
		if err != nil {
			t.Fatal(err)
		}
		if f.steps != nil {
			t.Errorf("%s is followed without going back", expr)
		}
		checkFind(t, f, []byte("aabcd"))
	}
	if _, err := CompileFinder("("); err == nil || !strings.Contains(err.Error(), `read regular expression "("`) {
		t.Errorf("error %v", err)
	}
}

// bits of expressions for whole lines.
var findAtoms = []string{"a", "b", "ab", `[^a]`, `[^"]`, `\d`, `\S`, `\s`, "^", "$", ".", "(?s:.)", `(?:\\"|[^"])*`, `"`, `[^ ]+`, `(\d+|-)`,
	`(?:a|b[^a])`, `(?:a+b)?`, `(?:[^a]+a)*`, `(a)?`, `(?:(a)b|ac)`, "日", `.*?`, `.+?`, `[0-9.]+`, ""}

func genFindExpr() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		if rapid.Bool().Draw(t, "anchored") {
			b.WriteString("^")
		}
		for range rapid.IntRange(1, 5).Draw(t, "parts") {
			part := genPart(2).Draw(t, "part")
			if rapid.Bool().Draw(t, "group") {
				part = "(" + part + ")"
			}
			b.WriteString(part)
		}
		return b.String()
	})
}

func genPart(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		sub := func() string {
			if depth == 0 {
				return rapid.SampledFrom(findAtoms).Draw(t, "atom")
			}
			return genPart(depth-1).Draw(t, "sub")
		}
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return "(?:" + sub() + "|" + sub() + ")"
		case 1:
			return "(?:" + sub() + sub() + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2}"}).Draw(t, "times")
		case 2:
			return sub() + sub()
		case 3:
			return "(" + sub() + ")"
		}
		return rapid.SampledFrom(findAtoms).Draw(t, "atom")
	})
}

// TestFind_Equivalence: the offsets are those of Go's regexp.
func TestFind_Equivalence(t *testing.T) {
	texts := append([]string{`"`, `\"`, `\`, "-", "1", ".", "ba", "aab"}, pieces...)
	rapid.Check(t, func(t *rapid.T) {
		f, err := CompileFinder(genFindExpr().Draw(t, "expr"))
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(texts), 0, 8).Draw(t, "text"), "")
			want := f.re.FindSubmatchIndex([]byte(text))
			if got := f.Find(nil, []byte(text)); !slices.Equal(got, want) {
				t.Fatalf("Find(%q) of %q\ngot  %v\nwant %v", text, f.re, got, want)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	f, err := CompileFinder(logFormats[0])
	if err != nil {
		b.Fatal(err)
	}
	line := []byte(logLines[0])
	b.Run("steps", func(b *testing.B) {
		b.SetBytes(int64(len(line)))
		b.ReportAllocs()
		var marks []int
		for b.Loop() {
			marks = f.Find(marks, line)
		}
	})
	b.Run("regexp", func(b *testing.B) {
		re := regexp.MustCompile(logFormats[0])
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			re.FindSubmatchIndex(line)
		}
	})
}
