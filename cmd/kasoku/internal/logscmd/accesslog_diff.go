package logscmd

import (
	"context"
	"io"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/logfile"
	"github.com/spf13/cobra"
)

// accessDiffFlags are the flags of accesslog diff.
type accessDiffFlags struct {
	diffFlags
	read accessRead
}

func newAccessDiff(e *cli.Env) *cobra.Command {
	var f accessDiffFlags
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two access logs, or those of two runs: what moved",
		Long: `Compare two access logs: requests, request time, mean, p50 and p99 of each
endpoint, before and after, the one whose total moved furthest first. BEFORE and
AFTER are logs, quoted patterns of logs, or runs by file, id or label.

It is one log against one: kasoku compare judges whether a difference is real.`,
		Example: `  kasoku accesslog diff before.log after.log
  kasoku accesslog diff access.log.1.gz access.log --sort p99 -n 10
  kasoku accesslog diff before.kasoku after.kasoku -o md`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), e, args) },
	}
	f.read.register(cmd)
	f.register(cmd, "endpoints", "requests, total, mean, p50, p99 or 5xx")
	return cmd
}

func (f *accessDiffFlags) run(parent context.Context, e *cli.Env, args []string) error {
	o := logfile.AccessOptions{Options: e.ReportOptions(""), Sort: f.sort, Reverse: f.reverse}
	if err := f.out.Check(); err != nil {
		return err
	}
	if err := f.read.check(e); err != nil {
		return err
	}
	o.Location, o.Commands = f.read.location, f.commands("accesslog diff", args)
	o.Machine, o.Limit = f.out.Machine(), f.out.Rows(f.out.Format)
	d := &logfile.LogDiff{Before: &logfile.AccessLog{}, After: &logfile.AccessLog{}}
	if _, err := d.Moved(o); err != nil {
		return cli.Usagef("", "--sort: %v", err)
	}
	ctx, stop := e.ReadingInterruptible(parent)
	defer stop()
	side := logOrRun[logfile.AccessLog]{f.read.collect, f.ofRun}
	var err error
	if d.Before, d.Names[0], err = side.read(ctx, e, f.out.Dir, args[0]); err == nil && d.Before.Stopped == "" {
		d.After, d.Names[1], err = side.read(ctx, e, f.out.Dir, args[1])
	}
	if err != nil {
		return explainUnread(e, err)
	}
	if err := stoppedEarly(d.Before.Stopped); err != nil {
		return err
	}
	doc, err := logfile.DiffAccess(d, o)
	if err != nil {
		return err
	}
	if o.Machine {
		doc = logfile.AccessTable(doc, "moved")
	}
	if err := f.out.Print(e, cli.Printer{Doc: doc, JSON: func(w io.Writer) error {
		return encode.AccessDiffJSON(w, d,
			o)
	}}); err != nil {
		return err
	}
	if err := stoppedEarly(d.After.Stopped); err != nil {
		return err
	}
	if len(d.Before.Rows) == 0 || len(d.After.Rows) == 0 {
		return cli.Bad("no request on one side")
	}
	return nil
}

// ofRun is the access log of a run: of the host that has most requests.
func (f *accessDiffFlags) ofRun(rec *kasoku.Recording, arg string) (*logfile.AccessLog, error) {
	if !slices.Equal(f.read.by, []string{"method", "route"}) {
		return nil, cli.Usagef("compare the logs themselves", "--by: the run %s keeps methods and routes only", arg)
	}
	host, endpoints := rec.FrontLog()
	out := &logfile.AccessLog{By: f.read.by, Started: rec.Run.Started}
	for _, w := range rec.Logs {
		if w.Kind == "accesslog" && w.Host == host {
			out.Logs = append(out.Logs, w)
		}
	}
	for _, x := range endpoints {
		out.Rows = append(out.Rows, accesslog.Row{Endpoint: x, Key: []string{x.Method, x.Route}})
	}
	return out, nil
}
