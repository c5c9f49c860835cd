package recordcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/fleetcmd"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/coordinate"
	"github.com/kasoku/kasoku/fleet/gather"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/record/trigger"
	"github.com/kasoku/kasoku/store"
	"github.com/kasoku/kasoku/store/merge"
)

// A team is hosts of a fleet that record themselves for runs of this host.
type team struct {
	hosts []string
	hub   string       // directory of the hub; empty: the user's
	say   func(string) // what becomes of a host
}

// Codes of warnings about hosts of a fleet.
const (
	codeLostHost  = "lost-host"
	codeShortHost = "short-host"
)

// check refuses hosts that cannot be.
func (t *team) check() error {
	if len(t.hosts) == 0 {
		return nil
	}
	if err := coordinate.CheckHosts(t.hosts); err != nil {
		return cli.Usage(err, "`kasoku hub status` lists the hosts")
	}
	return nil
}

// shared is this host's part in a run of several, for which it decides when all begin.
func (t *team) shared(g *gather.Gathering, o *record.Options) *trigger.Shared {
	var own *trigger.Seen
	var from time.Time // since when all is watched, on a tick of all hosts
	logs := 0          // in which requests could be seen
	ready := o.Ready
	o.Ready = func(ctx context.Context) (at time.Time, err error) {
		at, err = ready(ctx)
		from = at
		return at, err
	}
	return &trigger.Shared{
		Watching: func(n int) { logs = n + g.Logs() },
		Seen: func(r trigger.Seen) {
			if own == nil {
				own = &r
			}
		},
		Begin: func() (*trigger.Start, error) {
			if logs == 0 {
				return nil, cli.WithHint(fmt.Errorf("%s is waited for in an access log, and no host names one", o.On),
					"[logs] access of the kasoku.toml that a host's agent allows to be recorded")
			}
			seen, err := g.Seen()
			if err != nil || seen == nil && own == nil {
				return nil, err
			}
			r, host := own, ""
			if own == nil {
				began, err := fleet.TimeOf(seen.At)
				if err != nil {
					return nil, err
				}
				r = &trigger.Seen{Began: began, Path: seen.Path, Blind: seen.Blind}
				host = seen.Host
			}
			start := trigger.Decide(*r, from, time.Now(), o.Interval)
			start.Host = host
			return &start, nil
		},
		Begun: func(at time.Time) {
			if err := g.Cut(at); err != nil {
				t.say(err.Error())
			}
		},
		Grown: func(own int64) (int64, bool) {
			n, known := g.Grown()
			return own + n, known
		},
	}
}

// record makes one run of this host, and of the hosts of the team, in one file.
func (t *team) record(ctx context.Context, e *cli.Env, o record.Options) (*record.Result, error) {
	if len(t.hosts) == 0 || o.Observers == kasoku.ObserversOff {
		o.Shared = nil
		return record.Record(ctx, o)
	}
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	conn, err := fleetcmd.Connect(ctx, e, t.hub, t.say)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	dir, err := private.MakeTempDir("", "kasoku-fleet-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	g, err := gather.Prepare(ctx, conn, gather.Options{Hosts: t.hosts, Label: o.Run.Label, Dir: dir.Path,
		Hard: o.Hard, Note: t.say, On: o.On.String()})
	if err != nil {
		return nil, cli.WithHint(err, cmp.Or(cli.HintOf(err), "`kasoku hub status` lists the hosts; `kasoku fleet up` "+
			"brings them up"))
	}
	o.Ready = func(ctx context.Context) (time.Time, error) { return g.Begin(ctx, o.Interval) }
	o.Over, o.Shared = g.Stop, t.shared(g, &o)
	res, err := record.Record(ctx, o)
	if res == nil {
		g.Cancel()
		return nil, err
	}
	g.Stop()
	if o.OnProgress != nil {
		o.OnProgress(record.Progress{Phase: record.PhaseAnalyse, Label: o.Run.Label, Text: "the hosts of the fleet"})
	}
	return res, errors.Join(err, join(res, g.Collect()))
}

// join makes one run of what this host recorded, and what the others did, in its file.
func join(res *record.Result, parts []gather.Part) error {
	began, err := fleet.ClockOf(res.Start)
	if err != nil {
		return err
	}
	all := []*kasoku.Recording{res.Recording}
	clocks := map[string]merge.Clock{}
	var warnings []kasoku.Warning
	for i := range parts {
		p := &parts[i]
		rec, why := readPart(p, nameBeside(p.Host, res.Recording))
		if rec == nil {
			warnings = append(warnings, kasoku.Warning{Host: p.Host, Code: codeLostHost,
				Text: fmt.Sprintf("host %s: nothing of it is in the run: %s", p.Host, why),
				Hint: "`kasoku hub status` says whether it is there; `kasoku fleet logs` prints what its agent did"})
			continue
		}
		if p.Short != "" {
			warnings = append(warnings, kasoku.Warning{Host: p.Host, Code: codeShortHost,
				Text: fmt.Sprintf("host %s: its recording ended before the run did: %s", p.Host, p.Short)})
		}
		all = append(all, rec)
		clocks[rec.Run.Hosts[0].Name] = merge.Clock{Shift: p.Began - began, Bound: p.Bound + p.Drift.Abs(),
			Note: clockNote(p)}
	}
	whole, err := whole(all, clocks)
	if err != nil {
		return fmt.Errorf("one run of %s: %w", unit.Counted(uint64(len(all)), "host", "hosts"), err)
	}
	whole.Warnings = append(whole.Warnings, warnings...)
	cli.Rediagnose(whole, nil)
	whole.Summary = diagnose.Summarise(whole)
	if err := replaceRun(res.Path, whole); err != nil {
		return err
	}
	res.Recording, err = store.Open(res.Path)
	return err
}

// whole merges the recordings, the first of which the run is.
func whole(all []*kasoku.Recording, clocks map[string]merge.Clock) (*kasoku.Recording, error) {
	if len(all) == 1 {
		return all[0], nil
	}
	own := all[0]
	out, err := merge.Merge(all, merge.Options{Clocks: clocks})
	if err != nil {
		return nil, err
	}
	out.Run.ID, out.Run.Group, out.Run.Repeat = own.Run.ID, own.Run.Group, own.Run.Repeat
	out.Diagnosis = own.Diagnosis // what a server answered to its SQL stays
	return out, nil
}

func clockNote(p *gather.Part) string {
	note := "compared by the fleet"
	if p.Drift != 0 {
		note += fmt.Sprintf(", drift %s", p.Drift.Round(time.Microsecond))
	}
	return note
}

// readPart reads the run file of a host, or says why there is nothing of it.
func readPart(p *gather.Part, name string) (*kasoku.Recording, string) {
	if p.Lost != "" {
		return nil, p.Lost
	}
	rec, err := store.Open(p.Path)
	if err != nil {
		return nil, fleet.Clean(strings.ReplaceAll(err.Error(), p.Path, "its run file"))
	}
	merge.Claim(rec, name)
	return rec, ""
}

// nameBeside is the name of a host of the fleet in the run: another one than this host has.
func nameBeside(name string, own *kasoku.Recording) string {
	if len(own.Run.Hosts) > 0 && own.Run.Hosts[0].Name == name {
		return name + " (fleet)"
	}
	return name
}

// replaceRun writes a run file in the place of one that is there.
func replaceRun(path string, rec *kasoku.Recording) error {
	made := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".fleet")
	if err := os.Remove(made); err != nil && !errors.Is(err, fs.ErrNotExist) { // of one that was killed
		return err
	}
	err := store.Write(made, rec)
	if err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		_ = os.Remove(made) // the write's error is the one to report
	}
	return err
}

// lostHosts says of which hosts nothing, or not all, is in the run; empty when all is.
func lostHosts(rec *kasoku.Recording) string {
	var out []string
	for _, w := range rec.Warnings {
		if w.Code == codeLostHost || w.Code == codeShortHost {
			out = append(out, w.Text)
		}
	}
	return strings.Join(out, "; ")
}
