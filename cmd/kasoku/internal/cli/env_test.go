package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// newTestEnv returns an environment, and what was written to its outputs.
func newTestEnv() (e *Env, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return &Env{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr,
		Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Unix(1, 0) },
	}, stdout, stderr
}

func TestFinish(t *testing.T) {
	f := func(err error, code int, want string) {
		t.Helper()
		e, out, errs := newTestEnv()
		if got := e.Finish(err); got != code || errs.String() != want || out.Len() > 0 {
			t.Errorf("%v: exit %d, %q, %q", err, got, errs, out)
		}
	}
	f(nil, 0, "")
	f(errors.New("it broke\n"), 3, "kasoku: error: it broke\n")
	f(Usagef("do that", "no %q", "x"), 2, "kasoku: error: no \"x\"\nkasoku: hint: do that\n")
	f(fmt.Errorf("step: %w", Usagef("", "no")), 2, "kasoku: error: step: no\n")
	f(WithHint(errors.New("no"), "do"), 3, "kasoku: error: no\nkasoku: hint: do\n")
	f(Bad("2 findings"), 1, "exit 1: 2 findings\n")
	f(Stopped("by you"), 3, "exit 3: by you\n")
	f(PassExit(9), 9, "")
	f(&os.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}, 3,
		"kasoku: error: write f: no space left on device\nkasoku: hint: make room there, or write to a file elsewhere; what was written before is kept\n")
	f(&os.PathError{Op: "open", Path: "f", Err: syscall.EACCES}, 3,
		"kasoku: error: open f: permission denied\nkasoku: hint: run as a user who may do that, with sudo as root, or name another file\n")
}

func TestColumns(t *testing.T) {
	f := func(variable string, width, want int) {
		t.Helper()
		e, _, _ := newTestEnv()
		e.Width = width
		e.Getenv = func(name string) string { return map[string]string{"COLUMNS": variable}[name] }
		if got := e.Columns(); got != want {
			t.Errorf("COLUMNS=%q, %d wide: %d", variable, width, got)
		}
	}
	f("", 0, 80)
	f("", 120, 120)
	f("100", 120, 100)
	f("-1", 0, 80)
	f("many", 0, 80)
}

func TestColored(t *testing.T) {
	f := func(flag string, tty bool, variables string, want bool) {
		t.Helper()
		e, _, _ := newTestEnv()
		e.Color, e.StdoutTTY = flag, tty
		e.Getenv = func(name string) string {
			_, value, _ := strings.Cut(variables, name+"=")
			return value
		}
		if e.Colored() != want {
			t.Errorf("--color %s, terminal %t, %s: %t", flag, tty, variables, !want)
		}
	}
	f("auto", true, "", true)
	f("auto", false, "", false)
	f("auto", true, "NO_COLOR=1", false)
	f("auto", true, "TERM=dumb", false)
	f("always", false, "NO_COLOR=1", true)
	f("never", true, "", false)
}
