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

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/report/terminal"
)

// afterColumns is how wide the text is that the command of [after] reads.
const afterColumns = 100

// printTo prints what came of the runs as plain text, for a program to read.
func (s *series) printTo(w io.Writer) {
	shown, own := s.e, *s.e
	own.Stdout, own.Stderr, own.StdoutTTY, own.Color, own.Width = w, io.Discard, false, "never", afterColumns
	s.e = &own
	s.printEnd()
	s.e = shown
}

// after runs the command of [after], which sends what came of the runs to others; judged is how
// they ended. What goes wrong with it is a warning: the exit code is that of the runs.
func (s *series) after(ctx context.Context, a config.After, dir string, text []byte, judged error) {
	if len(a.Command) == 0 || s.last == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	run := s.last.Recording.Run
	file := s.last.Path
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	verdict := ""
	if d := s.last.Recording.Diagnosis; d != nil {
		verdict = terminal.Clean(d.Verdict)
	}
	_, err := command.Run(ctx, command.Spec{
		Path: a.Command[0], Args: a.Command[1:], Dir: dir, Stdin: bytes.NewReader(text),
		Stdout: terminal.Raw(s.e.Stderr), Stderr: terminal.Raw(s.e.Stderr), DieWithParent: true,
		Env: []string{"KASOKU_RUN_FILE=" + file, "KASOKU_RUN_ID=" + run.ID, "KASOKU_RUN_LABEL=" + run.Label,
			"KASOKU_RUN_GROUP=" + run.Group, "KASOKU_PROJECT=" + run.Project, "KASOKU_VERDICT=" + verdict,
			"KASOKU_EXIT=" + strconv.Itoa(cli.ExitCode(judged)), "KASOKU=" + programPath()},
	})
	switch {
	case err == nil:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		s.e.Caution(fmt.Sprintf("the command of [after] was ended after %s", a.Timeout),
			"after.timeout = '2m' gives it longer")
	default:
		s.e.Caution(fmt.Sprintf("the command of [after] failed: %v", err),
			"the runs are kept; `"+s.e.Name+" show` has them")
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
