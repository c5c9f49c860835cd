package recording

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/timeline"
)

// scoredRun is a benchmark of 100 s that reached level 3.
func scoredRun() *kasoku.Recording {
	iv := func(from, to int) kasoku.Interval {
		return kasoku.Interval{From: time.Duration(from) * time.Second, To: time.Duration(to) * time.Second}
	}
	second := func(at, step int, target string, code int, d time.Duration) kasoku.LoadSecond {
		s := kasoku.LoadSecond{Second: at, Step: step, Target: target, Asked: 10, Codes: map[int]uint64{code: 10}, Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New()}
		s.Latency.RecordN(d, 10)
		return s
	}
	rise := func(level, at int) kasoku.Event {
		return kasoku.Event{At: time.Duration(at) * time.Second, Kind: kasoku.EventLevel, Text: fmt.Sprintf("level %d at %d points", level, 300*level)}
	}
	return &kasoku.Recording{
		Run: kasoku.Run{Project: "isuumo", Label: "tuned", Length: 100 * time.Second, State: kasoku.Finished,
			Score: &kasoku.Score{Value: 3693, Outcome: kasoku.Passed, Source: "the benchmark"}},
		Load:  &kasoku.LoadSummary{Engine: "scenario", Model: "closed loop"},
		Steps: []kasoku.Step{{Number: 1, Interval: iv(12, 72)}},
		Phases: []kasoku.Phase{{Kind: kasoku.PhaseInitialize, Interval: iv(0, 2)}, {Kind: kasoku.PhaseVerify, Interval: iv(2, 12)},
			{Kind: kasoku.PhaseLoad, Interval: iv(12, 72)}, {Kind: kasoku.PhaseVerify, Interval: iv(72, 80)}},
		Events: []kasoku.Event{{At: time.Second, Kind: "phase", Text: "verify"}, rise(1, 30), rise(2, 31), rise(3, 35)},
		Seconds: []kasoku.LoadSecond{
			second(3, 0, "GET /gone", 404, time.Second), second(20, 1, "GET /a", 200, time.Millisecond),
			second(21, 1, "POST /b", 200, 20*time.Millisecond), second(74, 0, "GET /gone", 404, time.Second),
		},
	}
}

func TestLevels(t *testing.T) {
	r := recorded.View{Recording: scoredRun()}
	line := timeline.Section(r).Blocks[0].(*report.Timeline)
	var got []string
	for _, b := range line.Steps {
		text := fmt.Sprintf("%v-%v %s", b.From, b.To, b.Label)
		if b.Open {
			text += " open"
		}
		got = append(got, text)
	}
	want := "0-2 |2-12 verify open|12-30 level 0|30-31  open|31-35 2|35-72 level 3 open|72-80  open"
	if all := strings.Join(got, "|"); all != want || len(line.Levels) != 4 {
		t.Errorf("bands\n%s, want\n%s", all, want)
	}
	if v := (summary{r}).verdict(); !strings.HasPrefix(v, "Score 3,693, level 3, passed. ") {
		t.Errorf("verdict %q", v)
	}
	for _, s := range line.Charts[0].Series {
		for _, at := range []int{3, 74} {
			if s.Values[at] != 0 {
				t.Errorf("outside of the load %s shows %v at %d s: what is refused there may be right", s.Name, s.Values[at], at)
			}
		}
	}
	table := stepTables{r}.targetsTable()
	if len(table.Rows) != 2 || table.Rows[0].Cells[0].Text != "POST /b" {
		t.Errorf("targets %+v, want the one that took most time first", table.Rows)
	}
	for _, f := range (summary{r}).facts() {
		if f.Label == "Result" && !strings.HasPrefix(f.Value, "20 requests, 20 2xx") || f.Label == "In flight" && f.Value != "" {
			t.Errorf("fact %s: %s", f.Label, f.Value)
		}
	}
}
