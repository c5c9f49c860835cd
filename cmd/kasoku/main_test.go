package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/internal/test/liar"
	"github.com/kasoku/kasoku/internal/test/neighbours"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// TestMain makes this test binary the programs that scripts and tests run:
// kasoku itself, also by the names that services of labs have, and a server for it
// to load.
func TestMain(m *testing.M) {
	liar.Main()
	neighbours.Main()
	if strings.HasSuffix(os.Args[0], ".test") { // not as one of the programs
		heedSignals()
	}
	testscript.Main(m, map[string]func(){"kasoku": mainHeldToSchema, "planted": plantedMain, "userapi": main, "isuumo": main,
		"insertbench": main, "isucholar": main, "isucond": main, "isuportal": main, "isutrain": main, "goldrush": main,
		"isuportal-beside": main,
		"isutrain-beside":  main, "testserver": testServer})
}

// heedSignals takes the signals again that who started the tests ignores, as scripts do in
// the background and nohup does: who the tests start would ignore them, too. Those of a
// handler begin with the default.
func heedSignals() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// plantedMain is kasoku with a panic planted in the part $PLANT, which is KIND/NAME. It adds
// to the file $PARTS, if there is one, a line for each part that it enters. No program but
// this test binary reads these variables.
func plantedMain() {
	kind, name, _ := strings.Cut(os.Getenv("PLANT"), "/")
	plant := contain.Part{Kind: kind, Name: name}
	contain.Plant(plant)
	if path := os.Getenv("PARTS"); path != "" {
		contain.Visit(func(p contain.Part) {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				fmt.Fprintf(f, "%s/%s\n", p.Kind, p.Name)
				f.Close()
			}
			if p == plant {
				panic("content: " + plantedText)
			}
		})
	}
	main()
}

// TestScript runs the command line as a user does; the first word of a script's
// name is the command. What they write with -o json is held to the schema.
func TestScript(t *testing.T) {
	schema := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(schema, strictSchema(t), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       golden.Update(),
		Setup: func(e *testscript.Env) error {
			e.Setenv(schemaFile, schema)
			return setupScript(e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "await": cmdAwait, "getenv": cmdGetenv, "same": cmdSame,
		},
	})
}

// setupScript gives a script a home of its own; what is costly to make again,
// a database's empty data directory, stays in the user's cache.
func setupScript(e *testscript.Env) error {
	if !turn.Takes(filepath.Base(e.WorkDir)) {
		e.T().Skip("it is not the turn of this script: without KASOKU_TURN all are run")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	mysql97 := os.Getenv("MYSQL97_HOME")
	if mysql97 == "" {
		mysql97 = filepath.Join(cache, "mysql97")
	}
	home := filepath.Join(e.WorkDir, ".home")
	e.Setenv("HOME", home)
	e.Setenv("XDG_CACHE_HOME", cache)
	e.Setenv("MYSQL97_HOME", mysql97)
	return os.MkdirAll(home, 0o755)
}

// cmdExits runs a program and wants this exit code: exits CODE PROGRAM ARG….
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got, err := exitStatus(ts.Exec(args[1], args[2:]...))
	ts.Check(err)
	if got != want {
		ts.Fatalf("%s exits with %d, want %d", args[1], got, want)
	}
}

// exitStatus is the exit code that an error of os/exec means; an error that
// means none comes back.
func exitStatus(err error) (int, error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// cmdAwait waits until a file has a match: await FILE [REGEXP].
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: await FILE [REGEXP]")
	}
	pattern := `\n`
	if len(args) == 2 {
		pattern = args[1]
	}
	re, err := regexp.Compile(pattern)
	ts.Check(err)
	if !eventually(func() bool {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && re.Match(b)
	}) {
		ts.Fatalf("%s has no match of %q", args[0], pattern)
	}
}

// cmdGetenv waits for a file and puts its line into the environment: getenv NAME FILE.
func cmdGetenv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: getenv NAME FILE")
	}
	cmdAwait(ts, false, args[1:])
	ts.Setenv(args[0], string(bytes.TrimSpace([]byte(ts.ReadFile(args[1])))))
}

// cmdSame wants the same bytes in two files, as cmp does, without showing them:
// same FILE FILE.
func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same FILE FILE")
	}
	if equal := ts.ReadFile(args[0]) == ts.ReadFile(args[1]); equal == neg {
		ts.Fatalf("%s and %s: same is %t", args[0], args[1], equal)
	}
}

// patience is how long a test waits for what must come, on a busy machine.
const patience = 30 * time.Second

// eventually waits until a condition holds and reports whether it did.
func eventually(holds func() bool) bool {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if holds() {
			return true
		}
	}
	return holds()
}
