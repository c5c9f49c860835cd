package logscmd

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/store"
)

// diffFlags are the flags that accesslog diff and slowlog diff have beside those of
// reading.
type diffFlags struct {
	out     cli.Output
	sort    string
	reverse bool
}

func (f *diffFlags) register(cmd *cobra.Command, rows, figures string) {
	f.out.RegisterLog(cmd)
	f.out.RegisterLimit(cmd, rows)
	f.out.RegisterDir(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.sort, "sort", "", "by how far `FIGURE` moved: "+figures+"; default total")
	fl.BoolVarP(&f.reverse, "reverse", "r", false, "what moved least first")
}

// commands are what makes the difference again; a terminal needs them not.
func (f *diffFlags) commands(command string, args []string) []string {
	if f.out.Format == "table" {
		return nil
	}
	return []string{"kasoku " + command + " " + unit.ShellQuote(args[0]) + " " + unit.ShellQuote(args[1])}
}

// A logOrRun reads one side of a difference.
type logOrRun[L any] struct {
	logs func(context.Context, *cli.Env, []lines.Input, *reading) (*L, error)
	run  func(rec *kasoku.Recording, arg string) (*L, error)
}

// read reads what an argument names: a run, when it is a run file or no file at all,
// else logs. What was read is also there when the end of it could not be read.
func (r logOrRun[L]) read(ctx context.Context, e *cli.Env, dir, arg string) (log *L, name string, err error) {
	if cli.NamesLogs(arg) {
		in, err := e.LogInputs([]string{arg})
		if err != nil {
			return nil, "", err
		}
		log, err = r.logs(ctx, e, in, startReading(e, in))
		return log, arg, err
	}
	rec, _, runErr := cli.OpenRun(e, dir, arg)
	switch {
	case errors.Is(runErr, store.ErrNotFound) && cli.IsMissing(arg):
		return nil, "", cli.Usagef(`name logs, quoted patterns, or runs: kasoku list has those`, "neither a log nor a run: %q", arg)
	case runErr != nil:
		return nil, "", runErr
	}
	log, err = r.run(rec, arg)
	return log, cmp.Or(rec.Run.Label, rec.Run.ID), err
}

// stoppedEarly is the end of a command that was stopped while it read, said in a
// sentence; nil when it was not.
func stoppedEarly(said string) error {
	if said == "" {
		return nil
	}
	return cli.Stopped(strings.TrimSuffix(said, "."))
}
