package secret

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAppend(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := string(Append(nil, []byte(in))); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
		if ref := reference(in); ref != want {
			t.Errorf("%q: the reference has\n     %q\nwant %q", in, ref, want)
		}
	}
	f("", "")
	f("plain: text = 1, user@example.com", "plain: text = 1, user@example.com")
	// A client could end an analysis with these: the mask cut back its own output.
	f("a:token=AAAAAAAAAAAAAAAAAAAA&b@c", "a:***@c")
	f("token=a:b&c@d", "token=***&c@d")
	f("x:password: 'a b c d e f'@y", "x:password: '***'***")
	f("a:b@c/d@e", "a:***@e")
	f("a:cookie=x@y z w", "a:cookie=***")
	f(`password="a""b" c`, `password="***" c`)
	f(`password="a"b c`, `password="***"*** c`)
	f(`password="a`, `password="***`)
	f(`{"m":"{\"password\":\"a b\",\"u\":\"c\"}"}`, `{"m":"{\"password\":\"***\",\"u\":\"c\"}"}`)
	f("IDENTIFIED WITH mysql_native_password AS '*0123'", "IDENTIFIED WITH mysql_native_password AS '***'")
	f("IDENTIFIED BY PASSWORD '*0123'", "IDENTIFIED BY PASSWORD '***'")
	f("IDENTIFIED BY hunter2", "IDENTIFIED BY ***")
	f("SET PASSWORD = PASSWORD('x')", "SET PASSWORD = PASSWORD('***')")
	f("a:@b", "a:@b")
	f("redis://:x@h", "redis://:***@h")
	f("'secret' => 'x'", "'secret' => '***'")
	f("password=***&a", "password=***&a")
	f("using password: YES)", "using password: YES)")
	f("12:13:14 a@b", "12:13:14 a@b")
}

// Whatever the text: no panic, the same as the simple mask, and masked again the same.
func checkText(t interface {
	Fatalf(string, ...any)
	Helper()
}, in string) {
	t.Helper()
	got, steps := appendMasked([]byte("x"), []byte(in))
	if want := "x" + reference(in); string(got) != want {
		t.Fatalf("%q became\n%q, the reference has\n%q", in, got, want)
	}
	if again := Append(nil, got[1:]); !bytes.Equal(again, got[1:]) {
		t.Fatalf("%q became\n%q, and again\n%q", in, got[1:], again)
	}
	if most := mostSteps(len(in)); steps > most {
		t.Fatalf("%d steps for %d bytes, want at most %d: %q", steps, len(in), most, in)
	}
}

// mostSteps is how many bytes may be looked at: each when it is passed, and when a
// word is looked through, as part of a name's surroundings by up to mostWords names.
func mostSteps(n int) int { return 2*(mostWords+2)*n + 64 }

func TestAppendReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkText(t, rapid.OneOf(rapid.Custom(aText), rapid.Custom(aSoup)).Draw(t, "text"))
	})
}

// A secret of the grammar is never in what is kept, and what stands around it is.
func TestAppendPlanted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(places).Draw(t, "place")
		before := rapid.SampledFrom([]string{"", "12:00:01 ", "msg=", "<a@b> ", "{\"n\":1}\n"}).Draw(t, "before")
		in := before + fmt.Sprintf(p.format, aSecret(t, p.not)) + "\nlast = 1"
		got := string(Append(nil, []byte(in)))
		if strings.Contains(got, "Zq9") || strings.Contains(got, "q9Z") || !strings.Contains(got, Masked) {
			t.Fatalf("%q became %q", in, got)
		}
		if !strings.HasSuffix(got, "\nlast = 1") || !strings.HasPrefix(got, before) {
			t.Fatalf("more than the secret is gone: %q became %q", in, got)
		}
	})
}

// Text without a name of a secret and without @ stays as it is.
func TestAppendUnchanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := strings.ReplaceAll(rapid.String().Draw(t, "text"), "@", "")
		for _, n := range names() {
			if strings.Contains(strings.ToLower(in), n.text) {
				t.Skip()
			}
		}
		if got := string(Append(nil, []byte(in))); got != in {
			t.Fatalf("%q became %q", in, got)
		}
	})
}

// Ten times the text takes ten times the steps, also where the text is made to take more.
func TestAppendLinear(t *testing.T) {
	for _, piece := range []string{
		"a", ":", "@", "a:", "a:b@", "a@", "://", "a:b://", "password", "password ", "password=", "password:\"", `password="a" `, "identified a ", "identified by ",
		"cookie", "cookie:", "token=a&", "token=a:b@", "\\", `password\`, `"`, "'", `password=\"`, "bearer ", "  ", "=:",
	} {
		for _, start := range []string{"", "a:", "password", `password="`, `password=\"`, "cookie:", "@"} {
			for _, end := range []string{"", "@", "\"", "\n"} {
				steps := func(n int) int {
					_, steps := appendMasked(nil, []byte(start+strings.Repeat(piece, n)+end))
					return steps
				}
				if one, ten := steps(200), steps(2000); ten > 11*one+1000 {
					t.Errorf("%q, %q, %q: %d steps, ten times the text %d", start, piece, end, one, ten)
				}
			}
		}
	}
}

func TestAppendAllocs(t *testing.T) {
	dst := make([]byte, 0, 4096)
	for _, in := range []string{"GET /a/b?c=d HTTP/1.1 200 12:13:14", "a:token=AAAA&b@c", `{"password":"x y"}`} {
		text := []byte(in)
		if n := testing.AllocsPerRun(100, func() { Append(dst, text) }); n != 0 {
			t.Errorf("%q: %v allocations", in, n)
		}
	}
}

func FuzzAppend(f *testing.F) {
	for _, p := range places {
		f.Add(fmt.Sprintf(p.format, "Zq9q9Z"))
	}
	for _, p := range pieces {
		f.Add(p + "=a:b@c")
	}
	f.Fuzz(func(t *testing.T, in string) {
		if len(in) < 512 { // the reference is slow
			checkText(t, in)
		}
	})
}

// FuzzAppendGrammar drives the generators of texts, so that the fuzzer changes what a
// text is made of, not its bytes.
func FuzzAppendGrammar(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		some := rapid.OneOf(rapid.Custom(aText), rapid.Custom(aSoup))
		checkText(t, strings.Join(rapid.SliceOfN(some, 1, 4).Draw(t, "texts"), ""))
	}))
}
