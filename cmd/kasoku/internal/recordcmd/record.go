package recordcmd

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/confine"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/phases"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/record/trigger"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/trace/window"
)

// recordFlags are the flags of record as they were typed.
type recordFlags struct {
	loop      record.Options
	database  cli.DatabaseFlags
	noSlowLog bool
	minFree   string
	slowLog   bool
	passExit  bool
	// keepRights leaves a recording as root all that root may.
	keepRights bool
	on         string
	again      bool
	settings   map[string]string
	capture    cli.CaptureFlags
	out        cli.Output
	team       team
	reconnects func(dsn string) bool // what kasoku.toml confirms for a database; nil without one
}

// NewRecord returns the command record, which records what the machine does while a command runs.
func NewRecord(e *cli.Env) *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "record [flags] [-- COMMAND…]",
		Short: "Record host, processes, database and logs every second beside a command",
		Long: `Record host, processes and database every second while COMMAND runs, and the
logs of exactly that time; diagnose the run; keep it in one file.

Without COMMAND it records for --for, until requests end (--until-idle), or until
Ctrl-C. With --on it waits for a request in the access log, such as that with which
a contest's benchmark begins, and the run begins a moment before it: kasoku watches
meanwhile, so nothing of the beginning is lost. The slow log is switched
on for the time of the run where the database user may do that, and put back at
the end, also on Ctrl-C and when kasoku is killed; see also kasoku restore. The
password is best kept in an option file.

Exit code 1: COMMAND ended without success, or nothing that it asked for succeeded.`,
		Example: `  kasoku record --out before.kasoku -- ab -n 10000 -c 50 http://127.0.0.1:8080/
  kasoku record --mysql 'app:secret@tcp(127.0.0.1:3306)/shop' --accesslog /var/log/nginx/access.log -- ./bench.sh
  kasoku record --defaults-file ~/.my.cnf --applog app.log --pid 1204,988 --for 90s
  kasoku record --accesslog /var/log/nginx/access.log --on 'POST /initialize' --again`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckFormat("-o", f.out.Format); err != nil {
				return err
			}
			for _, name := range []string{"for", "until-idle"} {
				if fl := cmd.Flags().Lookup(name); fl.Changed && fl.Value.String() == "0s" {
					return cli.Usagef("leave --"+name+" out to record until Ctrl-C", "--%s 0s: want a longer time", name)
				}
			}
			return runRecord(cmd, e, &f, args)
		},
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false)
	f.database.Register(fl, "`DSN` of the database to watch: user:password@tcp(host:port)/database")
	fl.StringVar(&f.loop.AccessLog, "accesslog", "", "access log `FILE`: LTSV or combined")
	fl.StringVar(&f.loop.AppLog, "applog", "", "application log `FILE`")
	fl.IntSliceVar(&f.loop.PIDs, "pid", nil, "always sample the processes `P,...`")
	fl.StringSliceVar(&f.loop.CountRows, "count-rows", nil, "count the rows of `TABLE,...` before and after; they "+
		"must match the successful writes")
	fl.DurationVar(&f.loop.For, "for", 0, "without a command: record so long")
	fl.DurationVar(&f.loop.UntilIdle, "until-idle", 0, "without a command: record until no request came for so long")
	fl.StringVar(&f.on, "on", "", "wait for this `REQUEST` in the access log, such as 'POST /initialize'; ends as "+
		"--for or --until-idle say, default --until-idle 10s")
	fl.BoolVar(&f.again, "again", false, "with --on: a run for each such request, until Ctrl-C")
	fl.DurationVar(&f.loop.Interval, "interval", time.Second, "between samples")
	fl.BoolVar(&f.noSlowLog, "no-slowlog", false, "leave the slow log as it is and do not read it")
	fl.BoolVar(&f.slowLog, "slowlog", false, "take the slow log even where it was on before, so that sessions that "+
		"begin meanwhile may go on logging all")
	fl.BoolVar(&f.loop.NoPlans, "no-plans", false, "do not ask the database at the end how it runs the slowest statements")
	fl.BoolVar(&f.loop.KeepStatements, "keep-statements", false, "keep a statement of each class as it was sent, "+
		"values included, for `kasoku explain`")
	fl.BoolVar(&f.loop.CheckIndexes, "check-indexes", false, "ask a private server of the same version at the end, "+
		"with a copy of some rows, whether it would use the proposed indexes")
	fl.BoolVar(&f.loop.Digests, "digests", false, "let performance_schema count statements by digest: the queries "+
		"where no slow log can be read")
	fl.StringVar(&f.loop.Join, "join", record.JoinAuto, "who issues which query, by `HOW` statements' times are "+
		"known: auto, tail (slow log looked at every 5 ms), table (the slow log's), off")
	fl.BoolVar(&f.loop.RecycleConnections, "recycle-connections", false, "end the database's idle connections when "+
		"the slow log is on, since those are not in it")
	fl.IntVar(&f.loop.Sample, "mysql-sample", 0, "MariaDB: the slow log holds 1 of `N` statements, for a server "+
		"whose disk all of them would fill")
	fl.StringVar(&f.minFree, "min-free", "", "put the slow log back when less than this `SIZE` is free on its disk "+
		"or the run's, such as 5% or 500MB; default 5 % or 1 GB, whichever is less")
	fl.StringVar(&f.loop.Path, "out", "", "run `FILE`; default runs/TIME-LABEL.kasoku")
	fl.StringVar(&f.loop.Run.Label, "label", "", "short `NAME` of the run, such as before")
	fl.StringVar(&f.loop.Run.Note, "note", "", "what was changed")
	fl.StringVar(&f.loop.Run.Project, "project", "", "what is measured; default the working directory's name")
	fl.StringToStringVar(&f.settings, "setting", nil, "settings of the application that kasoku cannot see, "+
		"`NAME=VALUE,...`, such as pool.max_idle=100")
	fl.Lookup("setting").DefValue = "" // not []
	f.capture.Register(fl)
	fl.BoolVar(&f.keepRights, "keep-rights", false, "as root: do not give up the rights that the rest of the "+
		"recording does not need")
	fl.BoolVar(&f.passExit, "pass-exit", false, "exit with the command's exit code")
	fl.StringSliceVar(&f.team.hosts, "with", nil, "`HOSTS` of the fleet that record themselves for this run, web,db")
	fl.StringVar(&f.team.hub, "hub", "", "`DIRECTORY` of the hub that asks them; default that of `kasoku hub`")
	f.out.RegisterMade(cmd, &f.loop.Path)
	return cmd
}

func runRecord(cmd *cobra.Command, e *cli.Env, f *recordFlags, args []string) error {
	o := &f.loop
	if err := f.complete(e, args); err != nil {
		return err
	}
	ctx, hard, stop := cli.Interruptible(cmd.Context())
	defer stop()
	o.Hard = hard
	p := e.Progress()
	if len(args) == 0 {
		o.OnProgress = func(now record.Progress) { cli.ShowProgress(p, now, o.For) }
	}
	f.team.say = p.Say
	for made := 0; ; made++ {
		sayWaits(e, p, o)
		res, err := f.team.record(ctx, e, *o)
		p.Clear()
		if res == nil {
			return notBegun(ctx, err, made)
		}
		if err := f.finish(e, res, err); err != nil || !f.again {
			return err
		}
		o.After = res
		if o.Path, err = cli.PlaceRun(&o.Run, "", cli.RunsDir, e.Now()); err != nil {
			return err
		}
	}
}

// startable refuses a command whose program is not there, or cannot be run: what cannot start leaves no run. A path
// that is relative counts from dir.
func startable(args []string, dir string) error {
	if len(args) == 0 {
		return nil
	}
	name := args[0]
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
		if !strings.Contains(name, "/") {
			name = "./" + name
		}
	}
	if _, err := command.LookPath(name); err != nil {
		return &command.StartError{Path: args[0], Err: err}
	}
	return nil
}

// notBegun reports why a run did not begin; nil when it was stopped while it waited for its
// request, other runs were made before it, and it left nothing on a server.
func notBegun(ctx context.Context, err error, made int) error {
	_, more := err.(interface{ Unwrap() []error }) // something is left
	switch {
	case ctx.Err() == nil:
		return err
	case made > 0 && !more:
		return nil
	}
	return cli.Stopped(err.Error())
}

// sayWaits prints that nothing is recorded yet, or what ends a recording that nothing ends by
// itself.
func sayWaits(e *cli.Env, p *terminal.Progress, o *record.Options) {
	switch {
	case o.On.Path != "":
		p.Say("waits for " + o.On.String() + "; Ctrl-C ends it")
	case o.Load == nil && len(o.Command) == 0 && o.For == 0 && o.UntilIdle == 0:
		p.Say("records until Ctrl-C; --for 60s, --until-idle 10s or a command after -- end it by themselves")
	case o.UntilIdle > 0 && len(o.Command) == 0 && o.Load == nil:
		p.Say("waits for a load from elsewhere, as its access log shows it, and ends " + unit.Exact(o.UntilIdle) +
			" after its last request; Ctrl-C ends it. Where none comes, targets in [load] of kasoku.toml make one")
	}
}

// finish shows a run and judges it.
func (f *recordFlags) finish(e *cli.Env, res *record.Result, err error) error {
	rec := res.Recording
	shown := e.ShowRun(rec, res.Path)
	shown.Brief = true
	if printErr := f.out.Print(e, shown); printErr != nil {
		return errors.Join(err, printErr)
	}
	switch {
	case err != nil:
		return err
	case f.passExit && rec.Run.Command != nil && rec.Run.Command.ExitCode > 0:
		return cli.PassExit(rec.Run.Command.ExitCode)
	case rec.Run.State != kasoku.Finished:
		return cli.Stopped("stopped before the end: " + rec.Run.StopReason)
	}
	if err := cmp.Or(wholeRun(rec), logsCame([]string{f.loop.AccessLog, f.loop.AppLog}),
		logsGave(rec, []string{f.loop.AccessLog})); err != nil {
		return err
	}
	if why := cli.NothingSucceeded(rec); why != "" {
		return cli.Bad(why)
	}
	if bad, code := cli.HasFailed(rec); bad && code != 0 {
		return cli.Bad("the command ended without success: " + cmp.Or(rec.Run.Command.Signal, "exit code "+strconv.Itoa(code)))
	} else if bad {
		return cli.Bad("the benchmark failed")
	}
	return nil
}

// wholeRun is an error when a run left something on the database server, or lacks what
// was written to a log.
func wholeRun(rec *kasoku.Recording) error {
	if lost := record.LostLogs(rec); lost != "" && record.Leftovers(rec) == "" {
		return cli.WithHint(cli.Stopped("not all of the run was recorded: "+lost),
			"the rest is in the run file; keep the logs until the run has ended")

	}
	if lost := lostHosts(rec); lost != "" && record.Leftovers(rec) == "" {
		return cli.Stopped(lost)
	}
	if left := record.Leftovers(rec); left != "" {
		return cli.WithHint(cli.Stopped("left on the database server: "+left), "`kasoku restore` tries again and says "+
			"what is left")
	}
	return nil
}

// complete fills in what was not said and refuses what cannot be.
func (f *recordFlags) complete(e *cli.Env, args []string) error {
	o := &f.loop
	// as the command writes it
	o.Command, o.Stdin, o.Stdout, o.Stderr = args, e.Stdin, terminal.Raw(e.Stdout), terminal.Raw(e.Stderr)
	if !f.keepRights {
		o.Opened = func() error { return confine.Drop(f.rights(e)) }
	}
	o.Run.Version = cli.VersionString()
	o.Rules = rules.All()
	o.OnDoubt = func(w kasoku.Warning) { e.Warn([]kasoku.Warning{w}) }
	o.Capture = f.capture.Options()
	f.nameService(e)
	if err := f.team.check(); err != nil {
		return err
	}
	if len(args) > 0 && o.For > 0 {
		return cli.Usagef("", "--for is for a recording without a command")
	}
	if err := f.completeOn(); err != nil {
		return err
	}
	if err := setMinFree(o, f.minFree); err != nil {
		return err
	}
	if o.Interval < 100*time.Millisecond {
		return cli.Usagef("", "--interval %s: want at least 100ms", o.Interval)
	}
	if err := f.completeDatabase(e); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(f.settings)) {
		o.Settings = append(o.Settings, kasoku.Setting{Scope: "app", Name: name, Value: f.settings[name]})
	}
	if err := checkLogs([]string{o.AccessLog, o.AppLog}); err != nil {
		return err
	}
	if err := startable(args, ""); err != nil {
		return err
	}
	if o.Run.Project == "" {
		if wd, err := os.Getwd(); err == nil {
			o.Run.Project = filepath.Base(wd)
		}
	}
	if o.Run.Load == "" && len(args) > 0 {
		o.Run.Load = strings.Join(args, " ")
	}
	var err error
	if o.Path, err = cli.PlaceRun(&o.Run, o.Path, cli.RunsDir, e.Now()); err != nil {
		return err
	}
	if len(f.team.hosts) > 0 {
		o.Shared = &trigger.Shared{} // their access logs may be the ones that show requests
	}
	if err := o.Validate(); err != nil {
		return cli.Usage(err, "")
	}
	return nil
}

// nameService takes the tables [service] and [trace] of the kasoku.toml that lies here. One that
// cannot be read costs that alone: record needs none.
func (f *recordFlags) nameService(e *cli.Env) {
	if d := config.Default().Trace; f.keepRights {
		f.loop.Trace = window.Planned(d.On, d.For, d.After)
	}
	path, ok := config.Find(".")
	if !ok {
		return
	}
	c, err := config.Load(path)
	if err != nil {
		e.HintOnce([]string{"[service] is not read: " + err.Error()})
		return
	}
	f.loop.Service = record.NamedBy(c.Service)
	switch {
	case f.keepRights:
		f.loop.Trace = window.Planned(c.Trace.On, c.Trace.For, c.Trace.After)
	case c.Trace.Asked():
		e.HintOnce([]string{"[trace] on: a recording gives up the right to that; --keep-rights leaves it"})
	}
	f.reconnects = func(dsn string) bool { return c.MySQL.Reconnects && cli.IsDatabaseOf(c, dsn) }
}

// checkLogs refuses logs in directories that are not there, which are slips of the
// pen. An empty path is none.
func checkLogs(paths []string) error {
	for _, log := range paths {
		if log == "" {
			continue
		}
		if st, err := os.Stat(filepath.Dir(log)); err != nil || !st.IsDir() {
			return cli.Usagef("the log itself may come later, its directory must be there", "log %q: no such directory", log)
		}
	}
	return nil
}

// logsGave refuses access logs that gained nothing while the load made requests: they are
// not those of what was measured.
func logsGave(rec *kasoku.Recording, paths []string) error {
	if requestsMade(rec) == 0 {
		return nil
	}
	for _, w := range rec.Logs {
		if w.Kind == "accesslog" && w.Lines == 0 && w.Note == "" && slices.Contains(paths, w.Path) {
			return cli.Usagef("`kasoku doctor` says which logs are written here; what else was recorded is kept",
				"log %q gained no line during the run, and the load made requests", w.Path)
		}
	}
	return nil
}

// requestsMade is how many requests the load is known to have made.
func requestsMade(rec *kasoku.Recording) (n uint64) {
	for _, s := range rec.Seconds {
		for _, answers := range s.Codes {
			n += answers
		}
	}
	if s := rec.Run.Score; s != nil {
		n += s.Requests
	}
	return n
}

// logsCame refuses logs that are not there when a run has ended: their paths are wrong.
// An empty path is none, and a pattern names what is there.
func logsCame(paths []string) error {
	for _, log := range paths {
		if log != "" && cli.IsMissing(log) && !strings.ContainsAny(log, "*?[") {
			return cli.Usagef("`kasoku doctor` says which logs are written here; what else was "+
				"recorded is kept", "log %q is not there", log)
		}
	}
	return nil
}

// completeDatabase finds the database to watch.
func (f *recordFlags) completeDatabase(e *cli.Env) (err error) {
	o := &f.loop
	if o.MySQL, err = f.database.DSN(e); err != nil {
		return err
	}
	if f.reconnects != nil {
		o.Reconnects = f.reconnects(o.MySQL)
	}
	if f.slowLog && f.noSlowLog {
		return cli.Usagef("", "--slowlog and --no-slowlog: give one")
	}
	o.SlowLog, o.SlowLogAnyway = o.MySQL != "" && !f.noSlowLog, f.slowLog
	return e.Guarded(o, f.database.DefaultsFile)
}

// untilIdle ends a run that began with a request: longer than benchmarks pause
// between their parts.
const untilIdle = 10 * time.Second

// completeOn reads --on.
func (f *recordFlags) completeOn() (err error) {
	if f.on == "" {
		if f.again {
			return cli.Usagef("--on 'POST /initialize' --again", "--again is for runs that begin with a request")
		}
		return nil
	}
	if f.again && f.loop.Path != "" {
		return cli.Usagef("leave --out out: the runs get names of their own", "--again makes several runs, --out names one file")
	}
	if f.loop.On, err = phases.ParseRequest(f.on); err != nil {
		return cli.Usagef("", "--on: %w", err)
	}
	if f.loop.For == 0 && f.loop.UntilIdle == 0 {
		f.loop.UntilIdle = untilIdle
	}
	return nil
}

// setMinFree takes what is to stay free of disks; empty leaves it as it is.
func setMinFree(o *record.Options, text string) error {
	if text == "" {
		return nil
	}
	least, err := unit.ParseLeast(text)
	if err != nil {
		return cli.Usagef("", "--min-free: %w", err)
	}
	o.MinFree = &least
	return nil
}
