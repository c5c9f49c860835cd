package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/analyze/slowlog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/export"
	"github.com/kasoku/kasoku/runstore"
	"github.com/kasoku/kasoku/unit"
)

// slowDiffFlags are the flags of slowlog diff.
type slowDiffFlags struct {
	read    slowRead
	out     output
	sort    string
	reverse bool
	limit   int
	limited bool
}

func newSlowDiff(e *env) *cobra.Command {
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
		RunE: func(cmd *cobra.Command, args []string) error {
			f.limited = cmd.Flags().Changed("limit")
			return f.run(cmd.Context(), e, args)
		},
	}
	f.read.register(cmd)
	f.out.registerLog(cmd)
	f.out.registerDir(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.sort, "sort", "", "by how far `FIGURE` moved: calls, total, mean, p99 or examined; default total")
	fl.BoolVarP(&f.reverse, "reverse", "r", false, "what moved least first")
	fl.IntVarP(&f.limit, "limit", "n", slowLimit, "show `N` statements, 0 all; default 20 in table and md, else all")
	return cmd
}

func (f *slowDiffFlags) run(parent context.Context, e *env, args []string) error {
	o := report.SlowOptions{Options: e.reportOptions(""), Sort: f.sort, Reverse: f.reverse, Limit: f.limit}
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
	d := &report.SlowDiff{Before: &report.SlowLog{}, After: &report.SlowLog{}}
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
		return err
	}
	if d.Before.Stopped != "" {
		return stopped{strings.TrimSuffix(d.Before.Stopped, ".")}
	}
	if f.out.format != "table" {
		o.Commands = []string{"kasoku slowlog diff " + unit.ShellQuote(args[0]) + " " + unit.ShellQuote(args[1])}
	}
	doc, err := report.DiffSlow(d, o)
	if err != nil {
		return err
	}
	if o.Machine {
		doc = report.AccessTable(doc, "moved")
	}
	if err := f.out.print(e, printer{doc: doc, json: func(w io.Writer) error { return export.SlowDiffJSON(w, d, o) }}); err != nil {
		return err
	}
	switch {
	case d.After.Stopped != "":
		return stopped{strings.TrimSuffix(d.After.Stopped, ".")}
	case len(d.Before.Classes) == 0 || len(d.After.Classes) == 0:
		return badAnswer{"no statement on one side"}
	}
	return nil
}

// side reads what one argument names: a run, when it is a run file or no file at
// all, else logs.
func (f *slowDiffFlags) side(ctx context.Context, e *env, arg string) (*report.SlowLog, string, error) {
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
	return log, arg, err
}

// runSide is the slow log of a run.
func (f *slowDiffFlags) runSide(e *env, arg string) (*report.SlowLog, string, error) {
	rec, _, err := openRun(e, f.out.dir, arg)
	if err != nil {
		return nil, "", err
	}
	if f.read.by != "" {
		return nil, "", usagef("compare the logs themselves", "--by: the run %s keeps statements only", arg)
	}
	out := &report.SlowLog{Started: rec.Run.Started, Transactions: rec.Transactions}
	for _, w := range rec.Logs {
		if w.Kind == "slowlog" {
			out.Logs = append(out.Logs, w)
		}
	}
	for _, q := range rec.Queries {
		out.Classes = append(out.Classes, slowlog.Class{Query: q})
	}
	name := rec.Run.Label
	if name == "" {
		name = rec.Run.ID
	}
	return out, name, nil
}
