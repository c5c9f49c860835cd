package scan

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func take(t testing.TB) *Snapshot {
	t.Helper()
	s, err := Take(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pick returns the only socket that fits.
func pick(t *testing.T, s *Snapshot, what string, fits func(*Socket) bool) *Socket {
	t.Helper()
	var out *Socket
	for i := range s.Sockets {
		if k := &s.Sockets[i]; fits(k) {
			if out != nil {
				t.Fatalf("%s: two sockets, %+v and %+v", what, out, k)
			}
			out = k
		}
	}
	if out == nil {
		t.Fatalf("%s: no socket of %d", what, len(s.Sockets))
	}
	return out
}

// TestTake: this process's own listeners and connections, both ends of each.
func TestTake(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	path := filepath.Join(t.TempDir(), "s.sock")
	local, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	log, err := os.Create(filepath.Join(t.TempDir(), "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, l := range []net.Listener{tcp, local} {
		client, err := net.Dial(l.Addr().Network(), l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
	}
	s := take(t)
	own := func(k *Socket) bool { return slices.Contains(k.Owners, os.Getpid()) }
	at := netip.MustParseAddrPort(tcp.Addr().String())
	l := pick(t, s, "TCP listener", func(k *Socket) bool { return k.State == Listening && k.Local == at && own(k) })
	if l.NetNS != s.NetNS || l.NetNS == 0 {
		t.Errorf("listener %+v", l)
	}
	c := pick(t, s, "TCP client", func(k *Socket) bool { return k.State == Established && k.Remote == at && own(k) })
	e := pick(t, s, "TCP server", func(k *Socket) bool { return k.State == Established && k.Local == at && k.Remote == c.Local })
	if !own(e) || c.Idle < 0 || c.Idle > time.Minute {
		t.Errorf("server end %+v, client %+v", e, c)
	}
	pick(t, s, "Unix listener", func(k *Socket) bool { return k.State == Listening && k.Path == path && own(k) })
	ue := pick(t, s, "Unix server", func(k *Socket) bool { return k.State == Established && k.Path == path && own(k) })
	pick(t, s, "Unix client", func(k *Socket) bool { return k.Inode == ue.Peer && k.Peer == ue.Inode && own(k) && k.Path == "" })
	i := slices.IndexFunc(s.Processes, func(p Process) bool { return p.PID == os.Getpid() })
	if i < 0 {
		t.Fatal("this process is not there")
	}
	p := s.Processes[i]
	exe, _ := os.Executable()
	if p.Exe != exe || p.Parent != os.Getppid() || p.NetNS != s.NetNS || p.UID != os.Geteuid() || p.Elsewhere || p.Start == 0 {
		t.Errorf("this process: %+v", p)
	}
	if !slices.Contains(p.Logs, log.Name()) {
		t.Errorf("logs %v", p.Logs)
	}
	if s.Took > 2*time.Second {
		t.Errorf("took %s", s.Took)
	}
}

// TestEffectiveUser: the owner of a process's directory is the effective user that its file
// status has, of every process of this host.
func TestEffectiveUser(t *testing.T) {
	files, err := filepath.Glob("/proc/[1-9]*/status")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	user := func(file string) int {
		dir, err := openDir(unix.AT_FDCWD, filepath.Dir(file))
		if err != nil {
			return -1 // it has ended
		}
		defer func() { _ = unix.Close(dir) }()
		return effectiveUser(dir)
	}
	for _, file := range files {
		before := user(file)
		text, _ := os.ReadFile(file) // it may have ended
		_, rest, found := strings.Cut(string(text), "\nUid:")
		fields := strings.Fields(rest)
		if after := user(file); before != after || after < 0 || !found || len(fields) < 2 {
			continue
		}
		if fields[1] != strconv.Itoa(before) {
			t.Errorf("%s: %d, want %s", file, before, fields[1])
		}
	}
}

// TestTakeNothing: without /proc there is no snapshot.
func TestTakeNothing(t *testing.T) {
	if s, err := Take(t.Context(), Options{Proc: t.TempDir() + "/none"}); s != nil || err == nil {
		t.Errorf("%v, %v", s, err)
	}
}

func TestParseStat(t *testing.T) {
	f := func(text string, want Process, ok bool) {
		t.Helper()
		p, got := parseStat([]byte(text))
		if got != ok || ok && (p.PID != want.PID || p.Parent != want.Parent || p.Name != want.Name || p.Threads != want.Threads || p.Start != want.Start) {
			t.Errorf("%q: %+v, %v", text, p, got)
		}
	}
	tail := " 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 9 0 1234 1 1"
	f("12 (a) b) S 3"+tail, Process{PID: 12, Parent: 3, Name: "a) b", Threads: 9, Start: 1234}, true)
	f("12 (x) Z 3"+tail, Process{}, false)
	f("12 (kworker) S 2 0 0 0 -1 2129984 1 2 3 4 5 6 7 8 20 0 1 0 5 1 1", Process{}, false)
	f("12 (x) S", Process{}, false)
	f("", Process{}, false)
	f(") (", Process{}, false)
}

func TestParseTables(t *testing.T) {
	var got []Socket
	each := func(s Socket) { got = append(got, s) }
	parseTCP([]byte("  sl  local_address\n 0: 0100007F:0CEA 00000000:0000 0A 0:0 0:0 0 109 0 23456 1\n"+
		" 1: 0100007F:0CEA 0100007F:9C40 01 0:0 0:0 0 109 0 23457 1\n 2: 0100007F:0CEA 0100007F:9C41 06 0:0 0:0 0 109 0 0 1\nbad\n"), each)
	parseTCP([]byte(" 0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 5 1\n"), each)
	parseUnix([]byte("Num RefCount\n0: 00000002 00000000 00010000 0001 01 120 /run/a.sock\n0: 3 0 0 1 3 121 /run/a.sock\n"+
		"0: 00000002 00000000 00010000 0001 01 122 /run/b.sock\n0: 00000002 00000000 00010000 0001 01 122 /tmp/forged.sock\n"), each)
	if len(got) != 4 || got[0].Local.String() != "127.0.0.1:3306" || got[1].Remote.Port() != 40000 || !got[2].Both ||
		got[3].Path != "/run/a.sock" || got[3].Inode != 120 {
		t.Errorf("got %+v", got)
	}
}

// FuzzAnswers: no panic, whatever the kernel answers or its files hold.
func FuzzAnswers(f *testing.F) {
	f.Add(make([]byte, 100))
	f.Add([]byte("12 (a) b) S 3 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 9 0 1234 1 1"))
	f.Add([]byte("0::/system.slice/nginx.service\n"))
	f.Add([]byte(" 0: 0100007F:0CEA 00000000:0000 0A 0:0 0:0 0 109 0 23456 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		readTCP(b)
		readUnix(b)
		parseStat(b)
		parseCgroup(b)
		socketInode(b)
		parseTCP(b, func(Socket) {})
		parseUnix(b, func(Socket) {})
		d := dump{seq: 0}
		_, _ = d.answers(b, func(body []byte) { readTCP(body); readUnix(body) })
	})
}

func BenchmarkTake(b *testing.B) {
	for b.Loop() {
		s := take(b)
		b.ReportMetric(float64(len(s.Processes)), "processes")
		b.ReportMetric(float64(len(s.Sockets)), "sockets")
	}
}

// TestAgain: sockets that came since are there, with their holder; those that went are of the
// past.
func TestAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	snap, err := Take(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := func(s *Snapshot, at string) (found, past bool) {
		for _, k := range s.Sockets {
			if k.State == Established && k.Remote.String() == l.Addr().String() && k.Local.String() == at &&
				slices.Contains(k.Owners, os.Getpid()) {
				return true, k.Past
			}
		}
		return false, false
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	at := c.LocalAddr().String()
	if found, _ := state(snap, at); found {
		t.Error("it is there before it came")
	}
	snap = Again(t.Context(), snap, []int{os.Getpid()})
	if found, past := state(snap, at); !found || past {
		t.Errorf("found %v, past %v", found, past)
	}
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = served.Close(), c.Close()
	snap = Again(t.Context(), snap, []int{os.Getpid()})
	if found, past := state(snap, at); !found || !past {
		t.Errorf("gone: found %v, past %v", found, past)
	}
	i := slices.IndexFunc(snap.Sockets, func(k Socket) bool {
		return k.State == Listening && k.Local.String() == l.Addr().String()
	})
	if i < 0 || !slices.Contains(snap.Sockets[i].Owners, os.Getpid()) {
		t.Error("the listener has gone")
	}
}

// TestAgain_Owners: who holds a socket is named once, however often it is looked at.
func TestAgain_Owners(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	snap, err := Take(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(snap.Sockets, func(k Socket) bool { return k.Local.String() == l.Addr().String() })
	others := []int{os.Getpid(), 1 << 30}
	snap.Sockets[i].Owners = others // as a child has it that inherited the listener
	for range 2 {
		snap = Again(t.Context(), snap, []int{os.Getpid()})
	}
	i = slices.IndexFunc(snap.Sockets, func(k Socket) bool { return k.Local.String() == l.Addr().String() })
	if i < 0 || !slices.Equal(snap.Sockets[i].Owners, others) {
		t.Errorf("owners %v, want %v", snap.Sockets[i].Owners, others)
	}
}

// TestSpace_Gone: of a process that has gone no sockets are read, and that is reported.
func TestSpace_Gone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // elsewhere in its network there may be no socket at all
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	snap := &Snapshot{NetNS: 1}
	tk := &taker{ctx: t.Context(), proc: "/proc", out: snap}
	if tk.space(2, 1<<30) {
		t.Error("the sockets of a process that has gone were read")
	}
	if !tk.space(1, os.Getpid()) || len(snap.Sockets) == 0 {
		t.Error("its own were not")
	}
}
