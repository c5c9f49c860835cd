// Command mackerel-plugin-command-status runs a command and prints how long it took
// and how it ended.
//
// The one idea: the exit status is always a number that a shell would give, 137 after
// a timeout, 127 for what cannot be started; see [timed]. The command's own stdout
// goes to stderr, which mackerel-agent logs. For graph definitions the command is
// not run.
//
// Times are seconds; the time of a value is that before the start.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/wire/mackerel/plugin"
	"github.com/kasoku/kasoku/wire/mackerel/program"
	"github.com/kasoku/kasoku/wire/mackerel/timed"
)

const name = "mackerel-plugin-command-status"

// stderrBytes is how much of the command's stderr --stderr-lines looks at.
const stderrBytes = 64 << 10

// An env is what the program gets from outside.
type env struct {
	stdout, stderr io.Writer
	getenv         func(string) string
}

// The default timeout lies below the agent's: what the plugin prints after TERM is
// dropped when a shell between the two has died of that, and at the KILL that follows
// nothing is left to end the command's group.
type options struct {
	Timeout     time.Duration `long:"timeout" default:"25s" description:"How long the command may take; its process group is killed then. The agent gives the plugin 30s"`
	Name        string        `short:"n" long:"name" required:"true" description:"Name of the metrics"`
	Quiet       bool          `short:"q" long:"quiet" description:"Say nothing when the command fails"`
	StderrLines int           `long:"stderr-lines" default:"0" value-name:"N" description:"When the command fails, show the last N lines of its stderr"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	code := run(ctx, os.Args[1:], env{os.Stdout, os.Stderr, os.Getenv})
	stop()
	os.Exit(code)
}

// run is the program; it returns the exit status.
func run(ctx context.Context, args []string, e env) int {
	var o options
	f := program.Flags{Name: name, Usage: "[OPTIONS] -- command args1 args2 ...", Stdout: e.stdout, Stderr: e.stderr}
	words, code, done := f.Parse(&o, args)
	switch {
	case done:
		return code
	case len(words) == 0:
		f.Stdout = e.stderr
		f.Parse(&options{}, []string{"--help"})
		return 1
	case plugin.Segment(o.Name) != o.Name || o.Name == "":
		fmt.Fprintf(e.stderr, "%s: --name %q: letters, digits, - and _ make the name of a metric\n", name, o.Name)
		return 1
	case o.Timeout <= 0:
		fmt.Fprintf(e.stderr, "%s: --timeout %s: no time to run in\n", name, o.Timeout)
		return 1
	}
	p := plugin.Plugin{
		Prefix: "command-status", Graphs: graphs, Out: e.stdout, Err: e.stderr, Getenv: e.getenv,
		Values: func(ctx context.Context) ([]plugin.Value, error) { return values(ctx, o, words, e.stderr), nil },
	}
	if err := p.Run(ctx); err != nil {
		fmt.Fprintf(e.stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// graphs hold one line for each name, also when several commands are watched.
var graphs = []plugin.Graph{
	{Key: "time-taken", Label: "Command time taken", Unit: plugin.Seconds,
		Metrics: []plugin.Metric{{Name: "*", Label: "%1"}}},
	{Key: "exit-code", Label: "Command exit code", Unit: plugin.Integer,
		Metrics: []plugin.Metric{{Name: "*", Label: "%1"}}},
}

// values runs the command.
func values(ctx context.Context, o options, words []string, log io.Writer) []plugin.Value {
	c := timed.Command{Path: words[0], Args: words[1:], Limit: o.Timeout, Stdout: log}
	var tail *command.Tail
	if o.StderrLines > 0 {
		tail = command.NewTail(stderrBytes)
		c.Stderr = tail
	}
	r := timed.Run(ctx, c)
	switch {
	case o.Quiet || r.Problem == "":
	case r.TimedOut:
		fmt.Fprintf(log, "Command %s timeout. killed\n", words[0])
	default:
		fmt.Fprintf(log, "Command %s exit with err: %s\n", words[0], r.Problem)
	}
	if tail != nil && !o.Quiet && r.Problem != "" {
		lines := strings.Split(strings.TrimRight(tail.String(), "\n"), "\n")
		for _, line := range lines[max(0, len(lines)-o.StderrLines):] {
			fmt.Fprintf(log, "stderr: %s\n", line)
		}
	}
	return []plugin.Value{
		{Name: "time-taken." + o.Name, Value: r.Took.Seconds(), Float: true},
		{Name: "exit-code." + o.Name, Value: float64(r.ExitCode)},
	}
}
