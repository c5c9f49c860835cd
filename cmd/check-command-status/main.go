// Command check-command-status runs a command and alerts mackerel-agent when it fails,
// or takes long, several times in a row.
//
// The one idea: one failure is noise. With --after 3 the third failure in a row is the
// first that is reported; those before are OK, with their count in the message. One
// success begins anew. The count is kept in a file in the plugins' directory, one
// for each command line.
//
// A failure is an exit status other than 0, a signal, a timeout, or a command that
// cannot be started; see [timed]. Times are Go durations.
package main

import (
	"context"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/wire/mackerel/check"
	"github.com/kasoku/kasoku/wire/mackerel/plugin"
	"github.com/kasoku/kasoku/wire/mackerel/program"
	"github.com/kasoku/kasoku/wire/mackerel/timed"
)

const name = "check-command-status"

const (
	// outputBytes is how much of the command's output is looked at.
	outputBytes = 16 << 10
	// lineRunes is the longest line of it in a message, of which Mackerel keeps 1,024.
	lineRunes = 400
)

// An env is what the program gets from outside.
type env struct {
	stdout, stderr io.Writer
	getenv         func(string) string
}

type options struct {
	Timeout  time.Duration `long:"timeout" default:"25s" description:"How long the command may take; its process group is killed then. The agent gives the check 30s"`
	Name     string        `short:"n" long:"name" description:"Name in the message (default: that of the command)"`
	Quiet    bool          `short:"q" long:"quiet" description:"Leave the command's last line out of the message"`
	After    int           `long:"after" default:"1" value-name:"N" description:"Report a failure after N in a row"`
	Warning  time.Duration `short:"w" long:"warning" description:"WARNING when a success took longer"`
	Critical time.Duration `short:"c" long:"critical" description:"CRITICAL when a success took longer"`
	Codes    []int         `long:"warning-exit-code" value-name:"CODE" description:"WARNING rather than CRITICAL for this exit status; may be repeated"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], env{os.Stdout, os.Stderr, os.Getenv})
	stop()
	os.Exit(code)
}

// run is the program; it returns the exit status.
func run(ctx context.Context, args []string, e env) int {
	var o options
	f := program.Flags{Name: name, Usage: "[OPTIONS] -- command args1 args2 ...", Mistake: check.Unknown.Code(),
		Stdout: e.stdout, Stderr: e.stderr}
	words, code, done := f.Parse(&o, args)
	switch {
	case done && code != 0:
		return check.Exit(e.stdout, check.New(name, check.Unknown, "bad command line, see stderr"))
	case done:
		return code
	case len(words) == 0:
		return check.Exit(e.stdout, check.New(name, check.Unknown, "no command; %s --help", name))
	case o.Timeout <= 0:
		return check.Exit(e.stdout, check.New(name, check.Unknown, "--timeout %s: no time to run in", o.Timeout))
	case o.After < 1:
		return check.Exit(e.stdout, check.New(name, check.Unknown, "--after %d: less than 1", o.After))
	}
	if o.Name == "" {
		o.Name = filepath.Base(words[0])
	}
	tail := command.NewTail(outputBytes)
	r := timed.Run(ctx, timed.Command{Path: words[0], Args: words[1:], Limit: o.Timeout, Stdout: tail, Stderr: tail})
	result := o.judge(r)
	if line := lastLine(tail.String()); line != "" && !o.Quiet {
		result.Message += ": " + line
	}
	if ctx.Err() != nil {
		// It was the agent that ended this check, not the command that failed.
		return check.Exit(e.stdout, check.New(name, check.Unknown, "%s: %s", o.Name, r.Problem))
	}
	return check.Exit(e.stdout, o.streak(result, statePath(o, words, e.getenv)))
}

// judge is the result of one run.
func (o options) judge(r timed.Result) check.Result {
	took := r.Took.Round(time.Millisecond)
	status := check.OK
	switch {
	case r.TimedOut:
		return check.New(name, check.Critical, "%s: no end in %s, killed", o.Name, o.Timeout)
	case r.Problem != "":
		status = check.Critical
		for _, code := range o.Codes {
			if r.ExitCode == code {
				status = check.Warning
			}
		}
		return check.New(name, status, "%s: %s after %s", o.Name, r.Problem, took)
	case o.Critical > 0 && r.Took > o.Critical:
		return check.New(name, check.Critical, "%s: took %s, more than %s", o.Name, took, o.Critical)
	case o.Warning > 0 && r.Took > o.Warning:
		return check.New(name, check.Warning, "%s: took %s, more than %s", o.Name, took, o.Warning)
	}
	return check.New(name, check.OK, "%s: exit status 0 after %s", o.Name, took)
}

// A count is what is kept from one run to the next.
type count struct {
	Failures int // in a row
}

// streak counts failures in a row and lets those through that are enough. When they
// cannot be counted a failure is reported at once.
func (o options) streak(r check.Result, path string) check.Result {
	if o.After == 1 {
		return r
	}
	var c count
	b, err := program.ReadFile(path)
	if err == nil {
		// A broken file counts as none; it is replaced.
		if json.Unmarshal(b, &c) != nil || c.Failures < 0 {
			c = count{}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	before := c.Failures
	c.Failures = min(c.Failures, 1<<30) + 1
	if r.Status == check.OK {
		c.Failures = 0
	}
	if err == nil && c.Failures != before {
		err = c.write(path)
	}
	switch {
	case err != nil:
		r.Message += fmt.Sprintf(" (failures are not counted: %v)", err)
	case c.Failures == 0:
	case c.Failures < o.After:
		r.Message = fmt.Sprintf("%s (%s, failure %d, reported from %d in a row on)", r.Message, r.Status, c.Failures,
			o.After)
		r.Status = check.OK
	default:
		r.Message = fmt.Sprintf("%s (failure %d in a row)", r.Message, c.Failures)
	}
	return r
}

// write keeps the count for the next run.
func (c count) write(path string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return program.WriteFile(path, b)
}

// statePath is the file of a command under a name.
func statePath(o options, words []string, getenv func(string) string) string {
	sum := sha1.Sum([]byte(strings.Join(words, "\x00")))
	return filepath.Join(program.WorkDir(getenv), fmt.Sprintf("%d-%s-%s-%x", os.Geteuid(), name,
		plugin.Segment(o.Name), sum))
}

// lastLine is the last line with something on it, cut when it is long.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := []rune(strings.TrimSpace(lines[len(lines)-1]))
	if len(line) > lineRunes {
		return string(line[:lineRunes]) + "…"
	}
	return string(line)
}
