package find

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/unit"
)

// TestAllowedCores: what taskset and the quota of a control group leave a process is read, of
// a process whose threads are held to different cores what they have together.
func TestAllowedCores(t *testing.T) {
	online := unit.ParseCores(readSmall("/sys/devices/system/cpu/online"))
	if len(online) < 2 {
		t.Skip("one core cannot be less than all")
	}
	pid := serve(t)
	m := &kasoku.Member{Workers: 1, Processes: []kasoku.MemberProcess{{PID: pid, Leader: true}}}
	if got := allowedCores(m); got != unit.FormatCores(online) {
		t.Errorf("not held: %q, want all of %v", got, online)
	}
	hold := func(tid, cpu int) {
		var set unix.CPUSet
		set.Set(cpu)
		if err := unix.SchedSetaffinity(tid, &set); err != nil {
			t.Fatal(err)
		}
	}
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil || len(tasks) < 2 {
		t.Fatal(tasks, err)
	}
	hold(pid, online[1]) // the first thread alone: the others run where they like
	if got := allowedCores(m); got != unit.FormatCores(online) {
		t.Errorf("one thread is held: %q, want all", got)
	}
	for _, task := range tasks {
		tid, _ := strconv.Atoi(task.Name())
		hold(tid, online[1])
	}
	if got := allowedCores(m); got != strconv.Itoa(online[1]) {
		t.Errorf("held to core %d: %q", online[1], got)
	}
	if got := allowedCores(&kasoku.Member{Processes: []kasoku.MemberProcess{{PID: 1 << 30}}}); got != "" {
		t.Errorf("of no process: %q", got)
	}
}

// TestQuotaOf: the smallest quota above a process counts, of either version of control groups.
func TestQuotaOf(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("makes control groups: as root")
	}
	parent, file := "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"
	if _, err := os.Stat(filepath.Join(parent, file)); err != nil {
		if _, err := os.Stat(filepath.Join(parent, "cgroup.procs")); err != nil {
			parent, file = "/sys/fs/cgroup", "cpu.max"
		}
	}
	outer := filepath.Join(parent, "kasoku-quota-test")
	inner := filepath.Join(outer, "inner")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	t.Cleanup(func() { _ = os.Remove(outer) })
	t.Cleanup(func() { _ = os.Remove(inner) })
	pid := serve(t) // ends before the groups are removed
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Skipf("no control group with a limit of CPU can be made here: %v", err)
		}
	}
	before := quotaOf(pid)
	write(filepath.Join(inner, "cgroup.procs"), strconv.Itoa(pid))
	if got := quotaOf(pid); got != before {
		t.Errorf("without a quota: %v, want %v", got, before)
	}
	for group, quota := range map[string]string{outer: "30000", inner: "60000"} {
		if file == "cpu.max" {
			quota += " 100000"
		}
		if group == outer || file == "cpu.max" { // version 1 refuses a child more than its parent has
			write(filepath.Join(group, file), quota)
		}
	}
	if got := quotaOf(pid); got != 0.3 {
		t.Errorf("quota %v, want 0.3 cores", got)
	}
}

// serve starts the service of TestMain, and returns its process.
func serve(t *testing.T) int {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return start(t, command.Spec{Path: exe, Env: []string{"KASOKU_TEST_FIND=1"}}, dir, free(t, dir, "tcp"), "").Pid()
}
