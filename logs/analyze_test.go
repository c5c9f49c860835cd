package logs

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/lines"
)

func TestAppendSafe(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := string(AppendSafe(nil, []byte(in), 61)); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
	f("", "")
	f("plain: text = 1, user@example.com", "plain: text = 1, user@example.com")
	f("\x1b[31;1mError\x1b[0m\x07 a\tb\x00c\x1b", "Error a bc")
	f("\x1b[31", "")
	f("a\xffb\u202ec", "a\uFFFDbc")
	f(strings.Repeat("é", 50), strings.Repeat("é", 31)+"…")
	f("password=hunter2 x", "password=*** x")
	f(`{"Password":"a\"b","user":"c"}`, `{"Password":"***","user":"c"}`)
	f("DB_PASSWORD: 'x y', next", "DB_PASSWORD: '***', next")
	f("Authorization: Bearer abc.def", "Authorization: ***")
	f(`"authorization":"Basic YTpi"}`, `"authorization":"***"}`)
	f("Cookie: a=1; b=2", "Cookie: ***")
	f("?token=abc&x=1", "?token=***&x=1")
	f("secret", "secret")
	f("the password is wrong", "the password is wrong")
	f("tokens: 5", "tokens: 5")
	f("dsn user:pa:ss@w@tcp(127.0.0.1:3306)/db", "dsn user:***@tcp(127.0.0.1:3306)/db")
	f("mysql://root:geheim@host:3306/x", "mysql://root:***@host:3306/x")
	f("CREATE USER a IDENTIFIED BY 'x'", "CREATE USER a IDENTIFIED BY '***'")
	f("got bearer eyJhbGci.abc, no use", "got bearer ***, no use")
	f("bearers=5 forbearer", "bearers=5 forbearer")
	f("Error 1062: Duplicate entry 'taro@example.com' for key 'mail'", "Error 1062: Duplicate entry '***' for key 'mail'")
	f("Access denied for user 'a'@'localhost' (using password: YES)", "Access denied for user 'a'@'localhost' (using password: YES)")
}

func TestPlace(t *testing.T) {
	run := kasoku.Interval{From: 0, To: 10 * time.Second}
	f := func(start, length, want time.Duration, inside bool) {
		t.Helper()
		if at, in := Place(run, start, length); at != want || in != inside {
			t.Errorf("%v + %v: at %v, %v; want %v, %v", start, length, at, in, want, inside)
		}
	}
	f(time.Second, 0, time.Second, true)
	f(0, 0, 0, true)
	f(-time.Millisecond, 0, 0, false)
	f(-400*time.Millisecond, time.Second, 0, true)
	f(-time.Second, time.Second, 0, false)
	f(10*time.Second, time.Second, 0, false)
	f(10*time.Second-1, 0, 10*time.Second-1, true)
	if at, in := Place(kasoku.Interval{}, -time.Hour, 0); at != 0 || !in {
		t.Errorf("without an interval: %v, %v", at, in)
	}
}

func TestAccount(t *testing.T) {
	var a, b Account
	a.Lines, a.Records, a.Cut = 3, 2, 1
	a.Drop(1, 3, []byte("rubbish password=x"), "no format")
	b.Lines = 8
	for i := range 8 {
		b.Drop(1, int64(i), nil, "empty")
	}
	a.Add(&b)
	w := a.Window("accesslog", "ltsv", lines.NewReader(strings.NewReader(""), 0), "2 entries outside the run", "")
	if w.Lines != w.Records+w.Dropped || w.Dropped != 9 || len(w.BadSample) != MaxBad {
		t.Errorf("window %+v", w)
	}
	if w.BadSample[0].Text != "rubbish password=***" {
		t.Errorf("sample %+v", w.BadSample[0])
	}
	if want := "2 entries outside the run; 1 line longer than 1.0 MiB was cut"; w.Note != want {
		t.Errorf("note %q, want %q", w.Note, want)
	}
}

func FuzzAppendSafe(f *testing.F) {
	for _, s := range []string{"password=a", "a:b@c", "\x1b[31mx", "authorization", "identified by 'x", "é\xff\u202e", `secret:"\`} {
		f.Add([]byte(s), 20)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit = min(max(limit, 1), 1000)
		keep := bytes.Clone(in)
		got := AppendSafe([]byte("x"), in, limit)
		if len(got) > 1+limit+6 || !utf8.Valid(got[1:]) || got[0] != 'x' {
			t.Fatalf("%q: %q", in, got)
		}
		if bytes.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Fatalf("%q: control bytes in %q", in, got)
		}
		if !bytes.Equal(keep, in) {
			t.Fatalf("%q became %q", keep, in)
		}
		AppendWithoutEscapes(nil, in)
	})
}
