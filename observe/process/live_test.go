package process

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestThisMachine watches this test and a child on the real /proc.
func TestThisMachine(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Process.Kill()
	s := open(t, Options{PIDs: []int{os.Getpid(), child.Process.Pid}})
	both := []int{os.Getpid(), child.Process.Pid}
	if got := s.Watched(nil); !slices.Equal(got, both) {
		t.Fatalf("watched before the first tick: %v", got)
	}
	frame := collect(t, s)
	for _, pid := range both {
		if !slices.Contains(s.Watched(nil), pid) {
			t.Fatalf("%d is not among %v", pid, s.Watched(nil))
		}
	}
	f := func(pid int, name string) float64 {
		t.Helper()
		for _, sample := range frame.Samples {
			if sample.Name == name && len(sample.Instance) > 0 && instancePID(sample.Instance) == pid {
				return sample.Value
			}
		}
		t.Fatalf("no %s of %d", name, pid)
		return 0
	}
	for _, name := range []string{"cpu.user", "rss", "threads", "fds", "fds_limit", "io.write_calls", "switch.voluntary"} {
		f(os.Getpid(), name)
		f(child.Process.Pid, name)
	}
	if got, want := f(child.Process.Pid, "threads"), 1.0; got != want {
		t.Fatal(got)
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	// Since the count the long files of the child were opened.
	if got := f(os.Getpid(), "fds"); got < 5 || got > float64(len(entries)) {
		t.Fatalf("%v descriptors, %d now", got, len(entries))
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if got := f(os.Getpid(), "fds_limit"); got != float64(limit.Cur) {
		t.Fatalf("limit %v, want %d", got, limit.Cur)
	}

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := waitZombie(child.Process.Pid); err != nil {
		t.Fatal(err)
	}
	collect(t, s) // a zombie
	if e := s.Events(); len(e) != 1 || e[0].Text != "process "+strconv.Itoa(child.Process.Pid)+" sleep exited" {
		t.Fatal(e)
	}
	_ = child.Wait()
	collect(t, s)
	if e := s.Events(); len(e) != 0 {
		t.Fatal(e)
	}
	if s.procs[uint64(child.Process.Pid)] != nil {
		t.Fatal("still on the table")
	}
}

// waitZombie waits until a child has ended and does not reap it.
func waitZombie(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

func instancePID(instance string) int {
	for i, c := range instance {
		if c == ' ' {
			pid, _ := strconv.Atoi(instance[:i])
			return pid
		}
	}
	return 0
}
