// Command mackerel-plugin-maxcpu prints what the CPU did between two visits of
// mackerel-agent: maximum, minimum, mean and two percentiles of its use second by
// second. An average over a minute hides the second in which the CPU ran out.
//
// The one idea: the first run starts a sampler in the background, which later runs
// ask over a Unix socket. A question takes nothing away: each asker, identified
// by its MACKEREL_PLUGIN_WORKDIR, gets all samples since it asked before, the last minute at
// least, so somebody who tries the command by hand costs the agent no sample. When
// the binary is replaced a new sampler takes the samples over and goes on where the
// old one was; when none asks for ten minutes it ends.
//
// Use is user, system, iowait, softirq and steal of all time, in percent. Time of
// guests is in user already and counts once.
//
// Source: /proc/stat in proc(5).
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/kasoku/kasoku/wire/mackerel/plugin"
	"github.com/kasoku/kasoku/wire/mackerel/program"
)

const name = "mackerel-plugin-maxcpu"

// The intervals between samples: the shortest, and the longest, which is that of who
// names none.
const (
	leastInterval = 100 * time.Millisecond
	usualInterval = time.Second
)

// An env is what the program gets from outside.
type env struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	self           string // path of the binary, for the sampler
}

type options struct {
	Socket   string        `short:"s" long:"socket" required:"true" value-name:"PATH" description:"Unix socket of the sampler in the background"`
	Daemon   bool          `long:"as-daemon" description:"Be the sampler, in the foreground"`
	Interval time.Duration `long:"interval" description:"How often the CPU is sampled, 100ms to 1s (default: 1s)"`
	PerCPU   bool          `long:"per-cpu" description:"Also print the maximum of each CPU, and the same five of the busiest CPU in each sample"`
	Above90  bool          `long:"seconds-above-90" description:"Also print for how many seconds the use was above 90 %, of all CPUs and of the busiest"`
}

func main() {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	os.Exit(run(context.Background(), os.Args[1:], env{os.Stdout, os.Stderr, os.Getenv, self}))
}

// run is the program; it returns the exit status.
func run(ctx context.Context, args []string, e env) int {
	var o options
	f := program.Flags{Name: name, About: "Prints maximum, minimum, mean and percentiles of the CPU's use, second " +
		"by second.", Stdout: e.stdout, Stderr: e.stderr}
	rest, code, done := f.Parse(&o, args)
	if done {
		return code
	}
	interval := cmp.Or(o.Interval, usualInterval)
	socket, err := filepath.Abs(o.Socket)
	switch {
	case err != nil:
	case len(rest) > 0:
		err = fmt.Errorf("unexpected %q", rest[0])
	case interval < leastInterval || interval > usualInterval:
		err = fmt.Errorf("--interval %s: not between 100ms and 1s", interval)
	case o.Daemon:
		err = daemon(ctx, socket, interval, e.self)
	default:
		c := client{socket: socket, interval: interval, self: e.self, id: e.getenv("MACKEREL_PLUGIN_WORKDIR"),
			log: e.stderr}
		p := plugin.Plugin{
			Prefix: "maxcpu", Graphs: graphs(o), Out: e.stdout, Err: e.stderr, Getenv: e.getenv,
			Values: func(ctx context.Context) ([]plugin.Value, error) { return values(ctx, c, o) },
		}
		err = p.Run(ctx)
	}
	if err != nil {
		fmt.Fprintf(e.stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// graphs are the definitions of what the options print.
func graphs(o options) []plugin.Graph {
	five := func(key, label string) plugin.Graph {
		return plugin.Graph{Key: key, Label: label, Unit: plugin.Percentage, Metrics: []plugin.Metric{
			{Name: "max", Label: "Max"}, {Name: "min", Label: "Min"}, {Name: "avg", Label: "Avg"},
			{Name: "90pt", Label: "90 percentile"}, {Name: "75pt", Label: "75 percentile"},
		}}
	}
	out := []plugin.Graph{five("us_sy_wa_si_st_usage", "CPU usage by second")}
	if o.PerCPU {
		out = append(out, five("busiest_cpu_usage", "Usage of the busiest CPU by second"),
			plugin.Graph{Key: "per_cpu_max", Label: "Maximum usage of each CPU", Unit: plugin.Percentage,
				Metrics: []plugin.Metric{{Name: "*", Label: "%1"}}})
	}
	if o.Above90 {
		out = append(out, plugin.Graph{Key: "seconds_above_90", Label: "Seconds above 90 % CPU", Unit: plugin.Seconds,
			Metrics: []plugin.Metric{
				{Name: "all_cpus", Label: "All CPUs"}, {Name: "busiest_cpu", Label: "The busiest CPU"},
			}})
	}
	return out
}

// values asks the sampler. There are none on the first run, which starts it.
func values(ctx context.Context, c client, o options) ([]plugin.Value, error) {
	answer, err := c.stats(ctx)
	if err != nil || answer == nil {
		return nil, err
	}
	var out []plugin.Value
	add := func(name string, v float64) { out = append(out, plugin.Value{Name: name, Value: v, Float: true}) }
	five := func(graph string, s summary) {
		add(graph+".max", s.Max)
		add(graph+".min", s.Min)
		add(graph+".avg", s.Mean)
		add(graph+".90pt", s.P90)
		add(graph+".75pt", s.P75)
	}
	five("us_sy_wa_si_st_usage", answer.All)
	if o.PerCPU {
		five("busiest_cpu_usage", answer.Busiest)
		for cpu, v := range answer.PerCPU {
			if v >= 0 {
				add(fmt.Sprintf("per_cpu_max.cpu%d", cpu), v)
			}
		}
	}
	if o.Above90 {
		add("seconds_above_90.all_cpus", answer.AllAbove.Seconds())
		add("seconds_above_90.busiest_cpu", answer.BusiestAbove.Seconds())
	}
	return out, nil
}
