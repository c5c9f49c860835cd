package showcmd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/store"
)

// NewRm returns the command rm, which removes runs.
func NewRm(e *cli.Env) *cobra.Command {
	var o cli.Output
	var yes bool
	cmd := &cobra.Command{
		Use:     "rm RUN…",
		Aliases: []string{"remove"},
		Short:   "Remove runs",
		Long: `Remove runs, of a group all its finished ones. It says what goes, and asks. A run
that is being recorded is never removed.`,
		Example: "  kasoku rm before\n  kasoku rm 20261120-140211 20261120-141530 --yes",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			infos, err := runsToRemove(o.Dir, args)
			if err != nil {
				return err
			}
			return removeRuns(e, infos, yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	o.RegisterDir(cmd)
	return cmd
}

// runsToRemove finds the runs that the names mean. One that is being recorded spares
// them all.
func runsToRemove(dir string, names []string) ([]store.Info, error) {
	var out []store.Info
	for _, name := range names {
		paths, err := findRuns(dir, name)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			i := store.Describe(path)
			if i.State == kasoku.Running {
				return nil, &store.Error{Op: "remove run file", Path: path, Err: store.ErrBusy}
			}
			if !slices.ContainsFunc(out, func(o store.Info) bool { return o.Path == path }) {
				out = append(out, i)
			}
		}
	}
	return out, nil
}

func removeRuns(e *cli.Env, infos []store.Info, yes bool) error {
	var bytes int64
	for _, i := range infos {
		bytes += i.SizeBytes
		fmt.Fprintln(e.Stderr, terminal.Clean(runWords(i)))
	}
	if !yes {
		if !e.StdinTTY() {
			return cli.Usagef("--yes removes without asking", "nothing was removed: standard input is no terminal to ask on")
		}
		what := "this run"
		if len(infos) > 1 {
			what = fmt.Sprintf("these %d runs, %s", len(infos), unit.Bytes(uint64(bytes)))
		}
		if ok, err := e.Confirm("remove " + what + "?"); err != nil || !ok {
			fmt.Fprintln(e.Stderr, "nothing was removed")
			return err
		}
	}
	for _, i := range infos {
		if err := store.Remove(i.Path); err != nil {
			return err
		}
		fmt.Fprintf(e.Stdout, "removed %s\n", terminal.Clean(i.Path))
	}
	return nil
}

// runWords names a run by all that people know it by.
func runWords(i store.Info) string {
	parts := []string{filepath.Base(i.Path), unit.Bytes(uint64(i.SizeBytes))}
	if i.Err != nil {
		return strings.Join(append(parts, "unreadable"), ", ")
	}
	parts = append(parts, i.Started.Format("2 Jan 2006, 15:04"))
	if i.Label != "" {
		parts = append(parts, fmt.Sprintf("label %q", i.Label))
	}
	if i.Score != nil {
		parts = append(parts, "score "+scoreWords(i.Score))
	}
	if i.Note != "" {
		parts = append(parts, fmt.Sprintf("note %q", i.Note))
	}
	return strings.Join(parts, ", ")
}
