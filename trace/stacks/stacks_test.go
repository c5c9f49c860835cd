package stacks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	google "github.com/google/pprof/profile"
)

// TestMain is also the process that is killed while it watches.
func TestMain(m *testing.M) {
	if os.Getenv("STACKS_TEST") != "" {
		watchForEver()
		return
	}
	os.Exit(m.Run())
}

// needs leaves a test out where the kernel lets no programs in, which CI's does.
func needs(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("takes root: CAP_BPF and CAP_PERFMON")
	}
	if testing.Short() {
		t.Skip("takes seconds")
	}
}

func take(t *testing.T, o Options) *Profile {
	t.Helper()
	p, err := Take(t.Context(), o)
	if err != nil {
		var r *Refusal
		if errors.As(err, &r) {
			t.Fatalf("%v (%s)", err, r.Hint())
		}
		t.Fatal(err)
	}
	return p
}

// TestTake_CPU: of a program of Go, what it spends in each function is what its own profiler
// says. Both watch the same seconds; what is left is the chance of two samplings.
func TestTake_CPU(t *testing.T) {
	needs(t)
	length, most := 4*time.Second, 9.0 // points
	if os.Getenv("KASOKU_LONG") != "" {
		length, most = 60*time.Second, 2.0
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { compute(stop) })
	var own bytes.Buffer
	if err := pprof.StartCPUProfile(&own); err != nil {
		t.Fatal(err)
	}
	p := take(t, Options{PIDs: []int{os.Getpid()}, For: length, CPU: true})
	pprof.StopCPUProfile()
	close(stop)
	wg.Wait()
	truth, err := google.ParseData(own.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want, all := map[string]float64{}, 0.0
	for _, s := range truth.Sample {
		at := s.Location[0].Line[0].Function.Name
		if at == "runtime.asyncPreempt" && len(s.Location) > 1 { // a signal upon another
			at = s.Location[1].Line[0].Function.Name
		}
		want[at] += float64(s.Value[0])
		all += float64(s.Value[0])
	}
	got, seen := map[string]float64{}, 0.0
	for _, s := range p.CPU {
		// Go's profiler sees no functions of the kernel: their time is that of the caller.
		for _, f := range s.Stack {
			if f.File != "[kernel]" {
				got[f.Name] += float64(s.Count)
				break
			}
		}
		seen += float64(s.Count)
	}
	var names []string
	for n := range want {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return int(want[b] - want[a]) })
	if len(names) < 5 || all < 50 {
		t.Fatalf("%v samples of %d functions: too few to say anything", all, len(names))
	}
	for _, n := range names[:min(10, len(names))] {
		a, b := 100*want[n]/all, 100*got[n]/seen
		t.Logf("%-60s %5.1f %5.1f", n, a, b)
		if math.Abs(a-b) > most {
			t.Errorf("%s: %.1f %% by its own profiler, %.1f %% from outside", n, a, b)
		}
	}
}

// compute uses a processor in several functions until stop is closed.
func compute(stop <-chan struct{}) {
	text := strings.Repeat("some words to look at ", 200)
	for {
		select {
		case <-stop:
			return
		default:
		}
		for range 20 {
			sha256.Sum256([]byte(text))
		}
		words := strings.Fields(text)
		slices.Sort(words)
		var b strings.Builder
		for i, w := range words {
			fmt.Fprintf(&b, "%d %s ", i, w)
		}
		_, _ = strconv.Atoi(b.String()[:1])
	}
}

// within reports whether a time is within five of a hundred of what it has to be. On a host that
// is busy a part of it is waiting for a processor, which is counted apart.
func within(got, want, queued time.Duration) bool {
	return got.Seconds() <= 1.05*want.Seconds() && got.Seconds()+queued.Seconds() >= 0.95*want.Seconds()
}

// queued returns how long all threads, or goroutines, could run and did not.
func queued(p *Profile) (sum time.Duration) {
	for _, q := range p.Queues {
		sum += q.Time + q.Routines
	}
	return sum
}

// byReason adds up waits by reason, those of a function alone.
func byReason(all []Sample, function string) map[Reason]time.Duration {
	out := map[Reason]time.Duration{}
	for _, s := range all {
		for _, f := range s.Stack {
			if strings.HasSuffix(f.Name, function) {
				out[s.Wait.Reason] += s.Time
				break
			}
		}
	}
	return out
}

// TestTake_Goroutines: what goroutines wait for by design is what is seen: the time and the
// reason.
func TestTake_Goroutines(t *testing.T) {
	needs(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	wg.Go(func() { slowServer(l) })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var mu sync.Mutex
	never := make(chan int)
	for range 3 {
		wg.Go(func() { sleepers(stop) })
	}
	for range 2 {
		wg.Go(func() { lockers(stop, &mu) })
	}
	wg.Go(func() { receivers(stop, never) })
	wg.Go(func() { callers(stop, c) })
	p := take(t, Options{PIDs: []int{os.Getpid()}, For: 3 * time.Second, Waits: true})
	if len(p.Notes) > 0 {
		t.Error(p.Notes)
	}
	for _, x := range []struct {
		function string
		reason   Reason
		want     time.Duration
	}{
		{".sleepers", Sleep, 3 * p.Length}, {".lockers", Lock, p.Length}, {".receivers", Channel, p.Length}, {".callers", Socket, p.Length},
	} {
		if got := byReason(p.Waits, x.function); !within(got[x.reason], x.want, queued(p)) {
			t.Errorf("%s: %v, want %s of %s", x.function, got, x.want, x.reason)
		}
	}
}

func ended(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

func sleepers(stop <-chan struct{}) {
	for !ended(stop) {
		time.Sleep(70 * time.Millisecond)
	}
}

// lockers hold the lock in turn, asleep: one of two always waits for it.
func lockers(stop <-chan struct{}, mu *sync.Mutex) {
	for !ended(stop) {
		mu.Lock()
		hold()
		mu.Unlock()
	}
}

//go:noinline
func hold() { time.Sleep(30 * time.Millisecond) }

func receivers(stop <-chan struct{}, c <-chan int) {
	select {
	case <-c:
	case <-stop:
	}
}

func callers(stop <-chan struct{}, c net.Conn) {
	b := make([]byte, 1)
	for !ended(stop) {
		if _, err := c.Write(b); err != nil {
			return
		}
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
	}
}

// slowServer answers each byte after a while.
func slowServer(l net.Listener) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	b := make([]byte, 1)
	for {
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

// TestTake_Threads: the same of threads, which the scheduler counts: a program of Python with
// three that sleep, two of which hold a lock in turn, one that waits for a socket, and one
// that is stuck for ever.
func TestTake_Threads(t *testing.T) {
	needs(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, "-c", `
import socket, threading, time
def sleeps():
    while True: time.sleep(0.1)
lock = threading.Lock()
def holds():
    while True:
        with lock: time.sleep(0.03)
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen()
def calls():
    c = socket.create_connection(server.getsockname())
    while True: c.send(b"x"); c.recv(1)
def stuck():
    threading.Event().wait()
for f in (sleeps, sleeps, holds, holds, calls, stuck): threading.Thread(target=f, daemon=True).start()
c, _ = server.accept()
print("ready", flush=True)
while True:
    c.recv(1); time.sleep(0.05); c.send(b"y")
`)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p := take(t, Options{PIDs: []int{c.Process.Pid}, For: 3 * time.Second, Waits: true})
	got := map[Reason]time.Duration{}
	for _, s := range p.Waits {
		got[s.Wait.Reason] += s.Time
		if s.Wait.Reason == Socket && s.Time > time.Second && !strings.Contains(s.Wait.On, "python3") {
			t.Errorf("it waits for %q, want itself", s.Wait.On)
		}
	}
	// Asleep: two, the one that holds the lock, and the server; at a lock: the other, and the
	// one that is stuck.
	for _, x := range []struct {
		reason Reason
		want   time.Duration
	}{{Sleep, 4 * p.Length}, {Lock, 2 * p.Length}, {Socket, p.Length}} {
		if !within(got[x.reason], x.want, queued(p)) {
			t.Errorf("%s: %s, want %s; all: %v", x.reason, got[x.reason], x.want, got)
		}
	}
}

// ids returns the programs of a process in the kernel.
func ids(t *testing.T, a *attached) (out []ebpf.ProgramID) {
	t.Helper()
	for _, p := range a.programs {
		info, err := p.Info()
		if err != nil {
			t.Fatal(err)
		}
		id, ok := info.ID()
		if !ok {
			t.Fatal("a program has no number")
		}
		out = append(out, id)
	}
	return out
}

func there(id ebpf.ProgramID) bool {
	p, err := ebpf.NewProgramFromID(id)
	if err != nil {
		return false
	}
	_ = p.Close()
	return true
}

// TestAttach_Gone: nothing is left in the kernel, neither by detaching nor by SIGKILL, and
// what is attached stays while garbage is collected.
func TestAttach_Gone(t *testing.T) {
	needs(t)
	a, err := attach([]int{os.Getpid()}, true, true)
	if err != nil {
		t.Fatal(err)
	}
	all := ids(t, a)
	for range 3 {
		runtime.GC()
	}
	for _, id := range all {
		if !there(id) {
			t.Errorf("program %d has gone while it was used", id)
		}
	}
	a.close()
	waitGone(t, all)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "STACKS_TEST=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	all = nil
	for _, f := range strings.Fields(line) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ebpf.ProgramID(n))
	}
	if len(all) != 4 || !there(all[0]) {
		t.Fatalf("it has attached %v", all)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	waitGone(t, all)
}

// waitGone waits for the kernel to free programs, which it does a moment later.
func waitGone(t *testing.T, all []ebpf.ProgramID) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); slices.ContainsFunc(all, there); {
		if time.Now().After(end) {
			t.Fatalf("of the programs %v some are still there", all)
		}
		runtime.Gosched()
	}
}

// watchForEver attaches, prints the numbers of its programs and waits to be killed.
func watchForEver() {
	a, err := attach([]int{os.Getpid()}, true, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range a.programs {
		if info, err := p.Info(); err == nil {
			id, _ := info.ID()
			fmt.Print(id, " ")
		}
	}
	fmt.Println()
	select {}
}

// TestTake_Early: it ends with its context, with what it has.
func TestTake_Early(t *testing.T) {
	needs(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	p, err := Take(ctx, Options{PIDs: []int{os.Getpid()}, For: time.Minute, CPU: true, Waits: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.Length > 20*time.Second || len(p.Waits) == 0 {
		t.Errorf("%s, %d waits", p.Length, len(p.Waits))
	}
}
