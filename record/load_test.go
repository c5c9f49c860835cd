package record

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// TestWarnStep: of a kind of warning the last step's stands, and says how many
// steps before it said the same.
func TestWarnStep(t *testing.T) {
	s := newLoads(&recorder{}, nil)
	s.warn(kasoku.Warning{Code: "empty-log", Text: "other"})
	for number, delay := range []time.Duration{3, 0, 5, 7} {
		tally := kasoku.NewTally()
		tally.Latency.Record(10 * time.Millisecond)
		tally.SendDelay.Record(delay * time.Millisecond)
		s.warnStep(&kasoku.LoadSummary{Cores: 2, Wall: time.Second}, tally, kasoku.Step{Number: number + 1})
	}
	want := []string{"other", "step 4: the generator was late: send delay p99 7.00 ms, max 7.00 ms, of a latency p99 of 10.0 ms; likewise in 2 of the steps before"}
	if len(s.warnings) != len(want) {
		t.Fatalf("%d warnings: %+v", len(s.warnings), s.warnings)
	}
	for i, w := range s.warnings {
		if w.Text != want[i] {
			t.Errorf("warning %q, want %q", w.Text, want[i])
		}
	}
}

func TestWrites(t *testing.T) {
	f := func(l *loads, endpoints []kasoku.Endpoint, want uint64, known bool) {
		t.Helper()
		c := &rowCounts{logs: &logbook{endpoints: endpoints}, loads: l}
		if n, ok := c.writes(); n != want || ok != known {
			t.Fatalf("%d, %v; want %d, %v", n, ok, want, known)
		}
	}
	codes := map[int]uint64{200: 3, 201: 2, 302: 7, 500: 9}
	f(&loads{}, nil, 0, false)
	f(&loads{loaded: 5, summary: &kasoku.LoadSummary{}}, nil, 5, true)
	f(&loads{loaded: 5, summary: &kasoku.LoadSummary{}}, []kasoku.Endpoint{
		{Method: "POST", Codes: map[int]uint64{200: 4, 303: 1}}, {Method: "GET", Codes: codes}}, 4, true)
}
