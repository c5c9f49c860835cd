package showcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/store"
)

// NewScrub returns the command scrub, which drops samples of logs and statements from a run.
func NewScrub(e *cli.Env) *cobra.Command {
	var o cli.Output
	var to string
	var opts store.ScrubOptions
	cmd := &cobra.Command{
		Use:   "scrub RUN",
		Short: "Drop samples of logs and statements from a run before it is mailed",
		Long: `Drop text as it was found from a run before it is mailed: samples of statements and
of log lines, the output of the command, quotations of evidence, differences of
code. Figures, findings and verdicts stay. What looks like a secret in the rest is
masked. It cannot be undone: -o keeps the run as it is and scrubs a copy.`,
		Example: "  kasoku scrub before --out before-to-mail.kasoku\n  kasoku scrub latest --configs",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := cli.FindRun(o.Dir, args[0])
			if err != nil {
				return err
			}
			if to != "" {
				return scrubCopy(e, path, to, opts)
			}
			return scrubFile(e, path, path, opts)
		},
	}
	cmd.Flags().StringVar(&to, "out", "", "scrub a copy, `FILE`, and leave the run as it is")
	cli.KeepOldShort(cmd.Flags(), "o", "out")
	cmd.Flags().BoolVar(&opts.Configs, "configs", false, "drop all texts of the configuration too")
	o.RegisterDir(cmd)
	return cmd
}

// scrubCopy scrubs a copy under another name, so that the file appears only when
// nothing is left in it.
func scrubCopy(e *cli.Env, path, to string, o store.ScrubOptions) (err error) {
	if _, err := os.Lstat(to); err == nil {
		return cli.Usagef("choose another name, or remove it", "file %q exists", to)
	}
	dir, err := private.MakeTempDir(filepath.Dir(to), ".kasoku-scrub-")
	if err != nil {
		return fmt.Errorf("scrub a copy: %w", err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	copied := dir.File(filepath.Base(to))
	if err := store.Copy(path, copied); err != nil {
		return err
	}
	if err := scrubFile(e, copied, to, o); err != nil {
		return err
	}
	return os.Rename(copied, to)
}

// scrubFile scrubs a file, which messages call by the given name, and says what was dropped.
func scrubFile(e *cli.Env, path, name string, o store.ScrubOptions) error {
	before := store.Describe(path).SizeBytes
	ed, err := store.Edit(path)
	if err != nil {
		return err
	}
	dropped, err := ed.Scrub(o)
	if err := errors.Join(err, ed.Close()); err != nil {
		return err
	}
	for _, d := range dropped {
		fmt.Fprintf(e.Stdout, "%8s  %s\n", unit.Count(d.Count), d.What)
	}
	if len(dropped) == 0 {
		fmt.Fprintln(e.Stdout, "nothing to drop")
	}
	after := store.Describe(path).SizeBytes
	_, err = fmt.Fprintf(e.Stdout, "%s: %s, was %s\n", name, unit.Bytes(uint64(after)), unit.Bytes(uint64(before)))
	return err
}
