package window

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/trace/kernel"
)

// needRights leaves a test out where an ordinary user may not load programs into the kernel. Root may, and CI is root.
func needRights(t *testing.T) {
	t.Helper()
	if err := kernel.Permitted(); errors.Is(err, os.ErrPermission) && os.Geteuid() != 0 {
		t.Skipf("takes root, or CAP_BPF and CAP_PERFMON: %v", err)
	}
}

// TestTargets: a target has the start of its process.
func TestTargets(t *testing.T) {
	s := &kasoku.Service{Members: []kasoku.Member{{ID: "app", Role: kasoku.RoleApplication, Sure: kasoku.High,
		Processes: []kasoku.MemberProcess{{PID: 7, Start: 99}}}}}
	if got := Targets(s); len(got) != 1 || got[0].Start != 99 {
		t.Errorf("%+v", got)
	}
}

// TestProcessOfSameNumber: a process is not watched in the place of one that had its number before, and
// not any longer when it has ended.
func TestProcessOfSameNumber(t *testing.T) {
	needRights(t)
	self, _ := command.StartOf(os.Getpid())
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	start, _ := command.StartOf(cmd.Process.Pid)
	w, err := Open(t.Context(), []Target{{PID: cmd.Process.Pid, Start: start, Member: "sleep"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.add(t.Context(), Target{PID: os.Getpid(), Start: self + 1, Member: "other"}); !errors.Is(err, errGone) {
		t.Error(err)
	}
	if _, watched := w.starts[cmd.Process.Pid]; !watched || w.members[os.Getpid()] != "" {
		t.Errorf("%v %v", w.starts, w.members)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if _, err := w.Watch(t.Context(), 200*time.Millisecond); err != nil {
		t.Error(err)
	}
	if len(w.starts) != 0 {
		t.Errorf("%v", w.starts)
	}
}
