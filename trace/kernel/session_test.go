package kernel

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/goversion"
)

// helperEnv makes the test binary a process of another kind; see TestMain.
const helperEnv = "KASOKU_TRACE_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helperEnv) {
	case "session": // opens a session and waits to be killed
		if _, err := Open(true); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("open")
		for { // not select {}: with no other goroutine that is a deadlock, which ends the process by itself
			_ = unix.Pause()
		}
	case "hostile":
		hostile()
		return
	}
	os.Exit(m.Run())
}

// start starts a helper and waits for its first line.
func start(t *testing.T, kind string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), helperEnv+"="+kind), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line := make([]byte, 5)
	if n, err := out.Read(line); err != nil || string(line[:n]) != "open\n" {
		t.Fatalf("%q, %v", line[:n], err)
	}
	return cmd
}

// needRights leaves a test out where an ordinary user may not load programs into the kernel. Root may, and CI is root.
func needRights(t *testing.T) {
	t.Helper()
	if err := Permitted(); errors.Is(err, os.ErrPermission) && os.Geteuid() != 0 {
		t.Skipf("takes root, or CAP_BPF and CAP_PERFMON: %v", err)
	}
}

func mustOpen(t *testing.T) *Session {
	t.Helper()
	needRights(t)
	began := time.Now()
	s, err := Open(true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("attached in %s", time.Since(began))
	return s
}

// self returns a process of this program as a member.
func self(t *testing.T, pid int) Member {
	t.Helper()
	o, known := goversion.Of(runtime.Version())
	if !known {
		t.Fatalf("%s is not known", runtime.Version())
	}
	return Member{PID: pid, Goid: o.Goid, Parent: o.Parent, Start: o.Start}
}

// TestSession: what a process sends and receives is reported, with its goroutine, and nothing
// of what is not the beginning of something, whichever way the kernel shows it.
func TestSession(t *testing.T) {
	t.Run("sockets", func(t *testing.T) {
		s := mustOpen(t)
		if s.Calls {
			t.Fatal("every system call is watched")
		}
		session(t, s)
	})
	t.Run("calls", func(t *testing.T) {
		needRights(t)
		on, err := archOf(runtime.GOARCH)
		if err != nil {
			t.Fatal(err)
		}
		s := &Session{}
		if err := errors.Join(s.create(), s.calls(on)); err != nil {
			t.Fatal(err)
		}
		session(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func session(t *testing.T, s *Session) {
	if err := s.Add(self(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	runtime.GC() // what is not kept is closed by its finalizer
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10_000)
	pass := func(from, to net.Conn, text string) {
		t.Helper()
		if _, err := from.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(text); {
			k, err := to.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			n += k
		}
	}
	pass(c, served, "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
	pass(served, c, "HTTP/1.1 200 OK\r\n\r\n")
	pass(served, c, "the rest of an answer")
	if _, err := (&net.Buffers{[]byte("POST /a HTTP/1.1\r\n"),
		[]byte("Host: y\r\n\r\n")}).WriteTo(c); err != nil { // writev(2)
		t.Fatal(err)
	}
	if _, err := served.Read(b); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), served.Close()); err != nil {
		t.Fatal(err)
	}
	var got []string
	goid := uint64(0)
	n, err := s.Drain(func(e *trace.Event) {
		got = append(got, fmt.Sprintf("%d %.16q", e.Kind, e.Bytes))
		if goid == 0 {
			goid = e.Goid
		}
		if e.PID != os.Getpid() || e.Kind != trace.Replied && (e.Goid == 0 || e.Goid != goid || e.Parent == 0 || e.Start == 0) {
			t.Errorf("%+v", *e)
		}
	})
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		fmt.Sprintf("%d %q", trace.Called, "GET /hello HTTP/"), fmt.Sprintf("%d %q", trace.Read, "GET /hello HTTP/"),
		fmt.Sprintf("%d %q", trace.Answered, "HTTP/1.1 200 OK\r"), fmt.Sprintf("%d %q", trace.Replied,
			"HTTP/1.1 200 OK\r"),
		fmt.Sprintf("%d %q", trace.Called, "POST /a HTTP/1.1"), fmt.Sprintf("%d %q", trace.Read, "POST /a HTTP/1.1"),
		fmt.Sprintf("%d %q", trace.Closed, ""),
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	if strings.Contains(all, "the rest") {
		t.Errorf("the rest of an answer is reported:\n%s", all)
	}
}

// TestPreparedTogether: where the first execution is sent with the preparation, the answers to both are
// reported that come in two readings.
func TestPreparedTogether(t *testing.T) {
	s := mustOpen(t)
	if err := s.Add(self(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	for _, command := range []string{"\x09\x00\x00\x00\x16SELECT ?", "\x05\x00\x00\x00\x17\xff\xff\xff\xff"} {
		if _, err := c.Write([]byte(command)); err != nil {
			t.Fatal(err)
		}
	}
	for _, reply := range []string{"\x01\x00\x00\x01a", "\x01\x00\x00\x01b"} {
		if _, err := served.Write([]byte(reply)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, len(reply))); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	if _, err := s.Drain(func(e *trace.Event) {
		if e.Kind == trace.Replied {
			got = append(got, string(e.Bytes))
		}
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"\x01\x00\x00\x01a", "\x01\x00\x00\x01b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStrangers: of a process that was not added nothing is reported.
func TestStrangers(t *testing.T) {
	s := mustOpen(t)
	if err := s.Add(Member{PID: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET /hello HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Drain(func(e *trace.Event) { t.Errorf("%+v", *e) }); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// TestAnotherConnection: a connection that gets the descriptor of one whose end the kernel does not
// show, of a Unix socket, is another one; and what is only looked at is no more than that.
func TestAnotherConnection(t *testing.T) {
	s := mustOpen(t)
	if err := s.Add(self(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	var fds []int
	b := make([]byte, 100)
	for range 2 {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		fds = append(fds, pair[1])
		if _, err := unix.Write(pair[0], []byte("GET /hello HTTP/1.1\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		for _, flags := range []int{unix.MSG_PEEK, 0} {
			if _, _, err := unix.Recvfrom(pair[1], b, flags); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(unix.Close(pair[0]), unix.Close(pair[1])); err != nil {
			t.Fatal(err)
		}
	}
	if fds[0] != fds[1] {
		t.Fatalf("the connections have the descriptors %d", fds)
	}
	var got []string
	if _, err := s.Drain(func(e *trace.Event) {
		if e.FD == fds[0] {
			got = append(got, fmt.Sprint(e.Kind))
		}
	}); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([]trace.Kind{trace.Read, trace.Closed, trace.Read})
	if fmt.Sprint(got) != want {
		t.Errorf("%v, not %s", got, want)
	}
}

// TestCalledBefore: a connection to another service that was opened just before all began, and whose first
// bytes that are seen are an answer, is no client's of a protocol that is not known.
func TestCalledBefore(t *testing.T) {
	s := mustOpen(t)
	a, b, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	defer b.Close()
	if err := s.Add(self(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	var key uint64
	var keys []uint64
	for i := s.maps.conns.Iterate(); i.Next(&key, new([connSize]byte)); {
		keys = append(keys, key)
	}
	for _, key := range keys { // none had been opened when it was looked for them
		if err := s.maps.conns.Delete(key); err != nil {
			t.Fatal(err)
		}
	}
	buffer := make([]byte, 100)
	for _, text := range []string{"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 404 Not Found\r\n\r\n"} {
		if _, err := b.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Read(buffer); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write([]byte("GET /next HTTP/1.1\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Read(buffer); err != nil {
			t.Fatal(err)
		}
	}
	kinds := map[trace.Kind]int{}
	if _, err := s.Drain(func(e *trace.Event) { kinds[e.Kind]++ }); err != nil {
		t.Fatal(err)
	}
	if kinds[trace.Foreign] != 0 || kinds[trace.Called] != 2 || kinds[trace.Replied] != 1 || kinds[trace.Read] != 2 {
		t.Errorf("%v", kinds)
	}
}

// TestManyMembers: a process is watched also where it is not one of the first.
func TestManyMembers(t *testing.T) {
	s := mustOpen(t)
	for i := range firstMembers {
		if err := s.Add(Member{PID: 1<<30 + i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(self(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	ask := func() (n int) {
		a, b, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Write([]byte("GET /hello HTTP/1.1\r\n\r\n"))
		if err := errors.Join(err, a.Close(), b.Close()); err != nil {
			t.Fatal(err)
		}
		if n, err = s.Drain(func(*trace.Event) {}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := ask(); n == 0 {
		t.Error("nothing is reported")
	}
	for _, pid := range []int{1 << 30, os.Getpid()} {
		if err := s.Remove(pid); err != nil {
			t.Fatal(err)
		}
	}
	if n := ask(); n != 0 {
		t.Errorf("%d events of a process that is not watched any more", n)
	}
	if err := s.Add(self(t, os.Getpid())); err != nil { // it gets the place of another one
		t.Fatal(err)
	}
	if n := ask(); n == 0 || !slices.Contains(s.first[:], os.Getpid()) {
		t.Errorf("%d events, the first are %d", n, s.first)
	}
}

// TestStarts: the programs that a process starts are reported, with the goroutine that did, and those that
// they start; threads are none, and what others start is not reported.
func TestStarts(t *testing.T) {
	s := mustOpen(t)
	if s.NoStarts != nil {
		t.Fatal(s.NoStarts)
	}
	stranger := exec.Command("/bin/sh", "-c", "read line; /bin/true; /bin/true")
	begin, err := stranger.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(self(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(begin.Close(), stranger.Wait()); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { runtime.LockOSThread(); close(done) }() // a thread that ends
	<-done
	if err := exec.Command("/bin/sh", "-c", "/bin/true; /bin/sh -c '/bin/true; true'").Run(); err != nil {
		t.Fatal(err)
	}
	var programs []string
	started := map[int]int{} // process → its parent
	if _, err := s.Drain(func(e *trace.Event) {
		switch e.Kind {
		case trace.Started:
			if started[e.FD] = e.PID; (e.PID == os.Getpid()) != (e.Goid != 0) {
				t.Errorf("of goroutine %d: %+v", e.Goid, *e)
			}
		case trace.Executed:
			if started[e.PID] == 0 {
				t.Errorf("of process %d, whose start is not reported: %q", e.PID, e.Bytes)
			}
			programs = append(programs, string(e.Bytes))
		}
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"/bin/sh\x00", "/bin/true\x00", "/bin/sh\x00", "/bin/true\x00"}
	if !slices.Equal(programs, want) || started[stranger.Process.Pid] != 0 {
		t.Errorf("%q, not %q; %v", programs, want, started)
	}
	for pid, parent := range started {
		if parent == stranger.Process.Pid {
			t.Errorf("what a stranger started is reported: %d", pid)
		}
	}
}

// ours returns the names of the programs and links in the kernel that are kasoku's, of the
// process that loaded them.
func ours(t *testing.T) (out []string) {
	t.Helper()
	needRights(t)
	id := ebpf.ProgramID(0)
	for {
		next, err := ebpf.ProgramGetNextID(id)
		if errors.Is(err, os.ErrNotExist) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		id = next
		p, err := ebpf.NewProgramFromID(id)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		info, err := p.Info()
		if err := errors.Join(err, p.Close()); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(info.Name, "kasoku_") {
			out = append(out, fmt.Sprintf("%s %d", info.Name, id))
		}
	}
}

// TestNothingLeft: a process that is killed leaves nothing in the kernel.
func TestNothingLeft(t *testing.T) {
	before := map[string]bool{} // of others that trace on this host
	for _, p := range ours(t) {
		before[p] = true
	}
	cmd := start(t, "session")
	var loaded []string
	for _, p := range ours(t) {
		if !before[p] {
			loaded = append(loaded, p)
		}
	}
	if len(loaded) < 2 {
		t.Fatalf("%q are loaded", loaded)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) { // the kernel frees them after a grace period
		now := strings.Join(ours(t), ", ")
		left := 0
		for _, p := range loaded {
			if strings.Contains(now+",", p+",") {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %q are left", left, loaded)
		}
	}
}

// TestOtherProcessor: the programs for the other processor are whole, and the kernel's
// verifier, which knows no processor, takes them.
func TestOtherProcessor(t *testing.T) {
	needRights(t)
	var m sharedMaps
	if err := m.create(); err != nil {
		t.Fatal(err)
	}
	types, err := readKernelTypes()
	if err != nil {
		t.Fatal(err)
	}
	fields, err := types.startFields()
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range archs {
		for _, p := range slices.Concat(ofCalls(a, &m), ofSockets(a, &m), ofDisks(a, &m, filesystems), ofStarts(a, &m, fields)) {
			program, err := ebpf.NewProgram(p.spec())
			if err != nil {
				t.Errorf("%s: %s: %+v", name, p.name, err)
				continue
			}
			_ = program.Close()
		}
	}
	if _, err := archOf("riscv64"); err == nil {
		t.Error("riscv64 is taken")
	}
}

// hostile sends garbage and huge packets that look like what is read, from 20,000 goroutines.
func hostile() {
	fmt.Println("open")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	for i := range 200 {
		go func() {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return
			}
			big := make([]byte, 1<<20)
			copy(big, "\xff\xff\x0f\x00\x03SELECT ")
			if i%2 == 0 {
				copy(big, "GET /")
			}
			for {
				if _, err := c.Write(big); err != nil {
					return
				}
			}
		}()
		c, err := l.Accept()
		if err != nil {
			return
		}
		for range 100 { // all read from one connection
			go func() {
				b := make([]byte, 512)
				for {
					if _, err := c.Read(b); err != nil {
						return
					}
					_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\n"))
				}
			}()
		}
	}
	select {}
}

// TestHostileProcess: a process that floods the ring loses its own events; what is kept is
// bounded by the ring.
func TestHostileProcess(t *testing.T) {
	s := mustOpen(t)
	cmd := start(t, "hostile")
	if err := s.Add(self(t, cmd.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		k, err := s.Drain(func(e *trace.Event) {
			if len(e.Bytes) > mostText || e.PID != cmd.Process.Pid {
				t.Errorf("%d bytes of %d", len(e.Bytes), e.PID)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	lacks, err := s.Lacks()
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	t.Logf("%d events, %+v", n, lacks)
}

// TestLost: each event for which the ring has no room is counted, and no other one.
func TestLost(t *testing.T) {
	s := mustOpen(t)
	if err := s.Add(self(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	a, b, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	defer b.Close()
	const statements, each = 3 * ringBytes / mostText, mostText - 100
	text := make([]byte, 4+each)
	copy(text, []byte{each & 0xff, each >> 8, 0, 0, 3})
	go func() { _, _ = io.Copy(io.Discard, b) }()
	for range statements {
		if _, err := a.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	lacks, err := s.Lacks()
	if err != nil {
		t.Fatal(err)
	}
	asked := uint64(0)
	if _, err := s.Drain(func(e *trace.Event) {
		if e.Kind == trace.Asked {
			asked++
		}
	}); err != nil {
		t.Fatal(err)
	}
	if asked == 0 || lacks.Lost == 0 || asked+lacks.Lost != statements {
		t.Errorf("%d of %d statements are reported, %d are counted as lost", asked, statements, lacks.Lost)
	}
}

// TestRemove: a process that is not watched any more reports nothing; and more connections than can be
// followed are counted, and the process is watched all the same.
func TestRemove(t *testing.T) {
	s := mustOpen(t)
	if err := s.maps.conns.Close(); err != nil {
		t.Fatal(err)
	}
	small, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: connSize, MaxEntries: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.maps.conns = small
	var conns []net.Conn
	for range 4 {
		a, b, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, a, b)
	}
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	m := self(t, os.Getpid())
	if err := s.Add(m); err != nil {
		t.Error(err)
	}
	if lacks, err := s.Lacks(); err != nil || lacks.Unknown == 0 {
		t.Errorf("%+v, %v", lacks, err)
	}
	for range 2 {
		if err := s.Remove(m.PID); err != nil {
			t.Error(err)
		}
	}
	var value [3]uint32
	if err := s.maps.members.Lookup(uint32(m.PID), &value); !errors.Is(err, ebpf.ErrKeyNotExist) {
		t.Error(err)
	}
}

// TestDetach: what was reported before the watching ends is read afterwards; what came later, while one point
// after another is let go, is not.
func TestDetach(t *testing.T) {
	s := mustOpen(t)
	if err := s.Add(self(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(unix.Close(pair[0]), unix.Close(pair[1])) }()
	ask := func(path string) {
		t.Helper()
		if _, err := unix.Write(pair[0], []byte("GET "+path+" HTTP/1.1\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Read(pair[1], make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (got string) {
		t.Helper()
		if _, err := s.Drain(func(e *trace.Event) {
			if e.Kind == trace.Read && e.FD == pair[1] {
				got += string(e.Bytes[:len("GET /x")])
			}
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	ask("/1")
	if err := s.Detach(); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != "GET /1" {
		t.Errorf("before: %q", got)
	}
	on, err := archOf(runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.attach(load(ofSockets(on, &s.maps), nil)); err != nil { // as if they were not let go yet
		t.Fatal(err)
	}
	ask("/2")
	if got := read(); got != "" {
		t.Errorf("afterwards: %q", got)
	}
	s.detached = 0
	ask("/3")
	if got := read(); got != "GET /3" {
		t.Errorf("without an end: %q", got)
	}
}

// socketPair returns two ends of a connection.
func socketPair() (a, b net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	b, err = l.Accept()
	return a, b, err
}
