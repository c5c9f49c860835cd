package main

import (
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/export"
)

// print writes what an attack came to, as asked with -o.
func (f *attackFlags) print(e *env, res *vegeta.AttackResult) error {
	a := f.told(res)
	o := e.reportOptions("")
	return f.out.print(e, printer{
		doc:  report.TellAttack(a, o),
		json: func(w io.Writer) error { return export.AttackJSON(w, a, o) },
	})
}

// told is the result in the form that reports take.
func (f *attackFlags) told(res *vegeta.AttackResult) *report.Attack {
	a := &report.Attack{
		Name: f.vegeta.Name, Started: res.Start, Schedule: f.vegeta.Told(), Tally: res.Tally, Summary: res.Summary, Warnings: res.Warnings, Memory: peakMemory(),
	}
	if f.vegeta.Output != "" {
		a.Results = fmt.Sprintf("each request is in %s; `kasoku report %s` reads it", f.vegeta.Output, f.vegeta.Output)
	}
	for _, s := range begun(res.Plan.Schedule.Steps(), res.Summary.Stopped == "", res.Summary.Wall) {
		a.Steps = append(a.Steps, report.AttackStep{Step: s, Tally: res.Recorder.Tally(s.Number)})
	}
	for _, t := range targetTallies(res) {
		a.Targets = append(a.Targets, t)
	}
	return a
}

// targetTallies sums up by target, in the order of the plan.
func targetTallies(res *vegeta.AttackResult) []report.AttackTarget {
	at := map[string]int{}
	var out []report.AttackTarget
	for _, s := range res.Recorder.Seconds() {
		i, ok := at[s.Target]
		if !ok {
			i = len(out)
			at[s.Target] = i
			out = append(out, report.AttackTarget{Name: s.Target, Tally: kasoku.NewTally()})
		}
		out[i].Tally.Add(&s)
	}
	return out
}

// begun are the steps that began before now, the last one cut to what was done of
// it; all of them when the load came to its end.
func begun(steps []kasoku.Step, whole bool, now time.Duration) []kasoku.Step {
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
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return uint64(r.Maxrss) << 10 // getrusage(2): in kilobytes
}
