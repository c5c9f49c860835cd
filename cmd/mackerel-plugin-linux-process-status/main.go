// Command mackerel-plugin-linux-process-status prints CPU, open files and memory of
// one process.
//
// The one idea: CPU is the process's share of the whole machine between two runs, all
// cores being 100 %, so the counters of the run before are kept in a file. They are
// those of one life of a process, identified by its number and its start: after a restart
// nothing is printed for CPU until the next run.
//
// The machine's time is user, nice, system and idle, as in the plugin that this one
// replaces; waiting for a disk does not count. Memory is in bytes. Limits of a cgroup
// are not looked at.
//
// Sources: proc_pid_stat(5), proc_pid_limits(5), proc_stat(5), proc_meminfo(5).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/wire/mackerel/plugin"
	"github.com/kasoku/kasoku/wire/mackerel/program"
)

const name = "mackerel-plugin-linux-process-status"

// The exit statuses, those of a check: it is bad that the process is not there.
const (
	exitGone    = 2
	exitUnknown = 3
)

// An env is what the program gets from outside.
type env struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
	proc           string // "/proc"
}

type options struct {
	Pid       int    `short:"p" long:"pid" required:"true" description:"PID"`
	KeyPrefix string `long:"key-prefix" required:"true" description:"Metric key prefix"`
}

func main() {
	os.Exit(run(context.Background(), os.Args[1:], env{os.Stdout, os.Stderr, os.Getenv, time.Now, "/proc"}))
}

// run is the program; it returns the exit status.
func run(ctx context.Context, args []string, e env) int {
	var o options
	f := program.Flags{Name: name, Mistake: exitUnknown, Stdout: e.stdout, Stderr: e.stderr}
	rest, code, done := f.Parse(&o, args)
	var err error
	switch {
	case done:
		return code
	case len(rest) > 0:
		err = fmt.Errorf("unexpected %q", rest[0])
	case o.Pid <= 0:
		err = fmt.Errorf("--pid %d: not a process", o.Pid)
	case slices.ContainsFunc(strings.Split(o.KeyPrefix, "."),
		func(s string) bool { return s == "" || plugin.Segment(s) != s }):
		err = fmt.Errorf("--key-prefix %q: letters, digits, - and _, with points between them, make the name "+
			"of a metric", o.KeyPrefix)
	default:
		p := plugin.Plugin{
			Prefix: "process-status", Graphs: graphs(o.KeyPrefix), Out: e.stdout, Err: e.stderr, Getenv: e.getenv,
			Now:    e.now,
			Values: func(context.Context) ([]plugin.Value, error) { return values(o, e) },
		}
		err = p.Run(ctx)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errGone):
		fmt.Fprintf(e.stderr, "CRITICAL: %v\n", err)
		return exitGone
	}
	fmt.Fprintf(e.stderr, "%s: %v\n", name, err)
	return exitUnknown
}

// graphs are the definitions for one key.
func graphs(key string) []plugin.Graph {
	percentage := []plugin.Metric{{Name: "percentage", Label: "Percentage"}}
	used := func(name, label string) []plugin.Metric {
		return []plugin.Metric{{Name: name, Label: label}, {Name: "max", Label: "Max"}}
	}
	return []plugin.Graph{
		{Key: "cpu_" + key, Label: "CPU of " + key, Unit: plugin.Percentage, Metrics: percentage},
		{Key: "fds_" + key, Label: "Open files of " + key, Unit: plugin.Integer, Metrics: used("count", "Count")},
		{Key: "fds_usage_" + key, Label: "Open files of " + key + ", of the limit", Unit: plugin.Percentage,
			Metrics: percentage},
		{Key: "mem_" + key, Label: "Memory of " + key, Unit: plugin.Bytes, Metrics: used("used", "Used")},
		{Key: "mem_usage_" + key, Label: "Memory of " + key + ", of the machine's", Unit: plugin.Percentage,
			Metrics: percentage},
	}
}

// errGone means that there is no such process.
var errGone = errors.New("no such process")

// values reads the process: CPU, files, memory. What cannot be read of the last two is
// a notice.
func values(o options, e env) ([]plugin.Value, error) {
	dir := fmt.Sprintf("%s/%d", e.proc, o.Pid)
	cpu, err := cpuNow(e.proc, dir)
	if err != nil {
		return nil, err
	}
	cpu.Now, cpu.Pid = e.now().Unix(), o.Pid
	state := filepath.Join(program.WorkDir(e.getenv), fmt.Sprintf("%d-process-status-v2-%s-%s", os.Geteuid(),
		o.KeyPrefix, name))
	out := cpuSince(state, cpu, e.stderr)
	if err := cpu.write(state); err != nil {
		fmt.Fprintf(e.stderr, "Notice: the counters of CPU are not kept: %v\n", err)
	}
	for i := range out {
		out[i].Name = fmt.Sprintf("cpu_%s.%s", o.KeyPrefix, out[i].Name)
	}
	add := func(values []plugin.Value, what string, err error) {
		if err != nil {
			fmt.Fprintf(e.stderr, "Notice: %s: %v\n", what, err)
			return
		}
		out = append(out, values...)
	}
	fds, err := fdValues(dir, o.KeyPrefix)
	add(fds, "could not get fds", err)
	mem, err := memValues(e.proc, o)
	add(mem, "could not get memory", err)
	return out, nil
}

// A cpuState is what was counted until one moment; in seconds.
type cpuState struct {
	Now    int64   `json:"now"`
	SysCPU float64 `json:"syscpu"` // of the machine: user, nice, system, idle
	CPU    float64 `json:"cpu"`    // of the process
	Pid    int     `json:"pid"`
	Start  uint64  `json:"start"` // of the process, in clock ticks since boot; 0: not known
}

// cpuSince returns the share since the run before; nothing on the first run and when
// the counters are of another process. A state that cannot be read counts as none.
func cpuSince(path string, now cpuState, log io.Writer) []plugin.Value {
	b, err := program.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(log, "Notice: first time execution command")
		return nil
	}
	var last cpuState
	if err == nil {
		err = json.Unmarshal(b, &last)
	}
	if err != nil {
		fmt.Fprintf(log, "Notice: %s is ignored: %v\n", path, err)
		return nil
	}
	used, all := now.CPU-last.CPU, now.SysCPU-last.SysCPU
	another := last.Start != 0 && (last.Start != now.Start || last.Pid != now.Pid)
	switch {
	case another:
		fmt.Fprintf(log, "Notice: process %d is not the one of the run before\n", now.Pid)
		return nil
	case used < 0 || all < 0:
		fmt.Fprintln(log, "Notice: the counters of CPU seem to be reset")
		return nil
	case all == 0:
		fmt.Fprintln(log, "Notice: no time has passed since the run before")
		return nil
	}
	return []plugin.Value{{Name: "percentage", Value: 100 * used / all, Float: true}}
}

// write keeps the state for the next run.
func (s cpuState) write(path string) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return program.WriteFile(path, b)
}

// fdValues counts open files and reads their limit.
func fdValues(dir, key string) ([]plugin.Value, error) {
	fds, err := os.ReadDir(dir + "/fd")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(dir + "/limits")
	if err != nil {
		return nil, err
	}
	most, err := parseMaxFiles(text)
	if err != nil {
		return nil, err
	}
	values := []plugin.Value{{Name: "fds_" + key + ".count", Value: float64(len(fds))}}
	if math.IsInf(most, 1) {
		return values, nil
	}
	return append(values,
		plugin.Value{Name: "fds_" + key + ".max", Value: most},
		plugin.Value{Name: "fds_usage_" + key + ".percentage", Value: 100 * float64(len(fds)) / most, Float: true}), nil
}

// memValues reads what the process has resident, and what the machine has.
func memValues(proc string, o options) ([]plugin.Value, error) {
	used, _, err := command.Memory(o.Pid)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(proc + "/meminfo")
	if err != nil {
		return nil, err
	}
	all, err := parseMemTotal(text)
	if err != nil {
		return nil, err
	}
	return []plugin.Value{
		{Name: "mem_" + o.KeyPrefix + ".used", Value: float64(used)},
		{Name: "mem_" + o.KeyPrefix + ".max", Value: all},
		{Name: "mem_usage_" + o.KeyPrefix + ".percentage", Value: 100 * float64(used) / all, Float: true},
	}, nil
}
