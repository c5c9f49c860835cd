package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

func sampleHandover() *Handover {
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
	return &Handover{
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
	r := handoverReader{path: filepath.Join(dir, "load")}
	next := func(n int) []*Handover {
		t.Helper()
		got, err := r.next()
		if err != nil || len(got) != n {
			t.Fatalf("%d records, %v; want %d", len(got), err, n)
		}
		return got
	}
	next(0)
	began := time.Now()
	w, err := NewHandover(r.path, began)
	if err != nil {
		t.Fatal(err)
	}
	want := []*Handover{sampleHandover(), {Seconds: []kasoku.LoadSecond{}}}
	for _, h := range want {
		if err := w.Write(*h); err != nil {
			t.Fatal(err)
		}
		h.Process, h.StartMonotonic = os.Getpid(), w.start
	}
	for i, got := range next(2) {
		if !sameHandover(t, got, want[i]) {
			t.Errorf("got %+v\nwant %+v", got, want[i])
		}
	}
	next(0)
	if err := w.Write(*sampleHandover()); err != nil {
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
	w, err := NewHandover(path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(*sampleHandover()); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("into a missing directory: %v", err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Handover{Seconds: sampleHandover().Seconds[:1]}); err != nil {
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
		r := handoverReader{path: path}
		if got, err := r.next(); len(got) != 0 || err != nil {
			t.Fatalf("cut at %d: %d records, %v", cut, len(got), err)
		}
		if err := w.Write(Handover{}); err != nil {
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
	if h, err := parseHandover(whole[1 : len(whole)-1]); err != nil || len(h.Seconds) != 4 {
		t.Errorf("%+v, %v: want the three seconds of the record before, too", h, err)
	}
}

// TestHandover_TakesNoRoom: what was read is given back to the disk, where the
// file system can do that.
func TestHandover_TakesNoRoom(t *testing.T) {
	r := handoverReader{path: filepath.Join(t.TempDir(), "load")}
	w, err := NewHandover(r.path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if err := w.Write(*sampleHandover()); err != nil {
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

// sameHandover compares two, histograms by what they hold.
func sameHandover(t testing.TB, a, b *Handover) bool {
	t.Helper()
	plain := func(h *Handover) (Handover, [][]byte) {
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

func TestParseHandover_Failure(t *testing.T) {
	f := func(text string) {
		t.Helper()
		if h, err := parseHandover([]byte(text)); err == nil || h != nil {
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

// TestHandedLoads: loads that one command makes, one after the other or at once,
// are one load of the run, whose steps have numbers of their own.
func TestHandedLoads(t *testing.T) {
	const began = 120_000 * time.Millisecond
	l := &handedLoads{reader: handoverReader{path: filepath.Join(t.TempDir(), "load")}}
	tell := func(process int, start time.Duration, seconds int, steps ...int) []kasoku.LoadSecond {
		t.Helper()
		h := sampleHandover()
		h.Process, h.StartMonotonic, h.Steps, h.Seconds = process, start, nil, h.Seconds[:seconds]
		for _, n := range steps {
			h.Steps = append(h.Steps, kasoku.Step{Number: n, Interval: kasoku.Interval{From: 0, To: time.Second}})
		}
		line, err := appendHandover(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(l.reader.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
		f.Close()
		got, err := l.take(began)
		if err != nil || len(got) != seconds {
			t.Fatalf("%d seconds, %v", len(got), err)
		}
		return got
	}
	got := tell(7, began+3200*time.Millisecond, 3, 1)
	if got[0].Second != 3 || got[2].Second != 5 || got[0].Step != 1 {
		t.Errorf("%+v", got)
	}
	tell(7, began+3200*time.Millisecond, 1, 1, 2)
	got = tell(8, began+9700*time.Millisecond, 1, 1, 2)
	if got[0].Second != 10 || got[0].Step != 3 {
		t.Errorf("second load: %+v", got)
	}
	tell(7, began+3200*time.Millisecond, 0, 1, 2, 3)
	s := &session{saidBefore: map[string]int{}}
	s.start = time.Now()
	s.takeHandover(l)
	var numbers []int
	for _, st := range s.steps {
		numbers = append(numbers, st.Number)
	}
	if !slices.Equal(numbers, []int{1, 2, 3, 4, 5}) || s.steps[0].Interval.From != 3200*time.Millisecond || s.steps[2].Interval.From != 9700*time.Millisecond {
		t.Errorf("steps %+v", s.steps)
	}
	if len(s.handed) != 2 || s.summary.Engine != "nethttp" || len(s.summary.Targets) != 1 || len(s.warnings) != 0 {
		t.Errorf("%+v, %d warnings of theirs, %v", s.summary, len(s.handed), s.warnings)
	}
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

func FuzzParseHandover(f *testing.F) {
	whole, err := appendHandover(nil, sampleHandover())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"Seconds":[{"Second":1,"Latency":"AAAA"}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHandover(b)
		if err != nil {
			if h != nil {
				t.Fatalf("a result with the error %v", err)
			}
			return
		}
		line, err := appendHandover(nil, h)
		if err != nil || bytes.ContainsRune(line, '\n') {
			t.Fatalf("written as %q, %v", line, err)
		}
		again, err := parseHandover(line)
		if err != nil {
			t.Fatal(err)
		}
		if !sameHandover(t, h, again) {
			t.Fatalf("read %+v, written and read again %+v", h, again)
		}
	})
}
