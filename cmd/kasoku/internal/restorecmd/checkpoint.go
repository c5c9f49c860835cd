package restorecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/store"
)

// machineFlags is what of this machine checkpoint and revert look at.
type machineFlags struct {
	database cli.DatabaseFlags
	capture  []string
}

func (f *machineFlags) register(fl *pflag.FlagSet) {
	f.database.Register(fl, "`DSN` of the database whose indexes are meant; default that of kasoku.toml")
	fl.StringSliceVar(&f.capture, "capture", nil, "also the configuration files that `GLOB,...` match, beside those "+
		"of kasoku.toml")
}

// options returns what kasoku.toml and the flags say of this machine.
func (f *machineFlags) options(e *cli.Env) (o record.Options, runs string, err error) {
	runs = cli.RunsDir
	dsn, err := f.database.DSN(e)
	if err != nil {
		return o, "", err
	}
	c, err := cli.ReadConfig("")
	if err != nil {
		return o, "", err
	}
	if c != nil {
		c.Capture.Off = false
		if o, err = record.ConfiguredWatch(c, o); err != nil {
			return o, "", err
		}
		e.HintOnce(o.MySQLNotes)
		runs = cmp.Or(c.Runs, runs)
	}
	if o.Capture == nil {
		found := capture.Default(".")
		o.Capture = &found
	}
	o.Capture.Files = append(o.Capture.Files, cli.AbsoluteGlobs(f.capture)...)
	o.MySQL = cmp.Or(dsn, o.MySQL)
	o.Run.Version = cli.VersionString()
	if wd, err := os.Getwd(); err == nil && o.Run.Project == "" {
		o.Run.Project = filepath.Base(wd)
	}
	return o, runs, nil
}

// NewCheckpoint returns the command checkpoint, which keeps the configuration in force.
func NewCheckpoint(e *cli.Env) *cobra.Command {
	var f machineFlags
	var out string
	cmd := &cobra.Command{
		Use:   "checkpoint [NOTE]",
		Short: "Keep the configuration in force, without a load",
		Long: `Keep the configuration in force in a run file of its own: files named in
kasoku.toml, what nginx and the database are configured by, unit files, kernel
settings, tables and indexes, git revision. Secrets are masked. kasoku revert
puts files and indexes back as they are now.`,
		Example: "  kasoku checkpoint 'before tuning nginx'\n  kasoku checkpoint --capture '/etc/nginx/*.conf' --defaults-file ~/.my.cnf\n  kasoku revert checkpoint",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, runs, err := f.options(e)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				o.Run.Note = args[0]
			}
			ctx, _, stop := cli.Interruptible(cmd.Context())
			defer stop()
			res, err := keepConfiguration(e, ctx, o, runs, out)
			if err != nil {
				return err
			}
			e.Warn(res.Recording.Warnings)
			fmt.Fprintln(e.Stdout, res.Path)
			return nil
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&out, "out", "", "run `FILE`; default runs/TIME-checkpoint.kasoku")
	cli.KeepOldShort(cmd.Flags(), "o", "out")
	return cmd
}

// Labels of checkpoints; of several the newest is meant. Those that revert makes have
// their own, so that what was asked for by its label stays what it was.
const (
	checkpointLabel   = store.Checkpoint
	beforeRevertLabel = "before-revert"
)

// keepConfiguration keeps what is in force in a file of runs, or in out.
func keepConfiguration(e *cli.Env, ctx context.Context, o record.Options, runs, out string) (*record.Result, error) {
	o.Run.Label = cmp.Or(o.Run.Label, checkpointLabel)
	if out == "" {
		if wd, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(wd, runs); err == nil && !strings.HasPrefix(rel, "..") {
				runs = rel
			}
		}
	}
	var err error
	if o.Path, err = cli.PlaceRun(&o.Run, out, runs, e.Now()); err != nil {
		return nil, err
	}
	res, err := record.Checkpoint(ctx, o)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return res, err
}
