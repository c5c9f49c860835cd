package patterns

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// slowFirst is First by Go's regexp, one expression after another.
func slowFirst(t testing.TB, exprs []string, b []byte) int {
	t.Helper()
	for i, e := range exprs {
		if regexp.MustCompile(e).Match(b) {
			return i
		}
	}
	return -1
}

func mustCompile(t testing.TB, exprs ...string) *Set {
	t.Helper()
	s, err := Compile(exprs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFirst(t *testing.T) {
	f := func(text string, want int, exprs ...string) {
		t.Helper()
		m := mustCompile(t, exprs...).Matcher()
		for range 2 { // made, then from the table
			if got := m.First([]byte(text)); got != want {
				t.Errorf("First(%q) of %q = %d, want %d", text, exprs, got, want)
			}
		}
		if want := slowFirst(t, exprs, []byte(text)); m.First([]byte(text)) != want {
			t.Errorf("regexp says %d", want)
		}
	}
	f("", -1)
	f("abc", -1)
	f("", 0, "")
	f("", 0, "^$")
	f("x", -1, "^$")
	f("GET /images/1.png HTTP/1.1", 1, "^POST ", "^(GET|HEAD) /images/", "/images/")
	f("GET /images/1.png HTTP/1.1", 0, "/images/", "^(GET|HEAD) /images/")
	f("GET /a HTTP/1.1", 0, `HTTP/1\.1$`, "^GET") // the later one is known first
	f("GET /a HTTP/1.0", 1, `HTTP/1\.1$`, "^GET")
	f("/memo/12 HTTP", 0, `/memo/[0-9]+\b`)
	f("/memo/12a HTTP", -1, `/memo/[0-9]+\b`)
	f("/memo/12", 0, `/memo/[0-9]+\b`)
	f("a\nb", 0, `(?m)^b$`)
	f("a\nb", -1, `^b$`)
	f("a\nb", -1, `a$`)
	f("a\nb", 0, `(?m)a$`)
	f("ab", 0, `a\Bb`)
	f("ab", -1, `a\bb`)
	f("K", 0, "(?i)\u212a") // the sign of kelvin folds to k
	f("\u017f", 0, "(?i)s")
	f("日本", 0, "^..$")
	f("\xe6\x97", 0, "^..$") // two bytes that are no UTF-8 are two characters
	f("\xe6\x97", 0, "^\ufffd+$")
	f("日", 0, `\p{Han}`)
	f("日", -1, `[^\x{65e5}]`)
	f("\x00", 0, "^[^a]$")
	f("aaab", 0, "a{3}b")
	f("aab", -1, "a{3}b")
	f("x", -1, `[^\x00-\x{10FFFF}]`) // matches nothing
	f("ab", 0, `(?:$^|ab)`)
	f("", 0, `$^`)
	f("\n", 0, `(?m)$^`)
}

func TestCompile_Failure(t *testing.T) {
	_, err := Compile([]string{"a", "(b"})
	if err == nil || !strings.Contains(err.Error(), `read regular expression 2, "(b"`) {
		t.Errorf("error %v", err)
	}
}

// TestForget: texts that need more states than a Matcher keeps get the same
// answers, and the table stays bounded.
func TestForget(t *testing.T) {
	expr := `(a|b)*a(a|b){18}$`
	m, slow := mustCompile(t, expr).Matcher(), regexp.MustCompile(expr)
	seed, largest := uint32(1), 0
	for range 40 {
		text := make([]byte, 2000)
		for i := range text {
			seed = seed*1664525 + 1013904223
			text[i] = 'a' + byte(seed>>31)
		}
		if got, want := m.First(text) == 0, slow.Match(text); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		largest = max(largest, len(m.next))
	}
	if largest > maxTable || cap(m.pool) > 2*maxTable {
		t.Errorf("table of %d entries, %d places", largest, cap(m.pool))
	}
}

// TestOneSetManyMatchers: a Set may be shared.
func TestOneSetManyMatchers(t *testing.T) {
	set := mustCompile(t, bundles...)
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			m := set.Matcher()
			for _, r := range requests {
				if got, want := m.First([]byte(r)), slowFirst(t, bundles, []byte(r)); got != want {
					t.Errorf("%q: %d, want %d", r, got, want)
				}
			}
		})
	}
}

// bits of expressions and texts that meet each other often.
var (
	atoms = []string{"a", "b", "ab", ".", `[^a]`, `[a-c]`, `\d`, `\w`, `\W`, `\s`, `\b`, `\B`, "^", "$", `\A`, `\z`, "(?m:^)", "(?m:$)",
		"(?s:.)", "(?i:k)", "(?i:é)", "日", `\x{fffd}`, `[^\x00-\x7f]`, `\pL`, "0", "/", `\n`, "_", ""}
	pieces = []string{"a", "b", "c", "0", "/", "\n", "_", " ", "K", "k", "\u212a", "é", "É", "日", "\xe6\x97", "\xff", "\ufffd", "\x00", "ab"}
)

func genExpr(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if depth == 0 {
			return rapid.SampledFrom(atoms).Draw(t, "atom")
		}
		sub := func() string { return genExpr(depth-1).Draw(t, "sub") }
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return sub() + sub()
		case 1:
			return "(" + sub() + "|" + sub() + ")"
		case 2:
			return "(?:" + sub() + ")" + rapid.SampledFrom([]string{"*", "+", "?", "*?", "{2}", "{1,3}"}).Draw(t, "times")
		case 3:
			return sub() + sub() + sub()
		default:
			return rapid.SampledFrom(atoms).Draw(t, "atom")
		}
	})
}

// TestFirst_Equivalence: the answers are those of Go's regexp.
func TestFirst_Equivalence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exprs := rapid.SliceOfN(genExpr(3), 1, 4).Draw(t, "exprs")
		set, err := Compile(exprs)
		if err != nil {
			t.Fatal(err)
		}
		var slow []*regexp.Regexp
		for _, e := range exprs {
			slow = append(slow, regexp.MustCompile(e))
		}
		m := set.Matcher()
		for range 8 {
			text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "text"), ""))
			want := -1
			for i, re := range slow {
				if re.Match(text) {
					want = i
					break
				}
			}
			if got := m.First(text); got != want {
				t.Fatalf("First(%q) of %q = %d, want %d", text, exprs, got, want)
			}
		}
	})
}
