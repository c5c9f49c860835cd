package recordcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/record/trigger"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/store"
)

// runFlags are the flags of run as they were typed.
type runFlags struct {
	base     string
	times    int
	note     string
	label    string
	config   string
	off      bool
	ab       bool
	price    kasoku.Price
	passExit bool
	join     string
	recycle  bool
	minFree  string
	sample   int
	slowLog  bool
}

// noLoad refuses a load on the command line of run, and says which command takes it.
func noLoad(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case strings.Contains(args[0], "://"):
		return cli.Usagef("`kasoku attack URL` loads it now; `kasoku init --url URL` writes a kasoku.toml for it",
			"%q: run takes no URL, its load is what kasoku.toml says", args[0])
	}
	return cli.Usagef("`kasoku record -- COMMAND` measures a command",
		"%q: run takes no command, its load is what kasoku.toml says", args[0])
}

// NewRun returns the command run, which makes the measured runs of a kasoku.toml.
func NewRun(e *cli.Env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Do what kasoku.toml says: a measured run, or several that repeat it",
		Long: `Do what the kasoku.toml here or above says: make the load, run the benchmark and
read its score, or record while the load comes from elsewhere.

With -n the runs form a group. At the end it reports their median and spread, how
many passed, and whether they differ from the runs before of the same project and
load. The command finds the run's file in KASOKU_RUN_FILE, its label in
KASOKU_RUN_LABEL and its place in the group in KASOKU_REPEAT.

Exit code 1: the benchmark failed. Exit code 3: stopped; the first Ctrl-C ends the
present run in order and keeps all.`,
		Example: `  kasoku run --note 'index on users.email'
  kasoku run -n 5 --label index
  kasoku run --ab -n 4`,
		Args: noLoad,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), e) },
	}
	fl := cmd.Flags()
	fl.IntVarP(&f.times, "times", "n", 1, "how many runs; 0: until Ctrl-C, when kasoku.toml has load.on")
	fl.StringVar(&f.note, "note", "", "what was changed")
	fl.StringVar(&f.label, "label", "", "short `NAME` of the runs, such as index")
	fl.StringVar(&f.base, "base", "", "the `RUN` that this is a try upon: it is compared with that instead of the "+
		"one before")
	fl.StringVar(&f.config, "config", "", "`FILE` instead of the kasoku.toml here or above")
	fl.BoolVar(&f.off, "observers-off", false, "ask nothing while it runs but the host: no database, slow log, processes")
	fl.BoolVar(&f.ab, "ab", false, "-n runs with observers and -n without, in turn; reports what observation costs")
	fl.Float64Var(&f.price.PerHour, "price", 0, "what the measured machines cost an hour; default that of kasoku.toml")
	fl.StringVar(&f.price.Currency, "currency", "", "`NAME` of the currency of --price")
	fl.StringVar(&f.join, "join", "", "who issues which query, by `HOW` statements' times are known: auto, tail, "+
		"table or off; default that of kasoku.toml")
	fl.BoolVar(&f.recycle, "recycle-connections", false, "end the database's idle connections when the slow log is "+
		"on, since those are not in it")
	fl.IntVar(&f.sample, "mysql-sample", 0, "MariaDB: the slow log holds 1 of `N` statements; default that of kasoku.toml")
	fl.StringVar(&f.minFree, "min-free", "", "put the slow log back when less than this `SIZE` is free on its disk "+
		"or the run's, such as 5% or 500MB; default that of kasoku.toml")
	fl.BoolVar(&f.slowLog, "slowlog", false, "take the slow log even where it was on before; default as kasoku.toml says")
	fl.BoolVar(&f.passExit, "pass-exit", false, "exit with the exit code of the first command that failed")
	return cmd
}

// check refuses flags that do not go together.
func (f *runFlags) check() error {
	switch {
	case f.times < 0:
		return cli.Usagef("", "-n %d: want 1 or more, or 0 for until Ctrl-C", f.times)
	case f.ab && f.off:
		return cli.Usagef("", "--ab makes runs with observers and without, --observers-off only without: give one")
	case f.ab && f.times == 0:
		return cli.Usagef("", "--ab needs a number of runs: -n 4")
	case f.price.PerHour < 0 || math.IsNaN(f.price.PerHour) || math.IsInf(f.price.PerHour, 0):
		return cli.Usagef("", "--price %v: want more than 0", f.price.PerHour)
	case f.price.PerHour == 0 && f.price.Currency != "":
		return cli.Usagef("add --price PRICE", "--currency %q without --price", f.price.Currency)
	}
	return nil
}

func (f *runFlags) run(parent context.Context, e *cli.Env) error {
	if err := f.check(); err != nil {
		return err
	}
	c, err := f.load()
	if err != nil {
		return err
	}
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	if err := f.findBase(c.Runs); err != nil {
		return err
	}
	s := &series{e: e, f: f, dir: c.Runs, progress: e.Progress(), after: announcer{After: c.After, dir: c.Dir}}
	s.team = team{hosts: c.Fleet.Record, say: s.progress.Say}
	if err := s.team.check(); err != nil {
		return err
	}
	if err := s.after.check(); err != nil {
		return err
	}
	s.options = func() (record.Options, error) { return f.options(e, c, hard) }
	if s.o, err = s.options(); err != nil {
		return err
	}
	if err := startable(s.o.Command, s.o.Dir); err != nil {
		return err
	}
	if s.o.Load != nil {
		if err := s.o.Load.Permitted(ctx); err != nil {
			return cli.UsageIf(cli.IsRefused(err), err)
		}
	}
	err = s.all(ctx)
	s.progress.Clear()
	s.after.hear(s.e, s.printEnd)
	err = cmp.Or(err, s.judge())
	if ctx.Err() == nil {
		s.after.announce(ctx, s.e, cli.FinalCode(s.e, err))
	}
	return err
}

// findBase makes an id of the name of the base.
func (f *runFlags) findBase(dir string) error {
	if f.base == "" {
		return nil
	}
	path, err := store.Resolve(dir, f.base)
	if err != nil {
		return cli.Usage(err, "`kasoku list` shows the runs")
	}
	info := store.Describe(path)
	f.base = info.ID
	return info.Err
}

// load reads kasoku.toml.
func (f *runFlags) load() (*config.Config, error) {
	c, err := cli.ReadConfig(f.config)
	if err == nil && c == nil {
		err = cli.Usagef("`kasoku init` looks at what runs here and writes one", "no %s here or above", config.Name)
	}
	return c, err
}

// options returns what all runs have in common. They are made anew for each run:
// processes come and go, and each load opens its own connections.
func (f *runFlags) options(e *cli.Env, c *config.Config, hard context.Context) (record.Options, error) {
	o, err := record.Configured(c, record.Options{
		Run:    kasoku.Run{Label: f.label, Note: f.note, Base: f.base, Version: cli.VersionString(), Price: f.price},
		Course: record.Course{Stdin: e.Stdin, Stdout: terminal.Raw(e.Stdout), Stderr: terminal.Raw(e.Stderr)},
		Rules:  rules.All(),
		Hard:   hard,
	})
	switch {
	case errors.Is(err, record.ErrNoLoad):
		return o, cli.Usage(err, "give [load] a command, targets with steps, for, or until_idle")
	case errors.As(err, new(*load.VariableError)):
		return o, cli.Usage(err, "load.variables = false sends {{…}} as it is")
	case err != nil:
		return o, cli.UsageIf(cli.IsRefused(err), err)
	case f.times == 0 && o.On.Path == "":
		return o, cli.Usagef("add load.on = 'POST /initialize'", "-n 0: %s does not say with which request a "+
			"run begins", c.Path)
	}
	if err := sendFrom(&c.Load, &o); err != nil {
		return o, err
	}
	e.HintOnce(o.MySQLNotes)
	if o.Run.Price.Currency == "" {
		o.Run.Price.Currency = c.Price.Currency
	}
	if f.join != "" {
		o.Join = f.join
	}
	o.RecycleConnections = o.RecycleConnections || f.recycle
	if f.sample != 0 {
		o.Sample = f.sample
	}
	if err := setMinFree(&o, f.minFree); err != nil {
		return o, err
	}
	o.SlowLogAnyway = o.SlowLogAnyway || f.slowLog
	if f.off {
		o.Observers = kasoku.ObserversOff
	}
	if err := e.Guarded(&o, c.MySQL.DefaultsFile); err != nil {
		return o, err
	}
	if err := checkLogs(namedLogs(&o)); err != nil {
		return o, err
	}
	if o.Answers, err = cli.ComparedAnswers(c); err != nil {
		return o, err
	}
	check := o
	check.Path = "-"
	if len(c.Fleet.Record) > 0 && !f.off {
		check.Shared = &trigger.Shared{} // their access logs may be the ones that show requests
	}
	if err := check.Validate(); err != nil {
		return o, cli.Usage(fmt.Errorf("%s: %w", c.Path, err), "")
	}
	return o, nil
}

// namedLogs are the logs that kasoku.toml names.
func namedLogs(o *record.Options) []string {
	return slices.Concat(o.MoreLogs.Access, o.MoreLogs.App, o.MoreLogs.Error)
}

// A series is the runs that one command makes.
type series struct {
	e        *cli.Env
	f        *runFlags
	o        record.Options // of the first run
	options  func() (record.Options, error)
	dir      string
	progress *terminal.Progress
	groups   []*runGroup // with observers, and with --ab without
	made     int
	last     *record.Result
	first    []string // what runs put first, as it was printed
	after    announcer
	team     team
	stopped  string // why it ended early
}

// A runGroup is runs that repeat one another.
type runGroup struct {
	id        string
	observers string
	runs      []*kasoku.Recording
}

// planned is how many runs there will be; 0 when that is not known.
func (s *series) planned() int {
	if s.f.ab {
		return 2 * s.f.times
	}
	return s.f.times
}

// side describes how the n-th run, from 0, is observed: with --ab in the order on, off,
// off, on, so that what drifts meets both alike.
func (s *series) side(n int) string {
	if s.f.ab && (n%4 == 1 || n%4 == 2) {
		return kasoku.ObserversOff
	}
	return s.o.Observers
}

// all makes the runs. What goes wrong ends it; what was made until then stays.
func (s *series) all(ctx context.Context) error {
	for n := 0; s.planned() == 0 || n < s.planned(); n++ {
		sayWaits(s.e, s.progress, &s.o)
		res, err := s.one(ctx, s.side(n))
		s.progress.Clear()
		if res == nil && s.planned() == 0 {
			return notBegun(ctx, err, s.made)
		}
		if res == nil {
			return notBegun(ctx, err, 0)
		}
		s.made++
		s.last = res
		s.after.ended(res)
		s.after.hear(s.e, func() { s.say(res) })
		if s.planned() == 0 { // it ends by Ctrl-C alone
			s.after.announce(ctx, s.e, cli.FinalCode(s.e, failedRun(res)))
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil && s.made != s.planned() {
			s.stopped = context.Cause(ctx).Error()
			return nil
		}
	}
	return nil
}

// failedRun is why a run alone is no good one; nil where it is.
func failedRun(res *record.Result) error {
	if bad, _ := cli.HasFailed(res.Recording); bad {
		return cli.Bad("the benchmark failed")
	}
	return nil
}

// one makes one run.
func (s *series) one(ctx context.Context, observers string) (*record.Result, error) {
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	o.Observers, o.After = observers, s.last
	g := s.group(observers)
	if o.Path, err = cli.PlaceRun(&o.Run, "", s.dir, s.e.Now()); err != nil {
		return nil, err
	}
	if s.planned() != 1 {
		o.Run.Group, o.Run.Repeat = cmp.Or(g.id, o.Run.ID), len(g.runs)+1
	}
	file, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, err
	}
	o.Env = []string{"KASOKU_RUN_FILE=" + file, "KASOKU_RUN_LABEL=" + o.Run.Label, "KASOKU_REPEAT=" + strconv.Itoa(max(o.Run.Repeat, 1))}
	o.OnProgress, o.OnDoubt = s.show, func(w kasoku.Warning) { s.e.Warn([]kasoku.Warning{w}) }
	res, err := s.team.record(ctx, s.e, o)
	if res != nil {
		g.id = cmp.Or(g.id, o.Run.ID)
		g.runs = append(g.runs, res.Recording)
	}
	return res, err
}

// group returns the group of that side.
func (s *series) group(observers string) *runGroup {
	for _, g := range s.groups {
		if g.observers == observers {
			return g
		}
	}
	g := &runGroup{observers: observers}
	s.groups = append(s.groups, g)
	return g
}

// show draws how far the present run is. A line that is redrawn would run into the
// output of a command, so with one there is none until it has ended.
func (s *series) show(now record.Progress) {
	if len(s.o.Command) > 0 && now.Phase != record.PhaseAnalyse {
		return
	}
	if s.planned() != 1 {
		now.Label = s.place(s.made+1) + " " + now.Label
	}
	cli.ShowProgress(s.progress, now, s.o.For)
}

// place is "run 2 of 5".
func (s *series) place(n int) string {
	if s.planned() == 0 {
		return "run " + unit.Count(n)
	}
	return fmt.Sprintf("run %d of %d", n, s.planned())
}

// say prints a run in one line, and what it says to do first; that of a single run comes at the end.
func (s *series) say(res *record.Result) {
	if s.planned() == 1 {
		return
	}
	rec := res.Recording
	parts := []string{s.place(s.made), rec.Run.ID}
	if s.f.ab {
		parts = append(parts, "observers "+map[bool]string{true: "off", false: "on"}[rec.Run.Observers == kasoku.ObserversOff])
	}
	fmt.Fprintln(s.e.Stdout, strings.Join(append(parts, cli.DescribeOutcome(rec)...), "  "))
	s.sayEarly(rec)
}

// judge returns what the exit code says of the runs.
func (s *series) judge() error {
	if s.stopped != "" {
		return cli.Stopped("stopped before the end: " + s.stopped)
	}
	bad, first := 0, 0
	var left, gave error
	for _, g := range s.groups {
		for _, rec := range g.runs {
			if is, code := cli.HasFailed(rec); is {
				bad++
				first = cmp.Or(first, code)
			}
			if rec.Run.State != kasoku.Finished {
				return cli.Stopped("stopped before the end: " + rec.Run.StopReason)
			}
			left = cmp.Or(left, wholeRun(rec))
			gave = cmp.Or(gave, logsGave(rec, s.o.MoreLogs.Access))
		}
	}
	switch {
	case left != nil:
		return left
	case s.made > 0 && bad == 0 && logsCame(namedLogs(&s.o)) != nil:
		return logsCame(namedLogs(&s.o))
	case bad == 0 && gave != nil:
		return gave
	case bad == 0:
		return s.judgeLoad()
	case s.f.passExit && first > 0:
		return cli.PassExit(first)
	case s.made == 1:
		return cmp.Or(s.judgeLoad(), cli.Bad("the benchmark failed"))
	}
	return cli.Bad(fmt.Sprintf("the benchmark failed in %d of %d runs", bad, s.made))
}

// judgeLoad returns a bad answer when nothing of the load of a run succeeded, or too little
// of one that kasoku itself made.
func (s *series) judgeLoad() error {
	for _, g := range s.groups {
		for _, rec := range g.runs {
			if why := cli.NothingSucceeded(rec); why != "" {
				return cli.Bad(why)
			}
			if s.o.Load == nil {
				continue
			}
			if err := cli.JudgeLoad(rec.Steps, rec.Tally); err != nil {
				return err
			}
		}
	}
	return nil
}
