package alp

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/logs/lines"
)

// The exit codes. alp has but one for all that goes wrong.
const (
	exitGood     = 0
	exitBad      = 1
	exitNotForUs = 2 // what alp can do and we cannot
)

// errPcap is for captured packets.
var errPcap = errors.New("pcap is not supported: captured packets have no place in kasoku; have the server write an access log, or run alp itself")

// Run does what alp does with these arguments, which do not hold its name, and
// returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	r := &runner{stdin: stdin, stdout: stdout, stderr: stderr}
	root := r.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitGood
	case errors.Is(err, errPcap):
		fmt.Fprintln(stderr, "alp:", err)
		return exitNotForUs
	}
	fmt.Fprintln(stderr, "alp:", err)
	return exitBad
}

// A runner has what all commands share.
type runner struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	config         string
}

func (r *runner) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "alp",
		Short:         "alp is the access log profiler for LTSV, JSON, and others.",
		SilenceErrors: true, SilenceUsage: true,
	}
	root.PersistentFlags().StringVar(&r.config, "config", "", "The configuration file")
	root.AddCommand(
		r.profile("ltsv", "Profile the logs for LTSV"),
		r.profile("json", "Profile the logs for JSON"),
		r.profile("regexp", "Profile the logs that match a regular expression"),
		r.dumpsDiff(),
		&cobra.Command{
			Use: "pcap", Short: "Not supported: profile the HTTP requests for captured packets",
			DisableFlagParsing: true, RunE: func(*cobra.Command, []string) error { return errPcap },
		})
	return root
}

// profile returns the command of a kind of log.
func (r *runner) profile(kind, short string) *cobra.Command {
	o := &options{fields: fields{kind: kind}}
	cmd := &cobra.Command{
		Use: kind + " [FILE…]", Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.readConfig(r.config, kind, cmd.Flags()); err != nil {
				return err
			}
			p, err := r.read(cmd.Context(), o, args)
			if err != nil {
				return err
			}
			return r.print(o, p, nil)
		},
	}
	fl := cmd.Flags()
	o.registerInput(fl)
	o.registerDump(fl)
	o.registerOutput(fl)
	o.registerProfile(fl)
	o.registerSelect(fl)
	o.fields.register(fl)
	cmd.AddCommand(r.logsDiff(kind), r.count(kind), r.top(kind))
	return cmd
}

// read returns the profile of --load, or of the logs.
func (r *runner) read(ctx context.Context, o *options, files []string) (profile, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.load != "" {
		return loadProfile(o.load)
	}
	in, err := o.inputs(files, r.stdin, r.stderr)
	if err != nil {
		return nil, err
	}
	p, read, err := profileLogs(ctx, o, in, r.stderr)
	if err != nil {
		return nil, err
	}
	if o.dump != "" {
		if err := p.dump(o.dump); err != nil {
			return nil, err
		}
	}
	return p, o.pos.save(read)
}

// check refuses wrong options before a log is read.
func (o *options) check() error {
	if err := o.checkFormat(); err != nil {
		return err
	}
	if _, err := o.columns(); err != nil {
		return err
	}
	_, err := o.less()
	return err
}

// print prints a profile, with its difference from another one when that is not
// nil.
func (r *runner) print(o *options, p, from profile) error {
	p, err := p.sorted(o)
	if err != nil {
		return err
	}
	t, err := p.cut(o, r.stderr).table(o, from)
	if err != nil {
		return err
	}
	return t.print(r.stdout, o)
}

// logsDiff returns the diff of two logs, or of --load and a log.
func (r *runner) logsDiff(kind string) *cobra.Command {
	o := &options{fields: fields{kind: kind}}
	cmd := &cobra.Command{
		Use: "diff [<from>] <to>", Short: "Show the difference between the two access logs",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.readConfig(r.config, "diff", cmd.Flags()); err != nil {
				return err
			}
			if (o.load == "") != (len(args) == 2) {
				return errors.New("diff: want two logs, or --load and one log")
			}
			before := *o
			before.dump, before.pos.file = "", ""
			from, err := r.read(cmd.Context(), &before, args[:len(args)-1])
			if err != nil {
				return err
			}
			after := *o
			after.load = ""
			to, err := r.read(cmd.Context(), &after, args[len(args)-1:])
			if err != nil {
				return err
			}
			return r.print(o, to, from)
		},
	}
	fl := cmd.Flags()
	o.registerDump(fl)
	o.registerOutput(fl)
	o.registerProfile(fl)
	o.registerSelect(fl)
	o.registerPos(fl)
	o.fields.register(fl)
	return cmd
}

// dumpsDiff returns the diff of two files of --dump.
func (r *runner) dumpsDiff() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use: "diff <from> <to>", Short: "Show the difference between the two profile results", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.readConfig(r.config, "diff", cmd.Flags()); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			from, err := loadProfile(args[0])
			if err != nil {
				return err
			}
			to, err := loadProfile(args[1])
			if err != nil {
				return err
			}
			return r.print(o, to, from)
		},
	}
	o.registerOutput(cmd.Flags())
	o.registerProfile(cmd.Flags())
	o.registerSelect(cmd.Flags())
	return cmd
}

func (r *runner) count(kind string) *cobra.Command {
	o := &options{fields: fields{kind: kind}}
	cmd := &cobra.Command{
		Use: "count [FILE…]", Short: "Count by log entries", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.requests(cmd, o, args, func(in []lines.Input) error {
				return o.runCount(cmd.Context(), in, r.stdout, r.stderr)
			})
		},
	}
	cmd.Flags().StringVar(&o.file, "file", "", "The access log file")
	cmd.Flags().StringVar(&o.keys, "keys", "", "Log key names (comma separated)")
	o.registerOutput(cmd.Flags())
	o.fields.register(cmd.Flags())
	return cmd
}

func (r *runner) top(kind string) *cobra.Command {
	o := &options{fields: fields{kind: kind}}
	cmd := &cobra.Command{
		Use: "topN [<number>]", Short: "Show the top N entries of the access log", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.requests(cmd, o, nil, func(in []lines.Input) error {
				return o.runTop(cmd.Context(), args, in, r.stdout, r.stderr)
			})
		},
	}
	cmd.Flags().StringVar(&o.sort, "sort", "restime", "Output the results in sorted order (restime or bytes)")
	o.registerInput(cmd.Flags())
	o.registerOutput(cmd.Flags())
	o.registerSelect(cmd.Flags())
	o.fields.register(cmd.Flags())
	return cmd
}

// requests runs what counts or lists the requests of logs.
func (r *runner) requests(cmd *cobra.Command, o *options, files []string, run func([]lines.Input) error) error {
	if err := o.readConfig(r.config, cmd.Name(), cmd.Flags()); err != nil {
		return err
	}
	if err := o.checkFormat(); err != nil {
		return err
	}
	in, err := o.inputs(files, r.stdin, r.stderr)
	if err != nil {
		return err
	}
	return run(in)
}
