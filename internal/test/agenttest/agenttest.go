// Package agenttest is a small mackerel-agent for tests of plugins and checks: it
// runs them as the agent does and reads what they print by the agent's rules.
//
// The one idea: the real agent is lenient, it drops what it cannot read and logs a
// line that no one sees. So here each thing that the agent, or Mackerel after it, would drop is a
// violation with its reason, and [Agent.Values], [Agent.Definitions] and [Agent.Check] fail the
// test for it.
//
// A plugin gets MACKEREL_AGENT_PLUGIN_META set and empty for values, =1 for graph
// definitions, and has 30 seconds; then its group gets TERM, and KILL 10 seconds
// later.
//
// Where it is stricter: the agent takes graph definitions of a plugin whose exit status
// is not 0. What it does is compared with the real agent in package cmd's tests.
//
// Sources: mackerel-agent 0.87.0 (metrics/plugin.go, checks/checker.go, cmdutil),
// Mackerel's page on custom metrics.
package agenttest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// What the agent allows a plugin.
const (
	timeout = 30 * time.Second
	grace   = 10 * time.Second
)

// maxOutput is how much of an output is kept, in bytes.
const maxOutput = 1 << 20

// An Agent runs plugins. The zero value needs a WorkDir.
type Agent struct {
	WorkDir string        // MACKEREL_PLUGIN_WORKDIR
	Env     []string      // NAME=VALUE, added
	Timeout time.Duration // 0: 30 s, the agent's
}

// New returns an agent with a directory of its own for the plugins' files.
func New(t testing.TB) *Agent {
	t.Helper()
	return &Agent{WorkDir: t.TempDir()}
}

// Build builds the command of the test's own package as it is shipped, static, and
// returns the path of the binary, which has the name of its directory. It makes one
// of the module's packages when dirs names one, relative to the test's.
func Build(t testing.TB, dirs ...string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(append([]string{"."}, dirs...)...))
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), filepath.Base(dir))
	_, err = command.Output(t.Context(), command.Spec{
		Path: "go", Args: []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "."}, Dir: dir, Env: []string{"CGO_ENABLED=0"},
	}, 0)
	if err != nil {
		t.Fatalf("build %s: %v", dir, err)
	}
	return bin
}

// A Run is one run of a command.
type Run struct {
	Stdout, Stderr string
	ExitCode       int   // 128 and more for a signal
	TimedOut       bool  // it had to be stopped
	Err            error // it could not be started
}

// run runs a command line with the agent's variables.
func (a *Agent) run(ctx context.Context, meta *string, argv []string) Run {
	limit := a.Timeout
	if limit == 0 {
		limit = timeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, errs := command.NewTail(maxOutput), command.NewTail(maxOutput)
	env := append([]string{"MACKEREL_PLUGIN_WORKDIR=" + a.WorkDir}, a.Env...)
	if meta != nil {
		env = append(env, "MACKEREL_AGENT_PLUGIN_META="+*meta)
	}
	res, err := command.Run(ctx, command.Spec{Path: argv[0], Args: argv[1:], Env: env, Stdout: out, Stderr: errs, Grace: grace})
	r := Run{Stdout: out.String(), Stderr: errs.String(), ExitCode: res.ExitCode, TimedOut: ctx.Err() != nil}
	if res.Signal != "" {
		r.ExitCode = 128
	}
	var start *command.StartError
	if errors.As(err, &start) {
		r.Err = err
	}
	return r
}

// Values runs a plugin for its values. The exit status is not judged: the agent
// takes what was printed.
func (a *Agent) Values(t testing.TB, argv ...string) ([]Point, Run) {
	t.Helper()
	meta := ""
	r := a.run(t.Context(), &meta, argv)
	points, bad := ParseValues(r.Stdout, time.Now())
	fail(t, r, bad)
	return points, r
}

// Definitions runs a plugin for its graph definitions.
func (a *Agent) Definitions(t testing.TB, argv ...string) (Definitions, Run) {
	t.Helper()
	meta := "1"
	r := a.run(t.Context(), &meta, argv)
	defs, bad := ParseDefinitions(r.Stdout)
	if r.ExitCode != 0 {
		bad = append(bad, "definitions: exit status is not 0")
	}
	fail(t, r, bad)
	return defs, r
}

// A Status is what the agent reports of a check.
type Status string

// The statuses of a check.
const (
	OK       Status = "OK"
	Warning  Status = "WARNING"
	Critical Status = "CRITICAL"
	Unknown  Status = "UNKNOWN"
)

// Check runs a check. Its message is all of its stdout without the last newline, which
// the agent posts too.
func (a *Agent) Check(t testing.TB, argv ...string) (Status, string, Run) {
	t.Helper()
	r := a.run(t.Context(), nil, argv)
	if r.Err != nil {
		return Unknown, r.Err.Error(), r
	}
	message := strings.TrimSuffix(r.Stdout, "\n")
	var bad []string
	if message == "" {
		bad = append(bad, "check: no message on stdout")
	}
	if len([]rune(message)) > maxMessage {
		bad = append(bad, "check: the message is longer than Mackerel keeps")
	}
	fail(t, r, bad)
	switch r.ExitCode {
	case 0:
		return OK, message, r
	case 1:
		return Warning, message, r
	case 2:
		return Critical, message, r
	}
	return Unknown, message, r
}

// fail reports violations, with what was printed.
func fail(t testing.TB, r Run, bad []string) {
	t.Helper()
	if r.Err != nil {
		bad = append(bad, r.Err.Error())
	}
	if r.TimedOut {
		bad = append(bad, "it took longer than the agent waits")
	}
	if len(bad) > 0 {
		t.Errorf("the agent would not take this:\n  %s\nstdout\n%s\nstderr\n%s", strings.Join(bad, "\n  "), r.Stdout, r.Stderr)
	}
}

// NoServer runs a plugin for a database with an option file whose server is not there
// and which includes a file that is not there either: it gives no values and says both.
func NoServer(t testing.TB, optionFile, bin string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close() // nothing listens there from now on
	file := filepath.Join(t.TempDir(), "my.cnf")
	if err := os.WriteFile(file, fmt.Appendf(nil, "!include /no/such.cnf\n[client]\nhost=127.0.0.1\nport=%d\n", port), 0o600); err != nil {
		t.Fatal(err)
	}
	points, r := New(t).Values(t, bin, optionFile, file)
	for _, want := range []string{"connection refused", ": hint: nothing listens", ": hint: " + file + ":1: option file: open /no/such.cnf: "} {
		if len(points) > 0 || r.ExitCode != 1 || !strings.Contains(r.Stderr, want) {
			t.Errorf("exit %d, %q %q, want %q", r.ExitCode, r.Stdout, r.Stderr, want)
		}
	}
}

// Show writes a run as a page of documentation shows it, when the variable
// KASOKU_SHOW names a file: real outputs, of the tests that checked them.
func Show(t testing.TB, r Run, commandLine string) {
	t.Helper()
	path := os.Getenv("KASOKU_SHOW")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, werr := f.WriteString("$ " + commandLine + "\n" + r.Stderr + r.Stdout + "\n")
	if err := errors.Join(werr, f.Close()); err != nil {
		t.Fatal(err)
	}
}
