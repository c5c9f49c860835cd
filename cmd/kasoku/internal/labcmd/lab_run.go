package labcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/app"
	"github.com/kasoku/kasoku/labs/isuumo/stack"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/trace/window"
)

// labRunFlags are the flags of lab run.
type labRunFlags struct {
	lab      labFlags
	compare  bool
	times    int
	duration time.Duration
	compat   bool
	off      bool
	out      cli.Output
}

func newLabRun(e *cli.Env) *cobra.Command {
	var f labRunFlags
	cmd := &cobra.Command{
		Use:         "run NAME",
		Short:       "Run a lab's load under a recording, isuumo variant by variant",
		Annotations: map[string]string{"vegeta": "flags"},
		Long: `For each run start the lab afresh, run its load under a recording of host, processes,
database and logs, and stop it. Runs are kept as those of ` + "`kasoku run`" + `:
` + "`kasoku list`, `show` and `compare`" + ` report what came of them. Repeats of a variant are
a group. With --compare-variants all variants of isuumo are run, the slowest first.

Exit code 1 when a run did not pass, 3 when it was stopped; what was measured is kept.`,
		Example: `  kasoku lab run isuumo -variant tuned
  kasoku lab run isuumo -n 5 --compare-variants
  kasoku lab run isuumo -size small -duration 10s -variant indexes -db mysql -o json
  kasoku lab run insertbench -variant go
  kasoku lab run insertbench -variant python
  kasoku lab run insertbench -defects DRV-01,DBC-01 -duration 10s`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.lab.given(cmd.Flags())
			l, err := labNamed(args[0])
			if err != nil {
				return err
			}
			if err := f.lab.onlyOfGoldrush(l.name); err != nil {
				return err
			}
			if l.record != nil {
				return f.runLab(cmd.Context(), e, l)
			}
			return f.run(cmd.Context(), e, args[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.lab.defects, "defects", "", "seeded defects instead of a variant: `IDS` with commas, all or none")
	fl.StringVar(&f.lab.database, "db", "mariadb", "database: mariadb or mysql")
	fl.StringVar(&f.lab.variant, "variant", isuumo.Initial,
		"how far it is tuned: initial, indexes, ranges, counted, kept, split, tuned; lab list has those of the others")
	f.lab.registerRows(fl)
	f.lab.game.register(fl)
	fl.BoolVar(&f.compare, "compare-variants", false, "run all variants and compare them")
	fl.IntVarP(&f.times, "times", "n", 1, "how many runs of each variant")
	fl.DurationVar(&f.duration, "duration", time.Minute, "of the load of a run; of the small labs 15s")
	fl.BoolVar(&f.compat, "compat", false, "make exactly the checks of the contest's own benchmark")
	fl.BoolVar(&f.off, "observers-off", false, "ask nothing while it runs but the host: no database, slow log, processes")
	fl.StringVar(&f.out.Dir, "dir", cli.RunsDir, "`DIRECTORY` for the run files")
	cli.RegisterFormats(cmd, &f.out.Format, cli.Formats)
	return cmd
}

// check refuses flags that do not go together.
func (f *labRunFlags) check() error {
	switch {
	case f.times < 1:
		return cli.Usagef("", "-n %d: want 1 or more", f.times)
	case f.compare && (f.lab.set["variant"] || f.lab.set["defects"]):
		return cli.Usagef("", "--compare-variants runs all variants: leave out --variant and --defects")
	}
	if err := checkLoadTime(f.duration); err != nil {
		return err
	}
	if err := f.out.Check(); err != nil {
		return err
	}
	_, err := f.lab.isuumoStack()
	return err
}

// sides are the sets of defects that are run, in order.
func (f *labRunFlags) sides() []*labSide {
	switch {
	case f.compare:
		var out []*labSide
		for _, v := range isuumo.Variants() {
			out = append(out, &labSide{name: v, variant: v})
		}
		return out
	case f.lab.set["defects"]:
		return []*labSide{{name: "defects"}}
	}
	return []*labSide{{name: f.lab.variant, variant: f.lab.variant}}
}

// A labSide is a variant, or a set of defects, with its runs.
type labSide struct {
	name, variant string
	group         string
	base          string // id of the run that it is a try upon; empty else
	runs          []*labRunResult
}

// A labRunResult is one run.
type labRunResult struct {
	path  string
	rec   *kasoku.Recording
	bench *benchResult // nil when the benchmark gave none
}

// labRuns makes the runs of one command.
type labRuns struct {
	e        *cli.Env
	f        *labRunFlags
	data     *isuumo.Data
	self     string
	hard     context.Context
	progress *terminal.Progress
	sides    []*labSide
	made     int
	work     string // the directory of the present run
	trace    *window.Plan
}

func (f *labRunFlags) run(parent context.Context, e *cli.Env, name string) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	r := &labRuns{e: e, f: f, hard: hard, progress: e.Progress(), sides: f.sides()}
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	free, err := r.lock(name)
	if err != nil {
		return err
	}
	defer free()
	if r.data, err = f.lab.read(); err != nil {
		return err
	}
	err = r.all(ctx)
	r.progress.Clear()
	if r.made > 0 {
		err = errors.Join(err, r.printSummary())
	}
	switch {
	case ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return cli.Stopped("stopped before the end: " + context.Cause(ctx).Error())
	case err != nil:
		return err
	}
	return r.judge()
}

// lock takes the directory in which runs are made, always the same so that their
// configurations name the same files. It is free again when the process ends.
func (r *labRuns) lock(name string) (free func(), err error) {
	r.work = labDir(r.e, name+"-run")
	f, err := takeLock(r.work + ".lock")
	if errors.Is(err, errLocked) {
		return nil, cli.WithHint(errors.New("another `kasoku lab run` is at work"),
			"two at once would measure each other")
	}
	if err != nil {
		return nil, err
	}
	return func() { dropLock(f) }, nil //nolint:errcheck // an empty file would stay
}

// all makes the runs. What goes wrong ends it; what was made until then stays.
func (r *labRuns) all(ctx context.Context) error {
	for _, side := range r.sides {
		for range r.f.times {
			res, err := r.one(ctx, side)
			r.progress.Clear()
			if res != nil {
				side.runs = append(side.runs, res)
				r.made++
				r.say(side, res)
			}
			if err != nil || ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// Where runs listen when that is free, so that the configurations that are kept with
// them differ in what was tuned alone. Clients never get these ports: they are below
// net.ipv4.ip_local_port_range.
const (
	runWebPort = 31080
	runAppPort = 31323
	runDBPort  = 31306
)

// portOr returns the port when it is free on 127.0.0.1, else 0, which takes any.
func portOr(port int) int {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0
	}
	l.Close()
	return port
}

// one makes one run in a directory that is empty before and removed after it.
func (r *labRuns) one(ctx context.Context, side *labSide) (res *labRunResult, err error) {
	r.progress.Work(r.place(), 0, side.name+"  database, rows, service, nginx")
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	s, err := r.up(ctx, side)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Down(context.WithoutCancel(ctx))) }()
	return r.record(ctx, side, s)
}

// up starts the lab in the directory of runs, which is empty before.
func (r *labRuns) up(ctx context.Context, side *labSide) (*stack.Stack, error) {
	if err := os.RemoveAll(r.work); err != nil {
		return nil, err
	}
	if err := private.State.MkdirAll(r.work); err != nil {
		return nil, err
	}
	o, err := r.f.lab.isuumoStack()
	if err != nil {
		return nil, err
	}
	o.Dir, o.Program, o.Data = r.work, r.self, r.data
	o.DBPort, o.WebPort, o.Listen = portOr(runDBPort), portOr(runWebPort), fmt.Sprintf("127.0.0.1:%d",
		portOr(runAppPort))
	if side.variant != "" {
		o.Variant, o.Defects = side.variant, nil
	}
	return stack.Up(ctx, o)
}

// record runs the benchmark under a recording.
func (r *labRuns) record(ctx context.Context, side *labSide, s *stack.Stack) (*labRunResult, error) {
	var said bytes.Buffer
	o := record.Options{
		Run: kasoku.Run{
			Project: "isuumo", Label: side.name, Base: side.base, Note: cmp.Or(isuumo.About(side.variant),
				"defects "+s.Defects.String()),
			Version: cli.VersionString(), Load: r.load(),
		},
		Settings: []kasoku.Setting{{Scope: "app", Name: "defects", Value: s.Defects.String()}, {Scope: "app",
			Name: "contract.bots", Value: "503"}},
		Database: record.Database{MySQL: s.DSN, SlowLog: true},
		Sources: record.Sources{AccessLog: s.AccessLog,
			MoreLogs: record.Logs{Error: []string{s.AppLog, s.ErrorLog}}, // a tuned service says nothing, and that is well
			PIDs:     s.PIDs()},
		Rules: rules.All(),
		Hard:  r.hard,
		Capture: &capture.Options{Nginx: append([]string{s.Nginx.Program}, append(s.Nginx.Args(), "-T")...),
			OptionFiles: []string{s.MyCnf()}, Schema: true},
		Course: record.Course{Command: append([]string{r.self}, r.benchArgs(s.URL())...),
			Stdout: &said},
		OnProgress: func(now record.Progress) { r.show(side, now) },
	}
	o.Trace = r.trace
	if r.f.off {
		o.Observers = kasoku.ObserversOff
	}
	o.Probe = probeOfIsuumo(s.URL())
	if base := s.AppURL(); strings.HasPrefix(base, "http") {
		o.Expvar = []string{base + app.Vars}
	}
	var err error
	if o.Path, err = cli.PlaceRun(&o.Run, "", r.f.out.Dir, r.e.Now()); err != nil {
		return nil, err
	}
	if r.f.times > 1 {
		side.group = cmp.Or(side.group, o.Run.ID)
		o.Run.Group, o.Run.Repeat = side.group, len(side.runs)+1
	}
	res, err := record.Record(ctx, o)
	if res == nil {
		return nil, err
	}
	out := &labRunResult{path: res.Path, rec: res.Recording}
	var b benchResult
	if json.Unmarshal(said.Bytes(), &b) == nil && b.Result != nil {
		out.bench = &b
	}
	return out, err
}

// probeOfIsuumo asks the one endpoint alone that reads with POST, whose requests'
// bodies no log holds. The polygon is one around a town.
func probeOfIsuumo(base string) *record.Probe {
	const polygon = `{"coordinates":[{"latitude":35.6,"longitude":139.6},{"latitude":35.6,"longitude":139.78},{"latitude":35.75,"longitude":139.78},{"latitude":35.75,"longitude":139.6},{"latitude":35.6,"longitude":139.6}]}`
	const path = "/api/estate/nazotte"
	return &record.Probe{Allow: []string{"POST:" + path}, Targets: []load.Target{{
		Method: "POST", URL: base + path, Body: []byte(polygon), Header: http.Header{"Content-Type": {"application/json"}},
	}}}
}

// load is the load in one phrase, which all variants share: what differs in it makes
// runs that cannot be compared.
func (r *labRuns) load() string {
	rows := string(cmp.Or(r.f.lab.size, "full"))
	if r.f.lab.data != "" {
		rows = "rows of " + r.f.lab.data
	}
	s := "isuumo's benchmark, " + rows + ", " + unit.Exact(r.f.duration)
	if r.f.compat {
		s += ", compat"
	}
	return s
}

// benchArgs are the arguments of the benchmark as a process of its own.
func (r *labRuns) benchArgs(url string) []string {
	args := []string{"lab", "bench", "isuumo", "--target=" + url, "--duration=" + r.f.duration.String()}
	for name, value := range map[string]string{"size": r.f.lab.size, "data": r.f.lab.data, "seed": strconv.FormatUint(r.f.lab.seed, 10)} {
		if r.f.lab.set[name] {
			args = append(args, "--"+name+"="+value)
		}
	}
	if r.f.compat {
		args = append(args, "--compat")
	}
	slices.Sort(args[3:])
	return args
}

// place is "run 2 of 15", of the run that is made now.
func (r *labRuns) place() string {
	return fmt.Sprintf("run %d of %d", r.made+1, len(r.sides)*r.f.times)
}

// aroundLoad is about how long a run takes beside its load: making the rows, verify,
// validate.
const aroundLoad = 15 * time.Second

func (r *labRuns) show(side *labSide, now record.Progress) {
	if now.Phase != record.PhaseRecord {
		r.progress.Work(r.place(), 0, side.name+"  "+now.Phase+" "+now.Text)
		return
	}
	share := min(now.Elapsed.Seconds()/(r.f.duration+aroundLoad).Seconds(), 1)
	r.progress.Work(r.place(), share, side.name+"  "+unit.Elapsed(now.Elapsed.Round(time.Second)))
}

// say prints a run in one line, on stderr: stdout gets the result.
func (r *labRuns) say(side *labSide, res *labRunResult) {
	parts := append([]string{fmt.Sprintf("run %d of %d", r.made, len(r.sides)*r.f.times), res.rec.Run.ID},
		cli.DescribeOutcome(res.rec)...)
	if b := res.bench; b != nil {
		parts = append(parts, "level "+strconv.Itoa(b.Level))
		if !b.Pass {
			parts = append(parts, b.Reason)
		}
	}
	r.progress.Say(strings.Join(parts, "  "))
}

// judge returns what the exit code says of the runs.
func (r *labRuns) judge() error {
	bad := 0
	for _, side := range r.sides {
		for _, res := range side.runs {
			if is, _ := cli.HasFailed(res.rec); is {
				bad++
			}
		}
	}
	return judgeRuns(bad, r.made)
}

func judgeRuns(bad, made int) error {
	if bad == 0 {
		return nil
	}
	return cli.Bad(fmt.Sprintf("the benchmark failed in %d of %d runs", bad, made))
}
