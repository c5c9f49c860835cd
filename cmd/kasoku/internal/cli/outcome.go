package cli

import (
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// DescribeOutcome says what a run came to, in a few words.
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
// command.
func HasFailed(rec *kasoku.Recording) (bool, int) {
	code := 0
	if c := rec.Run.Command; c != nil {
		code = c.ExitCode
	}
	sc := rec.Run.Score
	return code != 0 || sc != nil && sc.Outcome == kasoku.Failed, code
}
