package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// ended makes runs of a command that ended with an exit code after so long.
func ended(exit int, walls ...time.Duration) (out []*kasoku.Recording) {
	for i, w := range walls {
		out = append(out, &kasoku.Recording{Run: kasoku.Run{ID: string(rune('a'+i)) + w.String(),
			State: kasoku.Finished, Load: "./bench.sh", Command: &kasoku.Command{Args: []string{"./bench.sh"}, ExitCode: exit, Wall: w}}})
	}
	return out
}

// TestFailedSides: figures that are alike because nothing was done are not equal, and a benchmark that ends
// at once is not quick.
func TestFailedSides(t *testing.T) {
	const ms = time.Millisecond
	f := func(before, after []*kasoku.Recording, outcome Moved, verdict string, incomparable bool) {
		t.Helper()
		c := compared(t, before, after, Options{})
		if c.Outcome != outcome || !strings.HasPrefix(c.Verdict, verdict) || (c.Incomparable() != "") != incomparable {
			t.Errorf("%q, %q (%q), want %q, %q", c.Outcome, c.Verdict, c.Incomparable(), outcome, verdict)
		}
		if incomparable && (strings.Contains(c.Verdict, "ifference") || len(c.Moved(Noise)) > 0) {
			t.Errorf("noise: %q, %v", c.Verdict, c.Moved(Noise))
		}
	}
	four := []time.Duration{2000 * ms, 2010 * ms, 2020 * ms, 2030 * ms}
	quick := []time.Duration{10 * ms, 11 * ms, 12 * ms, 13 * ms}
	f(ended(1, four...), ended(1, four...), NotJudged,
		"Nothing can be compared: all runs of both sides failed, exit code 1.", true)
	f(ended(1, four[0]), ended(2, four[1]), NotJudged,
		"Nothing can be compared: all runs of both sides failed, before: exit code 1, after: exit code 2.", true)
	f(ended(0, four...), ended(1, quick...), Worse, "Every run after failed, exit code 1. ", false)
	f(ended(1, quick...), ended(0, four...), NotJudged, "Every run before failed, exit code 1. ", false)
	f(ended(0, four...), ended(0, quick...), Better, "Better: the command took", false)
	one := ended(1, four...)
	one[2].Run.Command.ExitCode = 0
	f(one, ended(0, quick...), Better, "Better: ", false) // not all of them

	score := func(runs []*kasoku.Recording, v float64, o kasoku.Outcome) []*kasoku.Recording {
		for _, r := range runs {
			r.Run.Score = &kasoku.Score{Value: v, Outcome: o}
		}
		return runs
	}
	f(score(ended(0, four...), 900, kasoku.Failed), score(ended(0, four...), 1800, kasoku.Failed), NotJudged,
		"Nothing can be compared: all runs of both sides failed, the benchmark says: failed.", true)
	f(score(ended(0, four...), 0, ""), score(ended(0, four...), 0, ""), NotJudged,
		"Nothing can be compared: no run of either side scored anything.", true)
	f(score(ended(1, four...), 0, ""), score(ended(0, four...), 50, ""), Better,
		"Every run before failed, exit code 1. Better: score 0 → 50.", false)
	f(score(ended(99, four...), 100, ""), score(ended(99, four...), 100, ""), Noise, // k6's thresholds
		"No difference shown: score stays at 100.", false)
	sums := func(succeeded uint64) []*kasoku.Recording {
		runs := ended(0, four...)
		for _, r := range runs {
			r.Summary = &kasoku.Summary{Source: "access log", Requests: 3, Succeeded: succeeded,
				PerSec: float64(succeeded)}
		}
		return runs
	}
	f(sums(0), sums(0), NotJudged,
		"Nothing can be compared: all runs of both sides failed, no request succeeded.", true)
	f(sums(3), sums(0), Worse, "Every run after failed, no request succeeded. ", false)
	same := ended(1, four[0])
	f(same, same, NotJudged, "Both sides are the same run", false)
}
