package alp

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/kasoku/kasoku/compat/exact"
)

// FuzzRun: any log in any format: no panic, and no line is lost.
func FuzzRun(f *testing.F) {
	f.Add(0, line("GET", "/a?x=1", "200", "1", "0.1")+"\n broken\n")
	f.Add(1, `{"uri":"/a","method":"GET","status":200,"body_bytes":1,"response_time":1}`+"\n{\n")
	f.Add(2, combinedLines)
	f.Fuzz(func(t *testing.T, kind int, log string) {
		if len(log) > 1<<16 {
			return
		}
		kinds := []string{"ltsv", "json", "regexp"}
		args := []string{kinds[uint(kind)%3], "--limit", "0", "-q", "--decode-uri", "-m", "^/api,[0-9]+$"}
		for _, format := range []string{"table", "csv", "json"} {
			if _, stderr, code := run(t, log, append(args, "--format", format)...); code != 0 {
				t.Fatalf("exit %d, %s", code, stderr)
			}
		}
	})
}

// FuzzKeyRule: a URI is named as net/url writes it.
func FuzzKeyRule(f *testing.F) {
	for _, u := range []string{"/a?x=1&b=2", "/%zz", "*", "", "http://ex.com:80/a?b", "//x/y", "/a b", "/a%20b", "/a?", "/a?x;y&z", "/a#frag", "/日本", "/a?\x01", "/a[b]", "/%41%4", "?x", "/a?#"} {
		for flags := range 4 {
			f.Add(u, flags)
		}
	}
	f.Fuzz(func(t *testing.T, uri string, flags int) {
		rule := keyRule{query: flags&1 != 0, ignoreValues: flags&2 != 0}
		got, ok := rule.append(nil, []byte(uri))
		u, err := url.Parse(uri)
		if ok != (err == nil && uri != "") {
			t.Fatalf("%q: %v, %v", uri, ok, err)
		}
		if !ok {
			return
		}
		if !rule.query {
			u.RawQuery = ""
		} else if u.RawQuery != "" {
			q := u.Query()
			for k := range q {
				if rule.ignoreValues {
					q[k] = []string{"xxx"}
				}
			}
			u.RawQuery = q.Encode()
		}
		if string(got) != u.String() {
			t.Fatalf("%q: %q, want %q", uri, got, u)
		}
		decodeName(string(got))
		sortedQuery(uri)
	})
}

// FuzzJSON: an object is read as encoding/json reads it.
func FuzzJSON(f *testing.F) {
	for _, l := range []string{
		`{"uri":"/a","status":200,"response_time":0.10}`, `{"uri":"/\u0041","status":"x"}`, `{"uri":null,"status":{"a":[1]}}`, `{ "status" : 1e3 , "uri" : true }`,
		`{}`, `[]`, `{"uri":"/a"`, `{"uri":01}`, `{"uri":1.}`, `{"uri":.5}`, `{"uri":0.50,"uri":00}`, `{"uri":123456789012345678}`, "{\"uri\":\"\xff\"}", `{"uri":"a","uri":"b"}x`,
	} {
		f.Add(l)
	}
	names := []string{"uri", "status"}
	f.Fuzz(func(t *testing.T, text string) {
		r := jsonReader{names: byteNames(names)}
		values := make([][]byte, 2)
		why := r.read([]byte(text), values)
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); (err == nil) != (why == "") {
			t.Fatalf("%q: %q, %v", text, why, err)
		}
		if why != "" {
			return
		}
		for i, name := range names {
			v, ok := object[name]
			if ok != (values[i] != nil) || ok && string(jsonText(v)) != string(values[i]) {
				t.Fatalf("%q: %s is %q, want %v", text, name, values[i], v)
			}
		}
	})
}

// FuzzPlainMarks: what is found without the expression is what it finds.
func FuzzPlainMarks(f *testing.F) {
	for l := range strings.SplitSeq(combinedLines, "\n") {
		f.Add([]byte(l))
	}
	re := regexp.MustCompile(defaultPattern)
	f.Fuzz(func(t *testing.T, l []byte) {
		if len(l) < 2000 {
			samePlainMarks(t, re, l)
		}
	})
}

// FuzzDump: any class comes back from its dump.
func FuzzDump(f *testing.F) {
	for _, s := range []string{"", "*", "true", "/it's:1", "- x", "-", "?a", "a: b", "a #b", "日", "\x1b\n", "1e5", "2021-08-21", "0x10", "null", "~", "'", `"`, "a:", " a", "a ", "\xff", "!x", "=", ".5", "1_0"} {
		f.Add(s, "GET")
	}
	f.Fuzz(func(t *testing.T, uri, method string) {
		if !utf8.ValidString(uri) || !utf8.ValidString(method) {
			return // JSON replaces what is no UTF-8
		}
		path := t.TempDir() + "/dump.yaml"
		s := &stat{uri: uri, method: method, n: 1, values: []float64{0.25}, sum: 0.25}
		s.steps = append(s.steps, stepOf(0.25))
		if err := (profile{s}).dump(path); err != nil {
			t.Fatal(err)
		}
		got, err := loadProfile(path)
		if err != nil || len(got) != 1 || got[0].uri != uri || got[0].method != method || got[0].sum != 0.25 {
			t.Fatalf("%q %q: %v\n%s", uri, method, err, readFile(t, path))
		}
		var list []dumped
		if err := yaml.Unmarshal([]byte(readFile(t, path)), &list); err != nil || list[0].URI != uri || list[0].Method != method {
			t.Fatalf("as YAML: %q %q: %v\n%s", uri, method, err, readFile(t, path))
		}
	})
}

func stepOf(v float64) exact.Step { return exact.Step{Value: v, N: 1} }
