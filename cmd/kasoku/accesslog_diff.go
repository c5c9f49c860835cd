package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/analyze/accesslog"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/export"
	"github.com/kasoku/kasoku/runstore"
	"github.com/kasoku/kasoku/unit"
)

// accessDiffFlags are the flags of accesslog diff.
type accessDiffFlags struct {
	read    accessRead
	out     output
	sort    string
	reverse bool
	limit   int
	limited bool
}

func newAccessDiff(e *env) *cobra.Command {
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
		RunE: func(cmd *cobra.Command, args []string) error {
			f.limited = cmd.Flags().Changed("limit")
			return f.run(cmd.Context(), e, args)
		},
	}
	f.read.register(cmd)
	f.out.registerLog(cmd)
	f.out.registerDir(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.sort, "sort", "", "by how far `FIGURE` moved: requests, total, mean, p50, p99 or 5xx; default total")
	fl.BoolVarP(&f.reverse, "reverse", "r", false, "what moved least first")
	fl.IntVarP(&f.limit, "limit", "n", accessLimit, "show `N` endpoints, 0 all; default 20 in table and md, else all")
	return cmd
}

func (f *accessDiffFlags) run(parent context.Context, e *env, args []string) error {
	o := report.AccessOptions{Options: e.reportOptions(""), Sort: f.sort, Reverse: f.reverse, Limit: f.limit}
	if err := f.out.check(); err != nil {
		return err
	}
	if err := f.read.check(e); err != nil {
		return err
	}
	if f.limit < 0 {
		return usagef("", "--limit %d: want 0 or more", f.limit)
	}
	o.Location = f.read.location
	o.Machine = f.out.format == "tsv" || f.out.format == "csv"
	if !f.limited && f.out.format != "table" && f.out.format != "md" {
		o.Limit = 0
	}
	d := &report.LogDiff{Before: &report.AccessLog{}, After: &report.AccessLog{}}
	if _, err := d.Moved(o); err != nil {
		return usagef("", "--sort: %v", err)
	}
	ctx, _, stop := interruptible(parent)
	defer stop()
	var err error
	if d.Before, d.Names[0], err = f.side(ctx, e, args[0]); err == nil && d.Before.Stopped == "" {
		d.After, d.Names[1], err = f.side(ctx, e, args[1])
	}
	if err != nil {
		return e.unread(err)
	}
	if d.Before.Stopped != "" {
		return stopped{strings.TrimSuffix(d.Before.Stopped, ".")}
	}
	o.Commands = []string{"kasoku accesslog diff " + unit.ShellQuote(args[0]) + " " + unit.ShellQuote(args[1])}
	if f.out.format == "table" {
		o.Commands = nil
	}
	doc, err := report.DiffAccess(d, o)
	if err != nil {
		return err
	}
	if o.Machine {
		doc = report.AccessTable(doc, "moved")
	}
	if err := f.out.print(e, printer{doc: doc, json: func(w io.Writer) error { return export.AccessDiffJSON(w, d, o) }}); err != nil {
		return err
	}
	switch {
	case d.After.Stopped != "":
		return stopped{strings.TrimSuffix(d.After.Stopped, ".")}
	case len(d.Before.Rows) == 0 || len(d.After.Rows) == 0:
		return badAnswer{"no request on one side"}
	}
	return nil
}

// side reads what one argument names: a run, when it is a run file or no file at
// all, else logs.
func (f *accessDiffFlags) side(ctx context.Context, e *env, arg string) (*report.AccessLog, string, error) {
	_, err := os.Stat(arg)
	isLog := err == nil && !strings.HasSuffix(arg, runstore.Extension) || strings.ContainsAny(arg, "*?[") || arg == "-"
	if !isLog {
		log, name, runErr := f.runSide(e, arg)
		if runErr == nil || !errors.Is(err, fs.ErrNotExist) || !errors.Is(runErr, runstore.ErrNotFound) {
			return log, name, runErr
		}
		return nil, "", usagef(`name logs, quoted patterns, or runs: kasoku list has those`, "neither a log nor a run: %q", arg)
	}
	in, err := e.inputs([]string{arg})
	if err != nil {
		return nil, "", err
	}
	log, err := f.read.collect(ctx, e, in, e.reading(in))
	if log == nil {
		return nil, "", err
	}
	return log, arg, err
}

// runSide is the access log of a run: of the host that has most requests.
func (f *accessDiffFlags) runSide(e *env, arg string) (*report.AccessLog, string, error) {
	rec, _, err := openRun(e, f.out.dir, arg)
	if err != nil {
		return nil, "", err
	}
	if !slices.Equal(f.read.by, []string{"method", "route"}) {
		return nil, "", usagef("compare the logs themselves", "--by: the run %s keeps methods and routes only", arg)
	}
	host, endpoints := diagnose.FrontLog(rec)
	out := &report.AccessLog{By: f.read.by, Started: rec.Run.Started}
	for _, w := range rec.Logs {
		if w.Kind == "accesslog" && w.Host == host {
			out.Logs = append(out.Logs, w)
		}
	}
	for _, x := range endpoints {
		out.Rows = append(out.Rows, accesslog.Row{Endpoint: x, Key: []string{x.Method, x.Route}})
	}
	name := rec.Run.Label
	if name == "" {
		name = rec.Run.ID
	}
	return out, name, nil
}
