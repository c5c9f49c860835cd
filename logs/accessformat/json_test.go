package accessformat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// keySlow reads what a JSON object says under a dotted key with encoding/json;
// false when there is no text or number.
func keySlow(object map[string]any, key string) (string, bool) {
	if v, ok := object[key]; ok {
		switch v := v.(type) {
		case string:
			return v, true
		case json.Number:
			return string(v), true
		case bool:
			return fmt.Sprint(v), true
		case []any:
			if len(v) > 0 {
				s, ok := v[0].(string)
				return s, ok
			}
		}
		return "", false
	}
	for i := range key {
		if key[i] != '.' {
			continue
		}
		if inner, ok := object[key[:i]].(map[string]any); ok {
			if s, ok := keySlow(inner, key[i+1:]); ok {
				return s, true
			}
		}
	}
	return "", false
}

// checkJSON checks that the texts of a line are those that encoding/json finds.
func checkJSON(t interface {
	Fatalf(string, ...any)
	Helper()
}, p *Parser, keys []string, line []byte) {
	t.Helper()
	var r Record
	why := p.parse(line, &r)
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	err := d.Decode(&object)
	if err == nil && strings.HasPrefix(why, "bad JSON") || err == nil && object != nil && why == "not a JSON object" {
		t.Fatalf("%q: %s, but encoding/json reads it", line, why)
	}
	if err != nil || why != "" {
		return
	}
	for i, key := range keys {
		want, ok := keySlow(object, key)
		got := p.extra[i]
		if !ok && got == nil || hasTwice(line, key) {
			continue
		}
		if string(got) != want && strings.ToValidUTF8(string(got), "\uFFFD") != want && utf8.Valid(line) {
			t.Fatalf("%q: %s is %q, want %q", line, key, got, want)
		}
	}
}

// escapedLetter is how a key may be written so that it does not look as it is.
var escapedLetter = regexp.MustCompile(`(?i)\\u00[4-7]`)

// hasTwice reports whether a key may stand in a line more than once: then
// encoding/json merges objects, where the parser takes the last value.
func hasTwice(line []byte, key string) bool {
	for _, name := range strings.Split(key, ".") {
		if bytes.Count(line, []byte(`"`+name+`"`)) != 1 {
			return true
		}
	}
	return bytes.Contains(line, []byte(`.`+key[strings.LastIndexByte(key, '.')+1:])) || escapedLetter.Match(line)
}

func TestJSON_AsEncodingJSON(t *testing.T) {
	keys := []string{"uri", "method", "status", "request.uri", "a", "a.b", "a.b.c", "list", "ü"}
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "-", "/a?b", `"`, `\`, "\x00\x1f", "\u2028é😀", "GET", "</script>"}))
	var value func(depth int) *rapid.Generator[any]
	object := func(depth int) *rapid.Generator[any] {
		return rapid.Custom(func(t *rapid.T) any {
			out := map[string]any{}
			for range rapid.IntRange(0, 5).Draw(t, "n") {
				out[rapid.OneOf(rapid.SampledFrom([]string{"uri", "a", "b", "c", "list", "request", "x", "ü", "k\"\\"}), rapid.StringN(1, 4, 8)).Draw(t, "key")] = value(depth-1).Draw(t, "value")
			}
			return out
		})
	}
	value = func(depth int) *rapid.Generator[any] {
		simple := rapid.OneOf(rapid.Map(text, func(s string) any { return s }), rapid.SampledFrom([]any{nil, true, false, 1, -1.5, 1e30, 0}),
			rapid.Map(rapid.SliceOfN(text, 0, 3), func(s []string) any { return s }))
		if depth <= 0 {
			return simple
		}
		return rapid.OneOf(simple, simple, object(depth), rapid.Map(rapid.SliceOfN(object(depth-1), 0, 2), func(s []any) any { return s }))
	}
	parsers := map[bool]*Parser{}
	for _, remembers := range []bool{false, true} {
		parsers[remembers] = jsonFormat().Parser(ParserOptions{Extra: keys})
	}
	rapid.Check(t, func(t *rapid.T) {
		o := object(3).Draw(t, "object").(map[string]any)
		o["uri"], o["method"], o["status"] = text.Draw(t, "uri"), "GET", 200
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			var b bytes.Buffer
			if err := json.Indent(&b, line, "", " "); err != nil {
				t.Fatal(err)
			}
			line = bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(" "))
		}
		p := parsers[rapid.Bool().Draw(t, "remembers")]
		if p == parsers[false] {
			p.layout = nil
		}
		checkJSON(t, p, keys, line)
		var r Record
		if why := p.parse(line, &r); why != "" && !strings.HasPrefix(why, "bad ") {
			t.Fatalf("%q: %s", line, why)
		}
	})
}

func FuzzJSON(f *testing.F) {
	lines, _ := sampleLines(f, "json.log")
	for _, line := range lines[:20] {
		f.Add(line[:len(line)-1])
	}
	for _, s := range []string{
		`{"uri":"/\u0041\ud83d\ude00\ud83d\/\\\"","status":200}`, `{"uri":"/","status":"200","a":{"b":{"c":"1"}},"list":["x",{"a":[1]}]}`,
		`{"uri":"/","status":200,"request_time":-,"upstream_response_time":0.1, 0.2,"size":}`, `{"uri":"\x22","status":1}`, `{ "uri" : "/" , "status" : 1 } `,
		`{"request":{"uri":"/","headers":{"User-Agent":["x"]}},"status":1}`, `{"uri":"/","status":1,"uri":"/b"}`, `{"uri":"/`, `{"`, `{`, `{"a":[[[[{"x":"]"}]]]]}`, `[]`, `{"status":null,"uri":null}`,
	} {
		f.Add([]byte(s))
	}
	keys := []string{"uri", "a", "a.b.c", "list", "status"}
	f.Fuzz(func(t *testing.T, line []byte) {
		p := jsonFormat().Parser(ParserOptions{Extra: keys})
		checkJSON(t, p, keys, line)
		checkJSON(t, p, keys, line) // with the layout remembered
		var r Record
		checkRecord(t, jsonFormat(), line, &r)
	})
}

func TestJSON(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		p := jsonFormat().Parser(ParserOptions{Location: tokyo})
		for range 2 {
			var r Record
			got := p.Parse([]byte(line), &r)
			if got == "" {
				got = everything(&r)
			}
			if got != want {
				t.Errorf("%s\n got %s\nwant %s", line, got, want)
			}
		}
	}
	f(`{"uri":"/a\u0022\/\ud83d\ude00","status":200}`, `path=/a"/😀 status=200`)
	f(`{"uri":"/a\x22\q","status":200}`, `path=/a\x22\q status=200`)
	f(`{"uri":"/","status":200,"request_time":-,"upstream_response_time":0.1, 0.2,"size":}`, "path=/ status=200 time=300ms upstream=300ms")
	f(`{"status":1,"uri":"/a","status":200,"uri":"/b"}`, "path=/b status=200")
	f(`{"request":"GET /a HTTP/1.1","status":200,"method":null}`, "method=GET path=/a protocol=HTTP/1.1 status=200")
	f(`{"request":"-","status":400}`, "status=400")
	f(`{"uri":"","method":"","status":400,"time":""}`, "status=400")
	f(`{"uri":"/","status":200,"duration":1.5e-3}`, "path=/ status=200 time=1.5ms")
	f(`{"uri":"/","reqtime":"x","request_time":1,"status":1}`, "path=/ status=1 time=1s")
	f(`{"uri":"/","reqtime":"x","status":1}`, `bad reqtime "x"`)
	f(`{"uri":"/","time":"x","status":1}`, `bad time "x"`)
	f(`{"uri":"/","status":"fine"}`, `bad status "fine"`)
	f(`{"status":200,"time":1629507600}`, "neither uri nor request")
	f(`{"uri":"/"}`, "no keys of an access log")
	f(`{"uri":"/","status":200`, "bad JSON at byte 23: the object does not end")
	f(`{"uri":"/`, "bad JSON at byte 7: a text does not end")
	f(`{"uri" "/"}`, "bad JSON at byte 7: no colon after a key")
	f(`{uri:1}`, "bad JSON at byte 1: no key in quotes")
	f(`{"uri":"/" "b":1}`, "bad JSON at byte 11: no comma after a value")
	f(`{"uri":"/","status":200}}`, `unexpected "}" after the JSON object`)
	f(`{"a":{"b":[`, "bad JSON at byte 11: a list or an object does not end")
	f(`text`, "not a JSON object")
	f(``, "not a JSON object")
	f(`{"uri":"/","x":`+strings.Repeat(`{"a":`, 1000)+"1"+strings.Repeat("}", 1000)+`,"status":1}`, "path=/ status=1")
}

// A key that changes its place or its object is found again.
func TestJSON_Layout(t *testing.T) {
	p := jsonFormat().Parser(ParserOptions{})
	for i := range 1000 {
		inner := `"uri":"/a","method":"GET","headers":{"User-Agent":["x"]}`
		line := fmt.Sprintf(`{"status":%d,"request":{%s},"size":7}`, 200+i%7, inner)
		switch i % 4 {
		case 1:
			line = fmt.Sprintf(`{"request":{%s},"resp_headers":{%s},"status":%d,"size":7}`, inner, strings.ReplaceAll(inner, "/a", "/b"), 200+i%7)
		case 2:
			line = fmt.Sprintf(`{"response":{%s},"request":{%s}, "size":7 , "status": %d }`, strings.ReplaceAll(inner, "/a", "/b"), inner, 200+i%7)
		case 3:
			line = fmt.Sprintf(`{"x":{"request":{%s}},"size":7,"status":%d,"request":{%s}}`, strings.ReplaceAll(inner, "/a", "/b"), 200+i%7, inner)
		}
		var r Record
		if why := p.Parse([]byte(line), &r); why != "" || string(r.Path) != "/a" || r.Status != 200+i%7 || r.Bytes != 7 || string(r.UserAgent) != "x" {
			t.Fatalf("%s: %s %s", line, why, everything(&r))
		}
	}
}

// FuzzLayout: what a parser remembers of one line changes nothing in how it reads
// the next.
func FuzzLayout(f *testing.F) {
	for _, name := range []string{"ltsv.log", "json.log"} {
		lines, _ := sampleLines(f, name)
		f.Add(lines[0], lines[1])
		f.Add(lines[2], bytes.Replace(lines[3], []byte("status"), []byte("code"), 1))
	}
	f.Add([]byte("uri:/\tstatus:1\tx"), []byte("uri:/\tstatus:1\t"))
	f.Add([]byte(`{"uri":"/","status":1,"request":{"uri":"/b"}}`), []byte(`{"uri":"/","status":1,"request":1}`))
	f.Add([]byte(`{"a":{"b":1},"uri":"/","status":1}`), []byte(`{"a":1,"b":{"uri":1},"status":1}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, format := range []*Format{ltsvFormat(), jsonFormat()} {
			o := ParserOptions{Location: tokyo, Extra: []string{"a", "a.b", "x"}}
			used, fresh := format.Parser(o), format.Parser(o)
			var got, want Record
			used.Parse(first, &got)
			used.Parse(second, &got)
			why, wantWhy := used.Parse(second, &got), fresh.Parse(second, &want)
			if why != wantWhy || why == "" && !reflect.DeepEqual(got, want) {
				t.Fatalf("%q after %q\n got %s %s\nwant %s %s", second, first, everything(&got), why, everything(&want), wantWhy)
			}
		}
	})
}

// A hostile line costs time by its length, not more.
func TestParse_LongLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, line := range []string{
		`{"uri":"/` + long + `","status":200}`, `{"a":"` + strings.Repeat(`\"`, 1<<19) + `","uri":"/","status":1}`, `{` + strings.Repeat(`"a":1,`, 1<<17) + `"uri":"/","status":200}`,
		`{"a":` + strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<17), "uri:/" + long + "\tstatus:200", strings.Repeat("a:1\t", 1<<18) + "uri:/\tstatus:200", strings.Repeat("\t", 1<<20),
		`h - - [21/Aug/2021:10:00:00 +0900] "GET /` + long + ` HTTP/1.1" 200 1 "-" "-" 1`, `h - - [21/Aug/2021:10:00:00 +0900] "` + strings.Repeat(`\`, 1<<20) + `" 200 1`,
		`h - - [21/Aug/2021:10:00:00 +0900] "` + strings.Repeat(`\"`, 1<<19) + `" 200 1`, strings.Repeat("[", 1<<20), strings.Repeat(" ", 1<<20) + "x", strings.Repeat("0.1, ", 1<<18),
		`h - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 200 1 ` + strings.Repeat("0.1, ", 1<<18) + "0.1", strings.Repeat(`"x" `, 1<<18),
	} {
		began := time.Now()
		f, err := Detect([]byte(line))
		if err != nil {
			f = anyCombined
		}
		var r Record
		for _, f := range []*Format{f, jsonFormat(), ltsvFormat(), anyCombined} {
			f.Parser(ParserOptions{}).Parse([]byte(line), &r)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%.40q: %v", line, took)
		}
	}
}
