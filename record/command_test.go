package record

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/record/handover"
)

// TestTakeHandover: loads that one command makes are one load of the run, whose steps
// are in order.
func TestTakeHandover(t *testing.T) {
	s := newLoads(&recorder{}, nil)
	s.start = time.Now()
	path := filepath.Join(t.TempDir(), "load")
	l, err := handover.NewLoads(path, s.start)
	if err != nil {
		t.Fatal(err)
	}
	report := func(after time.Duration, steps ...int) {
		t.Helper()
		w, err := handover.NewWriter(path, s.start.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		r := handover.Report{Summary: kasoku.LoadSummary{Engine: "nethttp", Targets: []string{"POST /users"}},
			Warnings: []kasoku.Warning{{Code: "late-generator", Text: "late"}}}
		for _, n := range steps {
			r.Steps = append(r.Steps, kasoku.Step{Number: n, Interval: kasoku.Interval{To: time.Second}})
		}
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	report(3200*time.Millisecond, 1, 2)
	report(9700*time.Millisecond, 1)
	s.takeHandover(l)
	s.takeHandover(l) // replaces what was reported before
	var numbers []int
	for _, st := range s.steps {
		numbers = append(numbers, st.Number)
	}
	if !slices.Equal(numbers, []int{1, 2, 3}) || s.steps[2].Interval.From.Round(time.Millisecond) != 9700*time.Millisecond {
		t.Errorf("steps %+v", s.steps)
	}
	if len(s.handed) != 2 || s.summary.Engine != "nethttp" || len(s.summary.Targets) != 1 || len(s.warnings) != 0 {
		t.Errorf("%+v, %d warnings of theirs, %v", s.summary, len(s.handed), s.warnings)
	}
}
