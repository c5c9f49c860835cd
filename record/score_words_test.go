package record

import (
	"slices"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// TestCommandWords: what a benchmark prints of timeouts is in the run, with its time.
func TestCommandWords(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	o := quick(t)
	o.For = 0
	o.Command = []string{"sh", "-c", `echo 'POST /x: timeout' >&2; echo 'load level: 1' >&2
		echo '{"pass":true,"score":3,"messages":[{"text":"POST /x: timeout","count":34},{"text":"GET /y: \u001b[31mpassword=hunter2 failed","count":2}]}'`}
	rec := mustRecord(t, o)
	i := slices.IndexFunc(rec.Messages, func(m kasoku.Message) bool { return m.Count == 34 })
	if len(rec.Messages) != 2 || i < 0 || rec.Messages[i].Kind != kasoku.MessageBenchmark || len(rec.Messages[i].Seconds) != 1 ||
		rec.Messages[1-i].Sample != "GET /y: password=*** failed" {
		t.Errorf("%+v", rec.Messages)
	}
	var kinds []string
	for _, e := range rec.Events {
		if e.Kind == kasoku.EventBenchmark || e.Kind == kasoku.EventLevel {
			kinds = append(kinds, e.Kind+": "+e.Text)
		}
	}
	slices.Sort(kinds)
	want := []string{"benchmark: POST /x: timeout (34 in all)", "benchmark: in its result: GET /y: password=*** failed (2 in all)", "level: level 1"}
	if !slices.Equal(kinds, want) {
		t.Errorf("%q, want %q", kinds, want)
	}
}
