package watchcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/initcmd"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/store"
	"github.com/kasoku/kasoku/watch"
)

// watchFlags are the flags of watch as they were typed.
type watchFlags struct {
	loop     record.Options
	database cli.DatabaseFlags
	nginx    nginx.Table
	config   string
	dir      string
	out      string
	keep     time.Duration
	length   time.Duration
	lines    bool
}

// NewWatch returns the command watch, which shows the machine every second.
func NewWatch(e *cli.Env) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch [RUN]",
		Short: "Show host, processes, database and load now, every second, or a run again",
		Long: `Show on the whole terminal, every second, what the host, the processes, the database
and the servers do, with the last five minutes of each figure, and what the rules
find in the last minute. What is watched is what kasoku.toml names; without one,
what runs here, as ` + "`kasoku init`" + ` finds it. Nothing is changed on a server.

With RUN it shows a run's file again: play, pause, go back and forth; of a run that
is still being recorded it follows the end. The load of a ` + "`kasoku attack`" + ` that is
made here is shown, and that of a run that is being recorded.

Press ? for the keys. Where stdout is no terminal it prints one line a second.`,
		Example: `  kasoku watch
  kasoku watch --mysql 'app:secret@tcp(127.0.0.1:3306)/shop' --accesslog /var/log/nginx/access.log
  kasoku watch | tee watch.log
  kasoku watch latest`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if len(args) == 1 {
				return f.replay(cmd, e, args[0])
			}
			return f.live(cmd, e)
		},
	}
	fl := cmd.Flags()
	f.database.Register(fl, "`DSN` of the database to watch: user:password@tcp(host:port)/database")
	fl.StringVar(&f.config, "config", "", "`FILE` instead of the kasoku.toml here or above")
	fl.StringSliceVar(&f.loop.MoreLogs.Access, "accesslog", nil, "access logs of a web server, read while they "+
		"grow, `FILE,...`")
	fl.StringVar(&f.nginx.Status, "nginx-status", "", "page of nginx with stub_status, `URL`")
	fl.StringSliceVar(&f.loop.Expvar, "expvar", nil, "/debug/vars of programs in Go, `URL,...`")
	fl.IntSliceVar(&f.loop.PIDs, "pid", nil, "always sample the processes `P,...`")
	fl.DurationVar(&f.loop.Interval, "interval", 0, "between samples; default 1s, or that of kasoku.toml")
	fl.DurationVar(&f.keep, "scrollback", watch.DefaultKeep, "how far back one can scroll")
	cli.KeepOld(fl, "keep", "scrollback")
	fl.DurationVar(&f.length, "for", 0, "end after so long; default when q is pressed")
	fl.StringVar(&f.out, "out", "", "at the end keep what was seen, with its marks, as a run `FILE`")
	cli.KeepOldShort(fl, "o", "out")
	fl.BoolVar(&f.lines, "lines", false, "one line a second, also on a terminal")
	fl.StringVar(&f.dir, "dir", "", "`DIRECTORY` of run files; default runs, and the working directory")
	return cmd
}

// check refuses what makes no sense.
func (f *watchFlags) check() error {
	switch {
	case f.loop.Interval != 0 && f.loop.Interval < 100*time.Millisecond:
		return cli.Usagef("", "--interval %s: want at least 100ms", f.loop.Interval)
	case f.keep < time.Minute || f.keep > 24*time.Hour:
		return cli.Usagef("", "--keep %s: want 1m to 24h", f.keep)
	case f.length < 0:
		return cli.Usagef("", "--for %s: want a longer time", f.length)
	}
	return nil
}

// screenOptions is how the model is drawn.
func screenOptions(e *cli.Env, title string) watch.Options {
	return watch.Options{Color: e.Colored(), ASCII: e.ASCII, Title: title}
}

// show shows the model on the terminal, or writes its lines.
func (f *watchFlags) show(ctx context.Context, e *cli.Env, m *watch.Model) error {
	if f.lines || !e.StdoutTTY || e.Getenv("TERM") == "dumb" {
		return watch.Lines(ctx, e.Stdout, m)
	}
	return watch.Run(ctx, m, e.Stdin, e.Stdout)
}

func (f *watchFlags) replay(cmd *cobra.Command, e *cli.Env, name string) error {
	for _, flag := range []string{"mysql", "dsn", "defaults-file", "accesslog", "nginx-status", "expvar", "pid", "interval", "out", "scrollback", "config"} {
		if cmd.Flags().Changed(flag) {
			return cli.Usagef("", "--%s is for what is live, %q is a run", flag, name)
		}
	}
	rec, path, err := cli.OpenRun(e, f.dir, name)
	if err != nil {
		return err
	}
	ctx, _, stop := cli.Interruptible(cmd.Context())
	defer stop()
	ctx, cancel := f.limited(ctx)
	defer cancel()
	if rec.Run.State == kasoku.Running {
		follow := watch.Follow(path, rec)
		defer follow.Close()
		return f.show(ctx, e, watch.NewModel(follow.Take(), follow, screenOptions(e, "")))
	}
	return f.show(ctx, e, watch.NewModel(watch.Replay(rec), nil, screenOptions(e, "")))
}

// limited ends after --for.
func (f *watchFlags) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.length == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, f.length)
}

func (f *watchFlags) live(cmd *cobra.Command, e *cli.Env) (err error) {
	ctx, _, stop := cli.Interruptible(cmd.Context())
	defer stop()
	defer cli.OutliveReader()()
	o, notes, err := f.options(ctx, e)
	if err != nil {
		return err
	}
	l, err := watch.Begin(ctx, o)
	if err != nil && o.Watch.MySQL != "" && !f.named() && ctx.Err() == nil {
		notes = append(notes, "no database: "+err.Error())
		o.Watch.MySQL = ""
		l, err = watch.Begin(ctx, o)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for _, n := range notes {
		l.Note(n)
	}
	ctx, cancel := f.limited(ctx)
	defer cancel()
	m := watch.NewModel(l.Take(), l, screenOptions(e, o.Watch.Run.Project))
	shown := f.show(ctx, e, m)
	if errors.Is(shown, syscall.EPIPE) {
		shown = nil
	}
	err = reportSaved(e, m.Wait)
	if f.out != "" {
		err = errors.Join(err, reportSaved(e, l.Save))
	}
	return errors.Join(shown, err)
}

// reportSaved describes where what was seen is kept, or why it is not.
func reportSaved(e *cli.Env, save func() (path string, err error)) error {
	path, err := save()
	if err != nil {
		return fmt.Errorf("keep what was seen: %w", err)
	}
	if path != "" {
		fmt.Fprintf(e.Stderr, "saved  %s\n", path)
	}
	return nil
}

// named reports whether a database was named on the command line.
func (f *watchFlags) named() bool { return f.database.MySQL != "" || f.database.DefaultsFile != "" }

// options describe what is watched: what kasoku.toml or what runs here says, and over it
// the flags.
func (f *watchFlags) options(ctx context.Context, e *cli.Env) (o watch.LiveOptions, notes []string, err error) {
	c, notes, err := f.configured(ctx, e)
	if err != nil {
		return o, nil, err
	}
	given := f.loop
	w, err := record.ConfiguredWatch(c, record.Options{Run: kasoku.Run{Version: cli.VersionString()}})
	if err != nil {
		return o, nil, err
	}
	e.HintOnce(w.MySQLNotes)
	if f.named() {
		if w.MySQL, err = f.database.DSN(e); err != nil {
			return o, nil, err
		}
	}
	if f.nginx.IsSet() {
		w.Servers = slices.DeleteFunc(w.Servers, func(t observe.Table) bool { _, same := t.(*nginx.Table); return same })
		w.Servers = append(w.Servers, &f.nginx)
	}
	if len(given.MoreLogs.Access) > 0 {
		w.AccessLog, w.MoreLogs.Access = "", given.MoreLogs.Access
	}
	if given.Interval != 0 {
		w.Interval = given.Interval
	}
	w.Expvar, w.PIDs = append(w.Expvar, given.Expvar...), append(w.PIDs, given.PIDs...)
	runs := f.dir
	if runs == "" {
		runs = c.Runs
	}
	o = watch.LiveOptions{Watch: w, Runs: runs, Dir: c.Dir, Keep: f.keep, Rules: append([]diagnose.Rule(nil), rules.All()...)}
	if f.out != "" {
		if _, err := cli.PlaceRun(&kasoku.Run{}, f.out, "", e.Now()); err != nil {
			return o, nil, err
		}
	}
	o.Save = func(rec *kasoku.Recording) (string, error) { return f.save(e, runs, rec) }
	return o, notes, nil
}

// save writes what was seen as a run file: the first one as it was named.
func (f *watchFlags) save(e *cli.Env, runs string, rec *kasoku.Recording) (path string, err error) {
	rec.Run.Label = "watch"
	if path, err = cli.PlaceRun(&rec.Run, f.out, runs, e.Now()); err != nil {
		path, err = cli.PlaceRun(&rec.Run, "", runs, e.Now())
	}
	if err == nil {
		err = store.Write(path, rec)
	}
	return path, err
}

// configured reads kasoku.toml, or looks at what runs here.
func (f *watchFlags) configured(ctx context.Context, e *cli.Env) (*config.Config, []string, error) {
	c, err := cli.ReadConfig(f.config)
	if err != nil || c != nil {
		return c, nil, err
	}
	found, err := initcmd.Survey(e, ctx, ".")
	if err == nil {
		c, err = config.Parse([]byte(found.TOML(e.Now())), filepath.Join(found.Dir, config.Name))
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, cli.Stopped("stopped before anything was seen")
		}
		c := config.Default()
		return &c, []string{"what runs here is not known: " + err.Error()}, nil
	}
	var notes []string
	if services, flag := found.Several(); services != "" {
		notes = append(notes, fmt.Sprintf("several services run here, at the ports %s: the host alone is watched; `%s init %s` chooses one",
			terminal.Clean(services), e.Name, terminal.Clean(flag)))
	}
	if found.DBErr != nil && !f.named() {
		notes = append(notes, "no database: "+terminal.Clean(found.DBErr.Error()))
	}
	return c, notes, nil
}
