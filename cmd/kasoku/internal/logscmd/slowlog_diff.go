package logscmd

import (
	"context"
	"io"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/logfile"
	"github.com/spf13/cobra"
)

// slowDiffFlags are the flags of slowlog diff.
type slowDiffFlags struct {
	diffFlags
	read slowRead
}

func newSlowDiff(e *cli.Env) *cobra.Command {
	var f slowDiffFlags
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two slow logs, or those of two runs: what moved",
		Long: `Compare two slow logs: calls, time, mean and p99 of each statement, before and
after, the one whose total moved furthest first. BEFORE and AFTER are logs, quoted
patterns of logs, or runs by file, id or label.

It is one log against one: kasoku compare judges whether a difference is real.`,
		Example: `  kasoku slowlog diff before.log after.log
  kasoku slowlog diff slow.log.1.gz slow.log --sort p99 -n 10
  kasoku slowlog diff before.kasoku after.kasoku -o md`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), e, args) },
	}
	f.read.register(cmd)
	f.register(cmd, "statements", "calls, total, mean, p99 or examined")
	return cmd
}

func (f *slowDiffFlags) run(parent context.Context, e *cli.Env, args []string) error {
	o := logfile.SlowOptions{Options: e.ReportOptions(""), Sort: f.sort, Reverse: f.reverse}
	if err := f.out.Check(); err != nil {
		return err
	}
	if err := f.read.check(e); err != nil {
		return err
	}
	o.Location, o.Commands = f.read.location, f.commands("slowlog diff", args)
	o.Machine, o.Limit = f.out.Machine(), f.out.Rows(f.out.Format)
	d := &logfile.SlowDiff{Before: &logfile.SlowLog{}, After: &logfile.SlowLog{}}
	if _, err := d.Moved(o); err != nil {
		return cli.Usagef("", "--sort: %v", err)
	}
	ctx, stop := e.ReadingInterruptible(parent)
	defer stop()
	side := logOrRun[logfile.SlowLog]{f.read.collect, f.ofRun}
	var err error
	if d.Before, d.Names[0], err = side.read(ctx, e, f.out.Dir, args[0]); err == nil && d.Before.Stopped == "" {
		d.After, d.Names[1], err = side.read(ctx, e, f.out.Dir, args[1])
	}
	if err != nil {
		return err
	}
	if err := stoppedEarly(d.Before.Stopped); err != nil {
		return err
	}
	doc, err := logfile.DiffSlow(d, o)
	if err != nil {
		return err
	}
	if o.Machine {
		doc = logfile.AccessTable(doc, "moved")
	}
	if err := f.out.Print(e, cli.Printer{Doc: doc, JSON: func(w io.Writer) error {
		return encode.SlowDiffJSON(w, d,
			o)
	}}); err != nil {
		return err
	}
	if err := stoppedEarly(d.After.Stopped); err != nil {
		return err
	}
	if len(d.Before.Classes) == 0 || len(d.After.Classes) == 0 {
		return cli.Bad("no statement on one side")
	}
	return nil
}

// ofRun is the slow log of a run.
func (f *slowDiffFlags) ofRun(rec *kasoku.Recording, arg string) (*logfile.SlowLog, error) {
	if f.read.by != "" {
		return nil, cli.Usagef("compare the logs themselves", "--by: the run %s keeps statements only", arg)
	}
	out := &logfile.SlowLog{Started: rec.Run.Started, Transactions: rec.Transactions}
	for _, w := range rec.Logs {
		if w.Kind == "slowlog" {
			out.Logs = append(out.Logs, w)
		}
	}
	for _, q := range rec.Queries {
		out.Classes = append(out.Classes, slowlog.Class{Query: q})
	}
	return out, nil
}
