package process

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/observetest"
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
	if s.table.procs[uint64(child.Process.Pid)] != nil {
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

// TestSampled: what is declared is sampled of real processes: a child with limits of its
// own, threads that keep a core busy, and children that end between two ticks.
func TestSampled(t *testing.T) {
	child := exec.Command("sh", "-c", "ulimit -v 4000000; ulimit -u 30000; exec sleep 60")
	if os.Geteuid() == 0 { // the tasks of root are not limited, so they have no series
		const other = 61006 // no host gives this number to a user
		child.Dir, child.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() }) // a signal ends it
	s := open(t, Options{PIDs: []int{os.Getpid(), child.Process.Pid}})
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	var all []kasoku.Sample
	has := func(key string) bool {
		return slices.ContainsFunc(all, func(x kasoku.Sample) bool { return x.Name == key })
	}
	all = append(all, collect(t, s).Samples...)
	s.AddTree(os.Getpid())
	// A thread counts as busy when it had a fifth of a core between two ticks, which takes a
	// crowded machine more than one try; the child has its limits once the shell has set them.
	// A child that ends between two ticks has to use a hundredth of a second to be counted.
	const busy = "n=0; while [ $n -lt 50000 ]; do n=$((n+1)); done; sleep 0.3"
	missing := func() bool { return !has(ThreadCPU) || !has(SizeLimit) || !has(TasksLimit) || !has(CPUExited) }
	for limit := time.Now().Add(time.Minute); missing() && time.Now().Before(limit); {
		if err := exec.Command("sh", "-c", busy).Run(); err != nil {
			t.Fatal(err)
		}
		all = append(all, collect(t, s).Samples...)
	}
	observetest.Sampled(t, &Declared, all, nil, &DeclaredGroups, &DeclaredThreads)
	observetest.Sampled(t, &DeclaredThreads, all, nil, &Declared, &DeclaredGroups)
	absent := observetest.Absent{}
	for _, key := range []string{UnitCPU, UnitRSS, UnitProcesses, UnitThreads} {
		absent[key] = "a machine without systemd"
	}
	for _, key := range []string{ContainerCPU, ContainerRSS, ContainerProcesses, ContainerThreads} {
		absent[key] = "a machine without containers"
	}
	observetest.Sampled(t, &DeclaredGroups, all, absent, &Declared, &DeclaredThreads)
}
