package timed_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/wire/mackerel/timed"
)

func TestRun(t *testing.T) {
	noExec := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(noExec, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path, script string
		code         int
		problem      string
	}{
		{"sh", "exit 0", 0, ""},
		{"sh", "exit 3", 3, "exit status 3"},
		{"sh", "kill -TERM $$", 143, "killed by signal: terminated"},
		{"sh", "kill -KILL $$", 137, "killed by signal: killed"},
		{"sh", "kill -40 $$", 168, "killed by signal: signal 40"},
		{"/no/such/command", "", 127, "no such file"},
		{noExec, "", 127, "permission denied"},
	} {
		var out bytes.Buffer
		r := timed.Run(t.Context(), timed.Command{Path: tt.path, Args: []string{"-c", "echo x; " + tt.script}, Limit: time.Minute, Stdout: &out})
		if r.ExitCode != tt.code || r.TimedOut || !strings.Contains(r.Problem, tt.problem) || (r.Problem == "") != (tt.problem == "") || r.Took <= 0 {
			t.Errorf("%s %q: %+v, want %d %q", tt.path, tt.script, r, tt.code, tt.problem)
		}
		if tt.path == "sh" && out.String() != "x\n" {
			t.Errorf("%q: output %q", tt.script, &out)
		}
	}
}

// TestGroup: with the command goes what it has started in the background.
func TestGroup(t *testing.T) {
	for name, run := range map[string]func(c timed.Command) timed.Result{
		"limit": func(c timed.Command) timed.Result {
			c.Limit = 300 * time.Millisecond
			return timed.Run(t.Context(), c)
		},
		"cancelled": func(c timed.Command) timed.Result {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			c.Limit = time.Minute
			return timed.Run(ctx, c)
		},
	} {
		file := filepath.Join(t.TempDir(), "pid")
		// The grandchild does not end by TERM.
		r := run(timed.Command{Path: "sh", Args: []string{"-c", "(trap '' TERM; sleep 300) & echo $! > " + file + "; wait"}})
		if r.ExitCode != 137 || r.TimedOut != (name == "limit") || !strings.Contains(r.Problem, "killed") {
			t.Errorf("%s: %+v", name, r)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		// It has been killed; its end may come a moment after the command's.
		limit := time.Now().Add(10 * time.Second)
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			if time.Now().After(limit) {
				t.Fatalf("%s: the grandchild %d lives on", name, pid)
			}
			<-time.After(5 * time.Millisecond)
		}
	}
}

// TestHeldOutput: a command that ended in time has not timed out, though something in
// the background holds its output for longer, which is left alone.
func TestHeldOutput(t *testing.T) {
	for name, script := range map[string]string{"exit status 3": "exit 3", "": "exit 0", "killed by signal: killed": "kill -KILL $$"} {
		file := filepath.Join(t.TempDir(), "pid")
		var out bytes.Buffer
		// The end comes long before the limit, that of the output a second later.
		r := timed.Run(t.Context(), timed.Command{Path: "sh", Args: []string{"-c", "sleep 300 & echo $! > " + file + "; echo x; " + script}, Limit: 700 * time.Millisecond, Stdout: &out})
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if zombie(pid) || syscall.Kill(pid, syscall.SIGKILL) != nil {
			t.Errorf("%q: what runs in the background was ended", script)
		}
		if r.TimedOut || r.Problem != name || out.String() != "x\n" {
			t.Errorf("%q: %+v, output %q", script, r, &out)
		}
	}
}

func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}
