package cli

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

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report/terminal"
)

// Exit codes that scripts can trust.
const (
	ExitGood     = 0 // the answer is good
	ExitBad      = 1 // the answer is bad: a threshold, a failed benchmark, --fail-on
	ExitUsage    = 2 // the command line is wrong
	ExitCouldNot = 3 // it could not run, or not to its end
)

// Env is all of the world that commands touch, so that tests can give another.
type Env struct {
	Name           string // as this program was called, so that what is printed can be pasted
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() time.Time
	Width, Height  int  // of the terminal that stdout is; 0 when it is none
	StdoutTTY      bool // stdout is a terminal
	StderrTTY      bool // stderr is a terminal
	Color          string
	ASCII          bool
	Share          bool        // others may read what is written
	damaged        []string    // run files that were opened, and lack something
	hinted         []string    // hints that HintOnce has printed
	seen           kasoku.Seen // warnings
}

// NewEnv returns the world of this process. It hides passwords in the arguments that
// other users can list, and nothing may use os.Args after it.
func NewEnv() *Env {
	args := takeArgs()
	e := &Env{
		Name: args[0], Args: args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now,
		StdoutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		StderrTTY: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if w, h, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		e.Width, e.Height = w, h
	}
	return e
}

// Columns is how wide a table may be: the terminal, $COLUMNS, else 80.
func (e *Env) Columns() int {
	if n, err := strconv.Atoi(e.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if e.Width > 0 {
		return e.Width
	}
	return 80
}

// rawOutput are the commands whose standard output is no text, is another program's to
// the byte, or draws on the terminal and cleans each word itself.
var rawOutput = []string{"attack", "encode", "dump", "plot", "report", "export", "watch", "guard", "supervise", "serve"}

// Shield puts a screen in front of the outputs of a command that prints text.
func (e *Env) Shield(cmd *cobra.Command) {
	if slices.Contains(rawOutput, cmd.Name()) {
		return
	}
	e.Stdout, e.Stderr = terminal.NewScreen(terminal.Raw(e.Stdout)), terminal.NewScreen(terminal.Raw(e.Stderr))
}

// CheckColor refuses a value of --color that is none.
func (e *Env) CheckColor() error {
	switch e.Color {
	case "auto", "always", "never":
		return nil
	}
	return Usagef("", "--color %q: want auto, always or never", e.Color)
}

// Colored reports whether stdout gets colours.
func (e *Env) Colored() bool {
	switch e.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return e.StdoutTTY && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// Interruptible returns a context that the first SIGINT or SIGTERM ends, and
// one that the second ends. stop gives the signals back, unless one has come: the
// program is on its way out then, and a late second one must not cost its last
// words and its exit code.
func Interruptible(parent context.Context) (soft, hard context.Context, stop func()) {
	soft, cancelSoft := context.WithCancelCause(parent)
	hard, cancelHard := context.WithCancel(context.WithoutCancel(parent))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endings()...)
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

// endings are the signals that end a command. A hang-up that the caller has ignored, as
// nohup(1) does, does not: the terminal may go. An ignored SIGINT does, since shells ignore
// it for all that they start in the background, and scripts end their recorder with it.
func endings() []os.Signal {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if signal.Ignored(syscall.SIGHUP) {
		return ends
	}
	return append(ends, syscall.SIGHUP)
}

// LastWords is how long a command that only reads may take for what it has, once it is
// asked to stop. With it every command ends within a second of a signal.
const LastWords = 700 * time.Millisecond

// ReadingInterruptible is [Interruptible] for commands that only read, and so leave nothing
// wherever they are ended: one that has not ended [LastWords] after the signal, because it is
// deep in its input, is ended.
func (e *Env) ReadingInterruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, _, giveBack := Interruptible(parent)
	done := e.EndSoon(ctx)
	return ctx, func() {
		done()
		giveBack()
	}
}

// EndSoon ends the program [LastWords] after ctx ends, unless done was called. Until then
// nothing may be begun that would have to be put back; it is for work that may not notice the
// end of a context, such as opening a FIFO without a writer.
func (e *Env) EndSoon(ctx context.Context) (done func()) {
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
		case <-ended:
			return
		}
		select {
		case <-ended:
		case <-time.After(LastWords):
			fmt.Fprintf(e.Stderr, "exit %d: stopped by %v before there was anything to show\n", ExitCouldNot, context.Cause(ctx))
			os.Exit(ExitCouldNot)
		}
	}()
	return sync.OnceFunc(func() { close(ended) })
}

// WhileReading calls f, which only reads and prints, so that it ends within [LastWords] of a
// signal. What it had printed by then stands, and the exit code is 3.
func (e *Env) WhileReading(parent context.Context, f func(ctx context.Context) error) error {
	ctx, stop := e.ReadingInterruptible(parent)
	defer stop()
	err := f(ctx)
	var bad badAnswer
	if ctx.Err() != nil && (err == nil || errors.As(err, &bad)) { // an answer that is half an answer is none
		return Stopped("stopped by " + context.Cause(ctx).Error())
	}
	return err
}

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ signal os.Signal }

// Error names the signal.
func (i interrupted) Error() string { return i.signal.String() }
