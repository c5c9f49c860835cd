package record

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/topology/scan"
)

// TestMembersLost: a bug of the look for members ends that look alone, is a warning, and
// nothing of what was found before is stored (there is no store here).
func TestMembersLost(t *testing.T) {
	defer contain.Forget()
	defer contain.Plant(membersPart)()
	r := &recorder{}
	w := &serviceWatch{recorder: r, config: &configuration{recorder: r}}
	w.found.Members = []kasoku.Member{{ID: "web server nginx :80"}}
	w.begin(t.Context())
	w.end()
	if len(w.warnings) != 1 || w.warnings[0].Code != "part-lost" ||
		!strings.Contains(w.warnings[0].Text, membersPart.String()+": "+contain.Phrase) {
		t.Errorf("warnings %v, want that %s is lost", w.warnings, membersPart)
	}
}

// TestMembersAtTheEnd: the end of a short load does not cut a look off, as it does on a
// host that takes long to answer.
func TestMembersAtTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // in mid-look
	r := &recorder{}
	w := &serviceWatch{recorder: r, config: &configuration{recorder: r}}
	w.lookWhole(ctx)
	if w.err != nil {
		t.Errorf("the service is not known: %v", w.err)
	}
	w.look(ctx, lookWithin)
	if w.err == nil {
		t.Error("a look that is cut off is no error: nothing was tested")
	}
}

// TestWorkerOfThread: a worker that another thread than the first has started is one.
func TestWorkerOfThread(t *testing.T) {
	const waits = "KASOKU_TEST_WAITS"
	if os.Getenv(waits) != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
		return
	}
	p := exec.Command("/proc/self/exe", "-test.run=^TestWorkerOfThread$")
	p.Env = append(os.Environ(), waits+"=1")
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	started, end := make(chan error), make(chan struct{})
	var start func()
	start = func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if syscall.Gettid() == os.Getpid() {
			go start() // the first is taken, so this is another
		} else {
			started <- p.Start()
		}
		<-end // a child of a thread that ends is one of the first
	}
	defer close(end)
	go start()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), p.Wait() }()
	w := &serviceWatch{recorder: &recorder{}, config: &configuration{recorder: &recorder{}}}
	w.found.Members = []kasoku.Member{{Processes: []kasoku.MemberProcess{{PID: os.Getpid(), Leader: true}}}}
	m := &w.found.Members[0]
	for range 4096 {
		if w.keepUp(); m.Has(p.Process.Pid) {
			return
		}
	}
	t.Error("a worker that a thread has started is none")
}

// waiting starts a process that waits for the end of the test.
func waiting(t *testing.T) (pid int) {
	t.Helper()
	p := exec.Command("/proc/self/exe", "-test.run=^TestWorkerOfThread$")
	p.Env = append(os.Environ(), "KASOKU_TEST_WAITS=1")
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = in.Close(), p.Wait() })
	return p.Process.Pid
}

// TestLookAgainAfterFailure: a look that was not in time is repeated within seconds, and does
// not leave a run of minutes without its service.
func TestLookAgainAfterFailure(t *testing.T) {
	r := &recorder{}
	w := &serviceWatch{recorder: r, config: &configuration{recorder: r}}
	w.ask.PIDs = []int{waiting(t)}
	late, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	w.look(late, lookWithin)
	if w.err == nil || w.due(restartGap-1, false) || !w.due(restartGap, false) {
		t.Fatalf("after a look that failed (%v): due %v before and %v after %s", w.err, w.due(restartGap-1, false), w.due(restartGap, false), restartGap)
	}
	if w.look(t.Context(), lookWithin); w.err != nil || len(w.found.Members) != 1 || w.due(restartGap, false) || !w.due(restartGap, true) || !w.due(nextLook, false) {
		t.Errorf("members %+v, %v", w.found.Members, w.err)
	}
}

// TestWorkerBetweenLooks: a worker that starts after a look and before the next one at sockets
// alone is not recorded as ended.
func TestWorkerBetweenLooks(t *testing.T) {
	pid := waiting(t)
	r := &recorder{}
	w := &serviceWatch{recorder: r, config: &configuration{recorder: r}}
	w.ask.PIDs = []int{pid}
	w.look(t.Context(), lookWithin)
	if len(w.found.Members) != 1 {
		t.Fatalf("members %+v, %v", w.found.Members, w.err)
	}
	w.seen.Silent = []int{pid} // it calls no one
	m := &w.found.Members[0]
	m.Processes = append(m.Processes, kasoku.MemberProcess{PID: os.Getpid(), Start: 1}) // as keepUp does
	w.found.Unknown = []kasoku.Unseen{{What: "of before"}}
	ctx := &lockedContext{Context: t.Context(), mu: &w.mu}
	w.lookAgain(ctx)
	if ctx.locked {
		t.Error("the samples wait while the sockets are looked at")
	}
	if w.err != nil || len(w.found.Unknown) > 0 && w.found.Unknown[0].What == "of before" {
		t.Fatalf("nothing was looked at again: %v", w.err)
	}
	if m = &w.found.Members[0]; !m.Has(os.Getpid()) || m.Processes[len(m.Processes)-1].Ended != 0 {
		t.Errorf("a worker that runs is recorded as ended: %+v", m.Processes)
	}
}

// A lockedContext takes note whether a lock was held when something with a limit began.
type lockedContext struct {
	context.Context
	mu     *sync.Mutex
	locked bool
}

func (c *lockedContext) Deadline() (time.Time, bool) {
	if c.mu.TryLock() {
		c.mu.Unlock()
	} else {
		c.locked = true
	}
	return c.Context.Deadline()
}

// TestWorkerByExec: a child that runs another program when it is seen first, and becomes one
// of its leader's program by exec, is a worker from then on.
func TestWorkerByExec(t *testing.T) {
	p := exec.Command("sh", "-c", `perl -e '<STDIN>; exec "sh", "-c", "read x; :"'; :`)
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	leader := p.Process.Pid
	defer func() { _, _ = in.Close(), p.Wait() }()
	proc := func(pid int) string { return "/proc/" + strconv.Itoa(pid) }
	exe := func(pid int) string {
		text, _ := os.Readlink(proc(pid) + "/exe")
		return text
	}
	child := 0
	for child == 0 || !strings.HasSuffix(exe(child), "perl") {
		text, _ := os.ReadFile(proc(leader) + "/task/" + strconv.Itoa(leader) + "/children")
		child, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	w := &serviceWatch{recorder: &recorder{}, config: &configuration{recorder: &recorder{}}}
	w.found.Members = []kasoku.Member{{Processes: []kasoku.MemberProcess{{PID: leader, Leader: true}}}}
	m := &w.found.Members[0]
	if w.keepUp(); m.Has(child) {
		t.Fatal("another program is a worker")
	}
	for range 5 {
		w.keepUp()
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	for exe(child) != exe(leader) {
	}
	for range 2 * scan.SeldomLook {
		w.keepUp()
	}
	if !m.Has(child) {
		t.Error("what became a worker is none")
	}
}
