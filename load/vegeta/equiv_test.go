package vegeta

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/gob"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The plain ways to read and write results, by reflection. What is written by
// hand must give the same bytes and the same results.

func plainEncode(t testing.TB, e Encoding, results []Result) []byte {
	t.Helper()
	var buf bytes.Buffer
	g, j, c := gob.NewEncoder(&buf), json.NewEncoder(&buf), csv.NewWriter(&buf)
	for i := range results {
		r := &results[i]
		var err error
		switch e {
		case Gob:
			err = g.Encode(r)
		case JSON:
			err = j.Encode(r)
		case CSV:
			err = c.Write(plainRecord(r))
			c.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

func plainRecord(r *Result) []string {
	var wire strings.Builder
	if len(r.Headers) > 0 {
		_ = r.Headers.Write(&wire)
		wire.WriteString("\r\n")
	}
	return []string{
		strconv.FormatInt(r.Timestamp.UnixNano(), 10),
		strconv.FormatUint(uint64(r.Code), 10),
		strconv.FormatInt(int64(r.Latency), 10),
		strconv.FormatUint(r.BytesOut, 10),
		strconv.FormatUint(r.BytesIn, 10),
		r.Error,
		base64.StdEncoding.EncodeToString(r.Body),
		r.Attack,
		strconv.FormatUint(r.Seq, 10),
		r.Method,
		r.URL,
		base64.StdEncoding.EncodeToString([]byte(wire.String())),
	}
}

// plainDecode returns the results before the first error, and the error, which
// is io.EOF at the end.
func plainDecode(e Encoding, data []byte) (out []Result, err error) {
	var next func(*Result) error
	switch e {
	case Gob:
		d := gob.NewDecoder(bytes.NewReader(data))
		next = func(r *Result) error { return d.Decode(r) }
	case JSON:
		lines := bytes.SplitAfter(data, []byte("\n"))
		next = func(r *Result) error {
			for len(lines) > 0 {
				line := bytes.TrimSpace(lines[0])
				lines = lines[1:]
				if len(line) > 0 {
					return json.Unmarshal(line, r)
				}
			}
			return io.EOF
		}
	case CSV:
		d := csv.NewReader(bytes.NewReader(data))
		d.FieldsPerRecord, d.TrimLeadingSpace = csvColumns, true
		next = func(r *Result) error {
			rec, err := d.Read()
			if err != nil {
				return err
			}
			return decodeRecord(rec, r)
		}
	}
	for {
		var r Result
		if err := next(&r); err != nil {
			return out, err
		}
		out = append(out, r)
	}
}

// checkDecoder reads data of that encoding by hand and the plain way.
func checkDecoder(t testing.TB, e Encoding, data []byte) {
	t.Helper()
	want, wantErr := plainDecode(e, data)
	d := newTestDecoder(e, data)
	got, err := decodeAll(d)
	if (err == io.EOF) != (wantErr == io.EOF) {
		t.Fatalf("%s: after %d results error %v, want %v after %d", e, len(got), err, wantErr, len(want))
	}
	walked := e == Gob && err != io.EOF && strings.Contains(err.Error(), ": gob: ") // over the headers, at first
	if err != io.EOF && !walked && !strings.Contains(err.Error(), "bad headers") && !strings.Contains(err.Error(), "cut short") && !strings.Contains(err.Error(), wantErr.Error()) {
		t.Fatalf("%s: error %v, want %v", e, err, wantErr)
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d; error %v, want %v", e, len(got), len(want), err, wantErr)
	}
	for i := range got {
		if !got[i].Equal(&want[i]) || (got[i].Headers == nil) != (want[i].Headers == nil) {
			t.Fatalf("%s: result %d is\n%#v\nwant\n%#v", e, i, got[i], want[i])
		}
	}
	brief := newTestDecoder(e, data)
	brief.LeaveOut()
	short, _ := decodeAll(brief)
	if len(short) < len(want) {
		t.Fatalf("%s: without bodies there are %d results, want %d", e, len(short), len(want))
	}
	for i := range want {
		if want[i].Body, want[i].Headers = nil, nil; !short[i].Equal(&want[i]) {
			t.Fatalf("%s: without its body, result %d is\n%#v\nwant\n%#v", e, i, short[i], want[i])
		}
	}
}

// newTestDecoder returns a decoder that takes data for what the test says.
func newTestDecoder(e Encoding, data []byte) *Decoder {
	src := newSource(bytes.NewReader(data), maxLine+16)
	d := &Decoder{name: "test", encoding: e}
	switch e {
	case Gob:
		d.codec = newGobDecoder(src)
	case JSON:
		d.codec = newJSONDecoder(src)
	case CSV:
		d.codec = newCSVDecoder(src)
	}
	return d
}

func decodeAll(d *Decoder) (out []Result, err error) {
	for {
		var r Result
		if err = d.Decode(&r); err != nil {
			return out, err
		}
		out = append(out, r)
	}
}

// wildGen makes results with everything that an encoding may stumble over. With
// oneHeader there is at most one, as encoding/gob writes maps in any order.
func wildGen(oneHeader bool) *rapid.Generator[Result] {
	text := rapid.OneOf(
		rapid.StringMatching(`[ -~]{0,20}`),
		rapid.String(),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes")) }),
		rapid.SampledFrom([]string{`\.`, "\u2028", " x", "\u00a0x", `a"b`, "a,b", "a\r\nb", "<&>", "\x7f", strings.Repeat("x", 300)}),
	)
	return rapid.Custom(func(t *rapid.T) Result {
		r := Result{
			Attack: text.Draw(t, "attack"), Error: text.Draw(t, "error"),
			Method: text.Draw(t, "method"), URL: text.Draw(t, "url"),
			Seq: rapid.Uint64().Draw(t, "seq"), Code: rapid.Uint16().Draw(t, "code"),
			Latency:  time.Duration(rapid.Int64().Draw(t, "latency")),
			BytesOut: rapid.Uint64().Draw(t, "out"), BytesIn: rapid.Uint64().Draw(t, "in"),
			Timestamp: timeGen().Draw(t, "timestamp"),
		}
		if rapid.Bool().Draw(t, "has body") {
			r.Body = rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "body")
			r.Body = append(make([]byte, 0, 1), r.Body...)
		}
		if !rapid.Bool().Draw(t, "has headers") {
			return r
		}
		r.Headers = http.Header{}
		most := 4
		if oneHeader {
			most = 1
		}
		for range rapid.IntRange(0, most).Draw(t, "headers") {
			name := rapid.OneOf(rapid.StringMatching(`[A-Za-z][a-z-]{0,9}`), text).Draw(t, "name")
			r.Headers[name] = rapid.OneOf(rapid.Just([]string(nil)), rapid.SliceOfN(text, 0, 3)).Draw(t, "values")
		}
		return r
	})
}

func timeGen() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		at := time.Unix(rapid.Int64Range(-1<<32, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		switch rapid.IntRange(0, 4).Draw(t, "zone") {
		case 0:
			return time.Time{}
		case 1:
			return at.UTC()
		case 2:
			return at.In(time.FixedZone("", rapid.IntRange(-800, 800).Draw(t, "minutes")*60))
		case 3:
			return at.In(time.FixedZone("", 3601)) // gob has a second version for it
		}
		return at
	})
}

// gobFirst makes Result the first type that this process gives to encoding/gob,
// which numbers types as they come.
var gobFirst = func() error { return gob.NewEncoder(io.Discard).Encode(Result{}) }()

func TestEncodersAreThePlainOnes(t *testing.T) {
	if gobFirst != nil {
		t.Fatal(gobFirst)
	}
	if !bytes.HasPrefix(readFile(t, "results.gob"), []byte(gobPreamble)) {
		t.Error("Vegeta's gob begins otherwise")
	}
	for _, e := range []Encoding{Gob, JSON, CSV} {
		rapid.Check(t, func(rt *rapid.T) {
			results := rapid.SliceOfN(wildGen(e == Gob), 1, 4).Draw(rt, "results")
			for i := range results {
				if at := &results[i].Timestamp; e == Gob && !at.IsZero() {
					// Gob has no zone a minute west of UTC, which stands for UTC itself.
					if _, offset := at.Zone(); offset == -60 {
						*at = at.UTC()
					}
				} else if _, offset := at.Zone(); e == JSON && offset%60 != 0 {
					*at = at.UTC()
				}
			}
			got, want := encode(t, e, results), plainEncode(t, e, results)
			if !bytes.Equal(got, want) {
				rt.Fatalf("%s is\n%q\nwant\n%q", e, got, want)
			}
		})
	}
}

func TestDecodersAreThePlainOnes(t *testing.T) {
	for _, e := range []Encoding{Gob, JSON, CSV} {
		checkDecoder(t, e, readFile(t, "results."+string(e)))
		rapid.Check(t, func(rt *rapid.T) {
			results := rapid.SliceOfN(wildGen(false), 1, 4).Draw(rt, "results")
			for i := range results {
				results[i].Timestamp = results[i].Timestamp.UTC()
			}
			data := plainEncode(t, e, results)
			checkDecoder(t, e, data)
			checkDecoder(t, e, data[:rapid.IntRange(0, len(data)).Draw(rt, "cut")])
		})
	}
}

func TestGobOfOtherTypes(t *testing.T) {
	f := func(v any) {
		t.Helper()
		var buf bytes.Buffer
		enc := gob.NewEncoder(&buf)
		for range 2 {
			if err := enc.Encode(v); err != nil {
				t.Fatal(err)
			}
		}
		if err := enc.Encode(Result{Seq: 5, Headers: http.Header{"A": {"b"}}}); err != nil {
			t.Fatal(err)
		}
		checkDecoder(t, Gob, buf.Bytes())
	}
	f(struct{ Seq uint64 }{5})
	f(struct {
		URL  string
		Code uint64
	}{"u", 404})
	f(struct {
		Code  uint64
		Other string
	}{70000, "x"})
	f(struct{ Code int }{5})
	f(struct{ Other []string }{[]string{"x"}})
	f(struct {
		Seq   uint64
		Inner struct{ A, B map[string]int }
	}{Seq: 1})
	f("a text")
	f(time.Unix(1, 2))
	f(map[string]uint64{"Seq": 5})
	f(struct {
		Headers map[string][]string
		Body    []byte
	}{map[string][]string{"A": {"b", "c"}, "B": nil}, []byte("x")})
}

// TestGobOfHostileHeaders checks that a count of headers does not make memory.
func TestGobOfHostileHeaders(t *testing.T) {
	value := gobResult + "\x0c\xf8\x00\x00\x00\x10\x00\x00\x00\x00" + "\x00"
	data := gobPreamble + string(rune(len(value))) + value
	var r Result
	err := newTestDecoder(Gob, []byte(data)).Decode(&r)
	if err == nil || !strings.Contains(err.Error(), "bad result 1: bad headers: 68719476736 of them in 1 bytes") {
		t.Errorf("error is %v", err)
	}
}

func TestBase64(t *testing.T) {
	var enc base64Encoder
	var dec base64Decoder
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "src")
		text := enc.append([]byte("head "), src)
		if want := "head " + base64.StdEncoding.EncodeToString(src); string(text) != want {
			t.Fatalf("encoded %q, want %q", text, want)
		}
		text = text[len("head "):]
		if len(text) > 0 && rapid.Bool().Draw(t, "spoil") {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("=\n\r!A\x80")).Draw(t, "by")
		}
		got, err := dec.append([]byte("head "), text)
		want, wantErr := base64.StdEncoding.DecodeString(string(text))
		if (err == nil) != (wantErr == nil) || err == nil && string(got) != "head "+string(want) {
			t.Fatalf("decoded %q and error %v, want %q and %v", got, err, want, wantErr)
		}
	})
}

func FuzzGob(f *testing.F) {
	data := readFile(f, "results.gob")
	f.Add(data[:4000])
	f.Add(data[:len(gobPreamble)])
	f.Add(data[:len(gobPreamble)-5])
	f.Add(append(bytes.Clone(data[:1000]), data...))
	f.Add(append(bytes.Clone(data[:1000]), "\x07\xff\x80\x02\x05\x00"...))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := decodeAll(newTestDecoder(Gob, data))
		if text := err.Error(); strings.Contains(text, "bad headers") || strings.Contains(text, ": gob: ") {
			return // encoding/gob would make room for what is not there
		}
		checkDecoder(t, Gob, data)
	})
}

func FuzzJSON(f *testing.F) {
	for line := range bytes.Lines(readFile(f, "results.json")[:4000]) {
		f.Add(bytes.Clone(line))
	}
	f.Add([]byte(`{"attack":"\u00e9\ud83d\ude00\"","seq":0,"code":200,"timestamp":"2026-11-20T09:27:44.779296533+09:00","latency":-5,"bytes_out":0,"bytes_in":18446744073709551615,"error":"<\n>","body":"","method":"","url":"","headers":{"A":[],"B":null,"C":["\/"]}}`))
	f.Add([]byte(` {"headers":{"A":["b"],"A":["c"]}} `))
	f.Fuzz(func(t *testing.T, data []byte) { checkDecoder(t, JSON, data) })
}

func FuzzCSV(f *testing.F) {
	f.Add(readFile(f, "results.csv")[:4000])
	f.Add([]byte("\n\r\n1,200,3,4,5,\"a\nb\",aGk=,a,0,GET,http://h/,QTogYg0KDQo=\r\n-1,0,-3,4,5,\"a\"\"b\",,\"a\",0,GET,http://h/,\n"))
	f.Add([]byte("1,200,3,4,5, a,,\u00a0a,0,GET,http://h/,QTogYg0KQTogYw0KDQo=\n1,2\n"))
	f.Fuzz(func(t *testing.T, data []byte) { checkDecoder(t, CSV, data) })
}

func FuzzEncoders(f *testing.F) {
	f.Add("Get \"http://h/?a=b&c\": EOF", []byte("body"), "X-A", " value\n", uint64(1), int64(5))
	f.Add("\xff\u2028\x00", []byte{}, "", "", uint64(1<<40), int64(-1<<60))
	f.Fuzz(func(t *testing.T, text string, body []byte, name, value string, n uint64, at int64) {
		results := []Result{
			{Attack: text, URL: text, Error: name, Method: value, Seq: n, Code: uint16(n), Timestamp: time.Unix(0, at).UTC(), Latency: time.Duration(at)},
			{Error: text, Body: body, BytesIn: n, Timestamp: time.Unix(0, at), Headers: http.Header{name: {value, text}}},
		}
		for _, e := range []Encoding{Gob, JSON, CSV} {
			if got, want := encode(t, e, results), plainEncode(t, e, results); !bytes.Equal(got, want) {
				t.Fatalf("%s is\n%q\nwant\n%q", e, got, want)
			}
		}
	})
}
