package attackcmd

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/loadreport"
)

// print writes what an attack came to, as asked with -o.
func (f *attackFlags) print(e *cli.Env, res *vegeta.AttackResult, seconds []kasoku.LoadSecond) error {
	a := f.attackReport(res)
	a.Seconds = seconds
	o := e.ReportOptions("")
	return f.out.Print(e, cli.Printer{
		Doc:  loadreport.AttackDocument(a, o),
		JSON: func(w io.Writer) error { return encode.AttackJSON(w, a, o) },
	})
}

// attackReport is the result in the form that reports take.
func (f *attackFlags) attackReport(res *vegeta.AttackResult) *loadreport.Attack {
	a := &loadreport.Attack{
		Name: f.vegeta.Name, Started: res.Start, Schedule: f.vegeta.Describe(),
		Tally: res.Tally, Summary: res.Summary, Warnings: res.Warnings, Memory: peakMemory(),
	}
	if f.vegeta.Random() || hasPlaces(&res.Plan) {
		a.Seed = &f.vegeta.Seed
	}
	if f.vegeta.Output != "" {
		a.Results = fmt.Sprintf("each request is in %s; `kasoku report %s` reads it", f.vegeta.Output, f.vegeta.Output)
	}
	for _, s := range stepsBegun(res.Plan.Schedule.Steps(), isWhole(res), issuedFor(&res.Summary, res.Summary.Wall)) {
		a.Steps = append(a.Steps, loadreport.AttackStep{Step: s, Tally: res.Recorder.Tally(s.Number)})
	}
	a.Targets = targetTallies(res)
	f.addHosts(a)
	return a
}

// isWhole reports whether the attack went on to the end of its schedule: it was not
// stopped, and the stream of its targets did not end before.
func isWhole(res *vegeta.AttackResult) bool {
	n, bounded := res.Plan.Schedule.Total()
	return res.Summary.Stopped == "" && (res.Plan.Stream == nil || bounded && res.Tally.Asked >= n)
}

// issuedFor is how long a load that lasts until now sent requests: until it was
// stopped, when it was.
func issuedFor(sum *kasoku.LoadSummary, now time.Duration) time.Duration {
	if sum.Stopped != "" {
		return sum.StoppedAt
	}
	return now
}

// hasPlaces reports whether targets have places that each request fills for itself.
func hasPlaces(p *load.Plan) bool {
	return p.Stream != nil || slices.ContainsFunc(p.Targets, func(t load.Target) bool { return t.Fill != nil })
}

// targetTallies are the sums over each target, in the order of the plan.
func targetTallies(res *vegeta.AttackResult) []loadreport.AttackTarget {
	var out []loadreport.AttackTarget
	for _, t := range res.Recorder.Targets() {
		out = append(out, loadreport.AttackTarget(t))
	}
	return out
}

// stepsBegun are the steps that began before now, the last one cut to what was done of
// it; all of them when the load came to its end.
func stepsBegun(steps []kasoku.Step, whole bool, now time.Duration) []kasoku.Step {
	var out []kasoku.Step
	for _, st := range steps {
		if !whole {
			if st.Interval.From >= now {
				break
			}
			st.Interval.To = min(st.Interval.To, now)
		}
		out = append(out, st)
	}
	return out
}

// peakMemory is the most that this process had resident, in bytes; 0 when unknown.
func peakMemory() uint64 {
	_, peak, _ := command.Memory(os.Getpid()) // 0 with an error
	return peak
}
