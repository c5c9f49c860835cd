package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report/terminal"
)

// DescribeOutcome returns what a run came to, in a few words.
func DescribeOutcome(rec *kasoku.Recording) (parts []string) {
	if sc := rec.Run.Score; sc != nil {
		parts = append(parts, "score "+unit.Plain(sc.Value))
		if sc.Outcome != kasoku.Unjudged {
			parts = append(parts, string(sc.Outcome))
		}
	}
	if sum := rec.Summary; sum != nil && sum.Requests > 0 {
		parts = append(parts, unit.Sig3(sum.PerSec)+" req/s")
		if sum.P99 > 0 {
			parts = append(parts, "p99 "+unit.Duration(sum.P99))
		}
	}
	switch c := rec.Run.Command; {
	case rec.Run.State != kasoku.Finished:
		parts = append(parts, "stopped by "+rec.Run.StopReason)
	case c != nil && c.ExitCode != 0:
		parts = append(parts, "exit code "+strconv.Itoa(c.ExitCode))
	case c == nil && len(parts) == 0:
		parts = append(parts, "recorded "+unit.Exact(rec.Run.Length.Round(time.Second)))
	}
	return parts
}

// HasFailed reports whether the benchmark failed in a run, and the exit code of its
// command. One whose every request failed has failed, whatever it says itself.
func HasFailed(rec *kasoku.Recording) (bool, int) {
	code := 0
	if c := rec.Run.Command; c != nil {
		code = c.ExitCode
	}
	sc := rec.Run.Score
	return code != 0 || sc != nil && sc.Outcome == kasoku.Failed || NothingSucceeded(rec) != "", code
}

// NothingSucceeded reports that no request of the load of a run succeeded, as kasoku counted
// or the benchmark printed; empty when one did, or none was counted.
func NothingSucceeded(rec *kasoku.Recording) string {
	if sc := rec.Run.Score; sc != nil && sc.AllFailed() {
		return "the benchmark counted " + unit.Counted(int(sc.Failures), "failure", "failures") + " and no success"
	}
	if x := rec.Summary; x != nil && x.Source == "access log" && x.Requests > 0 && x.Succeeded == 0 {
		return "none of " + unit.Counted(int(x.Requests), "request", "requests") + " succeeded, by the access log"
	}
	return nothingSucceeded(rec.Tally(0))
}

func nothingSucceeded(t *kasoku.Tally) string {
	if t.Asked == 0 || t.Success > 0 {
		return ""
	}
	text := "none of " + unit.Counted(int(t.Asked), "request", "requests") + " succeeded"
	if top := t.TopErrors(); len(top) > 0 {
		text += "; the most frequent error: " + top[0].Message
	}
	return terminal.Clean(text)
}

// JudgeLoad returns a bad answer when too little of a load succeeded: nothing, or, of the
// first of its steps, less than [kasoku.BrokenBelow], which is then no limit that was
// found but a target that does not work. step returns what was counted of a step, of the
// whole load for 0.
func JudgeLoad(steps []kasoku.Step, step func(number int) *kasoku.Tally) error {
	if why := nothingSucceeded(step(0)); why != "" {
		return Bad(why)
	}
	if len(steps) == 0 || steps[0].Partial() {
		return nil
	}
	t := step(steps[0].Number)
	if ratio := t.SuccessRatio(); t.Asked > 0 && ratio < kasoku.BrokenBelow {
		return Bad(fmt.Sprintf("only %s %% of the first step's requests succeeded, want %s %%",
			unit.Sig3(100*ratio), unit.Sig3(100*kasoku.BrokenBelow)))
	}
	return nil
}
