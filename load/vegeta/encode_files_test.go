package vegeta

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// TestEncode converts Vegeta's files each into each. What comes from gob is
// Vegeta's own CSV, byte for byte.
func TestEncode(t *testing.T) {
	_, want := readResults(t, readFile(t, "results.gob"))
	for _, from := range []Encoding{Gob, JSON, CSV} {
		for _, to := range []Encoding{Gob, JSON, CSV, ""} {
			var out bytes.Buffer
			o := EncodeOptions{To: to, Files: []string{filepath.Join("testdata", "results."+string(from))}, Stdout: &out}
			if err := Encode(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if to == "" {
				to = JSON
			}
			got, results := readResults(t, out.Bytes())
			if got != to || len(results) != len(want) {
				t.Fatalf("%s to %s: %d results in %s", from, to, len(results), got)
			}
			for i := range results {
				if !results[i].Equal(&want[i]) {
					t.Fatalf("%s to %s: result %d is\n%+v\nwant\n%+v", from, to, i, results[i], want[i])
				}
			}
			if to == CSV && !bytes.Equal(out.Bytes(), readFile(t, "results.csv")) {
				t.Errorf("%s to CSV differs from Vegeta's", from)
			}
		}
	}
}

func TestEncodeOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	for i, e := range []Encoding{Gob, CSV} {
		results := benchResults(3 - i)
		for j := range results {
			results[j].Attack = string(rune('a' + i))
		}
		if err := os.WriteFile(files[i], encode(t, e, results), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := EncodeOptions{To: CSV, Files: files, Output: filepath.Join(dir, "out")}
	if err := Encode(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(o.Output)
	if err != nil {
		t.Fatal(err)
	}
	var order strings.Builder
	_, results := readResults(t, data)
	for _, r := range results {
		order.WriteString(r.Attack)
	}
	if order.String() != "ababa" {
		t.Errorf("order is %s", &order)
	}
}

// TestEncodeEndsWithAWholeResult checks that what is written can be read, when
// the input is cut short and when the user stops.
func TestEncodeEndsWithAWholeResult(t *testing.T) {
	for _, from := range []Encoding{Gob, JSON, CSV} {
		whole := readFile(t, "results."+string(from))
		var out bytes.Buffer
		o := EncodeOptions{To: Gob, Stdin: bytes.NewReader(whole[:len(whole)/2]), Stdout: &out}
		if err := Encode(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), "stdin: ") {
			t.Errorf("%s: error is %v", from, err)
		}
		if _, results := readResults(t, out.Bytes()); len(results) < 100 {
			t.Errorf("%s: %d results", from, len(results))
		}

		ctx, stop := context.WithCancel(t.Context())
		out.Reset()
		left, reads := bytes.NewReader(whole), 0
		o.Stdin = readerFunc(func(p []byte) (int, error) {
			if reads++; reads == 60 {
				stop()
			}
			return left.Read(p[:min(len(p), 1000)])
		})
		if err := Encode(ctx, o); err != nil {
			t.Errorf("%s: error is %v when stopped", from, err)
		}
		if _, results := readResults(t, out.Bytes()); len(results) < 100 || len(results) > 290 {
			t.Errorf("%s: %d results when stopped", from, len(results))
		}
		stop()
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestEncode_Failure(t *testing.T) {
	f := func(o EncodeOptions, want string) {
		t.Helper()
		if o.Stdout == nil {
			o.Stdout = io.Discard
		}
		if err := Encode(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	f(EncodeOptions{To: "xml"}, `bad encoding "xml"`)
	f(EncodeOptions{Files: []string{"testdata/none"}}, "open results: ")
	f(EncodeOptions{Stdin: strings.NewReader("")}, "stdin: no results")
	f(EncodeOptions{Stdin: iotest.ErrReader(io.ErrClosedPipe)}, "closed pipe")
	f(EncodeOptions{Files: []string{"testdata/results.gob"}, Output: "testdata/none/x"}, "create output")
	f(EncodeOptions{Files: []string{"testdata/results.gob"}, Stdout: brokenPipe{}}, "write results: ")
	f(EncodeOptions{To: JSON, Stdin: strings.NewReader("9999999999999999,200,3,4,5,,,a,0,GET,http://h/,\n1,x")}, "stdin: bad result 2")
}
