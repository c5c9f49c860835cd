package sample

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store"
)

// Tuning is the list of an afternoon's runs: rates of a ladder, repeated for the
// steps that mattered.
func Tuning() []store.Info {
	var t tuning
	t.group("before", "as it was", "mysqld 1.84 of 2 cores", 309, 305, 312, 298, 318)
	t.run("idle", "SetMaxIdleConns(100), before SetMaxOpenConns was tried", "mysqld 1.71 of 2 cores", 462)
	t.group("pool", "SetMaxOpenConns(100) too", "app 1.20 of 2 cores", 978, 985, 969, 990, 981)
	t.group("again", "nothing, to see the noise", "app 1.22 of 2 cores", 982, 970, 988, 979, 984)
	t.run("bulk", "one INSERT for ten users", "", 940)
	t.checkpoint("safe", "before nginx is touched")
	t.run("cut", "proxy_buffering off", "", 0)
	t.last().State, t.last().StopReason, t.last().Summary = kasoku.Incomplete, "interrupt", nil
	t.run("last", "final run", "app 1.60 of 2 cores", 1000)
	t.last().Observers = kasoku.ObserversOff
	t = append(t, store.Info{Path: "runs/rubbish.kasoku", ID: "rubbish", SizeBytes: 12,
		Err: &store.Error{Op: "read run file", Path: "runs/rubbish.kasoku", Err: store.ErrNotRun}})
	return t
}

// Contest is the list of a contest's runs, with scores.
func Contest() []store.Info {
	var t tuning
	for i, s := range []struct {
		note       string
		score      float64
		outcome    kasoku.Outcome
		bottleneck string
	}{
		{"first run", 1683, kasoku.Passed, "mysqld 1.90 of 2 cores"},
		{"add index", 16664, kasoku.Passed, "app 1.10 of 2 cores"},
		{"upstream keepalive", 18138, kasoku.Passed, "app 1.44 of 2 cores"}, {"bulk INSERT", 0, kasoku.Failed, ""},
		{"bulk INSERT, flushed in time", 17618, kasoku.Passed, "app 1.52 of 2 cores"},
		{"icons by X-Accel-Redirect", 208386, kasoku.Passed, "generator 1.90 of 2 cores"},
		{"gzip_static", 188370, kasoku.Unjudged, "generator 1.95 of 2 cores"},
	} {
		t.run("", s.note, s.bottleneck, s.score/25)
		x := t.last()
		x.Project, x.Load, x.Label = "isucon", "", fmt.Sprint("s", i+1)
		x.Score = &kasoku.Score{Value: s.score, Outcome: s.outcome, Source: "output, JSON score"}
	}
	t[4].Label, t[3].Label = "bulk", "bulk"
	return t
}

type tuning []store.Info

func (t *tuning) run(label, note, bottleneck string, perSec float64) {
	n := len(*t)
	at := Started.Add(time.Duration(n) * 7 * time.Minute)
	*t = append(*t, store.Info{
		ID: kasoku.NewRunID(at, label), Path: "runs/" + label + ".kasoku", Project: "userapi", Label: label, Note: note,
		State:   kasoku.Finished,
		Started: at, Length: 42 * time.Second, Load: "POST /users, open loop", SizeBytes: 200_000,
		Observers: kasoku.ObserversOn,
		Revision:  fmt.Sprintf("main@4f2c9%02d", n/5), Dirty: n%3 == 1,
		Verdict: "At 1,000 req/s " + label + " has a verdict of its own.",
		Summary: &kasoku.Summary{Source: "load", Requests: 11_100, Succeeded: 4_000, PerSec: perSec, Asked: 1000,
			P50: time.Duration(3e8 / max(perSec, 1) * 1e3), P99: time.Duration(1e9 / max(perSec, 1) * 3e2),
			Bottleneck: bottleneck},
	})
}

func (t *tuning) last() *store.Info { return &(*t)[len(*t)-1] }

func (t *tuning) group(label, note, bottleneck string, perSec ...float64) {
	first := len(*t)
	for i, v := range perSec {
		t.run(label, note, bottleneck, v)
		t.last().Group, t.last().Repeat = (*t)[first].ID, i+1
	}
}

func (t *tuning) checkpoint(label, note string) {
	t.run(label, note, "", 0)
	t.last().Load, t.last().Summary, t.last().Verdict = store.Checkpoint, nil, ""
}
