package window

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox/quota"
	"github.com/kasoku/kasoku/trace/kernel"
)

// helperEnv makes the test binary another process; see TestMain.
const helperEnv = "KASOKU_WINDOW_HELPER"

// TestMain is also the process that attacks, and the one that watches it, whose memory is looked at.
func TestMain(m *testing.M) {
	kind, rest, _ := strings.Cut(os.Getenv(helperEnv), " ")
	switch kind {
	case "":
		os.Exit(m.Run())
	case "watch":
		watchHostile(rest)
	case "flood":
		flood(rest)
	case "bomb":
		bomb()
	}
}

// A sighting is what the watching process saw of a hostile one, and what that took.
type sighting struct {
	Events, Lost, Requests, Statements uint64
	Uncovered                          int
	Resident, Kernel                   uint64 // bytes: the most that it had, and of maps
	Error                              string
}

// mostHostile is the most memory of a process that watches a hostile one, with its maps in the kernel.
const mostHostile = 96 << 20

// watchHostile watches a process, "PID TIME", and prints a sighting.
func watchHostile(args string) {
	var pid int
	var length string
	_, _ = fmt.Sscan(args, &pid, &length)
	d, _ := time.ParseDuration(length)
	var out sighting
	w, err := Open(context.Background(), []Target{{PID: pid, Member: "hostile"}}, true)
	if err == nil {
		fmt.Println("open")
		out.Kernel = kernel.MapMemory()
		var seen *Seen
		if seen, err = w.Watch(context.Background(), d); err == nil {
			out.Events, out.Lost, out.Requests = seen.Events, seen.Lost, seen.Counts.Requests
			out.Statements, out.Uncovered = seen.Counts.Statements, len(seen.Uncovered)
		}
	}
	if err != nil {
		out.Error = err.Error()
	}
	out.Resident = mostResident()
	_ = json.NewEncoder(os.Stdout).Encode(out)
}

// mostResident returns the most memory that this process has had, in bytes.
func mostResident() uint64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := bytes.Cut(text, []byte("VmHWM:"))
	var n uint64
	_, _ = fmt.Fscan(bytes.NewReader(rest), &n)
	return n << 10
}

// A helper is another process of the test binary.
type helper struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startHelper starts one, and waits for its first line.
func startHelper(t *testing.T, kind string) *helper {
	t.Helper()
	h := &helper{cmd: exec.Command(os.Args[0])}
	h.cmd.Env, h.cmd.Stderr = append(os.Environ(), helperEnv+"="+kind), os.Stderr
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.cmd.Process.Kill(); _ = h.cmd.Wait() })
	h.out = bufio.NewReader(out)
	if line, err := h.out.ReadString('\n'); err != nil || line != "open\n" {
		t.Fatalf("%s: %q, %v", kind, line, err)
	}
	return h
}

// watched begins the attack of a helper while another one watches it, and returns what that saw.
func (h *helper) watched(t *testing.T, length time.Duration) (s sighting) {
	t.Helper()
	w := startHelper(t, fmt.Sprintf("watch %d %s", h.cmd.Process.Pid, length))
	if err := h.in.Close(); err != nil && !errors.Is(err, os.ErrClosed) { // it begins, or goes on
		t.Fatal(err)
	}
	if err := json.NewDecoder(w.out).Decode(&s); err != nil {
		t.Fatalf("who watches has crashed: %v, %v", err, w.cmd.Wait())
	}
	t.Logf("%+v; %.1f MiB with the kernel's", s, float64(s.Resident+s.Kernel)/(1<<20))
	if s.Error != "" {
		t.Error(s.Error)
	}
	if s.Resident+s.Kernel > mostHostile {
		t.Errorf("%d bytes are resident, %d in the kernel: more than %d", s.Resident, s.Kernel, mostHostile)
	}
	if s.Events == 0 {
		t.Error("nothing was seen")
	}
	return s
}

func long() bool { return os.Getenv("KASOKU_LONG") != "" }

// TestHostileFlood: a process of 100,000 goroutines that sends garbage, huge packets and what looks like
// requests and statements, no two alike, on thousands of connections: who watches it stays small. That what is
// lost is counted is held by TestLost of package kernel.
func TestHostileFlood(t *testing.T) {
	needRights(t)
	turn.Wait(t)
	goroutines, conns, length := 100_000, 1000, 2*time.Second
	if long() {
		conns, length = 8000, 20*time.Second
	}
	h := startHelper(t, fmt.Sprintf("flood %d %d", goroutines, conns))
	s := h.watched(t, length)
	if s.Requests == 0 { // a host that is busy gave so many goroutines no time for all that they do
		s = h.watched(t, 10*length)
	}
	if s.Statements == 0 || s.Requests == 0 {
		t.Errorf("%d statements and %d requests were seen", s.Statements, s.Requests)
	}
}

// TestHostileForks: a process that starts as many as it may, of which each does so, too.
func TestHostileForks(t *testing.T) {
	needRights(t)
	turn.Wait(t)
	length := time.Second
	if long() {
		length = 10 * time.Second
	}
	group := pidGroup(t, 200)
	h := startHelper(t, "bomb")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(group, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cgroup.procs", strconv.Itoa(h.cmd.Process.Pid))
	t.Cleanup(func() { // before the helper's own: none is left that starts another one
		write("pids.max", "0")
		for end := time.Now().Add(20 * time.Second); ; {
			left := quota.Kill(group)
			if left == 0 {
				break
			}
			_ = h.cmd.Wait()
			if time.Now().After(end) {
				t.Fatalf("%d processes are left in %s", left, group)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	h.watched(t, length)
}

// pidGroup makes a control group, of either version, for at most so many threads.
func pidGroup(t *testing.T, most int) string {
	t.Helper()
	var failed []error
	for _, parent := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		group := filepath.Join(parent, "kasoku-bomb-"+strconv.Itoa(os.Getpid()))
		err := os.Mkdir(group, 0o755)
		if err == nil {
			if err = os.WriteFile(filepath.Join(group, "pids.max"), []byte(strconv.Itoa(most)), 0o600); err == nil {
				t.Cleanup(func() {
					if err := os.Remove(group); err != nil {
						t.Error(err)
					}
				})
				return group
			}
			_ = os.Remove(group)
		}
		failed = append(failed, err)
	}
	t.Skipf("no control group with a limit of processes can be made here: %v", errors.Join(failed...))
	return ""
}

// bomb begins when its input ends: a shell that starts two of itself, for ever.
func bomb() {
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for {
		cmd := exec.Command("/bin/sh", "-c", "f() { f & f & /bin/true; }; f") // its words of failure go nowhere
		if cmd.Start() == nil {
			_ = cmd.Wait()
		}
	}
}

// flood begins when its input ends, "GOROUTINES CONNECTIONS".
func flood(args string) {
	var goroutines, conns int
	_, _ = fmt.Sscan(args, &goroutines, &conns)
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	begin := make(chan struct{})
	for i := range conns {
		from, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			os.Exit(1)
		}
		to, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		go func() {
			<-begin
			attack(from, i)
		}()
		go func() { _, _ = io.Copy(io.Discard, from) }() // else who answers would wait
		b := make([]byte, 16<<10)                        // one of them reads at a time, and none looks at it
		for range goroutines / conns {
			go func() {
				<-begin
				for {
					if _, err := to.Read(b); err != nil {
						return
					}
					_, _ = to.Write([]byte("HTTP/1.1 200 OK\r\n"))
				}
			}()
		}
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(begin)
	select {}
}

// Of 1 MiB each.
var (
	hugePacket  = append([]byte("\xff\xff\xff\x00\x03INSERT INTO t VALUES ("), bytes.Repeat([]byte("9"), 1<<20)...)
	hugeRequest = append([]byte("GET /"), bytes.Repeat([]byte("z"), 1<<20)...)
)

// attack writes to a connection for ever, each time something else.
func attack(c net.Conn, seed int) {
	rnd := rand.New(rand.NewPCG(1, uint64(seed)))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := 0; i+8 <= n; i += 8 {
			binary.LittleEndian.PutUint64(b[i:], rnd.Uint64())
		}
		return b
	}
	packet := func(body []byte, length int) []byte {
		return append([]byte{byte(length), byte(length >> 8), byte(length >> 16), 0}, body...)
	}
	// What its first bytes are a connection is known by: statements, requests, FastCGI, or anything.
	kinds := [][]int{{0, 0, 0, 7, 8, 4}, {1, 1, 1, 2, 3, 11, 5}, {6}, {10, 9, 8, 4, 5, 11, 3, 6, 0, 1}}[seed%4]
	for i := 0; ; i++ {
		var b []byte
		switch n := rnd.IntN(1 << 30); kinds[i%len(kinds)] {
		case 0: // a statement unlike all others
			text := fmt.Appendf(nil, "\x03SELECT c%x FROM t%x WHERE %s = 1", n, n, strings.Repeat("x", rnd.IntN(7000)))
			b = packet(text, len(text))
		case 1:
			b = fmt.Appendf(nil, "GET /%s/%x HTTP/1.1\r\nHost: %x\r\n\r\n", strings.Repeat("y", rnd.IntN(600)), n, n)
		case 2: // as many as there is room for
			b = bytes.Repeat([]byte("GET / HTTP/1.1\r\n\r\n"), 200)
		case 3: // a head that never ends
			b = append([]byte("POST /"+strconv.Itoa(n)+" HTTP/1.1\r\nA: "), bytes.Repeat([]byte("a"), 3000)...)
		case 4: // huge, and called more than it is
			b = hugePacket
		case 5:
			b = hugeRequest
		case 6: // FastCGI: parameters that never end
			b = append([]byte("\x01\x01\x00\x01\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"+
				"\x01\x04\x00\x01\xff\xff\xff\x00"), noise(4000)...)
		case 7:
			text := fmt.Appendf(nil, "\x16SELECT ? FROM p%x", n)
			b = packet(text, len(text))
		case 8: // it says another length
			b = packet([]byte("\x17\x01\x00\x00\x00"), n)
		case 9:
			b = append([]byte("\x16\x03\x01"), noise(500)...)
		case 10:
			b = noise(rnd.IntN(9000) + 1)
		case 11:
			b = []byte("G")
		}
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}
