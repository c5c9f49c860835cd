package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func sh(script string) Spec { return Spec{Path: "sh", Args: []string{"-c", script}} }

// leakCheck fails the test when a goroutine of this package outlives it.
func leakCheck(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		buf := make([]byte, 1<<20)
		waitFor(t, "goroutines to end", func() bool {
			all := string(buf[:runtime.Stack(buf, true)])
			return !strings.Contains(all, "(*Process)") && !strings.Contains(all, "(*pipes)")
		})
	})
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited 10 s for %s", what)
		}
	}
}

// readPid waits for a pid that a child writes to a file.
func readPid(t *testing.T, path string) int {
	t.Helper()
	pid := 0
	waitFor(t, path, func() bool {
		b, _ := os.ReadFile(path)
		n, err := strconv.Atoi(strings.TrimSpace(string(b)))
		pid = n
		return err == nil && bytes.HasSuffix(b, []byte("\n"))
	})
	return pid
}

// gone reports whether a process has ended; a zombie has.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

func TestResult(t *testing.T) {
	leakCheck(t)
	f := func(script string, code int, signal string) {
		t.Helper()
		p, err := Start(t.Context(), sh(script))
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if res.ExitCode != code || res.Signal != signal {
			t.Errorf("%s: %+v", script, res)
		}
		if res.Wall <= 0 || res.MaxRSSBytes < 100<<10 || res.Voluntary+res.Forced == 0 {
			t.Errorf("%s: no usage: %+v", script, res)
		}
	}
	f("exit 0", 0, "")
	f("exit 3", 3, "")
	f("kill -KILL $$", -1, "killed")
	f("kill -TERM $$", -1, "terminated")
}

func TestResult_CPU(t *testing.T) {
	p, err := Start(t.Context(), sh("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Wait()
	if err != nil || res.User+res.System < time.Millisecond || res.User+res.System > res.Wall+100*time.Millisecond {
		t.Errorf("CPU %v + %v of %v: %v", res.User, res.System, res.Wall, err)
	}
}

func TestStart_Failure(t *testing.T) {
	leakCheck(t)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := func(spec Spec, code int, wantMsg string) {
		t.Helper()
		spec.Stdout = new(bytes.Buffer)
		_, err := Start(t.Context(), spec)
		var start *StartError
		if !errors.As(err, &start) {
			t.Fatalf("got %v", err)
		}
		if start.ExitCode() != code || start.Hint() == "" || !strings.Contains(err.Error(), wantMsg) {
			t.Errorf("got %v, code %d, hint %q", err, start.ExitCode(), start.Hint())
		}
	}
	f(Spec{Path: "no-such-program"}, 127, `start "no-such-program"`)
	f(Spec{Path: "/no/such"}, 127, "no such file or directory")
	f(Spec{Path: plain}, 126, "permission denied")
	f(Spec{Path: "true", Dir: "/no/such"}, 127, "no such file or directory")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, sh("true")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled context: %v", err)
	}
}

func TestRun_Errors(t *testing.T) {
	_, err := Output(t.Context(), sh("echo one >&2; echo two >&2; exit 4"), 0)
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Result.ExitCode != 4 || err.Error() != "sh: exit status 4: two" {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, sh("sleep 60")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("timeout: %v", err)
	}
}

func TestOutput(t *testing.T) {
	leakCheck(t)
	out, err := Output(t.Context(), sh("printf hello"), 0)
	if err != nil || string(out) != "hello" {
		t.Errorf("got %q, %v", out, err)
	}
	out, err = Output(t.Context(), sh("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done"), 20)
	if err != nil || string(out) != "line 4998\nline 4999\n" {
		t.Errorf("got %q (%d), %v", out, len(out), err)
	}
}

func TestEnv(t *testing.T) {
	t.Setenv("KASOKU_TEST_SECRET", "x")
	f := func(clean bool, want string) {
		t.Helper()
		spec := sh("echo $KASOKU_TEST_SECRET-$ADDED-$LC_ALL-${PATH:+path}")
		spec.CleanEnv, spec.Env = clean, []string{"ADDED=a"}
		out, err := Output(t.Context(), spec, 0)
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("clean %v: got %q, %v", clean, out, err)
		}
	}
	t.Setenv("LC_ALL", "C.UTF-8")
	f(false, "x-a-C.UTF-8-path")
	f(true, "-a-C-path")
}

// TestStdoutEnv: a child finds out whether it writes to what its caller reads.
func TestStdoutEnv(t *testing.T) {
	f := func(out io.Writer) {
		t.Helper()
		spec := sh(`[ "$(stat -L -c %d:%i /dev/stdout | cat)" != "$WHERE" ] && [ "$(stat -L -c %d:%i /proc/$$/fd/1)" = "$WHERE" ]`)
		spec.Stdout, spec.StdoutEnv = out, "WHERE"
		if _, err := Run(t.Context(), spec); err != nil {
			t.Error(err)
		}
	}
	f(&bytes.Buffer{})
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	f(file)
	if FileID(file) == "" {
		t.Error("a file has no id")
	}
	file.Close()
	if FileID(file) != "" {
		t.Error("a closed file has an id")
	}
}

func TestCombinedOutputPassesThrough(t *testing.T) {
	leakCheck(t)
	var through bytes.Buffer
	tail := NewTail(10)
	w := tail.Tee(&through)
	spec := sh("echo out; echo err >&2; echo last")
	spec.Stdout, spec.Stderr = w, w
	if _, err := Run(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	// tail.Tee gives one value, so both streams share one pipe and keep their order.
	if through.String() != "out\nerr\nlast\n" || tail.String() != "\nerr\nlast\n" || !tail.Truncated() || tail.Total() != 13 {
		t.Errorf("through %q, tail %q", through.String(), tail.String())
	}
}

func TestCancelKillsGroup(t *testing.T) {
	f := func(foreground bool, script string, signal string) {
		t.Helper()
		leakCheck(t)
		file := filepath.Join(t.TempDir(), "pid")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		spec := sh(script)
		spec.Env, spec.Grace, spec.KeepForeground = []string{"F=" + file}, 200*time.Millisecond, foreground
		spec.Stdout = new(bytes.Buffer)
		p, err := Start(ctx, spec)
		if err != nil {
			t.Fatal(err)
		}
		grandchild := readPid(t, file)
		cancel()
		res, _ := p.Wait()
		if res.Signal != signal {
			t.Errorf("%s: %v", script, res)
		}
		waitFor(t, "the grandchild to end", func() bool { return gone(grandchild) })
	}
	polite := `sleep 600 & echo $! >$F; wait`
	deaf := `trap "" TERM; sh -c 'trap "" TERM; echo $$ >$F; while :; do sleep 600; done' & while :; do wait; done`
	orphan := `sh -c 'trap "" TERM; echo $$ >$F; while :; do sleep 600; done' & wait`
	f(false, polite, "terminated")
	f(false, deaf, "killed")
	f(false, orphan, "terminated")
	f(true, polite, "terminated")
	f(true, deaf, "killed")
	f(true, orphan, "terminated")
}

func TestBackgroundHoldsOutput(t *testing.T) {
	leakCheck(t)
	file := filepath.Join(t.TempDir(), "pid")
	var out bytes.Buffer
	spec := sh(`sleep 600 & echo $! >$F; echo done`)
	spec.Env, spec.Stdout = []string{"F=" + file}, &out
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Wait()
	if err != nil || !res.Success() || out.String() != "done\n" {
		t.Errorf("%v, %v, %q", res, err, out.String())
	}
	if res.Wall > outputDelay {
		t.Errorf("the wait for output counts as wall time: %v", res.Wall)
	}
	pid := readPid(t, file)
	if gone(pid) {
		t.Error("a background process was killed")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// slowWriter takes longer than outputDelay for what one pipe holds.
type slowWriter struct {
	n     int
	pause time.Duration
}

func (w *slowWriter) Write(p []byte) (int, error) {
	<-time.After(w.pause)
	w.n += len(p)
	return len(p), nil
}

func TestSlowWriterLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes over a second by its nature")
	}
	out := &slowWriter{pause: outputDelay + 200*time.Millisecond}
	spec := sh(`head -c 60000 /dev/zero`)
	spec.Stdout = out
	if _, err := Run(t.Context(), spec); err != nil || out.n != 60000 {
		t.Errorf("got %d bytes, %v", out.n, err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestWriterFails(t *testing.T) {
	leakCheck(t)
	spec := sh("yes")
	spec.Stdout = failingWriter{}
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Wait()
	if err == nil || !strings.Contains(err.Error(), "no space") || res.Success() {
		t.Errorf("%v, %v", res, err)
	}
}

func TestStdin(t *testing.T) {
	spec := Spec{Path: "cat", Stdin: strings.NewReader("in")}
	out, err := Output(t.Context(), spec, 0)
	if err != nil || string(out) != "in" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestFiles(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	spec := sh("echo a; echo b >&2")
	spec.Stdout, spec.Stderr = f, f
	if _, err := Run(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(f); err != nil || string(b) != "a\nb\n" {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestSignalStopKillForward(t *testing.T) {
	leakCheck(t)
	file := filepath.Join(t.TempDir(), "pid")
	start := func(script string) *Process {
		_ = os.Remove(file)
		spec := sh(script)
		spec.Env = []string{"F=" + file}
		p, err := Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		readPid(t, file)
		return p
	}
	p := start(`trap "exit 7" USR1; echo $$ >$F; while :; do sleep 0.01; done`)
	if err := p.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
	// The group gets the signal, so the sleep may die of it; the shell still exits by its trap.
	if res, _ := p.Wait(); res.ExitCode != 7 {
		t.Errorf("signal: %v", res)
	}
	if err := p.Signal(syscall.SIGUSR1); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal after the end: %v", err)
	}

	p = start(`trap "exit 8" TERM; echo $$ >$F; while :; do sleep 0.01; done`)
	if res, _ := p.Stop(); res.ExitCode != 8 {
		t.Errorf("stop: %v", res)
	}
	p = start(`trap "" TERM; echo $$ >$F; while :; do sleep 0.01; done`)
	if res, _ := p.Kill(); res.Signal != "killed" {
		t.Errorf("kill: %v", res)
	}

	p = start(`trap "exit 9" USR2; echo $$ >$F; while :; do sleep 0.01; done`)
	stop := p.Forward(syscall.SIGUSR2)
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR2); err != nil {
		t.Error(err)
	}
	if res, _ := p.Wait(); res.ExitCode != 9 {
		t.Errorf("forward: %v", res)
	}
	stop()
	stop()
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if err := os.WriteFile(filepath.Join(dir, "prog"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if p, err := LookPath("prog"); err != nil || p != filepath.Join(dir, "prog") {
		t.Errorf("got %q, %v", p, err)
	}
	if _, err := LookPath("no-such-program"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	// An ordinary user's PATH lacks the directory where daemons are.
	if p, err := LookPath("ldconfig"); err != nil || !strings.HasSuffix(p, "sbin/ldconfig") {
		t.Errorf("got %q, %v", p, err)
	}
}

// TestDieWithParent starts this test binary as a parent, has it start a child
// that would live on, and kills the parent.
func TestDieWithParent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p, err := Start(t.Context(), Spec{
		Path: os.Args[0], Args: []string{"-test.run=^TestHelperParent$"},
		Env: []string{"KASOKU_TEST_PARENT=1", "F=" + file},
	})
	if err != nil {
		t.Fatal(err)
	}
	child := readPid(t, file)
	// Only the parent gets the signal: the child leads a group of its own.
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the child to die with its parent", func() bool { return gone(child) })
	if res, _ := p.Wait(); res.Signal != "killed" {
		t.Error(res)
	}
}

func TestHelperParent(t *testing.T) {
	if os.Getenv("KASOKU_TEST_PARENT") == "" {
		return
	}
	spec := Spec{Path: "sh", Args: []string{"-c", `echo $$ >$F; exec sleep 600`}, DieWithParent: true}
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.Wait()
}
