package handover

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// TestLoads: what a load hands over is taken once, on the listener's clock.
func TestLoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "load")
	start := time.Now()
	l, err := NewLoads(path, start)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Take(); err != nil || len(got) != 0 {
		t.Fatalf("before anything came: %v, %v", got, err)
	}
	w, err := NewWriter(path, start.Add(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Report{Steps: []kasoku.Step{{Number: 1, Interval: kasoku.Interval{To: time.Second}}},
		Seconds: []kasoku.LoadSecond{{Second: 2, Step: 1, Target: "GET \x1b[31m/", Asked: 5, Codes: map[int]uint64{200: 5},
			Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New()}}}); err != nil {
		t.Fatal(err)
	}
	got, err := l.Take()
	if err != nil || len(got) != 1 || got[0].Second != 22 || got[0].Asked != 5 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if st := l.Steps(); len(st) != 1 || st[0].Interval.From.Round(time.Second) != 20*time.Second {
		t.Errorf("steps %+v", st)
	}
	if again, _ := l.Take(); len(again) != 0 {
		t.Errorf("taken twice: %v", again)
	}
}

// TestLoads_Several: loads that one command makes, one after the other or at once,
// are one load of the run, whose steps have numbers of their own.
func TestLoads_Several(t *testing.T) {
	const began = 120_000 * time.Millisecond
	l := &Loads{reader: reader{path: filepath.Join(t.TempDir(), "load")}, began: began}
	report := func(process int, start time.Duration, seconds int, steps ...int) []kasoku.LoadSecond {
		t.Helper()
		h := sampleReport()
		h.Process, h.StartMonotonic, h.Steps, h.Seconds = process, start, nil, h.Seconds[:seconds]
		for _, n := range steps {
			h.Steps = append(h.Steps, kasoku.Step{Number: n, Interval: kasoku.Interval{From: 0, To: time.Second}})
		}
		line, err := appendReport(nil, h)
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
		got, err := l.Take()
		if err != nil || len(got) != seconds {
			t.Fatalf("%d seconds, %v", len(got), err)
		}
		return got
	}
	got := report(7, began+3200*time.Millisecond, 3, 1)
	if got[0].Second != 3 || got[2].Second != 5 || got[0].Step != 1 {
		t.Errorf("%+v", got)
	}
	report(7, began+3200*time.Millisecond, 1, 1, 2)
	got = report(8, began+9700*time.Millisecond, 1, 1, 2)
	if got[0].Second != 10 || got[0].Step != 3 {
		t.Errorf("second load: %+v", got)
	}
	report(7, began+3200*time.Millisecond, 0, 1, 2, 3)
	var numbers []int
	steps := l.Steps()
	for _, st := range steps {
		numbers = append(numbers, st.Number)
	}
	if !slices.Equal(numbers, []int{1, 2, 5, 3, 4}) || steps[0].Interval.From != 3200*time.Millisecond || steps[3].Interval.From != 9700*time.Millisecond {
		t.Errorf("steps %+v", steps)
	}
	all := l.All()
	if len(all) != 2 || len(all[0].Warnings) != 1 || all[1].Summary.Engine != "nethttp" {
		t.Errorf("%d loads: %+v", len(all), all)
	}
}
