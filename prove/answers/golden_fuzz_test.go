package answers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

const seedFile = `{"schema":1,"kind":"answers","recorded":"2026-11-22T12:00:00Z","answers":[{"endpoint":"GET /a","method":"GET",` +
	`"url":"http://127.0.0.1/a","status":200,"type":"application/json","form":"json","body":[{"id":1,"a.b":"x"}],"volatile":[{"path":"body json[].\"a.b\"","what":"value"}]}]}`

// Whatever a golden file holds: no panic, GET and HEAD alone, and what is read is written
// as it was.
func FuzzParse(f *testing.F) {
	f.Add([]byte(seedFile))
	f.Add([]byte(strings.Replace(seedFile, `"json","body":[{"id":1,"a.b":"x"}]`, `"none"`, 1)))
	f.Add([]byte(`{"schema":1,"kind":"answers","answers":[{"method":"POST"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := Parse(text)
		if err != nil {
			if g != nil {
				t.Fatalf("an error, and answers: %v", err)
			}
			return
		}
		for i := range g.Answers {
			a := &g.Answers[i]
			if a.Method != http.MethodGet && a.Method != http.MethodHead {
				t.Fatalf("%+v", a)
			}
			d := newDiffer(&place{})
			if d.compare(d.root, a.tree(), a.tree()); len(d.changes) > 0 {
				t.Fatalf("%s differs from itself", a.Body)
			}
		}
		var out bytes.Buffer
		if y := g.Recorded.Year(); y < 0 || y > 9999 {
			return // encoding/json writes no such time
		}
		if err := g.Write(&out); err != nil {
			t.Fatal(err)
		}
		again, err := Parse(out.Bytes())
		if err != nil || len(again.Answers) != len(g.Answers) {
			t.Fatalf("%v in\n%s", err, out.Bytes())
		}
		for i := range g.Answers {
			if !reflect.DeepEqual(g.Answers[i].tree(), again.Answers[i].tree()) {
				t.Fatalf("%v is written as %v", g.Answers[i].tree(), again.Answers[i].tree())
			}
		}
	})
}

// Whatever a server answers: no panic, and it is the same as itself.
func FuzzShapeBody(f *testing.F) {
	f.Add("application/json", []byte(`{"a":[1,2,{"id":1}],"b":null}`))
	f.Add("text/html", []byte(`<table><tr><td class=x>1<td>2</table><p>a<p>b<script>"</script>`))
	f.Add("text/plain", []byte("a\nb"))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		form, tree := shapeBody(kind, body)
		_, again := shapeBody(kind, body)
		d := newDiffer(&place{})
		if d.compare(d.root, tree, again); len(d.changes) > 0 {
			t.Fatalf("%s %q differs from itself", form, body)
		}
		if tree == nil {
			return
		}
		text, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		if form == formJSON {
			return // what is in it may be deeper by one when it stands in a file
		}
		if _, err := decodeJSON(text); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzPath: a path that is written is read as the same place.
func FuzzPath(f *testing.F) {
	f.Add("items", "a.b", "[]", true)
	f.Add("", "\"", "x y", false)
	f.Fuzz(func(t *testing.T, a, b, c string, list bool) {
		root := &place{}
		p := root.member(a)
		if list {
			p = p.each()
		}
		p = p.member(b).member(c)
		q, err := root.at(p.path())
		if err != nil {
			t.Fatal(err)
		}
		if q != p && strings.ToValidUTF8(a+b+c, "") == a+b+c {
			t.Fatalf("%q leads to %q", p.path(), q.path())
		}
	})
}

// TestParse_Failure: a golden file is believed in nothing.
func TestParse_Failure(t *testing.T) {
	f := func(old, replacement, want string) {
		t.Helper()
		text := strings.Replace(seedFile, old, replacement, 1)
		if text == seedFile {
			t.Fatalf("%q is not there", old)
		}
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want %q", replacement, err, want)
		}
	}
	f(`"schema":1`, `"schema":2`, "schema 2: this kasoku reads 1")
	f(`"kind":"answers"`, `"kind":"run"`, `kind "run"`)
	f(`"method":"GET"`, `"method":"DELETE"`, "others may change data")
	f(`http://127.0.0.1/a`, `file:///etc/passwd`, "want a URL that begins with http://")
	f(`"status":200`, `"status":99`, "status 99")
	f(`"status":200`, `"status":200,"state":1`, `unknown field "state"`)
	f(`"status":200`, `"status":200,"headers":{"Set-Cookie":"a=b"}`, "none that is kept")
	f(`"status":200`, `"status":200,"header":{"A B":["x"]}`, `header "A B"`)
	f(`"status":200`, `"status":200,"header":{"A":["x\r\nB: y"]}`, `header "A"`)
	f(`"form":"json"`, `"form":"xml"`, `form "xml"`)
	f(`"form":"json"`, `"form":"none"`, "a body, and the form says there is none")
	f(`"what":"value"`, `"what":"all"`, "can not be volatile")
	f(`"path":"body json[].\"a.b\""`, `"path":"body json[]x"`, "want a point before each name")
	f(`[{"id":1,"a.b":"x"}]`, strings.Repeat("[", 100)+strings.Repeat("]", 100), "nested deeper than 64")
	f(`}]}]}`, `}]}]}x`, "something follows")
	if _, err := Parse(make([]byte, MaxFile+1)); err == nil {
		t.Error("there is no limit")
	}
}

// TestBoundedComparison: long lists and deep trees take time by their length.
func TestBoundedComparison(t *testing.T) {
	deep := strings.Repeat(`[{"a":`, maxDepth/2) + "1" + strings.Repeat("}]", maxDepth/2)
	long := "[" + strings.TrimSuffix(strings.Repeat(`{"a":1},`, 50_000), ",") + "]"
	for _, text := range []string{deep, long} {
		was, err := decodeJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		now, _ := decodeJSON([]byte(strings.Replace(text, "1", "2", 1)))
		d := newDiffer(&place{})
		d.compare(d.root, was, now)
		if len(d.changes) != 1 {
			t.Errorf("%.40q: %d changes", text, len(d.changes))
		}
	}
}
