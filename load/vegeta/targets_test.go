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
	} {
		f(in, TargetOptions{}, a, b)
	}
	f("GET http://h/a\nX-a: 1\nx-A:2:3\nX-a: 4\n# comment\n# comment\nZ: z\n\nPOST http://h/b", TargetOptions{},
		target("GET", "http://h/a", "", "X-a", "1", "X-a", "4", "x-A", "2:3", "Z", "z"), b)
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
			t.Errorf("%q gives %v, error %v, want %s", clip(in), got, err, want)
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
	f("GET http://h/\nA: b\nGET http://h/2", o, `targets.txt:3: request line "GET http://h/2" after a header: put a blank line before it`)
	f("GET http://h/\n# c\nGET http://h/2", o, `targets.txt:3: request line "GET http://h/2" after a comment: put a blank line before it`)
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
		if err := enc.Encode(jsonTarget{tg.Method, tg.URL, tg.Body, tg.Header}); err != nil {
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
		got, err := ReadTargets(bytes.NewReader(writeHTTP(want)), TargetOptions{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("http: got %+v, error %v, want %+v", got, err, want)
		}
	})
}
