package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/internal/unit"
)

// A labHome is where labs of a test keep their state.
type labHome struct {
	t     *testing.T
	state string // $XDG_STATE_HOME
	dir   string
}

func newLabHome(t *testing.T) *labHome {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a database server; not in short mode")
	}
	t.Parallel()
	state := filepath.Join(t.TempDir(), "a state") // a space does no harm
	return &labHome{t, state, filepath.Join(state, "kasoku", "labs")}
}

// start starts kasoku with the state of the test.
func (h *labHome) start(args ...string) *running {
	h.t.Helper()
	return startReading(h.t, h.t.TempDir(), nil, []string{"XDG_STATE_HOME=" + h.state}, args...)
}

// left returns what lies there.
func (h *labHome) left() (names []string) {
	entries, _ := os.ReadDir(h.dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// supervisor returns the process that owns the lab.
func (h *labHome) supervisor() int {
	b, _ := os.ReadFile(filepath.Join(h.dir, "userapi.lock"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}

// says runs kasoku and wants a line of its output.
func (h *labHome) says(want string, args ...string) {
	h.t.Helper()
	out, err := command.Output(h.t.Context(), command.Spec{Path: "kasoku", Args: args, Env: []string{"XDG_STATE_HOME=" + h.state}}, 0)
	if err != nil || !strings.Contains(string(out), want) {
		h.t.Errorf("kasoku %s: %v, want %q in\n%s", strings.Join(args, " "), err, want, out)
	}
}

// TestInterruptLabUp: Ctrl-C while a lab is being started leaves nothing of it.
func TestInterruptLabUp(t *testing.T) {
	h := newLabHome(t)
	r := h.start("lab", "up", "userapi")
	r.waitFor("supervisor", func() bool { return h.supervisor() != 0 })
	r.interrupt(false)
	r.exits(cli.ExitCouldNot, "exit 3: stopped before the lab ran: interrupt\n")
	if left := h.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestLabDownWhileItStarts: down ends a start, up does not begin a second one.
func TestLabDownWhileItStarts(t *testing.T) {
	h := newLabHome(t)
	r := h.start("lab", "up", "userapi")
	r.waitFor("supervisor", func() bool { return h.supervisor() != 0 })
	second := h.start("lab", "up", "userapi")
	<-second.ended
	if got, err := exitStatus(second.err); err != nil || got != cli.ExitCouldNot || !strings.Contains(second.said(), "kasoku: error: userapi ") {
		t.Errorf("second start: exit %d (%v)\n%s", got, err, second.said())
	}
	h.says("userapi stopped\n", "lab", "down", "userapi")
	<-r.ended
	h.says("userapi does not run\n", "lab", "down", "userapi")
	if left := h.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestLabSupervisorKilled: its end takes everything along, and the lab is known to
// be gone, whoever has its process id since.
func TestLabSupervisorKilled(t *testing.T) {
	turn.Wait(t)
	h := newLabHome(t)
	h.says("runs, variant tuned", "lab", "up", "isuumo", "-size", "small", "-variant", "tuned")
	b, err := os.ReadFile(filepath.Join(h.dir, "isuumo.lock"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	h.says("isuumo       runs at http://127.0.0.1:", "lab", "list")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { return len(livingIn(h.dir)) == 0 }) {
		t.Errorf("left: %v", livingIn(h.dir))
	}
	h.says("isuumo       stopped", "lab", "list")
	h.says("isuumo does not run\n", "lab", "down", "isuumo")
	if left := h.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// livingIn returns the processes that name a directory in their arguments or work in
// it.
func livingIn(dir string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		pid, _ := strconv.Atoi(filepath.Base(proc))
		args, _ := foreign.Arguments("/proc", pid)
		cwd, _ := os.Readlink(proc + "/cwd")
		if strings.Contains(strings.Join(args, " "), dir) || strings.HasPrefix(cwd, dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestLabUpFails: the error says why, and logs alone are left.
func TestLabUpFails(t *testing.T) {
	h := newLabHome(t)
	r := h.start("lab", "up", "userapi", "-listen", "127.0.0.1:99999")
	<-r.ended
	if got, err := exitStatus(r.err); err != nil || got != cli.ExitCouldNot || !strings.Contains(r.said(), "99999") {
		t.Errorf("exit %d (%v)\n%s", got, err, r.said())
	}
	entries, err := os.ReadDir(filepath.Join(h.dir, "userapi"))
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".log" {
			t.Errorf("left: %s", e.Name())
		}
	}
	h.says("userapi does not run\n", "lab", "down", "userapi")
}

func TestShellWord(t *testing.T) {
	for s, want := range map[string]string{
		"/tmp/x.log": "/tmp/x.log", "/a b": "'/a b'", "it's": `'it'\''s'`, "": "''", "$HOME": "'$HOME'", "座": "'座'",
	} {
		if got := unit.ShellQuote(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

// TestInterruptTruth: Ctrl-C among the runs of lab truth prints the table of those that are
// done, and says that it is not all.
func TestInterruptTruth(t *testing.T) {
	turn.Wait(t)
	h := newLabHome(t)
	r := h.start("lab", "truth", "--keep", "truth", "--labs", "insertbench", "--only", "all,none", "--duration", "2s")
	r.waitFor("first run", func() bool { return strings.Contains(r.said(), "insertbench all: ") })
	r.signal(syscall.SIGINT)
	r.exits(cli.ExitCouldNot, "These are the 1 runs before it.")
	for _, want := range []string{"\n| insertbench | all | ", "\n| **all** | 1 runs | "} {
		if !strings.Contains(r.said(), want) {
			t.Errorf("no %q in\n%s", want, r.said())
		}
	}
	if strings.Contains(r.said(), "| insertbench | none |") {
		t.Errorf("a run that was cut short is in the table\n%s", r.said())
	}
}
