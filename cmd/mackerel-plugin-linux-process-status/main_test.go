package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/agenttest"
)

// names are the keys in their order; the first is missing on the first run.
var names = strings.Fields(`process-status.cpu_web.percentage
process-status.fds_web.count process-status.fds_web.max process-status.fds_usage_web.percentage
process-status.mem_web.used process-status.mem_web.max process-status.mem_usage_web.percentage`)

// child starts a real process that uses CPU until the test ends.
func child(t *testing.T) int {
	t.Helper()
	p, err := command.Start(t.Context(), command.Spec{Path: "sh", Args: []string{"-c", "while :; do :; done"}, DieWithParent: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p.Pid()
}

// TestBinary looks at real processes, and at another one under the same key.
func TestBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the command")
	}
	bin := agenttest.Build(t)
	a := agenttest.New(t)
	argv := func(pid int) []string { return []string{bin, "-p", fmt.Sprint(pid), "--key-prefix", "web"} }
	defs, r := a.Definitions(t, argv(1<<22+1)...) // above any process
	agenttest.Show(t, r, "MACKEREL_AGENT_PLUGIN_META=1 "+name+" -p 4711 --key-prefix web")
	if _, r := a.Values(t, argv(1<<22+1)...); r.ExitCode != 2 || !strings.Contains(r.Stderr, "CRITICAL: ") || r.Stdout != "" {
		t.Errorf("no such process: %+v", r)
	}

	pid := child(t)
	points, r := a.Values(t, argv(pid)...)
	if got := agenttest.Names(points); !slices.Equal(got, names[1:]) || r.Stderr != "Notice: first time execution command\n" || r.ExitCode != 0 {
		t.Errorf("the first run: %q, %+v", got, r)
	}
	agenttest.Show(t, r, name+" -p 4711 --key-prefix web")
	// The child needs some of the CPU; the kernel counts in 0.01 s.
	for points = nil; len(points) == 0 || points[0].Name != names[0] || points[0].Value == 0; {
		points, r = a.Values(t, argv(pid)...)
	}
	if got := agenttest.Names(points); !slices.Equal(got, names) || r.Stderr != "" {
		t.Errorf("the next run: %q, %+v", got, r)
	}
	agenttest.Show(t, r, name+" -p 4711 --key-prefix web")
	if missing := defs.Missing(points); len(missing) > 0 {
		t.Errorf("without a definition: %q", missing)
	}
	for i, p := range points {
		whole := regexp.MustCompile(`^\d+$`).MatchString(p.Number)
		if wholes := []int{1, 2, 4, 5}; whole != slices.Contains(wholes, i) || p.Value <= 0 || i > 0 && p.Value > 100 && !whole {
			t.Errorf("%+v", p)
		}
	}
	if used, all := points[4].Value, points[5].Value; math.Abs(points[6].Value-100*used/all) > 1e-5 {
		t.Errorf("%v of %v bytes are %v %%", used, all, points[6].Value)
	}

	points, r = a.Values(t, argv(child(t))...)
	if got := agenttest.Names(points); !slices.Equal(got, names[1:]) || !strings.Contains(r.Stderr, "is not the one of the run before") {
		t.Errorf("another process: %q, %+v", got, r)
	}
	if files, _ := os.ReadDir(a.WorkDir); len(files) != 1 || files[0].Name() != fmt.Sprintf("%d-process-status-v2-web-%s", os.Geteuid(), name) {
		t.Errorf("files: %v", files)
	}
}

// TestZombie: what has ended is not there, though its parent has not asked how.
func TestZombie(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	stat := fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid)
	for limit := time.Now().Add(10 * time.Second); ; {
		text, err := os.ReadFile(stat)
		if err != nil || time.Now().After(limit) {
			t.Fatalf("no zombie: %q, %v", text, err)
		}
		if strings.Contains(string(text), ") Z ") {
			break
		}
	}
	var out, errs bytes.Buffer
	e := env{&out, &errs, func(string) string { return "" }, time.Now, "/proc"}
	if code := run(t.Context(), []string{"-p", fmt.Sprint(cmd.Process.Pid), "--key-prefix", "web"}, e); code != exitGone || out.Len() > 0 || !strings.Contains(errs.String(), "it is a zombie") {
		t.Errorf("exit %d, %q, %q", code, &out, &errs)
	}
	// The first thread of a process may end before the others.
	if cpu, start, err := parsePidStat([]byte("7 (x) Z 1 2 3 4 -1 6 7 8 9 10 50 50 0 0 20 0 2 0 9 5 6\n")); cpu != 1 || start != 9 || err != nil {
		t.Errorf("with a thread: %v, %d, %v", cpu, start, err)
	}
}

// A machine is a /proc of files.
type machine struct {
	dir, work string
	now       time.Time
}

func newMachine(t *testing.T) *machine {
	m := &machine{dir: t.TempDir(), work: t.TempDir(), now: time.Unix(1_800_000_000, 0)}
	m.write(t, "meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\n")
	m.write(t, fmt.Sprintf("%d/limits", os.Getpid()), "Limit  Soft Limit  Hard Limit  Units\nMax open files            8   16   files\n")
	for fd := range 2 {
		m.write(t, fmt.Sprintf("%d/fd/%d", os.Getpid(), fd), "")
	}
	return m
}

func (m *machine) write(t *testing.T, path, content string) {
	t.Helper()
	path = filepath.Join(m.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs the program at a moment of the process, whose memory is this one's.
func (m *machine) run(t *testing.T, cpuTicks, allTicks, start int) (code int, out, errs string) {
	t.Helper()
	pid := os.Getpid()
	m.write(t, fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (a) (b) S 1 2 3 4 -1 6 7 8 9 10 %d 0 0 0 20 0 1 0 %d 5 6\n", pid, cpuTicks, start))
	m.write(t, "stat", fmt.Sprintf("cpu  %d 0 0 0 999 5 5\ncpu0 1 1 1 1\n", allTicks))
	var stdout, stderr bytes.Buffer
	e := env{&stdout, &stderr, func(name string) string {
		if name == "MACKEREL_PLUGIN_WORKDIR" {
			return m.work
		}
		return ""
	}, func() time.Time { return m.now }, m.dir}
	code = run(t.Context(), []string{"-p", fmt.Sprint(pid), "--key-prefix", "web"}, e)
	m.now = m.now.Add(time.Minute)
	return code, stdout.String(), stderr.String()
}

func TestCPU(t *testing.T) {
	m := newMachine(t)
	for i, step := range []struct {
		cpu, all, start int
		want, notice    string // of CPU
	}{
		{100, 10000, 5, "", "first time"},
		{150, 10200, 5, "25.000000", ""},
		{150, 10200, 5, "", "no time has passed"},
		{150, 10300, 5, "0.000000", ""},
		{400, 10400, 9, "", "not the one of the run before"}, // a larger counter, another process
		{500, 10500, 9, "100.000000", ""},
		{400, 10600, 9, "", "seem to be reset"},
		{450, 10700, 9, "50.000000", ""},
		{10, 20, 9, "", "seem to be reset"}, // the machine was started anew
	} {
		code, out, errs := m.run(t, step.cpu, step.all, step.start)
		line := fmt.Sprintf("process-status.cpu_web.percentage\t%s\t%d\n", step.want, 1_800_000_000+60*i)
		if code != 0 || strings.HasPrefix(out, line) == (step.want == "") || step.want == "" && strings.Contains(out, "cpu_web") {
			t.Errorf("run %d: exit %d, %q, want %q", i, code, out, line)
		}
		if !strings.Contains(errs, step.notice) || step.notice == "" && errs != "" {
			t.Errorf("run %d: %q, want %q", i, errs, step.notice)
		}
		if !strings.Contains(out, "fds_web.count\t2\t") || !strings.Contains(out, "fds_web.max\t8\t") || !strings.Contains(out, "fds_usage_web.percentage\t25.000000\t") || !strings.Contains(out, "mem_web.max\t1024000\t") {
			t.Errorf("run %d: %q", i, out)
		}
	}
}

// TestStates: the state of the plugin that this one replaces is gone on with, a broken
// one is not.
func TestStates(t *testing.T) {
	for state, want := range map[string]string{
		`{"now":1799999940,"syscpu":50,"cpu":0.5}`: "process-status.cpu_web.percentage\t1.000000\t",
		`{"now":1799999940,"syscpu":50,"cpu":7}`:   "process-status.fds_web.count\t",
		`{`:                                        "process-status.fds_web.count\t",
		``:                                         "process-status.fds_web.count\t",
	} {
		m := newMachine(t)
		path := filepath.Join(m.work, fmt.Sprintf("%d-process-status-v2-web-%s", os.Geteuid(), name))
		if err := os.WriteFile(path, []byte(state), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := m.run(t, 100, 10000, 5); code != 0 || !strings.HasPrefix(out, want) {
			t.Errorf("%q: exit %d, %q, %q, want %q", state, code, out, errs, want)
		}
	}
}

// TestFails: what cannot be read of files and memory is a notice, the rest is printed.
func TestFails(t *testing.T) {
	m := newMachine(t)
	m.write(t, "meminfo", "MemFree: 1 kB\n")
	m.write(t, fmt.Sprintf("%d/limits", os.Getpid()), "")
	m.run(t, 100, 10000, 5)
	code, out, errs := m.run(t, 100, 10100, 5)
	if want := "process-status.cpu_web.percentage\t0.000000\t1800000060\n"; code != 0 || out != want ||
		errs != "Notice: could not get fds: no limit of open files\nNotice: could not get memory: no MemTotal\n" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	m.write(t, fmt.Sprintf("%d/limits", os.Getpid()), "Max open files   unlimited   unlimited  files\n")
	if _, out, _ = m.run(t, 100, 10200, 5); !strings.HasSuffix(out, "fds_web.count\t2\t1800000120\n") {
		t.Errorf("no limit: %q", out)
	}
	m.work = filepath.Join(m.work, "none")
	code, out, errs = m.run(t, 100, 10300, 5)
	if code != 0 || !strings.Contains(out, "fds_web.count\t2\t") || !strings.Contains(errs, "Notice: the counters of CPU are not kept: ") {
		t.Errorf("no directory: exit %d, %q, %q", code, out, errs)
	}
	if err := os.MkdirAll(filepath.Join(m.work, fmt.Sprintf("%d-process-status-v2-web-%s", os.Geteuid(), name), "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	code, out, errs = m.run(t, 100, 10300, 5)
	if code != 0 || !strings.Contains(out, "fds_web.count\t2\t") || !strings.Contains(errs, " is ignored: ") || !strings.Contains(errs, "are not kept: ") {
		t.Errorf("a directory in the state's place: exit %d, %q, %q", code, out, errs)
	}
}

func TestMistakes(t *testing.T) {
	for _, args := range []string{"", "-p 1", "-p x --key-prefix a", "-p 0 --key-prefix a", "-p 1 --key-prefix a..b", "-p 1 --key-prefix a b"} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), env{stdout: &out, stderr: &errs}); code != 3 || out.Len() > 0 || !strings.HasPrefix(errs.String(), name+": ") {
			t.Errorf("%q: exit %d, %q, %q", args, code, &out, &errs)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"4711 (a) (b) S 1 2 3 4 -1 6 7 8 9 10 11 12 13 14 20 0 1 0 22 5 6\n",
		"cpu  1 2 3 4 5\n", "Max open files            1024                 524288               files\n", "MemTotal:       1000 kB\n", ") S", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if cpu, start, err := parsePidStat(text); err != nil && (cpu != 0 || start != 0) {
			t.Errorf("an error and %v, %d", cpu, start)
		}
		for _, parse := range []func([]byte) (float64, error){parseStat, parseMaxFiles, parseMemTotal} {
			if v, err := parse(text); err != nil && v != 0 || v < 0 || math.IsNaN(v) {
				t.Errorf("%v, %v", v, err)
			}
		}
	})
}
