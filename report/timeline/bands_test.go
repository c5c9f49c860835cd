package timeline

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// TestPhaseBands: phases take the place of steps, those in which much happened are
// shaded, and the load keeps its name where two would meet.
func TestPhaseBands(t *testing.T) {
	phase := func(kind kasoku.PhaseKind, from, to int) kasoku.Phase {
		return kasoku.Phase{Kind: kind, Interval: kasoku.Interval{From: time.Duration(from) * time.Second, To: time.Duration(to) * time.Second}}
	}
	r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 90 * time.Second}, Phases: []kasoku.Phase{
		phase(kasoku.PhaseIdle, 0, 4), phase(kasoku.PhaseInitialize, 4, 8), phase(kasoku.PhaseVerify, 8, 14), phase(kasoku.PhaseLoad, 14, 74), phase(kasoku.PhaseIdle, 74, 95),
	}}}
	line := &report.Timeline{Seconds: 90}
	drawing{r, grid{}, line}.phaseBands()
	var got []string
	for _, b := range line.Steps {
		text := b.Label
		if b.Open {
			text += " open"
		}
		got = append(got, text)
	}
	if want := " open|initialize| open|load|idle open"; strings.Join(got, "|") != want || !line.Phased {
		t.Errorf("%q, want %q", got, want)
	}
	if last := line.Steps[4].To; last != 90 {
		t.Errorf("the last one ends at %v", last)
	}
	r.Steps = []kasoku.Step{{Number: 1}}
	line = &report.Timeline{Seconds: 90}
	if (drawing{r, grid{}, line}).phaseBands(); len(line.Steps) > 0 {
		t.Errorf("steps and phases: %+v", line.Steps)
	}
}
