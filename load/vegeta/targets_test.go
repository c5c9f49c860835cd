package vegeta

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kasoku/kasoku/load"
	"pgregory.net/rapid"
)

func target(method, url, body string, header ...string) load.Target {
	t := load.Target{Method: method, URL: url, Header: http.Header{}}
	if body != "" {
		t.Body = []byte(body)
	}
	for i := 0; i < len(header); i += 2 {
		t.Header[header[i]] = append(t.Header[header[i]], header[i+1])
	}
	return t
}

func TestReadTargets_Success(t *testing.T) {
	f := func(in string, o TargetOptions, want ...load.Target) {
		t.Helper()
		got, err := ReadTargets(strings.NewReader(in), o)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%q gives\n%+v\nwant\n%+v", in, got, want)
		}
	}
	a, b := target("GET", "http://h/a", ""), target("POST", "http://h/b", "")
	for _, in := range []string{
		"GET http://h/a\nPOST http://h/b",
		"GET http://h/a\n\nPOST http://h/b\n",
		"\n\n# comment\nGET http://h/a\n\n  # comment\nPOST http://h/b\n# comment\n",
		"\ufeffGET http://h/a\r\nPOST http://h/b\r\n",
		"  GET  http://h/a  \nPOST http://h/b",
		"GET http://h/a\n# comment\n\nPOST http://h/b",
		"GET http://h/a\n# comment\nPOST http://h/b",
		"GET http://h/a\n# comment\n#\nPOST   http://h/b\n# weighty",
	} {
		f(in, TargetOptions{}, a, b)
	}
	f("GET http://h/a\nX-a: 1\nx-A:2:3\nX-a: 4\n# comment\n# comment\nZ: z\n\nPOST http://h/b", TargetOptions{},
		target("GET", "http://h/a", "", "X-a", "1", "X-a", "4", "x-A", "2:3", "Z", "z"), b)
	f("GET http://h/a\nX: 1\nPOST http://h/b\nY: 2\nPURGE HTTPS://h/c", TargetOptions{},
		target("GET", "http://h/a", "", "X", "1"), target("POST", "http://h/b", "", "Y", "2"), target("PURGE", "HTTPS://h/c", ""))
	f("PURGE https://h:1/a?b=c#d", TargetOptions{}, target("PURGE", "https://h:1/a?b=c#d", ""))
	base := http.Header{"X": {"base"}, "Y": {"base"}}
	f("GET http://h/a\nX: own\n\nPOST http://h/b", TargetOptions{Header: base, Body: []byte("default")},
		target("GET", "http://h/a", "default", "X", "base", "X", "own", "Y", "base"), target("POST", "http://h/b", "default", "X", "base", "Y", "base"))
	if !reflect.DeepEqual(base, http.Header{"X": {"base"}, "Y": {"base"}}) {
		t.Errorf("the base headers became %v", base)
	}
	f("POST http://h/b\n@testdata/body.json\nGET http://h/a", TargetOptions{Body: []byte("default")},
		target("POST", "http://h/b", `{"name":"test"}`+"\n"), target("GET", "http://h/a", "default"))
	f("POST http://h/b\nX: 1\n@body.json\n\nGET http://h/a", TargetOptions{Dir: "testdata"},
		target("POST", "http://h/b", `{"name":"test"}`+"\n", "X", "1"), a)
	long := strings.Repeat("x", 100_000)
	f("GET http://h/a\nX: "+long, TargetOptions{}, target("GET", "http://h/a", "", "X", long))

	j := TargetOptions{Format: JSONTargets}
	f("\n{\"method\":\"GET\",\"url\":\"http://h/a\"}\n\n{\"url\":\"http://h/b\",\"method\":\"POST\",\"other\":1}\n", j, a, b)
	f(`{"method":"POST","url":"http://h/b","body":"aGk=","header":{"X-a":["1","2"]}}`, j, target("POST", "http://h/b", "hi", "X-a", "1", "X-a", "2"))
	j.Body, j.Header = []byte("default"), base
	f(`{"method":"GET","url":"http://h/a","header":{"X":["own"]}}`, j, target("GET", "http://h/a", "default", "X", "base", "X", "own", "Y", "base"))
}

func TestReadTargets_Failure(t *testing.T) {
	f := func(in string, o TargetOptions, want string) {
		t.Helper()
		o.Name = "targets.txt"
		got, err := ReadTargets(strings.NewReader(in), o)
		if err == nil || !strings.HasPrefix(err.Error(), want) || got != nil {
			t.Errorf("%q gives %v, error %v, want %s", clipText(in), got, err, want)
		}
	}
	o := TargetOptions{}
	f("", o, "no targets to attack")
	f("\n# nothing\n", o, "no targets to attack")
	f("GET", o, `targets.txt:1: bad target "GET": want a method and a URL`)
	f("http://h/", o, `targets.txt:1: bad target "http://h/": want a method and a URL`)
	f("\nget http://h/", o, `targets.txt:2: bad method "get": want upper case letters`)
	f("GeT http://h/", o, `targets.txt:1: bad method "GeT": `)
	f("GET /path", o, `targets.txt:1: bad URL "/path": want http://host/path`)
	f("GET ftp://h/", o, `targets.txt:1: bad URL "ftp://h/": want http://host/path`)
	f("GET http:///x", o, `targets.txt:1: bad URL "http:///x": want http://host/path`)
	f("GET h", o, `targets.txt:1: bad URL "h": invalid URI for request`)
	f("GET http://[::1", o, `targets.txt:1: bad URL "http://[::1": missing ']' in host`)
	f("GET http://h/\nX", o, `targets.txt:2: bad header "X": want "Key: Value"`)
	f("GET http://h/\nX:", o, `targets.txt:2: bad header "X:": want "Key: Value"`)
	f("GET http://h/\n: v", o, `targets.txt:2: bad header ": v": want "Key: Value"`)
	f("GET http://h/\nx y: v", o, `targets.txt:2: bad header name "x y"`)
	f("GET http://h/\nX: a\x01b", o, `targets.txt:2: bad value "a\x01b" of header X`)
	f("GET http://h/\nA: b\nGET /2:3", o, `targets.txt:3: request line "GET /2:3" after a header: put a blank line before it`)
	f("GET http://h/\nA: b\nGET ftp://h/2", o, `targets.txt:3: request line "GET ftp://h/2" after a header: put a blank line before it`)
	f("GET http://h/\n# c\nPOST /2", o, `targets.txt:3: request line "POST /2" after a comment: `)
	f("GET http://h/\n@testdata/none", o, `targets.txt:2: bad body: open testdata/none: no such file`)
	f("GET http://h/\n@", o, `targets.txt:2: bad body: `)
	f("@testdata/body.json", o, `targets.txt:1: bad target "@testdata/body.json"`)
	f("GET http://h/\nX: "+strings.Repeat("x", 1<<20), TargetOptions{maxLine: 1 << 20}, "targets.txt:2: line longer than 1 MiB")
	f("x", TargetOptions{Format: "xml"}, `bad format "xml" of targets: want http or json`)

	o.Format = JSONTargets
	f("{}\n", o, "targets.txt:1: bad target: method is missing")
	f("\n{\"method\":\"GET\"}", o, "targets.txt:2: bad target: url is missing")
	f(`{"method":"G T","url":"http://h/"}`, o, `targets.txt:1: bad method "G T": `)
	f(`{"method":"GET","url":"h"}`, o, `targets.txt:1: bad URL "h": `)
	f(`{"method":"GET","url":"http://h/","header":{"a b":["c"]}}`, o, `targets.txt:1: bad header name "a b"`)
	f(`{"method":"GET","url":"http://h/","body":"!"}`, o, "targets.txt:1: bad JSON: ")
	f(`{"method":"GET"`, o, "targets.txt:1: bad JSON: unexpected end")
	f(`{} {}`, o, "targets.txt:1: bad JSON: ")
	f("", o, "no targets to attack")

	if _, err := ReadTargets(iotest.ErrReader(io.ErrClosedPipe), TargetOptions{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error is %v", err)
	}
}

func TestReadTargetsWeights(t *testing.T) {
	f := func(in string, o TargetOptions, want ...int) {
		t.Helper()
		got, err := ReadTargets(strings.NewReader(in), o)
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		var weights []int
		for _, tg := range got {
			weights = append(weights, tg.Weight)
		}
		if !slices.Equal(weights, want) {
			t.Errorf("%q gives the weights %v, want %v", in, weights, want)
		}
	}
	f("# weight: 3\nGET http://h/a\nGET http://h/b\n#weight:2\n\n# more\nGET http://h/c\nX: 1\n#\tweight: 7\nGET http://h/d", TargetOptions{}, 3, 0, 2, 7)
	f(`{"method":"GET","url":"http://h/a","weight":3}`+"\n"+`{"method":"GET","url":"http://h/a"}`, TargetOptions{Format: JSONTargets}, 3, 0)

	bad := func(in string, o TargetOptions, want string) {
		t.Helper()
		if got, err := ReadTargets(strings.NewReader(in), o); got != nil || err == nil || err.Error() != want {
			t.Errorf("%q gives %v, error %v, want %s", in, got, err, want)
		}
	}
	bad("# weight: x\nGET http://h/", TargetOptions{}, `targets:1: bad weight "x": want a whole number`)
	bad("# weight: 0\nGET http://h/", TargetOptions{}, `targets:1: bad weight 0: want 1 or more`)
	bad("GET http://h/\n# weight: 2\n\n#", TargetOptions{}, `targets:2: a weight, and no request line after it`)
	bad("GET http://h/\n# weight: 2\nX: 1", TargetOptions{}, `targets:3: a weight inside a target: put it before the request line`)
	bad("GET http://h/\n# weight: 2\n@testdata/body.json", TargetOptions{}, `targets:3: a weight inside a target: put it before the request line`)
	bad(`{"method":"GET","url":"http://h/a","weight":0}`, TargetOptions{Format: JSONTargets}, `targets:1: bad weight 0: want 1 or more`)
}

func TestReadTargetsVariables(t *testing.T) {
	table, err := load.ReadTable(strings.NewReader("id,name\n1,ann\n2,b c\n"), "users.csv")
	if err != nil {
		t.Fatal(err)
	}
	f := func(in string, o TargetOptions, want string) {
		t.Helper()
		o.Table = table
		got, err := ReadTargets(strings.NewReader(in), o)
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		var text []byte
		if fill := got[0].Fill; fill != nil {
			text = fill.URL.Append(text, 1)
			for _, l := range fill.Header {
				text = l.Value.Append(append(text, " "+l.Name+"="...), 1)
			}
			text = fill.Body.Append(append(text, ' '), 1)
		}
		if string(text) != want {
			t.Errorf("%q is filled with %q, want %q", in, text, want)
		}
	}
	in := "POST http://h/{{seq}}?n={{csv.name}}\nX: {{csv.name}}\nY: y\n"
	f(in, TargetOptions{Body: []byte("n={{csv.id}}"), Header: http.Header{"A": {"{{seq}}"}, "X": {"x"}}}, "http://h/1?n=b%20c A=1 X=x X=b c n=2")
	f(in+"@variables.json\n", TargetOptions{Dir: "testdata"}, "http://h/1?n=b%20c X=b c {\"id\": 2, \"n\": 1}\n")
	f(in, TargetOptions{NoVariables: true}, "")
	f(`{"method":"GET","url":"http://h/{{seq}}","body":"e3tzZXF9fQ==","header":{"A":["{{seq}}"]}}`, TargetOptions{Format: JSONTargets}, "http://h/1 A=1 1")

	bad := func(in string, o TargetOptions, want string) {
		t.Helper()
		_, err := ReadTargets(strings.NewReader(in), o)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q gives error %v, want %s", in, err, want)
		}
		var v *load.VariableError
		if !errors.As(err, &v) {
			t.Errorf("%q gives an error of type %T", in, err)
		}
	}
	bad("GET http://h/\n\nGET http://h/{{uid}}", TargetOptions{}, `targets:3: URL: bad variable "{{uid}}": did you mean uuid? `)
	bad("GET http://{{uuid}}", TargetOptions{}, `targets:1: URL: bad variable "{{uuid}}": a host has none`)
	bad("GET http://h/\nX: {{csv.id}}\nY: 1", TargetOptions{}, `targets:2: header X: bad variable "{{csv.id}}": there is no CSV file`)
	bad("GET http://h/\nX: 1\n@testdata/variables.json\nGET http://h/", TargetOptions{}, `targets:3: body line 1: bad variable "{{csv.id}}": `)
	bad("GET http://h/\n", TargetOptions{Header: http.Header{"A": {"{{x}}"}}}, `header A: bad variable "{{x}}": `)
	bad("GET http://h/\n", TargetOptions{Body: []byte("a\n{{x")}, `body line 2: bad variable "{{x": no }} after it`)
	bad("\n"+`{"method":"GET","url":"http://h/{{seq"}`, TargetOptions{Format: JSONTargets}, `targets:2: URL: bad variable "{{seq": no }} after it`)
}

func TestTargetStream(t *testing.T) {
	f := func(in string, o TargetOptions, n int, want string) {
		t.Helper()
		s := NewTargetStream(iotest.OneByteReader(strings.NewReader(in)), o)
		for i := range n {
			if tg, err := s.Next(); err != nil || tg.Name() != "GET /"+string(rune('a'+i)) {
				t.Fatalf("%q: target %d is %v, error %v", in, i, tg, err)
			}
		}
		for range 2 {
			if tg, err := s.Next(); tg != nil || err == nil || err.Error() != want {
				t.Errorf("%q ends with %v, error %v, want %s", in, tg, err, want)
			}
		}
	}
	f("GET http://h/a\nGET http://h/b\nX: 1\n\nGET http://h/c\n@testdata/body.json\nGET http://h/d", TargetOptions{}, 4, "EOF")
	f("GET http://h/a\nGET http://h/b\nX", TargetOptions{}, 1, `targets:3: bad header "X": want "Key: Value"`)
	f("GET http://h/a\nGET http://h/b\nGET h", TargetOptions{}, 2, `targets:3: bad URL "h": invalid URI for request`)
	f("# weight: 2\nGET http://h/a", TargetOptions{}, 0, "targets:1: a weight in a stream of targets, each of which is asked once: leave out -lazy")
	f("\n#\n", TargetOptions{}, 0, "no targets to attack")
	f("", TargetOptions{Format: "xml"}, 0, `bad format "xml" of targets: want http or json`)
	f(`{"method":"GET","url":"http://h/a"}`+"\n\n{}", TargetOptions{Format: JSONTargets}, 1, "targets:3: bad target: method is missing")
}

// A target is there as soon as it is known where it ends, not when more is read.
func TestTargetStreamDoesNotWait(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, "GET http://h/a\n\nGET http://h/b\n@testdata/body.json\n")
	s := NewTargetStream(r, TargetOptions{})
	for range 2 {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTargetStreamKeepsFewBodies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(path, make([]byte, maxCached/2+1), 0o600); err != nil {
		t.Fatal(err)
	}
	tr := newTargetReader(strings.NewReader("GET http://h/a\n@"+path+"\nGET http://h/a\n@"+path+"\nGET http://h/a\n@"+filepath.Dir(path)+"/./body\n"), TargetOptions{})
	tr.lazy = true
	for range 3 {
		if _, err := tr.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if len(tr.bodies) != 1 {
		t.Errorf("%d bodies are kept, want 1", len(tr.bodies))
	}
}

func TestReadTargetsOfVegeta(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "targets.http"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadTargets(bytes.NewReader(data), TargetOptions{Dir: "testdata"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tg := range got {
		names = append(names, tg.Name())
	}
	if want := "GET /ok, POST /users, GET /missing, GET /fail, GET /refused"; strings.Join(names, ", ") != want {
		t.Errorf("targets are %q, want %s", names, want)
	}
}

// writeJSON writes targets as Vegeta's JSON encoder does.
func writeJSON(t testing.TB, targets []load.Target) []byte {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for _, tg := range targets {
		if err := enc.Encode(jsonTarget{tg.Method, tg.URL, tg.Body, tg.Header, nil}); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

// writeHTTP writes targets in the http format, bodies left out.
func writeHTTP(targets []load.Target) []byte {
	var buf bytes.Buffer
	for _, tg := range targets {
		buf.WriteString(tg.Method + " " + tg.URL + "\n")
		for k, vs := range tg.Header {
			for _, v := range vs {
				buf.WriteString(k + ": " + v + "\n")
			}
		}
		buf.WriteString("\n")
	}
	return buf.Bytes()
}

func TestTargetsRoundTrip(t *testing.T) {
	gen := rapid.Custom(func(t *rapid.T) load.Target {
		tg := target(rapid.StringMatching(`[A-Z]{1,8}`).Draw(t, "method"), "http://h/"+rapid.StringMatching(`[a-z/?=&]{0,20}`).Draw(t, "path"), "")
		for range rapid.IntRange(0, 3).Draw(t, "headers") {
			k := rapid.StringMatching(`[a-zA-Z][a-zA-Z0-9-]{0,9}`).Draw(t, "key")
			tg.Header[k] = append(tg.Header[k], rapid.StringMatching(`[!-~]([ -~é]{0,10}[!-~])?`).Draw(t, "value"))
		}
		return tg
	})
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(gen, 1, 5).Draw(t, "targets")
		got, err := ReadTargets(bytes.NewReader(writeHTTP(want)), TargetOptions{NoVariables: true})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("http: got %+v, error %v, want %+v", got, err, want)
		}
	})
}
