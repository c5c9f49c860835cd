package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/agenttest"
)

// TestBinary runs real commands below the agent.
func TestBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the command")
	}
	bin := agenttest.Build(t)
	a := agenttest.New(t)
	ran := filepath.Join(a.WorkDir, "ran")
	defs, r := a.Definitions(t, bin, "-n", "job", "--", "touch", ran)
	if _, err := os.Stat(ran); err == nil {
		t.Error("graph definitions ran the command")
	}
	agenttest.Show(t, r, "MACKEREL_AGENT_PLUGIN_META=1 "+name+" -n job -- /usr/local/bin/job")
	sh := func(script string) []string { return []string{"--", "sh", "-c", script} }
	for _, tt := range []struct {
		show   string
		flags  []string
		words  []string
		code   float64
		stderr string
	}{
		{"-n job -- sh -c 'echo done'", nil, sh("echo done; echo unseen >&2"), 0, "done\n"},
		{"-n job -- sh -c 'exit 3'", nil, sh("exit 3"), 3, "Command sh exit with err: exit status 3\n"},
		{"", []string{"-q"}, sh("echo out; exit 3"), 3, "out\n"},
		{"-n job -- sh -c 'kill $$'", nil, sh("kill $$"), 143, "Command sh exit with err: killed by signal: terminated\n"},
		{"-n job -- /no/such/job", nil, []string{"--", "/no/such/job"}, 127, `(?s)^Command /no/such/job exit with err: start "/no/such/job": no such file or directory\n$`},
		{"-n job --timeout 200ms -- sleep 60", []string{"--timeout", "200ms"}, []string{"--", "sleep", "60"}, 137, "Command sleep timeout. killed\n"},
		{"-n job --stderr-lines 2 -- sh -c 'echo one >&2; echo two >&2; echo three >&2; exit 1'", []string{"--stderr-lines", "2"}, sh("echo one >&2; echo two >&2; echo three >&2; exit 1"), 1, "Command sh exit with err: exit status 1\nstderr: two\nstderr: three\n"},
	} {
		before := time.Now().Unix()
		points, r := a.Values(t, slices.Concat([]string{bin, "-n", "job"}, tt.flags, tt.words)...)
		if names := agenttest.Names(points); !slices.Equal(names, []string{"command-status.time-taken.job", "command-status.exit-code.job"}) || r.ExitCode != 0 {
			t.Fatalf("%q: %q, %+v", tt.words, names, r)
		}
		if points[1].Value != tt.code || r.Stderr != tt.stderr && !regexp.MustCompile(tt.stderr).MatchString(r.Stderr) {
			t.Errorf("%q: %+v, stderr %q, want %v, %q", tt.words, points[1], r.Stderr, tt.code, tt.stderr)
		}
		if !regexp.MustCompile(`^\d+\.\d{6}$`).MatchString(points[0].Number) || points[0].Time < before || points[0].Time != points[1].Time {
			t.Errorf("%q: %+v", tt.words, points)
		}
		if missing := defs.Missing(points); len(missing) > 0 {
			t.Errorf("without a definition: %q", missing)
		}
		if tt.show != "" {
			agenttest.Show(t, r, name+" "+tt.show)
		}
	}
}

// TestEnded: ended by a signal, the agent's or a terminal's, it ends the whole group of
// the command and still prints.
func TestEnded(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the command")
	}
	bin := agenttest.Build(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		file := filepath.Join(t.TempDir(), "pid")
		var out bytes.Buffer
		cmd := exec.Command(bin, "-n", "job", "--", "sh", "-c", "sleep 300 & echo $! > "+file+".new; mv "+file+".new "+file+"; wait")
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "the command's start", func() bool {
			_, err := os.Stat(file)
			return err == nil
		})
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "command-status.exit-code.job\t137\t") {
			t.Errorf("%s: %v, %q", sig, err, &out)
		}
		pid, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		until(t, sig.String()+": the end of what runs in the background", func() bool {
			stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
			return err != nil || bytes.Contains(stat, []byte(") Z "))
		})
	}
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !holds(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("waited for nothing: %s", what)
		}
	}
}

// TestDefaultTimeout: the command's end by this plugin comes before that of the plugin
// by the agent, 30 seconds after its start.
func TestDefaultTimeout(t *testing.T) {
	var out bytes.Buffer
	if code := run(t.Context(), []string{"--help"}, env{stdout: &out}); code != 0 || !regexp.MustCompile(`\(default:\s+25s\)`).Match(out.Bytes()) {
		t.Errorf("exit %d\n%s", code, &out)
	}
}

func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"-n job", "(?s)^Usage:\n  mackerel-plugin-command-status .*-- command args1"},
		{"-- true", "the required flag `-n, --name' was not specified"},
		{"-n a.b -- true", `--name "a.b": letters`},
		{"-n job --timeout 0 -- true", "--timeout 0s: no time to run in"},
		{"-n job --timeout -1s -- true", "--timeout"},
		{"-n job --timeout x -- true", "invalid argument for flag `--timeout'"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(tt.args), env{&out, &errs, func(string) string { return "" }})
		if code != 1 || out.Len() > 0 || !regexp.MustCompile(tt.want).Match(errs.Bytes()) {
			t.Errorf("%q: exit %d, %q, %q, want %q", tt.args, code, &out, &errs, tt.want)
		}
	}
}
