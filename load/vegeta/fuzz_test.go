package vegeta

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/load"
)

func FuzzReadTargets(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "targets.http"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, false)
	f.Add([]byte("GET http://h/a\nX-a: 1\n# comment\n@testdata/body.json\nPOST http://h/b"), false)
	f.Add([]byte("# weight: 2\nGET http://h/{{int 1 9}}?{{uuid}}\nX-a: {{seq}}\nPOST http://h/b\n@testdata/body.json"), false)
	f.Add([]byte(`{"method":"POST","url":"http://h/b","body":"aGk=","header":{"X-a":["1","2"]}}`), true)
	f.Add([]byte(`{"method":"POST","url":"http://h/{{pick a|b}}","body":"e3tzZXF9fQ==","header":{"X-a":["{{hex 4}}"]},"weight":3}`), true)
	f.Fuzz(func(t *testing.T, data []byte, asJSON bool) {
		if bytes.IndexByte(data, '@') >= 0 && !asJSON {
			// No files but those of the fixtures.
			data = bytes.ReplaceAll(data, []byte("@"), []byte("@testdata/"))
		}
		o := TargetOptions{Name: "t"}
		if asJSON {
			o.Format = JSONTargets
		}
		targets, err := ReadTargets(bytes.NewReader(data), o)
		checkStream(t, data, o, targets, err)
		if (err == nil) == (len(targets) == 0) {
			t.Fatalf("%d targets and error %v", len(targets), err)
		}
		if err != nil {
			if !errors.Is(err, load.ErrNoTargets) && !strings.HasPrefix(err.Error(), "t:") {
				t.Fatalf("error %v names no line", err)
			}
			return
		}
		if lines := bytes.Count(data, []byte("\n")) + 1; len(targets) > lines {
			t.Fatalf("%d targets in %d lines", len(targets), lines)
		}
		again, err := ReadTargets(bytes.NewReader(writeJSON(t, targets)), TargetOptions{Format: JSONTargets})
		if err != nil {
			t.Fatalf("written again: %v", err)
		}
		for i := range again {
			// JSON holds no bytes that are not UTF-8, and says nothing of an empty body.
			if a, b := again[i], targets[i]; a.Method != b.Method || !bytes.Equal(a.Body, b.Body) || !reflect.DeepEqual(a.Header, b.Header) && isText(data) {
				t.Fatalf("target %d is %+v, written again %+v", i, b, a)
			} else if (a.Fill == nil) != (b.Fill == nil) || a.Fill != nil && isText(data) && !bytes.Equal(a.Fill.URL.Append(nil, 3), b.Fill.URL.Append(nil, 3)) {
				t.Fatalf("target %d is filled otherwise when written again", i)
			}
		}
	})
}

// checkStream fails unless a stream gives the targets that are read at once.
func checkStream(t *testing.T, data []byte, o TargetOptions, want []load.Target, wantErr error) {
	t.Helper()
	r := newTargetReader(bytes.NewReader(data), o) // not lazy, so that it takes weights
	for n := 0; ; n++ {
		tg, err := r.Next()
		if err != nil {
			if wantErr == nil && (err != io.EOF || n != len(want)) || wantErr != nil && err.Error() != wantErr.Error() {
				t.Fatalf("the stream ends with %v after %d targets, want %v after %d", err, n, wantErr, len(want))
			}
			return
		}
		if wantErr == nil && (n >= len(want) || tg.URL != want[n].URL || tg.Weight != want[n].Weight) {
			t.Fatalf("target %d of the stream is %+v", n, tg)
		}
	}
}

func isText(b []byte) bool { return bytes.Equal(bytes.ToValidUTF8(b, nil), b) }

func FuzzDecoder(f *testing.F) {
	for _, name := range []string{"results.gob", "results.json", "results.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 4000)])
	}
	f.Add([]byte("1,200,3,4,5,\"a\nb\",aGk=,a,0,GET,http://h/,QTogYg0KDQo=\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := NewDecoder(bytes.NewReader(data), "f")
		if err != nil {
			return
		}
		var m Metrics
		var r Result
		var n uint64
		for {
			if err = d.Decode(&r); err != nil {
				break
			}
			n++
			m.Add(&r)
		}
		if !r.Equal(&Result{}) {
			t.Fatalf("the end left %+v", r)
		}
		if n > uint64(len(data)) {
			t.Fatalf("%d results in %d bytes", n, len(data))
		}
		if err == nil || m.Requests != n {
			t.Fatalf("error %v, %d results, %d counted", err, n, m.Requests)
		}
		m.Close()
		if err := WriteText(io.Discard, &m); err != nil {
			t.Fatal(err)
		}
		if err := WriteHDRPlot(io.Discard, &m); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzParseBuckets(f *testing.F) {
	f.Add("[0,1ms,10ms]")
	f.Add("[1ms]")
	f.Add("[-1s, 2h]")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBuckets(s)
		if err != nil {
			if b != nil {
				t.Fatalf("%v and error %v", b, err)
			}
			return
		}
		if len(b.Counts) != len(b.Bounds) || len(b.Bounds) == 0 || b.Bounds[0] > 0 {
			t.Fatalf("bad buckets %v", b)
		}
		for i, lo := range b.Bounds {
			b.Add(lo)
			if b.Counts[i] != 1 {
				t.Fatalf("%s is not counted in bucket %d of %v", lo, i, b)
			}
		}
	})
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"10 MB", "-1", "0", "Key: Value", "a,b", "30s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var o AttackOptions
		var body, body2 int64
		if (MaxBodyValue{&body}).Set(s) == nil {
			if err := (MaxBodyValue{&body2}).Set(MaxBodyValue{&body}.String()); err != nil || body != body2 {
				t.Fatalf("size %q: %v, again %v, error %v", s, body, body2, err)
			}
		}
		if (HeaderValue{&o.Header}).Set(s) == nil && len(o.Header) != 1 {
			t.Fatalf("header %q: %v", s, o.Header)
		}
		var items []string
		if (ListValue{&items}).Set(s) == nil && len(items) != strings.Count(s, ",")+1 {
			t.Fatalf("list %q: %q", s, items)
		}
		_ = RedirectsValue{&o.Engine.HTTP.Redirects}.Set(s)
		_ = TimeoutValue{&o.Engine.HTTP.Timeout}.Set(s)
	})
}
