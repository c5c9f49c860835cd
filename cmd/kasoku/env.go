package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/kasoku/kasoku/report/terminal"
)

// Exit codes that scripts can trust.
const (
	exitGood     = 0 // the answer is good
	exitBad      = 1 // the answer is bad: a threshold, a failed benchmark, --fail-on
	exitUsage    = 2 // the command line is wrong
	exitCouldNot = 3 // it could not run, or not to its end
)

// env is all of the world that commands touch, so that tests can give another.
type env struct {
	name           string // as this program was called, so that what is printed can be pasted
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
	width          int  // of the terminal that stdout is; 0 when it is none
	stdoutTTY      bool // stdout is a terminal
	stderrTTY      bool // stderr is a terminal
	color          string
	ascii          bool
	share          bool     // others may read what is written
	hinted         []string // that hintOnce has printed
}

func osEnv() *env {
	args := takeArgs()
	e := &env{
		name: args[0], args: args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, now: time.Now,
		stdoutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		stderrTTY: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		e.width = w
	}
	return e
}

// columns is how wide a table may be: the terminal, $COLUMNS, else 80.
func (e *env) columns() int {
	if n, err := strconv.Atoi(e.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if e.width > 0 {
		return e.width
	}
	return 80
}

// rawOutput are the commands whose standard output is no text, is another program's to
// the byte, or draws on the terminal and cleans each word itself.
var rawOutput = []string{"attack", "encode", "dump", "plot", "report", "export", "watch", "guard", "supervise", "serve"}

// shield puts a screen in front of the outputs of a command that prints text.
func (e *env) shield(cmd *cobra.Command) {
	if slices.Contains(rawOutput, cmd.Name()) {
		return
	}
	e.stdout, e.stderr = terminal.NewScreen(terminal.Raw(e.stdout)), terminal.NewScreen(terminal.Raw(e.stderr))
}

// checkColor refuses a value of --color that is none.
func (e *env) checkColor() error {
	switch e.color {
	case "auto", "always", "never":
		return nil
	}
	return usagef("", "--color %q: want auto, always or never", e.color)
}

// colored reports whether stdout gets colours.
func (e *env) colored() bool {
	switch e.color {
	case "always":
		return true
	case "never":
		return false
	}
	return e.stdoutTTY && e.getenv("NO_COLOR") == "" && e.getenv("TERM") != "dumb"
}

// interruptible returns a context that the first SIGINT or SIGTERM ends, and
// one that the second ends. stop gives the signals back, unless one has come: the
// program is on its way out then, and a late second one must not cost its last
// words and its exit code.
func interruptible(parent context.Context) (soft, hard context.Context, stop func()) {
	soft, cancelSoft := context.WithCancelCause(parent)
	hard, cancelHard := context.WithCancel(context.WithoutCancel(parent))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for count := 0; ; {
			select {
			case s := <-signals:
				if count++; count == 1 {
					cancelSoft(interrupted{s})
					continue
				}
				cancelHard()
			case <-done:
				return
			}
		}
	}()
	return soft, hard, func() {
		if soft.Err() == nil {
			signal.Stop(signals)
		}
		close(done)
		<-finished
		cancelSoft(nil)
		cancelHard()
	}
}

// lastWords is how long a command that only reads may take for what it has, once it is
// asked to stop. With it every command ends within a second of a signal.
const lastWords = 700 * time.Millisecond

// readingInterruptible is [interruptible] for commands that only read, and so leave
// nothing wherever they are ended: one that has not ended lastWords after the
// signal, because it is deep in its input, is ended.
func (e *env) readingInterruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, _, giveBack := interruptible(parent)
	done := e.endSoon(ctx)
	return ctx, func() {
		done()
		giveBack()
	}
}

// endSoon ends the program lastWords after ctx ends, unless done was called: until then
// nothing is begun that would have to be put back, and what it does may hear of no
// context, such as opening a FIFO without a writer.
func (e *env) endSoon(ctx context.Context) (done func()) {
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
		case <-ended:
			return
		}
		select {
		case <-ended:
		case <-time.After(lastWords):
			fmt.Fprintf(e.stderr, "exit %d: stopped by %v before there was anything to show\n", exitCouldNot, context.Cause(ctx))
			os.Exit(exitCouldNot)
		}
	}()
	return sync.OnceFunc(func() { close(ended) })
}

// whileReading calls f, which only reads and prints, so that it ends within
// [lastWords] of a signal. What it had printed by then stands, and the exit code is 3.
func (e *env) whileReading(parent context.Context, f func(ctx context.Context) error) error {
	ctx, stop := e.readingInterruptible(parent)
	defer stop()
	err := f(ctx)
	var bad badAnswer
	if ctx.Err() != nil && (err == nil || errors.As(err, &bad)) { // an answer that is half an answer is none
		return asStopped("stopped by " + context.Cause(ctx).Error())
	}
	return err
}

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ signal os.Signal }

// Error names the signal.
func (i interrupted) Error() string { return i.signal.String() }
