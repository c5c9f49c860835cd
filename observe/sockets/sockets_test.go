package sockets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/observetest"
)

func open(t testing.TB, o Options) *Source {
	t.Helper()
	s := New(o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func collect(t testing.TB, s *Source) *kasoku.Frame {
	t.Helper()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

func find(f *kasoku.Frame, name, instance string) *kasoku.Sample {
	for i := range f.Samples {
		if s := &f.Samples[i]; s.Name == name && strings.HasPrefix(s.Instance, instance) {
			return s
		}
	}
	return nil
}

// listenTCP listens with a small backlog and accepts nothing.
func listenTCP(t *testing.T, backlog int) (port int) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return name.(*unix.SockaddrInet4).Port
}

// everything has room for all that a busy machine has.
const everything = 1 << 20

// Queues of real listeners are seen: of TCP, and of one with a path, also on a machine
// with more listeners than are recorded by default.
func TestAcceptQueues(t *testing.T) {
	for range maxListeners {
		listenTCP(t, 1)
	}
	port := listenTCP(t, 2)
	address := "127.0.0.1:" + strconv.Itoa(port)
	for range 3 { // a queue of 2 takes 3
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	owner := " " + strings.TrimSpace(string(comm))

	s := open(t, Options{MaxListeners: everything})
	frame := collect(t, s)
	f := func(name, instance string, want float64) {
		t.Helper()
		got := find(frame, name, instance)
		if got == nil || got.Value != want || got.Kind != kasoku.Gauge {
			t.Fatalf("%s %q = %+v, want %v", name, instance, got, want)
		}
	}
	f("accept.queue", address+owner, 3)
	f("accept.limit", address+owner, 2)
	f("accept.queue", path+owner, 0)
	if got := find(frame, "accept.limit", path+owner); got == nil || got.Value < 1 {
		t.Fatalf("%+v", got)
	}
	if got := find(frame, "accept.drops", address+owner); got == nil || got.Value != 0 || got.Kind != kasoku.Counter {
		t.Fatalf("%+v", got)
	}
	if len(s.Warnings()) != 0 && os.Geteuid() == 0 {
		t.Fatal(s.Warnings())
	}

	shareOnePort(t)
	frame = collect(t, open(t, Options{MaxListeners: everything}))
	observetest.Sampled(t, &Declared, slices.Concat(frame.Samples, connectedSamples(t)), nil)

	// From files, without limits.
	frame = collect(t, open(t, Options{NoNetlink: true, MaxListeners: everything}))
	f("accept.queue", address+owner, 3)
	if find(frame, "accept.limit", address) != nil {
		t.Fatal("a limit that no file has")
	}
}

// shareOnePort listens twice on one port.
func shareOnePort(t *testing.T) {
	t.Helper()
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		if e := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) }); e != nil {
			return e
		}
		return err
	}}
	address := "127.0.0.1:0"
	for range 2 {
		l, err := config.Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() }) // nothing came
		address = l.Addr().String()
	}
}

// connectedSamples samples as many connections of this machine as are counted.
func connectedSamples(t *testing.T) []kasoku.Sample {
	t.Helper()
	address := "127.0.0.1:" + strconv.Itoa(listenTCP(t, 100))
	for range fewest {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() }) // nothing was sent
	}
	return collect(t, open(t, Options{MaxPorts: everything})).Samples
}

// Connections are counted by the port that was called, on either side.
func TestConnectionsByPort(t *testing.T) {
	port := strconv.Itoa(listenTCP(t, 100))
	for range fewest {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	for _, o := range []Options{{MaxPorts: everything}, {MaxPorts: everything, NoNetlink: true}} {
		s := open(t, o)
		now := time.Unix(1000, 0)
		s.now = func() time.Time { return now }
		frame := collect(t, s)
		for _, instance := range []string{"to " + port, "at " + port} {
			if got := find(frame, "tcp.established", instance); got == nil || got.Value != fewest || got.Instance != instance {
				t.Fatalf("%s: %+v", instance, got)
			}
			if got := find(frame, "tcp.time_wait", instance); got == nil || got.Value != 0 {
				t.Fatalf("%s: %+v", instance, got)
			}
		}
		if find(frame, "ports.range", "") == nil {
			text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
			t.Fatalf("no range of ports in %d values; the file has %q, %v", len(frame.Samples), text, err)
		}
		now = now.Add(time.Second)
		if find(collect(t, s), "tcp.established", "to "+port) != nil {
			t.Fatal("all connections were asked for again after a second")
		}
		now = now.Add(tableLatest)
		if find(collect(t, s), "tcp.established", "to "+port) == nil {
			t.Fatal("a port is forgotten")
		}
	}
}

func TestNeitherNetlinkNorFiles(t *testing.T) {
	s := open(t, Options{Proc: t.TempDir(), NoNetlink: true})
	var f kasoku.Frame
	err := s.Collect(t.Context(), &f)
	h, ok := err.(interface{ Hint() string })
	if !ok || h.Hint() == "" || !strings.Contains(err.Error(), "net/tcp") {
		t.Fatal(err)
	}
}

// A listener that is gone makes room for another one.
func TestManyListeners(t *testing.T) {
	s := open(t, Options{NoNetlink: true})
	add := func(port uint16) {
		s.listens(&socket{state: listen, local: address{port: port}, inode: uint32(port)})
	}
	s.tick = 1
	for port := range uint16(maxListeners + 5) {
		add(port + 1)
	}
	if len(s.order) != maxListeners || len(s.Warnings()) != 1 {
		t.Fatal(len(s.order), s.Warnings())
	}
	s.tick = 3
	add(9999)
	if len(s.order) != 1 || len(s.tcp) != 1 {
		t.Fatal(len(s.order), len(s.tcp))
	}
}

// Sockets with one address are one listener; the fullest one counts.
// TestListenersOfOneUser: who may listen does not hide the listeners of others by many of
// his own, as a user other than root. Root's own are not held against each other.
func TestListenersOfOneUser(t *testing.T) {
	f := func(want string, users ...uint32) {
		t.Helper()
		s := New(Options{NoNetlink: true, MaxListeners: 8})
		for range 3 {
			s.tick++
			for i, u := range users {
				s.listens(&socket{state: listen, user: u, local: address{port: uint16(i)}})
			}
		}
		var got []string
		for _, l := range s.order {
			got = append(got, fmt.Sprint(l.user))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("of %v: %s, want %s", users, text, want)
		}
		if n := len(s.tcp); n != len(s.order) {
			t.Errorf("%d addresses of %d listeners", n, len(s.order))
		}
	}
	f("7 7 7", 7, 7, 7)
	f("7 7 7 7 7 7 7 7", 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)
	f("7 7 7 7 0 0 33 106", 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 0, 33, 106)
	f("7 7 7 7 7 7 0 33", 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 7, 33)
	f("7 7 7 7 0 33 1 2", 7, 7, 7, 7, 7, 7, 7, 7, 0, 33, 1, 2, 3)
	f("0 0 0 0 0 0 0 0", 0, 0, 0, 0, 0, 0, 0, 0, 7)
}

// TestListenersOfUsers: the kernel and its files say who made a listener.
func TestListenersOfUsers(t *testing.T) {
	var plain net.ListenConfig
	plain.SetMultipathTCP(false) // one of several paths keeps its first user
	l, err := plain.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := filepath.Join(t.TempDir(), "s")
	u, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	user := os.Getuid()
	if user == 0 {
		user = 4711
		give(t, l.(*net.TCPListener), user)
		give(t, u.(*net.UnixListener), user)
	}
	for _, files := range []bool{false, true} {
		s := open(t, Options{NoNetlink: files, MaxListeners: everything})
		collect(t, s)
		found := 0
		for _, x := range s.order {
			if x.address == l.Addr().String() || x.address == path {
				found++
				if x.user != uint32(user) {
					t.Errorf("%s is of user %d, want %d", x.address, x.user, user)
				}
			}
		}
		if found == 0 {
			t.Error("the listeners are not there")
		}
	}
}

// give makes another user the maker of a socket.
func give(t *testing.T, l syscall.Conn, user int) {
	t.Helper()
	raw, err := l.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = unix.Fchown(int(fd), user, -1) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestReusedPort(t *testing.T) {
	s := open(t, Options{NoNetlink: true})
	s.tick = 1
	at := address{port: 80}
	s.listens(&socket{state: listen, local: at, queue: 1, limit: 10, drops: 2, hasLimit: true, hasDrops: true, inode: 5})
	s.listens(&socket{state: listen, local: at, queue: 7, limit: 20, drops: 3, hasLimit: true, hasDrops: true, inode: 6})
	var frame kasoku.Frame
	s.order[0].emit(&frame)
	for name, want := range map[string]float64{"accept.queue": 7, "accept.limit": 20, "accept.sockets": 2, "accept.drops": 5} {
		if got := find(&frame, name, "0.0.0.0:80"); got == nil || got.Value != want {
			t.Fatalf("%s = %+v, want %v", name, got, want)
		}
	}
}

// A socket that goes takes no drops from the sum; a new first one has another owner.
func TestReusedPortChanges(t *testing.T) {
	s := open(t, Options{NoNetlink: true})
	f := func(want float64, sockets ...socket) {
		t.Helper()
		s.tick++
		for _, k := range sockets {
			k.state, k.local, k.hasDrops = listen, address{port: 80}, true
			s.listens(&k)
		}
		var frame kasoku.Frame
		s.order[0].emit(&frame)
		if got := find(&frame, "accept.drops", "0.0.0.0:80"); got == nil || got.Value != want {
			t.Fatalf("%+v, want %v", got, want)
		}
	}
	f(5, socket{inode: 5, drops: 2}, socket{inode: 6, drops: 3})
	s.order[0].owned, s.order[0].instance = true, "0.0.0.0:80 nginx"
	f(6, socket{inode: 5, drops: 2}, socket{inode: 6, drops: 4})
	if s.order[0].instance != "0.0.0.0:80 nginx" {
		t.Fatal(s.order[0].instance)
	}
	f(6, socket{inode: 6, drops: 4})
	if l := s.order[0]; l.instance != "0.0.0.0:80" || l.owned {
		t.Fatal(l.instance)
	}
	f(8, socket{inode: 6, drops: 6})
}

// A dump that fails says so in its last message.
func TestDumpFails(t *testing.T) {
	for code, want := range map[int32]error{0: nil, -int32(unix.ENOENT): unix.ENOENT} {
		b := make([]byte, headBytes+4)
		binary.NativeEndian.PutUint32(b, uint32(len(b)))
		binary.NativeEndian.PutUint16(b[4:], unix.NLMSG_DONE)
		binary.NativeEndian.PutUint32(b[headBytes:], uint32(code))
		var d diag
		if done, err := d.answers(b, func(*socket) {}); !done || !errors.Is(err, want) {
			t.Errorf("%d: %t, %v", code, done, err)
		}
	}
}

func TestParseTable(t *testing.T) {
	const text = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000003 00:00000000 00000000   109        0 23456 1 0000000000000000 100 0 0 10 0
   1: 0100007F:0CEA 0100007F:D431 06 00000000:00000000 03:00000F5C 00000000     0        0 0 3 0000000000000000
`
	var got []socket
	if err := parseTable([]byte(text), listening|connected, func(k *socket) { got = append(got, *k) }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].local.String() != "127.0.0.1:3306" || got[0].queue != 3 || got[0].inode != 23456 || got[0].state != listen ||
		got[1].peer != 0xD431 || got[1].state != timeWait {
		t.Fatalf("%+v", got)
	}
	for _, bad := range []string{"x\n0: 1:1 1:1 0A 0:0 0 0 0 0\n", "x\n rubbish\n", "x\n0: 0100007F:10000 00000000:0000 0A 0:0 00:0 0 0 0 5\n"} {
		if err := parseTable([]byte(bad), listening, func(*socket) {}); err == nil {
			t.Fatalf("no error for %q", bad)
		}
	}
}

func TestSocketInode(t *testing.T) {
	f := func(link string, want uint32, wantOK bool) {
		t.Helper()
		if n, ok := socketInode([]byte(link)); n != want && ok || ok != wantOK {
			t.Fatalf("socketInode(%q) = %d, %t", link, n, ok)
		}
	}
	f("socket:[23456]", 23456, true)
	f("socket:[", 0, false)
	f("socket:[0]", 0, false)
	f("socket:[99999999999]", 0, false)
	f("pipe:[12]", 0, false)
}

// FuzzAnswers feeds what reads the kernel's answers with anything.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte{20, 0, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "0100007F:0CEA")
	f.Add(append([]byte{100, 0, 0, 0, 18, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 10}, make([]byte, 82)...), "00000000000000000000000000000000:0050")
	f.Add(append([]byte{36, 0, 0, 0, 20, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 10}, make([]byte, 17)...), "")
	f.Fuzz(func(t *testing.T, block []byte, word string) {
		var d diag
		reported := 0
		_, _ = d.answers(block, func(k *socket) {
			reported++
			_ = k.local.String()
			if len(k.name) > 0 {
				_ = pathOf(k.name)
			}
		})
		if reported > len(block)/headBytes {
			t.Fatalf("%d sockets of %d bytes", reported, len(block))
		}
		if a, ok := parseAddress([]byte(word)); ok && a.String() == "" {
			t.Fatal(word)
		}
		_ = parseTable(block, listening|connected, func(*socket) {})
		_, _ = socketInode(block)
	})
}

// TestRangeAfterLongTable: the range of ports is read whatever the tables of connections
// were before; the kernel reads no sysctl into a buffer as long as theirs may be.
func TestRangeAfterLongTable(t *testing.T) {
	s := open(t, Options{MaxPorts: everything, NoNetlink: true})
	s.buf = make([]byte, 8<<20)
	if find(collect(t, s), "ports.range", "") == nil {
		t.Error("no range of ports")
	}
}
