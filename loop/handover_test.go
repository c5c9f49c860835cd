package loop

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/histogram"
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

func TestHandoverRoundTrip(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "load.json")
	if _, err := ReadHandover(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("before: %v", err)
	}
	for _, want := range []*Handover{sampleHandover(), {Seconds: []kasoku.LoadSecond{}}} {
		if err := want.Write(path); err != nil {
			t.Fatal(err)
		}
		got, err := ReadHandover(path)
		if err != nil {
			t.Fatal(err)
		}
		if !sameHandover(t, got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if err := sampleHandover().Write(filepath.Join(dir, "no", "load.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into a missing directory: %v", err)
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

func TestHandoverShift(t *testing.T) {
	f := func(by time.Duration, from time.Duration, second int) {
		t.Helper()
		h := sampleHandover()
		h.shift(by)
		if got := h.Steps[0].Interval; got.From != from || got.To != from+2*time.Second {
			t.Errorf("by %s: step at %v", by, got)
		}
		if h.Seconds[0].Second != second || h.Seconds[2].Second != second+2 {
			t.Errorf("by %s: seconds from %d on", by, h.Seconds[0].Second)
		}
	}
	f(0, 0, 0)
	f(3200*time.Millisecond, 3200*time.Millisecond, 3)
	f(3700*time.Millisecond, 3700*time.Millisecond, 4)
}

func TestMonotonic(t *testing.T) {
	now := time.Now()
	a, err := Monotonic(now)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Monotonic(now.Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if d := a - b - time.Minute; d.Abs() > time.Second {
		t.Errorf("a minute is off by %s", d)
	}
}

func FuzzParseHandover(f *testing.F) {
	path := filepath.Join(f.TempDir(), "load.json")
	if err := sampleHandover().Write(path); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
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
		path := filepath.Join(t.TempDir(), "load.json")
		if err := h.Write(path); err != nil {
			t.Fatal(err)
		}
		again, err := ReadHandover(path)
		if err != nil {
			t.Fatal(err)
		}
		if !sameHandover(t, h, again) {
			t.Fatalf("read %+v, written and read again %+v", h, again)
		}
		h.shift(time.Second)
	})
}
