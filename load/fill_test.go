package load

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

func table(t testing.TB, text string) *Table {
	t.Helper()
	tab, err := ReadTable(strings.NewReader(text), "users.csv")
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// fillBody returns the text of request n of a body.
func fillBody(t testing.TB, body string, o FillOptions) func(n uint64) string {
	t.Helper()
	o.Body = []byte(body)
	f, err := NewFill(o)
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		t.Fatalf("no place in %q", body)
	}
	return func(n uint64) string { return string(f.Body.Append(nil, n)) }
}

func TestFillValues(t *testing.T) {
	f := func(place, pattern string, distinct int) {
		t.Helper()
		text := fillBody(t, "<"+place+">", FillOptions{})
		want := regexp.MustCompile("^<" + pattern + ">$")
		seen := map[string]bool{}
		for n := range uint64(2000) {
			v := text(n)
			if !want.MatchString(v) {
				t.Fatalf("request %d of %s: %q", n, place, v)
			}
			if v != text(n) {
				t.Fatalf("request %d of %s differs from itself", n, place)
			}
			seen[v] = true
		}
		if len(seen) != distinct {
			t.Errorf("%s has %d values in 2,000 requests, want %d", place, len(seen), distinct)
		}
	}
	f("{{uuid}}", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", 2000)
	f("{{ seq }}", "[0-9]+", 2000)
	f("{{int 1 10}}", "([1-9]|10)", 10)
	f("{{int -2 2}}", "(-2|-1|0|1|2)", 5)
	f("{{int 7 7}}", "7", 1)
	f("{{int -9223372036854775808 9223372036854775807}}", "-?[0-9]+", 2000)
	f("{{float 0 0.9}}", `0\.[0-9]`, 10)
	f("{{float -0.10 0.10}}", `-?0\.(0[0-9]|10)`, 21)
	f("{{float 1 2}}", `(1\.[0-9]{6}|2\.000000)`, 1999)
	f("{{hex 1}}", "[0-9a-f]", 16)
	f("{{hex 33}}", "[0-9a-f]{33}", 2000)
	f("{{alnum 1}}", "[0-9A-Za-z]", 62)
	f("{{alnum 31}}", "[0-9A-Za-z]{31}", 2000)
	f("{{pick a|b c||d}}", "(a|b c||d)", 4)
	f("{{pick {{}}", regexp.QuoteMeta("{{"), 1)
}

// TestFillIsTheSameEverywhere holds the values themselves: a run that is made
// again with the same seed sends the same requests.
func TestFillIsTheSameEverywhere(t *testing.T) {
	f := func(seed, n uint64, want string) {
		t.Helper()
		text := fillBody(t, "{{uuid}} {{int 1 1000}} {{int 1 1000}} {{float 0.00 9.99}} {{hex 4}} {{alnum 4}} {{pick a|b|c}} {{seq}}", FillOptions{Seed: seed})
		if got := text(n); got != want {
			t.Errorf("seed %d, request %d: %s, want %s", seed, n, got, want)
		}
	}
	f(0, 0, "2ce809ae-01ca-47d7-b924-ac0fed68cb52 769 1000 5.40 3bf8 RIGr a 0")
	f(0, 1, "5db5f55f-07a3-4351-8399-2c087541db86 130 409 5.16 2980 Mb1Z b 1")
	f(1, 1, "641ba43f-1f93-4606-827a-de833457f693 885 741 8.54 e775 k9P9 c 1")
}

func TestFillSpreadsEvenly(t *testing.T) {
	const requests = 100_000
	f := func(place string, values int) {
		t.Helper()
		text := fillBody(t, place, FillOptions{Seed: 42})
		counts := map[string]int{}
		for n := range uint64(requests) {
			counts[text(n)]++
		}
		if len(counts) != values {
			t.Fatalf("%s has %d values, want %d", place, len(counts), values)
		}
		// Pearson's chi squared; beyond five standard deviations once in millions.
		want, chi2 := float64(requests)/float64(values), 0.0
		for _, c := range counts {
			chi2 += (float64(c) - want) * (float64(c) - want) / want
		}
		if dof := float64(values - 1); math.Abs(chi2-dof) > 5*math.Sqrt(2*dof) {
			t.Errorf("%s: chi squared is %.1f with %d values", place, chi2, values)
		}
	}
	f("{{int 1 100}}", 100)
	f("{{hex 2}}", 256)
	f("{{alnum 1}}", 62)
	f("{{pick a|b|c}}", 3)
	f("{{float 0.0 9.9}}", 100)
}

func TestFillPlacesAreIndependent(t *testing.T) {
	text := fillBody(t, "{{int 0 999}} {{int 0 999}}", FillOptions{})
	same := 0
	for n := range uint64(10_000) {
		a, b, _ := strings.Cut(text(n), " ")
		if a == b {
			same++
		}
	}
	if same > 40 { // 10 are due
		t.Errorf("two places agree in %d of 10,000 requests", same)
	}
}

func TestFillTable(t *testing.T) {
	tab := table(t, "id,user name\n1,ann\n2,\"b, c/d\"\n3,é\n")
	text := fillBody(t, "{{csv.id}}={{ csv.user name }};{{csv.id}}", FillOptions{Table: tab})
	for n, want := range []string{"1=ann;1", "2=b, c/d;2", "3=é;3", "1=ann;1"} {
		if got := text(uint64(n)); got != want {
			t.Errorf("request %d is %q, want %q", n, got, want)
		}
	}
}

func TestFillURL(t *testing.T) {
	tab := table(t, "v\n\"a/b c&d=é?#%\"\n")
	f := func(in, want string) {
		t.Helper()
		f, err := NewFill(FillOptions{URL: in, Table: tab})
		if err != nil {
			t.Fatal(err)
		}
		got := string(f.URL.Append(nil, 7))
		if got != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
		if _, err := url.ParseRequestURI(got); err != nil {
			t.Error(err)
		}
	}
	f("http://h/x/{{seq}}", "http://h/x/7")
	f("http://h?x={{seq}}", "http://h/?x=7")
	f("http://h/{{csv.v}}/x", "http://h/a/b%20c&d=%C3%A9%3F%23%25/x")
	f("http://h/?v={{csv.v}}&w=1", "http://h/?v=a%2Fb%20c%26d%3D%C3%A9%3F%23%25&w=1")
	f("http://h/{{seq}}?v={{pick a b}}#x{{seq}}", "http://h/7?v=a%20b")
	f("http://h/{{seq}}#x", "http://h/7")
	f("http://h/a b/é%2f[]/{{seq}}?q=/a?b", "http://h/a%20b/%C3%A9%2f[]/7?q=/a?b")
	f("https://u:p@h:8/{{pick a?b}}{{seq}}?", "https://u:p@h:8/a%3Fb7?")
}

func TestFillHeader(t *testing.T) {
	f, err := NewFill(FillOptions{Header: http.Header{"X-b": {"1", "n {{seq}}"}, "A": {"{{seq}}"}, "C": {"c"}}, Body: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range f.Header {
		got = append(got, l.Name+": "+string(l.Value.Append(nil, 3)))
	}
	if want := "A: 3, X-b: 1, X-b: n 3"; strings.Join(got, ", ") != want {
		t.Errorf("headers are %q, want %s", got, want)
	}
	if !f.URL.IsZero() || !f.Body.IsZero() {
		t.Error("URL or body is not empty")
	}
}

func TestFillNothing(t *testing.T) {
	f := func(o FillOptions) {
		t.Helper()
		if f, err := NewFill(o); f != nil || err != nil {
			t.Errorf("%+v gives %v, error %v", o, f, err)
		}
	}
	f(FillOptions{})
	f(FillOptions{URL: "http://h/{a}", Header: http.Header{"A": {"}}"}}, Body: []byte(`{"a":{"b":1}}`)})
	f(FillOptions{Body: []byte("{{\xff}}")})
	f(FillOptions{Body: []byte("{{nothing}}\x00")})
}

func TestNewFill_Failure(t *testing.T) {
	tab := table(t, "id,name\n1,ann\n2,\"b\nc\"\n")
	f := func(o FillOptions, want string) {
		t.Helper()
		o.Table = tab
		if f, err := NewFill(o); f != nil || err == nil || err.Error() != want {
			t.Errorf("%+v gives %v, error\n%v, want\n%s", o, f, err, want)
		}
	}
	body := func(s, want string) {
		t.Helper()
		f(FillOptions{Body: []byte(s)}, want)
	}
	const all = "there are uuid, int A B, float A B, hex N, alnum N, seq, pick A|B|C, csv.COLUMN"
	body("{{uid}}", `body line 1: bad variable "{{uid}}": did you mean uuid? `+all)
	body("a\nb {{ }}", `body line 2: bad variable "{{ }}": `+all)
	body("{{pick a\nb}}\n{{x", `body line 3: bad variable "{{x": no }} after it`)
	body("{{now}}", `body line 1: bad variable "{{now}}": `+all)
	body("{{int 1}}", `body line 1: bad variable "{{int 1}}": want {{int A B}}`)
	body("{{uuid 1}}", `body line 1: bad variable "{{uuid 1}}": want {{uuid}}`)
	body("{{pick}}", `body line 1: bad variable "{{pick}}": want {{pick A|B|C}}`)
	body("{{int 2 1}}", `body line 1: bad variable "{{int 2 1}}": want the smaller number first`)
	body("{{int 0 1e3}}", `body line 1: bad variable "{{int 0 1e3}}": want two whole numbers, such as {{int 1 100}}`)
	body("{{float 0 1e3}}", `body line 1: bad variable "{{float 0 1e3}}": want two numbers of at most 18 digits, such as {{float 0.00 1}}`)
	body("{{float 0 9999999999999}}", `body line 1: bad variable "{{float 0 9999999999999}}": want two numbers of at most 18 digits, such as {{float 0.00 1}}`)
	body("{{float --1 1}}", `body line 1: bad variable "{{float --1 1}}": want two numbers of at most 18 digits, such as {{float 0.00 1}}`)
	body("{{float 1.5 1}}", `body line 1: bad variable "{{float 1.5 1}}": want the smaller number first`)
	body("{{hex 0}}", `body line 1: bad variable "{{hex 0}}": want a number of characters from 1 to 65536`)
	body("{{csv.nam}}", `body line 1: bad variable "{{csv.nam}}": users.csv has no column "nam" but id, name`)
	f(FillOptions{URL: "http://{{seq}}/"}, `URL: bad variable "{{seq}}/": a host has none; put a / before it`)
	f(FillOptions{URL: "http://h{{seq}}"}, `URL: bad variable "{{seq}}": a host has none; put a / before it`)
	f(FillOptions{URL: "http://h/%zz{{seq}}"}, `bad URL "http://h/%zz0": invalid URL escape "%zz"`)
	f(FillOptions{Header: http.Header{"A": {"{{x}}"}}}, `header A: bad variable "{{x}}": `+all)
	f(FillOptions{Header: http.Header{"A": {"{{pick a|b\r\nHost: c}}"}}}, `header A: bad variable "{{pick a|b\r\nHost: c}}": it holds a control character, which a header must not`)
	f(FillOptions{Header: http.Header{"A": {"{{csv.name}}"}}}, `header A: bad variable "{{csv.name}}": row 2 of users.csv holds a control character, which a header must not`)

	_, err := NewFill(FillOptions{Body: []byte("{{csv.id}}")})
	if want := `body line 1: bad variable "{{csv.id}}": there is no CSV file`; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestTargetName(t *testing.T) {
	f := func(u, want string) {
		t.Helper()
		fill, err := NewFill(FillOptions{URL: u, Table: table(t, "id,a b\n1,2\n")})
		if err != nil {
			t.Fatal(err)
		}
		if got := (Target{Method: "GET", URL: u, Fill: fill}).Name(); got != want {
			t.Errorf("%s is named %s, want %s", u, got, want)
		}
	}
	f("http://h/", "GET /")
	f("http://h", "GET /")
	f("http://h/a b?c", "GET /a%20b")
	f("http://h/users/{{int 1 100}}/x-{{ uuid }}?q={{seq}}", "GET /users/:int/x-:uuid")
	f("http://h/{{csv.id}}/{{csv.a b}}/{{pick a?b|c#d}}", "GET /:id/:a%20b/:pick")
	f("http://h?q={{seq}}", "GET /")
}

func TestReadTable_Failure(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if tab, err := ReadTable(strings.NewReader(text), "t.csv"); tab != nil || err == nil || err.Error() != want {
			t.Errorf("%q gives %v, error %v, want %s", text[:min(len(text), 30)], tab, err, want)
		}
	}
	f("", "t.csv:1: no header: want a row with the names of the columns")
	f("a,b\n", "t.csv: no row after the header")
	f("a,,b\n1,2,3\n", "t.csv:1: bad header: column 2 has no name")
	f("\na,b, a\n1,2,3\n", `t.csv:2: bad header: two columns "a"`)
	f("a,b\n1,2\n3\n", "t.csv:3: 1 cells in the row, 2 in the header")
	f("a\n1\n\"2\n", `t.csv:3: bad CSV: extraneous or missing " in quoted-field`)

	small := func(text, want string) {
		t.Helper()
		if tab, err := readTable(strings.NewReader(text), "t.csv", 1<<20); tab != nil || err == nil || err.Error() != want {
			t.Errorf("%q gives %v, error %v, want %s", text[:30], tab, err, want)
		}
	}
	small("a\n"+strings.Repeat("1\n", 300_000), "t.csv:209717: the table takes more than 1 MiB")
	small("a\n\""+strings.Repeat("1", 1<<20), "t.csv: larger than 1 MiB")
}

func TestReadTable(t *testing.T) {
	tab := table(t, "\ufeff\"id\", name \r\n1,\"a\n\"\"b\"\"\"\r\n\r\n2,\r\n")
	if fmt.Sprint(tab.columns) != "[id name]" || tab.rows != 2 {
		t.Fatalf("columns %q, %d rows", tab.columns, tab.rows)
	}
	got := []string{tab.cell(0, 0), tab.cell(0, 1), tab.cell(1, 0), tab.cell(1, 1)}
	if want := []string{"1", "a\n\"b\"", "2", ""}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("cells are %q, want %q", got, want)
	}
}

func FuzzFill(f *testing.F) {
	f.Add("http://h/{{int 1 9}}?x={{uuid}}#f", "n {{seq}}", "{{float -0.5 9}} {{hex 3}} {{alnum 4}} {{pick a|b}} {{csv.id}}", uint64(7))
	f.Add("http://h{{", "{{csv.name}}", "{{pick {{}}}}", uint64(0))
	f.Add("h/{{csv.name}}", "\r\n{{", "{{int -9223372036854775808 9223372036854775807}}", uint64(math.MaxUint64))
	tab := table(f, "id,name\n1,\"a/b?\"\n2,\"é #&\"\n")
	f.Fuzz(func(t *testing.T, u, header, body string, n uint64) {
		if !httpguts.ValidHeaderFieldValue(header) {
			return
		}
		fill, err := NewFill(FillOptions{URL: u, Header: http.Header{"A": {header}}, Body: []byte(body), Seed: n >> 3, Table: tab})
		if err != nil && fill != nil {
			t.Fatal("both a result and an error")
		}
		if fill == nil {
			return
		}
		if text := fill.URL.Append(nil, n); len(text) > 0 {
			got, err := url.ParseRequestURI(string(text))
			if err != nil {
				t.Fatalf("URL %q gives %q: %v", u, text, err)
			}
			if got.EscapedPath() != "" && !strings.Contains(string(text), got.EscapedPath()) {
				t.Fatalf("URL %q gives %q, whose path would be sent as %q", u, text, got.EscapedPath())
			}
			if strings.Contains(u, "://") && !strings.HasPrefix(string(text), u[:authorityEnd(u)]) {
				t.Fatalf("URL %q gives %q: another host", u, text)
			}
		}
		for _, l := range fill.Header {
			if v := l.Value.Append(nil, n); !httpguts.ValidHeaderFieldValue(string(v)) {
				t.Fatalf("header %q gives %q", header, v)
			}
		}
		a, b := fill.Body.Append(nil, n), fill.Body.Append([]byte("x"), n)
		if "x"+string(a) != string(b) {
			t.Fatalf("body %q gives %q and %q", body, a, b)
		}
		_ = Target{URL: u, Fill: fill}.Name()
	})
}

func FuzzReadTable(f *testing.F) {
	f.Add("id,name\n1,\"a\nb\"\n")
	f.Add("\ufeffa;b\r\n\"\"\"\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		tab, err := ReadTable(strings.NewReader(text), "f")
		if err != nil {
			if tab != nil || !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("%v, error %v", tab, err)
			}
			return
		}
		if cells := tab.rows * uint64(len(tab.columns)); cells == 0 || cells != uint64(len(tab.ends)) || len(tab.cells) > len(text) {
			t.Fatalf("%d rows of %d columns, %d cells", tab.rows, len(tab.columns), len(tab.ends))
		}
		tab.cell(tab.rows-1, len(tab.columns)-1)
	})
}

func BenchmarkFill(b *testing.B) {
	tab := table(b, "id,name\n1,ann\n2,ben\n3,cleo\n")
	for _, place := range []string{"{{uuid}}", "{{seq}}", "{{int 1 100}}", "{{float 0.00 99.99}}", "{{hex 16}}", "{{alnum 12}}", "{{pick a|b|c}}", "{{csv.name}}"} {
		b.Run("place="+strings.Trim(strings.Fields(place)[0], "{}"), func(b *testing.B) {
			f, err := NewFill(FillOptions{URL: "http://127.0.0.1/users/" + place, Table: tab})
			if err != nil {
				b.Fatal(err)
			}
			var buf []byte
			b.ReportAllocs()
			for n := uint64(0); b.Loop(); n++ {
				buf = f.URL.Append(buf[:0], n)
			}
		})
	}
	b.Run("place=none", func(b *testing.B) {
		var buf []byte
		for n := uint64(0); b.Loop(); n++ {
			buf = append(buf[:0], "http://127.0.0.1/users/"...)
			buf = strconv.AppendUint(buf, n, 10)
		}
	})
}
