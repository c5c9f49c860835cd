package recordcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/prove/finalize"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/store"
)

// finalizeFlags are the flags of finalize as they were typed.
type finalizeFlags struct {
	run  runFlags // of the last run
	skip []string
	yes  bool
	out  cli.Output
}

// NewFinalize returns the command finalize, which checks the end of a contest.
func NewFinalize(e *cli.Env) *cobra.Command {
	f := finalizeFlags{run: runFlags{times: 1, label: "finalize", note: "the end"}}
	cmd := &cobra.Command{
		Use:   "finalize",
		Short: "Walk the end of a contest: what is still on, and what does a restart lose",
		Long: `Walk the end of a contest, as kasoku.toml says: are collectors and logs off, are
indexes still there after initialize, do the units come back when they are started
in the right and in the wrong order, are settings, data and answers then the same,
and does a last run reach what runs before it reached.

It calls initialize, which makes the data anew, and stops and starts the units; so
it asks before. Units are left running, also on Ctrl-C. The checklist is kept in
the directory of the runs.

Exit code 1: something is bad. Exit code 3: it could not be walked to its end.`,
		Example: `  kasoku finalize
  kasoku finalize --yes -o md
  kasoku finalize --skip order,run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.walk(cmd.Context(), e) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.run.config, "config", "", "`FILE` instead of the kasoku.toml here or above")
	fl.StringSliceVar(&f.skip, "skip", nil, "leave out `PARTS` with commas: "+strings.Join(finalize.Parts(), ", "))
	fl.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cli.RegisterFormats(cmd, &f.out.Format, cli.Formats)
	return cmd
}

func (f *finalizeFlags) walk(parent context.Context, e *cli.Env) error {
	if err := f.out.Check(); err != nil {
		return err
	}
	c, err := f.run.load()
	if err != nil {
		return err
	}
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	o, err := f.options(e, c, hard)
	if err != nil {
		return err
	}
	if err := o.Validate(); err != nil {
		return cli.Usagef("", "--skip: %w", err)
	}
	if err := f.ask(e, &o); err != nil {
		return err
	}
	p := e.Progress()
	o.OnProgress = func(text string) { p.Work("finalize", 0, text) }
	r, walkErr := finalize.Walk(ctx, o)
	p.Clear()
	if r == nil {
		return walkErr
	}
	if err := errors.Join(f.keep(e, c, r), f.print(e, c.Project, r), walkErr); err != nil {
		return err
	}
	return judgeFinalize(r)
}

// judgeFinalize turns the result into the exit code.
func judgeFinalize(r *finalize.Result) error {
	switch {
	case r.Stopped != "":
		return cli.Stopped(r.Verdict())
	case r.Count(finalize.Bad) > 0:
		return cli.Bad(r.Verdict())
	}
	return nil
}

// options returns what is to be walked through.
func (f *finalizeFlags) options(e *cli.Env, c *config.Config, hard context.Context) (finalize.Options, error) {
	dsn, err := e.Noted(record.DSN(c.MySQL))
	if err != nil {
		return finalize.Options{}, fmt.Errorf("%s: %w", c.Path, err)
	}
	z := &c.Finalize
	o := finalize.Options{
		Skip: f.skip, MySQL: dsn, Silent: z.Logs, Initialize: z.Initialize, Limit: z.Limit, Answers: z.Answers, Wait: z.Wait, Gap: z.Gap,
		Permit: load.Permit{Hosts: c.Load.Allow}, Repository: c.Capture.Repository,
	}
	if len(o.Answers) == 0 {
		o.Answers = c.Answers.Requests
	}
	logs := slices.Concat(c.Logs.Access, c.Logs.App)
	if o.Written = logs; len(z.Logs) == 0 {
		o.Silent, o.Written = logs, nil
	}
	if !slices.Contains(f.skip, finalize.PartRestart) || !slices.Contains(f.skip, finalize.PartOrder) {
		if o.Units, err = finalize.Units(z.Units); err != nil {
			return o, cli.Usage(err, cli.HintOf(err))
		}
	}
	if o.Journals, err = findUnrestored(e); err != nil {
		return o, err
	}
	if o.Earlier, err = store.List(c.Runs); err != nil {
		return o, err
	}
	o.Earlier = slices.DeleteFunc(o.Earlier, func(i store.Info) bool { return i.Project != c.Project })
	if c.Load.Kind() != config.NoLoad {
		o.LastRun = func(_ context.Context, facts finalize.Facts) (record.Options, error) {
			return f.lastRun(e, c, hard, facts)
		}
	}
	return o, nil
}

// lastRun returns the options of the last run: what kasoku.toml says, with as
// little observation as can be.
func (f *finalizeFlags) lastRun(e *cli.Env, c *config.Config, hard context.Context, facts finalize.Facts) (record.Options, error) {
	f.run.off = true
	o, err := f.run.options(e, c, hard)
	if err != nil {
		return o, err
	}
	o.Configs, o.Settings = append(o.Configs, facts.Configs...), append(o.Settings, facts.Settings...)
	o.Stdout = terminal.Raw(e.Stderr) // what is printed here is the checklist
	o.Path, err = cli.PlaceRun(&o.Run, "", c.Runs, e.Now())
	return o, err
}

// findUnrestored lists what kasoku has changed on servers and not put back.
func findUnrestored(e *cli.Env) (out []string, err error) {
	dir, err := e.Journals()
	if err != nil {
		return nil, err
	}
	found, err := guard.Journals(dir)
	if err != nil {
		return nil, err
	}
	for _, j := range found {
		if j.Journal == nil {
			out = append(out, fmt.Sprintf("%s: %v", j.Path, j.Err))
			continue
		}
		for _, c := range j.Journal.Pending() {
			out = append(out, fmt.Sprintf("%s of %s is %s, was %s", c.Name, j.Journal.Server, cli.OrEmpty(c.During), cli.OrEmpty(c.Before)))
		}
	}
	return out, nil
}

// ask reports what the walk does to the service, and asks whether it may.
func (f *finalizeFlags) ask(e *cli.Env, o *finalize.Options) error {
	does := describeWalk(o)
	if f.yes || len(does) == 0 {
		return nil
	}
	if !e.StdinTTY() {
		return cli.Usagef("--yes goes on without asking, --skip "+strings.Join(finalize.Parts(), ",")+" leaves parts out",
			"standard input is no terminal to ask on: it would %s", strings.Join(does, ", "))
	}
	ok, err := e.Confirm(strings.Join(does, ", ") + "?")
	if err == nil && !ok {
		err = cli.Stopped("nothing was done")
	}
	return err
}

// describeWalk lists what the walk does to the service.
func describeWalk(o *finalize.Options) (out []string) {
	walks := func(part string) bool { return !slices.Contains(o.Skip, part) }
	if o.Initialize != "" && walks(finalize.PartInitialize) {
		out = append(out, "call "+o.Initialize)
	}
	if len(o.Units) > 0 && (walks(finalize.PartRestart) || walks(finalize.PartOrder)) {
		var names []string
		for _, u := range o.Units {
			names = append(names, u.Name)
		}
		out = append(out, "stop and start "+strings.Join(names, " and "))
	}
	if o.LastRun != nil && walks(finalize.PartRun) {
		out = append(out, "make a run")
	}
	return out
}

// keep writes the checklist beside the runs.
func (f *finalizeFlags) keep(e *cli.Env, c *config.Config, r *finalize.Result) error {
	if err := private.Output.MkdirAll(c.Runs); err != nil {
		return err
	}
	path := filepath.Join(c.Runs, "finalize-"+r.Started.UTC().Format("20060102-150405")+".md")
	if err := cli.WriteFile(path, func(w io.Writer) error { return encode.Markdown(w, finalize.Document(r, c.Project)) }); err != nil {
		return fmt.Errorf("keep checklist: %w", err)
	}
	fmt.Fprintf(e.Stderr, "kept in %s\n", terminal.Clean(path))
	return nil
}

func (f *finalizeFlags) print(e *cli.Env, project string, r *finalize.Result) error {
	switch f.out.Format {
	case "json":
		return finalize.JSON(e.Stdout, r, project)
	case "tsv":
		return encode.TSV(e.Stdout, finalize.Table(r, project))
	case "md":
		return encode.Markdown(e.Stdout, finalize.Document(r, project))
	}
	return terminal.Write(e.Stdout, finalize.Document(r, project), e.Terminal())
}
