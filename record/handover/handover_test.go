package handover

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

func sampleReport() *Report {
	second := func(n int, latency ...time.Duration) kasoku.LoadSecond {
		s := kasoku.LoadSecond{
			Second: n, Step: 1, Target: "POST /users", Asked: uint64(len(latency)) + 1,
			Codes: map[int]uint64{200: uint64(len(latency)), 0: 1}, Errors: map[string]uint64{"connection refused": 1},
			BytesIn: 17, BytesOut: 42, Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New(),
		}
		for _, d := range latency {
			s.Latency.Record(d)
			s.SendDelay.Record(d / 10)
			s.Service.Record(d - d/10)
		}
		return s
	}
	return &Report{
		StartMonotonic: 123456 * time.Millisecond,
		Steps: []kasoku.Step{{Number: 1, PerSec: 50, Planned: 2 * time.Second,
			Interval: kasoku.Interval{From: 0, To: 2 * time.Second}}},
		Summary:  kasoku.LoadSummary{Engine: "nethttp", Model: "open loop", Targets: []string{"POST /users"}},
		Seconds:  []kasoku.LoadSecond{second(0, time.Millisecond, time.Second), second(1), second(2, time.Hour)},
		Warnings: []kasoku.Warning{{Code: "late-generator", Text: "late", Hint: "lower the rate"}},
	}
}

func TestHandover(t *testing.T) {
	dir := t.TempDir()
	r := reader{path: filepath.Join(dir, "load")}
	next := func(n int) []*Report {
		t.Helper()
		got, err := r.next()
		if err != nil || len(got) != n {
			t.Fatalf("%d records, %v; want %d", len(got), err, n)
		}
		return got
	}
	next(0)
	began := time.Now()
	w, err := NewWriter(r.path, began)
	if err != nil {
		t.Fatal(err)
	}
	want := []*Report{sampleReport(), {Seconds: []kasoku.LoadSecond{}}}
	for _, h := range want {
		if err := w.Write(*h); err != nil {
			t.Fatal(err)
		}
		h.Process, h.Project, h.StartMonotonic = os.Getpid(), w.project, w.start
	}
	for i, got := range next(2) {
		if !sameReport(t, got, want[i]) {
			t.Errorf("got %+v\nwant %+v", got, want[i])
		}
	}
	next(0)
	if err := w.Write(*sampleReport()); err != nil {
		t.Fatal(err)
	}
	if next(1); len(w.late) != 0 {
		t.Errorf("%d seconds are kept", len(w.late))
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// TestHandover_CutShort: a record of which only a part was written is not read,
// and spoils none that comes after it.
func TestHandover_CutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "load")
	w, err := NewWriter(path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(*sampleReport()); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("into a missing directory: %v", err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Report{Seconds: sampleReport().Seconds[:1]}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := func(cut int) {
		t.Helper()
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		r := reader{path: path}
		if got, err := r.next(); len(got) != 0 || err != nil {
			t.Fatalf("cut at %d: %d records, %v", cut, len(got), err)
		}
		if err := w.Write(Report{}); err != nil {
			t.Fatal(err)
		}
		got, err := r.next()
		if len(got) != 1 || (err == nil) != (cut <= 1) {
			t.Fatalf("cut at %d, one more: %d records, %v", cut, len(got), err)
		}
	}
	for cut := 0; cut < len(whole)-1; cut += 1 + cut/3 {
		f(cut)
	}
	if h, err := parseReport(whole[1 : len(whole)-1]); err != nil || len(h.Seconds) != 4 {
		t.Errorf("%+v, %v: want the three seconds of the record before, too", h, err)
	}
}

// TestHandover_TakesNoRoom: what was read is given back to the disk, where the
// file system can do that.
func TestHandover_TakesNoRoom(t *testing.T) {
	r := reader{path: filepath.Join(t.TempDir(), "load")}
	w, err := NewWriter(r.path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if err := w.Write(*sampleReport()); err != nil {
			t.Fatal(err)
		}
		if got, err := r.next(); len(got) != 1 || err != nil {
			t.Fatal(len(got), err)
		}
	}
	st, err := os.Stat(r.path)
	if err != nil {
		t.Fatal(err)
	}
	if room := st.Sys().(*syscall.Stat_t).Blocks * 512; st.Size() < 200_000 || room > 32<<10 {
		t.Errorf("%d bytes take room for %d", st.Size(), room)
	}
}

// sameReport compares two, histograms by what they hold.
func sameReport(t testing.TB, a, b *Report) bool {
	t.Helper()
	plain := func(h *Report) (Report, [][]byte) {
		out := *h
		out.Seconds = nil
		var held [][]byte
		for _, s := range h.Seconds {
			for _, part := range []*histogram.Histogram{s.Latency, s.SendDelay, s.Service} {
				enc, err := part.AppendBinary(nil)
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, enc)
			}
			s.Latency, s.SendDelay, s.Service = nil, nil, nil
			out.Seconds = append(out.Seconds, s)
		}
		return out, held
	}
	x, xs := plain(a)
	y, ys := plain(b)
	return reflect.DeepEqual(x, y) && reflect.DeepEqual(xs, ys)
}

func TestParseReport_Failure(t *testing.T) {
	f := func(text string) {
		t.Helper()
		if h, err := parseReport([]byte(text)); err == nil || h != nil {
			t.Errorf("%.40q: %v, %v", text, h, err)
		}
	}
	f("")
	f("{")
	f("[]")
	f(`{"Seconds": 5}`)
	f(`{"Seconds": [{"Latency": "not base64!"}]}`)
	f(`{"Seconds": [{"Latency": "AAAA", "SendDelay": "", "Service": ""}]}`)
	f(`{"Seconds": [{}]}`) // a histogram is never left out
}

func TestMonotonic(t *testing.T) {
	now := time.Now()
	a, err := monotonic(now)
	if err != nil {
		t.Fatal(err)
	}
	b, err := monotonic(now.Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if d := a - b - time.Minute; d.Abs() > time.Second {
		t.Errorf("a minute is off by %s", d)
	}
}

func FuzzParseReport(f *testing.F) {
	whole, err := appendReport(nil, sampleReport())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"Seconds":[{"Second":1,"Latency":"AAAA"}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseReport(b)
		if err != nil {
			if h != nil {
				t.Fatalf("a result with the error %v", err)
			}
			return
		}
		line, err := appendReport(nil, h)
		if err != nil || bytes.ContainsRune(line, '\n') {
			t.Fatalf("written as %q, %v", line, err)
		}
		again, err := parseReport(line)
		if err != nil {
			t.Fatal(err)
		}
		if !sameReport(t, h, again) {
			t.Fatalf("read %+v, written and read again %+v", h, again)
		}
	})
}
