package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	kasoku "github.com/kasoku/kasoku"
)

// child makes a stat line of a process with a parent and CPU time of its children.
func child(pid, parent int, comm string, cpu, children uint64) string {
	return fmt.Sprintf("%d (%s) S %d 1 1 0 -1 4194560 0 0 7 0 %d 0 %d 0 20 0 1 0 500 4096 10 0\n", pid, comm, parent, cpu, children)
}

// What no tick saw is the parent's, less what was seen of the children that went.
func TestExitsAreTheParents(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Proc: dir, PIDs: nil})
	f := func(want float64) {
		t.Helper()
		got := find(collect(t, s), "cpu.exited", "10 cron")
		if want == 0 && got == nil {
			return
		}
		if got == nil || got.Value != want || got.Kind != kasoku.Counter {
			t.Fatalf("%+v, want %v", got, want)
		}
	}
	write(t, dir, "10/stat", child(10, 1, "cron", 5, 700))
	f(0) // what children did before is not of this run
	write(t, dir, "10/stat", child(10, 1, "cron", 5, 760))
	f(0.60)
	write(t, dir, "11/stat", child(11, 10, "job", 30, 10))
	f(0)
	// It ends with 50 ticks, of which 40 were seen.
	if err := os.RemoveAll(dir + "/11"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "10/stat", child(10, 1, "cron", 5, 810))
	f(0.70)
	// The parent is read before it has waited for a child that goes.
	write(t, dir, "12/stat", child(12, 10, "job", 25, 0))
	write(t, dir, "10/stat", child(10, 1, "cron", 6, 810))
	f(0.70)
	if err := os.RemoveAll(dir + "/12"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "10/stat", child(10, 1, "cron", 7, 810))
	f(0.70)
	write(t, dir, "10/stat", child(10, 1, "cron", 7, 840))
	f(0.75)
	// A child and its parent go together: the time of both was seen.
	write(t, dir, "13/stat", child(13, 10, "sh", 3, 0))
	write(t, dir, "14/stat", child(14, 13, "job", 40, 0))
	write(t, dir, "10/stat", child(10, 1, "cron", 8, 840))
	f(0.75)
	for _, pid := range []string{"13", "14"} {
		if err := os.RemoveAll(dir + "/" + pid); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "10/stat", child(10, 1, "cron", 9, 885))
	f(0.77)
}

func TestBalance(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "stat", "cpu 100 0 0 900 0 0 0 0 0 0\n")
	write(t, dir, "10/stat", child(10, 1, "cron", 50, 0))
	s := open(t, Options{Proc: dir})
	f := func(host string, cpu uint64, want float64) {
		t.Helper()
		write(t, dir, "stat", "cpu "+host+" 0 0 900 0 0 0 0 0 0\n")
		write(t, dir, "10/stat", child(10, 1, "cron", cpu, 0))
		got := find(collect(t, s), "cpu.unattributed", "")
		if got == nil || got.Value != want {
			t.Fatalf("%+v, want %v", got, want)
		}
	}
	collect(t, s)
	f("200", 110, 0) // it may be of a process that rests
	f("210", 140, 0)
	f("210", 140, 0)
	f("210", 140, 0.20)
	f("240", 140, 0.20)
	f("240", 140, 0.20)
	f("240", 140, 0.20)
	f("240", 140, 0.50)
	f("240", 200, 0.50)
}

// A process that does nothing is read now and then; what it did meanwhile is not
// lost.
func TestResting(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "10/stat", child(10, 1, "cron", 50, 0))
	s := open(t, Options{Proc: dir})
	for range restTicks + 2*restTurns {
		if got := find(collect(t, s), "count", ""); got.Value != 1 {
			t.Fatal(got)
		}
	}
	write(t, dir, "10/stat", child(10, 1, "cron", 90, 0))
	for range restTurns {
		if got := find(collect(t, s), "cpu.user", "10 cron"); got != nil {
			if got.Value != 0.9 || s.table.procs[10].cpu.used != 40 {
				t.Fatal(got, s.table.procs[10].cpu.used)
			}
			return
		}
	}
	t.Fatal("not seen")
}

func TestGroups(t *testing.T) {
	dir := t.TempDir()
	for pid, cgroup := range map[int]string{
		10: "0::/system.slice/cron.service", 11: "0::/system.slice/cron.service",
		12: "0::/system.slice/docker-4f2c91e0a1b2c3d4e5f60718293a4b5c6d7e8f90123456789abcdef012345678.scope",
	} {
		write(t, dir, strconv.Itoa(pid)+"/stat", child(pid, 1, "worker", 50, 0))
		write(t, dir, strconv.Itoa(pid)+"/cgroup", cgroup+"\n")
		if err := os.Symlink("/usr/bin/work (deleted)", fmt.Sprintf("%s/%d/exe", dir, pid)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, Options{Proc: dir})
	frame := collect(t, s)
	f := func(name, instance string, want float64) {
		t.Helper()
		if got := find(frame, name, instance); got == nil || got.Value != want {
			t.Fatalf("%s %q = %+v, want %v", name, instance, got, want)
		}
	}
	f("exe.cpu", "work", 1.5)
	f("exe.processes", "work", 3)
	f("unit.cpu", "cron.service", 1)
	f("unit.rss", "cron.service", 20*float64(os.Getpagesize()))
	f("container.threads", "docker-4f2c91e0a1b2", 1)
	if err := os.RemoveAll(dir + "/11"); err != nil {
		t.Fatal(err)
	}
	frame = collect(t, s)
	f("unit.cpu", "cron.service", 1) // a sum does not fall when a process ends
	f("unit.processes", "cron.service", 1)

	off := open(t, Options{Proc: dir, NoGroups: true})
	if find(collect(t, off), "exe.cpu", "work") != nil {
		t.Fatal("groups that are off")
	}
}

func TestGroupsComeAndGo(t *testing.T) {
	gs := groups{by: map[string]*group{}}
	for i := range 100 {
		g := gs.get("g" + strconv.Itoa(i))
		g.used = uint64(i)
		gs.settle()
		g.used, g.count = 0, 0
	}
	if gs.shown != maxGroups {
		t.Fatal(gs.shown)
	}
	gs.settle()
	if len(gs.order) != maxGroups || len(gs.by) != maxGroups {
		t.Fatal(len(gs.order), len(gs.by))
	}
}

// TestGroupsThatUseMore: programs that did next to nothing do not keep out one that uses
// the CPU later, and not every program of a long run gets series.
func TestGroupsThatUseMore(t *testing.T) {
	gs := groups{by: map[string]*group{}}
	use := func(name string, ticks uint64) *group {
		g := gs.get(name)
		g.used, g.cpu, g.count = ticks, g.cpu+ticks, 1
		gs.settle()
		g.used = 0
		return g
	}
	for i := range maxGroups + 6 {
		use("small"+strconv.Itoa(i), 1)
	}
	if g := use("userapi", 200); !g.shown || gs.shown != maxGroups {
		t.Errorf("the busiest has series: %v; %d have", g.shown, gs.shown)
	}
	for i := range 200 {
		use("step"+strconv.Itoa(i), uint64(300+10*i))
	}
	if gs.ever > maxGroupsEver || gs.shown != maxGroups {
		t.Errorf("%d groups had series, %d have", gs.ever, gs.shown)
	}
}

// TestGroupsOfNamed: the program of a process that was named, or whose tree was, has series beside any number
// that use more, and keeps them.
func TestGroupsOfNamed(t *testing.T) {
	dir := t.TempDir()
	for pid := 10; pid < 10+2*maxGroups; pid++ {
		write(t, dir, strconv.Itoa(pid)+"/stat", child(pid, 1, "busy"+strconv.Itoa(pid), uint64(pid), 0))
	}
	write(t, dir, "8/stat", child(8, 1, "puma", 0, 0))
	write(t, dir, "9/stat", child(9, 1, "nginx", 0, 0))
	s := open(t, Options{Proc: dir, PIDs: []int{9}})
	collect(t, s)
	s.AddTree(8)
	for pid := 10; pid < 10+2*maxGroups; pid++ {
		if frame := collect(t, s); find(frame, "exe.cpu", "nginx") == nil || find(frame, "exe.cpu", "puma") == nil {
			t.Fatal("no series of a program that was named")
		}
		write(t, dir, strconv.Itoa(pid)+"/stat", child(pid, 1, "busy"+strconv.Itoa(pid), uint64(1000*pid), 0))
	}
}

// A thread that fills a core is seen, by its name and without its siblings.
func TestHotThread(t *testing.T) {
	c := exec.Command(os.Args[0], "-test.run=^TestSpin$")
	c.Env = append(os.Environ(), "KASOKU_SPIN=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	s := open(t, Options{PIDs: []int{c.Process.Pid}, Top: -1})
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		for _, sample := range collect(t, s).Samples {
			if sample.Name == "thread.cpu" && strings.HasPrefix(sample.Instance, strconv.Itoa(c.Process.Pid)+"/") && sample.Value > 0 {
				return
			}
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Fatal("no thread")
}

// TestSpin is the process that TestHotThread watches.
func TestSpin(t *testing.T) {
	if os.Getenv("KASOKU_SPIN") == "" {
		t.Skip("is run by TestHotThread")
	}
	runtime.LockOSThread()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
	}
}

// A thread that ends makes room for the series of another, up to a bound for the run.
func TestHotThreadsComeAndGo(t *testing.T) {
	s := open(t, Options{Proc: unpack(t)})
	for i := range hotNamedEver {
		x := slot{tid: 1, fd: -1}
		s.r.kept++
		if s.threads.name(1, &x); x.instance == "" {
			t.Fatalf("thread %d has no name", i)
		}
		s.threads.close(&x)
	}
	x := slot{tid: 1, fd: -1}
	s.threads.name(1, &x)
	if w := s.Warnings(); x.instance != "" || s.threads.named != 0 || len(w) != 1 || !strings.Contains(w[0].Text, "512") {
		t.Fatal(x.instance, s.threads.named, w)
	}
}

func TestNoThreads(t *testing.T) {
	s := open(t, Options{PIDs: []int{os.Getpid()}, NoThreads: true})
	collect(t, s)
	if slices.ContainsFunc(s.threads.busiest[:], func(p *process) bool { return p != nil }) {
		t.Fatal("threads that are off")
	}
}
