package recordcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/terminal"
)

// mostHeard is how much of what is printed the command of [after] reads at most.
const mostHeard = 256 << 10

// An announcer runs the command of [after], which sends what came of the runs to others.
type announcer struct {
	config.After
	dir     string // of kasoku.toml, where it runs
	heard   bytes.Buffer
	run     *record.Result // that it is about: the last with observers
	verdict string
}

// check refuses a command that cannot be started, before anything is measured.
func (a *announcer) check() error {
	if len(a.Command) == 0 {
		return nil
	}
	return startable(a.Command, a.dir)
}

// hear keeps what is printed meanwhile.
func (a *announcer) hear(e *cli.Env, print func()) {
	if len(a.Command) == 0 {
		print()
		return
	}
	shown := e.Stdout
	e.Stdout = io.MultiWriter(shown, terminal.NewScreen(a)) // names and messages of others are in it
	defer func() { e.Stdout = shown }()
	print()
}

// ended takes a run that has ended.
func (a *announcer) ended(res *record.Result) {
	if a.run != nil && res.Recording.Run.Observers == kasoku.ObserversOff {
		return
	}
	a.run, a.verdict = res, ""
	if d := res.Recording.Diagnosis; d != nil {
		a.verdict = d.Verdict
	}
}

// Write implements io.Writer: it keeps text without colours, the first of it where it is long.
func (a *announcer) Write(p []byte) (int, error) {
	plain := colours().ReplaceAll(p, nil)
	a.heard.Write(plain[:min(len(plain), mostHeard-a.heard.Len())])
	return len(p), nil
}

var colours = lazyregexp.New("\x1b\\[[0-9;]*m")

// announce runs the command; code is the exit code that the runs have. What goes wrong with it is a
// warning: the exit code stays.
func (a *announcer) announce(ctx context.Context, e *cli.Env, code int) {
	if len(a.Command) == 0 || a.run == nil {
		return
	}
	text := bytes.Clone(a.heard.Bytes())
	a.heard.Reset()
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	run, file, program := a.run.Recording.Run, a.run.Path, a.Command[0]
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	if strings.Contains(program, "/") && !filepath.IsAbs(program) {
		program = filepath.Join(a.dir, program)
	}
	_, err := command.Run(ctx, command.Spec{
		Path: program, Name: a.Command[0], Args: a.Command[1:], Dir: a.dir, Stdin: bytes.NewReader(text),
		Stdout: terminal.Raw(e.Stderr), Stderr: terminal.Raw(e.Stderr), DieWithParent: true, Grace: time.Second,
		Env: []string{"KASOKU_RUN_FILE=" + file, "KASOKU_RUN_ID=" + run.ID, "KASOKU_RUN_LABEL=" + run.Label,
			"KASOKU_RUN_GROUP=" + run.Group, "KASOKU_PROJECT=" + run.Project,
			"KASOKU_VERDICT=" + terminal.Clean(a.verdict), "KASOKU_EXIT=" + strconv.Itoa(code),
			"KASOKU=" + programPath()},
	})
	switch {
	case err == nil:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Caution(fmt.Sprintf("the command of [after] was ended after %s", a.Timeout),
			"after.timeout = '2m' gives it longer")
	case ctx.Err() != nil:
		e.Caution("the command of [after] was ended, as kasoku was", "")
	default:
		e.Caution(fmt.Sprintf("the command of [after] failed: %v", err),
			"the runs are kept; `"+e.Name+" show` has them")
	}
}

// programPath is this program, so that the command can ask it for other forms.
func programPath() string {
	path, err := os.Executable()
	if err != nil {
		return "kasoku"
	}
	return path
}
