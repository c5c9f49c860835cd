package labcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/bench"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/report/terminal"
)

// labBenchFlags are the flags of lab bench.
type labBenchFlags struct {
	rows     labFlags // of which the rows alone
	target   string
	compat   bool
	duration time.Duration
	loadSeed uint64
	cpus     []int
	allow    []string
	restart  string
}

func newLabBench(e *cli.Env) *cobra.Command {
	var f labBenchFlags
	cmd := &cobra.Command{
		Use:         "bench NAME",
		Short:       "Run a lab's benchmark by itself, against any target",
		Annotations: map[string]string{"vegeta": "flags"},
		Long: `Run the benchmark of isuumo, isucond, isucholar, isuportal or isutrain: initialize and verify the service,
load it with users whose number rises with the score, look at what is left over. Without
--target it is the lab that runs. Points and deductions are those of the contests. A server
of isuumo must have the rows that --data names, or that --size and --seed make;
` + "`kasoku lab up isuumo -emit DIRECTORY`" + ` writes them for others.

It prints the result as JSON, beginning with pass, score, messages, reason and
language as ISUCON's benchmarks do. Exit code 1 when the service does not pass.

Below ` + "`kasoku record`" + ` and ` + "`kasoku run`" + ` its requests, phases, levels and score
become part of the run.`,
		Example: `  kasoku lab bench isuumo
  kasoku lab bench isucond -duration 30s
  kasoku lab bench isuumo --target http://127.0.0.1:1323 -data initial-data
  kasoku lab bench isuumo --target http://127.0.0.1:1323 -size small -duration 10s -compat
  kasoku record --accesslog access.log -- kasoku lab bench isuumo --target http://127.0.0.1:8080`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.rows.given(cmd.Flags())
			return f.run(cmd.Context(), e, args[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.target, "target", "", "`URL` of the service; default the lab that runs")
	f.rows.registerRows(fl)
	fl.BoolVar(&f.compat, "compat", false, "make exactly the checks of the contest's own benchmark")
	fl.DurationVar(&f.duration, "duration", time.Minute, "of the load")
	fl.Uint64Var(&f.loadSeed, "load-seed", 0, "seed of what users do; 0 draws one, the result has it")
	fl.IntSliceVar(&f.cpus, "cores", nil, "run the benchmark on the cores `N,...` alone")
	fl.StringVar(&f.restart, "restart", "", "run `COMMAND` with sh between load and validation, to see what a "+
		"restart of the service leaves; not with -compat")
	fl.StringSliceVar(&f.allow, "allow", nil, "consent to load `HOST`, which is neither loopback nor private; may "+
		"be repeated")
	return cmd
}

// A benchmark is one that can be started. What it says is printed as JSON.
type benchmark struct {
	target string
	permit load.Permit
	run    func(context.Context, func(scenario.Progress), scenario.Sink) (res *scenario.Result, said any, err error)
}

func (f *labBenchFlags) run(parent context.Context, e *cli.Env, name string) error {
	read := f.isuumo
	if contests[name] != nil {
		read = f.contest
	}
	b, err := read(e, name)
	if err != nil {
		return err
	}
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	if err := mayLoad(ctx, b.permit, b.target); err != nil {
		return err
	}
	p := e.Progress()
	onProgress, sink := watchBench(e, p)
	res, said, err := b.run(ctx, onProgress, sink)
	p.Clear()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(e.Stdout).Encode(said); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return outcome(ctx, res)
}

// isuumo reads the flags for the benchmark of isuumo.
func (f *labBenchFlags) isuumo(e *cli.Env, name string) (*benchmark, error) {
	o, err := f.options(e, name)
	return &benchmark{o.Target, o.Permit, func(ctx context.Context, onProgress func(scenario.Progress),
		sink scenario.Sink,
	) (*scenario.Result, any, error) {
		o.OnProgress, o.Sink = onProgress, ofPeople(sink)
		b, err := bench.New(o)
		if err != nil {
			return nil, nil, err
		}
		res, err := b.Run(ctx)
		return res, benchResult{res, b.Figures()}, err
	}}, err
}

// watchBench returns what shows where a benchmark stands, and what hands its figures over.
func watchBench(e *cli.Env, p *terminal.Progress) (func(scenario.Progress), scenario.Sink) {
	return func(now scenario.Progress) { showScenario(p, now) },
		handover.ScenarioSink(e.Getenv(handover.Env), func(err error) {
			p.Say("kasoku: warning: the recording does not get the benchmark's figures: " + terminal.Clean(err.Error()))
		})
}

// outcome is what the exit code says of a benchmark.
func outcome(ctx context.Context, res *scenario.Result) error {
	switch {
	case ctx.Err() != nil:
		return cli.Stopped("stopped before the end: " + context.Cause(ctx).Error())
	case !res.Pass:
		return cli.Bad("the service does not pass: " + res.Reason)
	}
	return nil
}

// options reads the flags, and the rows.
func (f *labBenchFlags) options(e *cli.Env, name string) (bench.Options, error) {
	o := bench.Options{Target: f.target, Compat: f.compat, Duration: f.duration, Seed: f.loadSeed, CPUs: f.cpus}
	o.Permit.Hosts = f.allow
	if f.restart != "" {
		o.Restart = f.runRestart
	}
	if _, err := labNamed(name); err != nil {
		return o, err
	}
	if name != isuumoLab().name {
		hint := "`kasoku lab run " + name + "` loads it"
		return o, cli.Usagef(hint, "lab %q has no benchmark", name)
	}
	if f.compat && f.restart != "" {
		return o, cli.Usagef("", "--compat looks at nothing after the load: leave out --restart")
	}
	rows := &f.rows
	if f.target == "" {
		s, ok := runningLab(e, name)
		if !ok {
			return o, notRunning(name)
		}
		o.Target = s.URL
		if !rows.set["data"] && !rows.set["size"] && !rows.set["seed"] {
			rows.data, rows.size, rows.seed = s.Data, s.Size, s.Seed
		}
	}
	if err := checkTarget(o.Target, f.duration); err != nil {
		return o, err
	}
	if err := rows.check(); err != nil {
		return o, err
	}
	var err error
	o.Data, err = rows.read()
	return o, err
}

func notRunning(name string) error {
	return cli.Usagef("give --target URL, or `kasoku lab up "+name+"` starts one", "%s does not run", name)
}

// checkTarget refuses what is no URL of a service, and a time that is none.
func checkTarget(target string, d time.Duration) error {
	if u, err := url.Parse(target); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return cli.Usagef("", "--target %q: want http://host:port", target)
	}
	return checkLoadTime(d)
}

// mayLoad refuses a target that has not been declared as one that may be loaded.
func mayLoad(ctx context.Context, permit load.Permit, target string) error {
	asker, err := nethttp.New(nethttp.Options{Permit: permit})
	if err == nil {
		err = asker.Permitted(ctx, []load.Target{{Method: http.MethodGet, URL: target}})
	}
	return cli.UsageIf(cli.IsForbidden(err), err)
}

// ofPeople leaves out what crawlers ask for: that they are turned away is no failure
// of the service, and slow answers to them trouble no one. What is rightly
// refused is no failure either.
func ofPeople(sink scenario.Sink) scenario.Sink {
	if sink == nil {
		return nil
	}
	return func(r *scenario.Report) {
		r.Seconds = slices.DeleteFunc(r.Seconds, func(s kasoku.LoadSecond) bool {
			return !bench.OfPeople(s.Target)
		})
		sink(r)
	}
}

// runRestart runs the command that restarts the service.
func (f *labBenchFlags) runRestart(ctx context.Context) error {
	said := command.NewTail(4 << 10)
	if _, err := command.Run(ctx, command.Spec{Path: "sh", Args: []string{"-c", f.restart}, Stdout: said, Stderr: said}); err != nil {
		return fmt.Errorf("restart: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

// checkLoadTime refuses a time of load that is none.
func checkLoadTime(d time.Duration) error {
	if d <= 0 {
		return cli.Usagef("", "--duration %s: want more than 0", d)
	}
	return nil
}

// check refuses flags that do not name rows.
func (o *labFlags) check() error {
	if _, err := data.ParseSize(o.size); err != nil {
		return cli.Usagef("", "--size: %w", err)
	}
	if o.data != "" && (o.set["size"] || o.set["seed"]) {
		return cli.Usagef("", "--data has the rows, --size and --seed make some: give one")
	}
	return nil
}

// read returns the rows that the flags name.
func (o *labFlags) read() (*isuumo.Data, error) {
	if o.data != "" {
		return data.Load(o.data)
	}
	return data.Generate(data.Options{Size: data.Size(o.size), Seed: o.seed}), nil
}

// benchResult is what lab bench prints.
type benchResult struct {
	*scenario.Result
	bench.Figures
}

// showScenario words where a benchmark stands.
func showScenario(p *terminal.Progress, now scenario.Progress) {
	text := fmt.Sprintf("%s of %s", unit.Count(int64(now.Elapsed/time.Second)), unit.Exact(now.Planned))
	share := 0.0
	if now.Phase == scenario.Load {
		share = now.Elapsed.Seconds() / max(now.Planned.Seconds(), 1)
		text += fmt.Sprintf("  level %d  score %s  %s req/s", now.Level, unit.Count(now.Score), unit.Sig3(now.PerSec))
	}
	if now.Errors > 0 {
		text += "  " + unit.Counted(now.Errors, "error", "errors")
	}
	p.Work(string(now.Phase), share, text)
}
