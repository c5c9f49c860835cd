package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func testEnv() (*env, *bytes.Buffer, *bytes.Buffer) {
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs,
		getenv: func(string) string { return "" }, now: func() time.Time { return time.Unix(1, 0) }}
	return e, &out, &errs
}

func TestVegetaFlags(t *testing.T) {
	e, _, _ := testEnv()
	root := newRoot(e)
	f := func(args, want string) {
		t.Helper()
		in := strings.Fields(args)
		before := slices.Clone(in)
		if got := strings.Join(vegetaFlags(root, in), " "); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
		if !slices.Equal(in, before) {
			t.Errorf("%q: the arguments were changed", args)
		}
	}
	f("", "")
	f("attack -rate 100 -duration=5s", "attack --rate 100 --duration=5s")
	f("attack --rate 100 --pause 1s", "attack --rate 100 --pause 1s")
	f("attack -h", "attack -h")
	f("attack -output - -targets x", "attack --output - --targets x")
	f("attack -frob 1", "attack --frob 1") // no flag of that name
	f("attack -ojson -help -max-body -1 -duration -1s", "attack -ojson --help --max-body -1 --duration -1s")
	f("attack -rate 1 -- -rate 2", "attack --rate 1 -- -rate 2")
	f("attack -", "attack -")
	f("report -type=hist[0,1ms] r.gob", "report --type=hist[0,1ms] r.gob")
	f("record -o x -for 1s", "record -o x -for 1s") // not of Vegeta's
	f("nothing -rate 1", "nothing -rate 1")
	f("-rate 1", "-rate 1")
}

// TestFlagValues: every value that looks like a flag of Vegeta's but is the
// value of another stays what it is.
func TestFlagValues(t *testing.T) {
	e, out, _ := testEnv()
	e.args = []string{"attack", "-name", "-rate", "-rate", "nope"}
	if code := run(e); code != exitUsage {
		t.Errorf("exit %d, %s", code, out)
	}
}

// TestExamples: every command that a user sees has one line about itself and an
// example, and every flag says what it is.
func TestExamples(t *testing.T) {
	e, _, _ := testEnv()
	says := regexp.MustCompile(`--\S+.*\S\s{2,}\S`)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		if c.Short == "" || !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s: short %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
		for line := range strings.Lines(c.LocalFlags().FlagUsages()) {
			if !says.MatchString(line) {
				t.Errorf("%s: a flag says nothing: %s", c.CommandPath(), line)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(e))
}

func TestFinish(t *testing.T) {
	f := func(err error, code int, want string) {
		t.Helper()
		e, out, errs := testEnv()
		if got := e.finish(err); got != code || errs.String() != want || out.Len() > 0 {
			t.Errorf("%v: exit %d, %q, %q", err, got, errs, out)
		}
	}
	f(nil, 0, "")
	f(errors.New("it broke\n"), 3, "kasoku: error: it broke\n")
	f(usagef("do that", "no %q", "x"), 2, "kasoku: error: no \"x\"\nkasoku: hint: do that\n")
	f(fmt.Errorf("step: %w", usagef("", "no")), 2, "kasoku: error: step: no\n")
	f(hinted{errors.New("no"), "do"}, 3, "kasoku: error: no\nkasoku: hint: do\n")
	f(badAnswer{"2 findings"}, 1, "exit 1: 2 findings\n")
	f(stopped{"by you"}, 3, "exit 3: by you\n")
	f(exitCode{9}, 9, "")
	f(&os.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}, 3,
		"kasoku: error: write f: no space left on device\nkasoku: hint: make room there, or write to a file elsewhere; what was written before is kept\n")
	f(&os.PathError{Op: "open", Path: "f", Err: syscall.EACCES}, 3,
		"kasoku: error: open f: permission denied\nkasoku: hint: run as a user who may do that, or name another file\n")
}

func TestColumns(t *testing.T) {
	f := func(variable string, width, want int) {
		t.Helper()
		e, _, _ := testEnv()
		e.width = width
		e.getenv = func(name string) string { return map[string]string{"COLUMNS": variable}[name] }
		if got := e.columns(); got != want {
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
		e, _, _ := testEnv()
		e.color, e.stdoutTTY = flag, tty
		e.getenv = func(name string) string {
			_, value, _ := strings.Cut(variables, name+"=")
			return value
		}
		if e.colored() != want {
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
