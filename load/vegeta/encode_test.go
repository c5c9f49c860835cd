package vegeta

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readResults reads all results, which must be readable to the end.
func readResults(t testing.TB, data []byte) (Encoding, []Result) {
	t.Helper()
	d, err := NewDecoder(bytes.NewReader(data), "test")
	if err != nil {
		t.Fatal(err)
	}
	var out []Result
	for {
		var r Result
		err := d.Decode(&r)
		if err == io.EOF {
			return d.Encoding(), out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
}

func encode(t testing.TB, e Encoding, results []Result) []byte {
	t.Helper()
	var buf bytes.Buffer
	enc, err := NewEncoder(&buf, e)
	if err != nil {
		t.Fatal(err)
	}
	for i := range results {
		if err := enc.Encode(&results[i]); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

// TestVegetasFilesAgree reads the same 300 results in the three encodings.
func TestVegetasFilesAgree(t *testing.T) {
	_, want := readResults(t, readFile(t, "results.gob"))
	if len(want) != 300 {
		t.Fatalf("%d results, want 300", len(want))
	}
	for _, e := range []Encoding{Gob, JSON, CSV} {
		got, results := readResults(t, readFile(t, "results."+string(e)))
		if got != e {
			t.Errorf("results.%s is taken for %s", e, got)
		}
		if len(results) != len(want) {
			t.Fatalf("%s: %d results", e, len(results))
		}
		for i := range results {
			if !results[i].Equal(&want[i]) {
				t.Errorf("%s: result %d is\n%+v\nwant\n%+v", e, i, results[i], want[i])
			}
		}
	}
}

// TestEncodingsAreVegetas encodes the results again. Headers are a map, whose
// order Vegeta leaves to chance in JSON and gob; without them all is equal.
func TestEncodingsAreVegetas(t *testing.T) {
	_, results := readResults(t, readFile(t, "results.gob"))
	if got := encode(t, CSV, results); !bytes.Equal(got, readFile(t, "results.csv")) {
		t.Error("the CSV differs from Vegeta's")
	}
	want := strings.SplitAfter(string(readFile(t, "results.json")), "\n")
	got := strings.SplitAfter(string(encode(t, JSON, results)), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines of JSON, want %d", len(got), len(want))
	}
	for i := range got {
		g, _, _ := strings.Cut(got[i], `"headers":{`)
		w, _, _ := strings.Cut(want[i], `"headers":{`)
		if g != w || len(got[i]) != len(want[i]) {
			t.Errorf("JSON line %d is\n%s\nwant\n%s", i+1, got[i], want[i])
		}
	}
	wire, again := readFile(t, "results.gob"), encode(t, Gob, results)
	if len(wire) != len(again) {
		t.Errorf("the gob has %d bytes, Vegeta's %d", len(again), len(wire))
	}
	if n := bytes.Index(wire, []byte("mix")); !bytes.Equal(wire[:n], again[:n]) {
		t.Errorf("the gob begins with\n%q\nVegeta's with\n%q", again[:n], wire[:n])
	}
}

func TestNewEncoder_Failure(t *testing.T) {
	if _, err := NewEncoder(io.Discard, "xml"); err == nil || !strings.Contains(err.Error(), `"xml"`) {
		t.Errorf("error is %v", err)
	}
}

func resultGen() *rapid.Generator[Result] {
	// A CSV reader turns \r\n into \n, and JSON replaces what is not UTF-8.
	text := rapid.StringMatching(`[ -~\n\téß世]{0,20}`)
	return rapid.Custom(func(t *rapid.T) Result {
		r := Result{
			Attack: text.Draw(t, "attack"),
			Seq:    rapid.Uint64().Draw(t, "seq"),
			Code:   rapid.Uint16().Draw(t, "code"),
			// What nanoseconds since 1970 can hold: the years 1678 to 2262.
			Timestamp: time.Unix(0, rapid.Int64().Draw(t, "timestamp")).UTC(),
			Latency:   time.Duration(rapid.Int64().Draw(t, "latency")),
			BytesOut:  rapid.Uint64().Draw(t, "bytesOut"),
			BytesIn:   rapid.Uint64().Draw(t, "bytesIn"),
			Error:     text.Draw(t, "error"),
			Body:      rapid.SliceOf(rapid.Byte()).Draw(t, "body"),
			Method:    rapid.StringMatching(`[A-Z]{0,7}`).Draw(t, "method"),
			URL:       text.Draw(t, "url"),
		}
		if n := rapid.IntRange(0, 3).Draw(t, "headers"); n > 0 {
			r.Headers = http.Header{}
			for range n {
				key := http.CanonicalHeaderKey(rapid.StringMatching(`[a-zA-Z][a-zA-Z0-9-]{0,10}`).Draw(t, "key"))
				r.Headers[key] = append(r.Headers[key], strings.TrimSpace(rapid.StringMatching(`[!-~ ]{1,20}`).Draw(t, "value")))
			}
		}
		return r
	})
}

func TestEncodingsRoundTrip(t *testing.T) {
	for _, e := range []Encoding{Gob, JSON, CSV} {
		rapid.Check(t, func(rt *rapid.T) {
			want := rapid.SliceOfN(resultGen(), 1, 5).Draw(rt, "results")
			data := encode(t, e, want)
			got, results := readResults(t, data)
			if got != e {
				rt.Fatalf("%s is taken for %s", e, got)
			}
			if len(results) != len(want) {
				rt.Fatalf("%s: %d results, want %d", e, len(results), len(want))
			}
			for i := range want {
				if !results[i].Equal(&want[i]) {
					rt.Fatalf("%s: result %d is\n%#v\nwant\n%#v", e, i, results[i], want[i])
				}
			}
		})
	}
}

func TestDecode_Failure(t *testing.T) {
	ok := "1,200,3,4,5,,,a,0,GET,http://h/,\n"
	f := func(data, want string) {
		t.Helper()
		d, err := NewDecoder(strings.NewReader(data), "file")
		r := Result{Attack: "before"}
		for err == nil {
			err = d.Decode(&r)
		}
		if err == io.EOF || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "file: ") {
			t.Errorf("%q: error is %v, want %q", data, err, want)
		}
		if d != nil {
			if !r.Equal(&Result{}) {
				t.Errorf("%q: an error left %+v", data, r)
			}
			if again := d.Decode(&r); again != err {
				t.Errorf("%q: the next error is %v", data, again)
			}
		}
	}
	f("", "no results")
	f("hello", "neither gob, JSON nor CSV")
	f("{", "cut short after 0 results")
	f("{}\n{\"seq\":\"x\"}", "bad result 2")
	f("{}\n{\"seq\":1}}", "bad result 2")
	f("\x7f\x00\x01\x02", "file: ")
	f("\xff\xff\xff\xff\xff\xff\xff\xff", "file: ")
	f("1,2\n", "wrong number of fields")
	f(ok+"x,200,3,4,5,,,a,0,GET,http://h/,\n", `bad result 2: bad timestamp "x"`)
	f("1,70000,3,4,5,,,a,0,GET,http://h/,\n", `bad status code "70000"`)
	f("1,200,x,4,5,,,a,0,GET,http://h/,\n", `bad latency "x"`)
	f("1,200,3,-4,5,,,a,0,GET,http://h/,\n", `bad number of bytes out "-4"`)
	f("1,200,3,4,x,,,a,0,GET,http://h/,\n", `bad number of bytes in "x"`)
	f("1,200,3,4,5,,!,a,0,GET,http://h/,\n", "bad body")
	f("1,200,3,4,5,,,a,x,GET,http://h/,\n", `bad sequence number "x"`)
	f("1,200,3,4,5,,,a,0,GET,http://h/,!\n", "bad headers")
	f("1,200,3,4,5,,,a,0,GET,http://h/,aGVsbG8=\n", "bad headers")
	f("1,200,\"3,4", "file: ")
}

// TestDecodeCutShort: a CSV file that ends in the last field of a line is cut short,
// although the line has all fields; without headers they need not be looked at.
func TestDecodeCutShort(t *testing.T) {
	const line = "1,200,3,4,5,,,a,0,GET,http://h/,QTogYg0KDQo="
	f := func(end, want string) {
		t.Helper()
		for _, brief := range []bool{false, true} {
			d, err := NewDecoder(strings.NewReader(line+"\n"+end), "file")
			if err != nil {
				t.Fatal(err)
			}
			if brief {
				d.LeaveOut()
			}
			got, err := decodeAll(d)
			if len(got) == 0 || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: after %d results error %v, want %q", end, len(got), err, want)
			}
		}
	}
	f("", "EOF")
	f(line, "EOF")
	f(line+"\n", "EOF")
	f(line[:len(line)-1], "bad result 2: bad headers: ")
	f(line[:len(line)-4], "file: cut short after 1 results: bad headers: unexpected EOF")
	f(line[:30], "file: bad result 2: ")
}

func TestDecodeBoundsLines(t *testing.T) {
	f := func(codec func(*source) codec, head string, fill byte, want string) {
		t.Helper()
		c := codec(newSource(io.MultiReader(strings.NewReader(head), fillReader(fill)), 1<<20))
		var r Result
		if err := c.next(&r, &headers{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: an endless line gives %v", head, err)
		}
	}
	js := func(s *source) codec { return newJSONDecoder(s) }
	cs := func(s *source) codec { return newCSVDecoder(s) }
	f(js, "{\"body\":\"", 'A', "line longer than 1 MiB")
	f(cs, "1,", '1', "line longer than 1 MiB")
	f(cs, "1,200,3,4,5,\"\n", 'x', "line longer than 1 MiB")
}

type fillReader byte

func (f fillReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

func TestRoundRobinOfNone(t *testing.T) {
	var r Result
	if err := NewRoundRobin().Decode(&r); !errors.Is(err, io.EOF) {
		t.Errorf("error is %v", err)
	}
}

func TestMetricsOfExtremes(t *testing.T) {
	var m Metrics
	m.Add(&Result{Timestamp: time.Unix(5, 0), Latency: math.MaxInt64})
	m.Add(&Result{Timestamp: time.Unix(1, 0), Latency: -5})
	m.Close()
	var buf bytes.Buffer
	if err := WriteJSON(&buf, &m); err != nil {
		t.Fatal(err)
	}
}
