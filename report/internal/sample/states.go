package sample

import (
	"time"

	"github.com/kasoku/kasoku"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// Stopped returns the run before as an interrupt at 33 s left it, by a generator
// that was late.
func Stopped() *kasoku.Recording {
	r := Before()
	const at = 33 * time.Second
	r.Run.Length, r.Run.State, r.Run.StopReason = at, kasoku.Incomplete, "interrupt"
	r.Steps[2].Interval.To = at
	var kept []kasoku.LoadSecond
	for _, s := range r.Seconds {
		if s.Second < 33 {
			kept = append(kept, s)
		}
	}
	r.Seconds = kept
	for i := range r.Series {
		p := r.Series[i].Points
		for len(p) > 0 && p[len(p)-1].At > at {
			p = p[:len(p)-1]
		}
		r.Series[i].Points = p
	}
	r.Diagnosis = nil
	r.RowChecks[0].After = 2140
	r.Changes[0].Restored, r.Changes[0].Note = false, "the server was gone"
	r.Warnings = append(r.Warnings, kasoku.Warning{
		Code: "late-generator", Text: "the generator was late: send delay p99 40 ms, max 210 ms, of a latency p50 of 331 ms",
		Hint: "lower the rate, or give the generator a core of its own",
	})
	return r
}

// Quiet returns a run in which no rule spoke.
func Quiet() *kasoku.Recording {
	r := After()
	r.Diagnosis = &kasoku.Diagnosis{
		Verdict: "All requests succeed up to 1,000 req/s.", Rules: 75,
		Silences: []kasoku.Silence{
			{ID: "POOL-02", Reason: "101 of 300 connections were used, the threshold is 300", Near: 0.34},
			{ID: "HW-05", Reason: "the generator used 0.10 of 2 cores, the threshold is 1.8", Near: 0.06},
			{ID: "POOL-03", Reason: "no run to hold it against", Blind: true},
		},
	}
	return r
}

// Command returns a recording of a command, without load, database or logs.
func Command() *kasoku.Recording {
	r := &kasoku.Recording{Run: kasoku.Run{
		ID: "20261120-150000", Started: Started, Length: 9200 * time.Millisecond, State: kasoku.Finished,
		Version: "0.1.0", Hosts: []kasoku.Host{host()},
		Command: &kasoku.Command{
			Args: []string{"go", "build", "./..."}, ExitCode: 1, Wall: 9100 * time.Millisecond, User: 14 * time.Second,
			System:      2300 * time.Millisecond,
			MaxRSSBytes: 312 << 20, VoluntarySwitch: 5120, ForcedSwitch: 913,
		},
	}}
	n := 9
	r.Series = []kasoku.Series{
		counter("host", hostkeys.CPUSystem, "", "s", level(n, 0.25)), counter("host", hostkeys.CPUUser, "", "s",
			level(n, 1.5)),
		counter("process", process.CPUUser, "77 compile", "s", level(n, 1.1)), counter("process", process.CPUUser,
			"78 compile",
			"s", level(n, 0.3)),
	}
	return r
}

// Long returns a run of two hours, with a value for each second.
func Long() *kasoku.Recording {
	const n = 2 * 3600
	r := base("long", "")
	r.Run.Length = n * time.Second
	r.Steps = []kasoku.Step{{Number: 1, PerSec: 50, Planned: n * time.Second,
		Interval: kasoku.Interval{To: n * time.Second}}}
	var rows []per
	for sec := range n {
		x := per{sec, 50, 50, 10, 20, 30, 40}
		if sec == 5000 {
			x = per{sec, 50, 10, 100, 200, 300, 400}
		}
		rows = append(rows, x)
	}
	r.Seconds = load(1, rows, 503, "503 Service Unavailable")
	spiky := level(n, 20)
	spiky[5000] = 140
	cpu := level(n, 0.5)
	cpu[5000] = 1.9
	r.Series = []kasoku.Series{counter("host", hostkeys.CPUUser, "", "s", cpu),
		gauge("mysql", mysql.ThreadsConnected, "", "count", spiky)}
	r.Settings = settings("151", "OFF")
	return r
}
