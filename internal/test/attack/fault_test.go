package attack

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// A fault is an interposed store: the kernel hands the system calls of a kasoku and of
// all that it starts to this test (seccomp_unotify(2)), which lets them through or
// answers them with an error. The program is the real one, and knows nothing of it.
type fault struct {
	dir   string         // files below it are meant
	calls []uint32       // those of fileCalls that are meant
	errno unix.Errno     // the answer
	fails func(int) bool // does the n-th call fail, from 0 on; nil: none does
	met   atomic.Int64   // calls that were meant
	hit   atomic.Int64   // calls that failed

	mu       sync.Mutex // guards the fields below
	log      []string   // what failed first
	connects []string   // where connections were made to: a port, or the path of a socket
}

// fileCalls are those that a fault can answer. The first argument is a file's number.
var fileCalls = map[string]uint32{
	"read": unix.SYS_READ, "pread": unix.SYS_PREAD64, "write": unix.SYS_WRITE, "pwrite": unix.SYS_PWRITE64,
	"fsync": unix.SYS_FSYNC, "fdatasync": unix.SYS_FDATASYNC, "ftruncate": unix.SYS_FTRUNCATE,
}

var (
	reads  = []uint32{unix.SYS_READ, unix.SYS_PREAD64}
	writes = []uint32{unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FTRUNCATE}
)

// notification and answer are struct seccomp_notif and seccomp_notif_resp, see
// seccomp_unotify(2).
type notification struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type notifyAnswer struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// beFaulty asks the kernel for the calls, hands the notifications over and becomes the
// program that its arguments name.
func beFaulty() {
	runtime.LockOSThread() // the filter is this thread's, and of the program that it becomes
	err := func() error {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		code := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the call
		for _, nr := range append(slices.Collect(maps.Values(fileCalls)), unix.SYS_CONNECT) {
			code = append(code,
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jf: 1},
				unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
		}
		code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
		filter := &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
		fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
			unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(filter)))
		if errno != 0 {
			return errno
		}
		if err := unix.Sendmsg(3, []byte{1}, unix.UnixRights(int(fd)), nil, 0); err != nil {
			return err
		}
		_ = unix.Close(int(fd))
		_ = unix.Close(3)
		return unix.Exec(os.Args[1], os.Args[1:], withoutHelper(os.Environ()))
	}()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(cannotAsk)
}

// cannotAsk is the exit code where the kernel hands no calls over.
const cannotAsk = 99

func withoutHelper(env []string) (out []string) {
	for _, e := range env {
		if !strings.HasPrefix(e, helperEnv+"=") {
			out = append(out, e)
		}
	}
	return out
}

// startFaulty starts a kasoku whose calls a fault answers.
func (w *world) startFaulty(f *fault, args ...string) *proc {
	w.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		w.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	there := os.NewFile(uintptr(pair[1]), "there")
	how := invocation{wrap: []string{self}, env: []string{helperEnv + "=faulty"}, files: []*os.File{there}}
	p := w.startAs(how, args...)
	_ = there.Close()
	defer func() { _ = unix.Close(pair[0]) }()
	_ = unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: int64(patience.Seconds())})
	var one [1]byte
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], one[:], rights, unix.MSG_CMSG_CLOEXEC)
	for err == unix.EINTR {
		_, n, _, _, err = unix.Recvmsg(pair[0], one[:], rights, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil || n == 0 {
		if p.wait(patience) == cannotAsk {
			w.Skipf("no notification of system calls here: %s", p.printed())
		}
		w.Fatalf("no notification of system calls comes: %v %s", err, p.printed())
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		w.Fatal(err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		w.Fatal(err)
	}
	go f.serve(fds[0])
	return p
}

// serve answers until no process is left that asks.
func (f *fault) serve(fd int) {
	defer func() { _ = unix.Close(fd) }()
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err == unix.EINTR {
			continue
		} else if err != nil || poll[0].Revents&unix.POLLIN == 0 {
			return // POLLHUP
		}
		var n notification
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n)))
		if errno != 0 {
			continue // it was killed meanwhile
		}
		a := notifyAnswer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if errno := f.answer(&n); errno != 0 {
			a.flags, a.errno = 0, -int32(errno)
		}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
	}
}

// answer returns the error of a call, 0 when it goes through.
func (f *fault) answer(n *notification) unix.Errno {
	if n.nr == unix.SYS_CONNECT {
		f.noteConnect(n)
		return 0
	}
	meant := false
	for _, nr := range f.calls {
		meant = meant || nr == uint32(n.nr)
	}
	if !meant || f.fails == nil {
		return 0
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.pid, n.args[0]))
	if err != nil || !strings.HasPrefix(path, f.dir) {
		return 0
	}
	if !f.fails(int(f.met.Add(1) - 1)) {
		return 0
	}
	if f.hit.Add(1) <= 3 {
		f.mu.Lock()
		f.log = append(f.log, fmt.Sprintf("call %d of %s", n.nr, filepath.Base(path)))
		f.mu.Unlock()
	}
	return f.errno
}

// noteConnect keeps where a connection is made to: connect(2), ip(7), unix(7).
func (f *fault) noteConnect(n *notification) {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", n.pid))
	if err != nil {
		return // it was killed meanwhile
	}
	defer memory.Close()
	address := make([]byte, min(n.args[2], unix.SizeofSockaddrUnix))
	if _, err := memory.ReadAt(address, int64(n.args[1])); err != nil || len(address) < 4 {
		return
	}
	to := ""
	switch binary.NativeEndian.Uint16(address) {
	case unix.AF_INET, unix.AF_INET6:
		to = fmt.Sprint(binary.BigEndian.Uint16(address[2:]))
	case unix.AF_UNIX:
		to = strings.TrimRight(string(address[2:]), "\x00")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.connects = append(f.connects, to)
}

func (f *fault) connectedTo() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.connects)
}

func (f *fault) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprintf("%d of %d calls failed, first %s", f.hit.Load(), f.met.Load(), strings.Join(f.log, ", "))
}

// faults are what a disk does, at the beginning of a run, or in the middle of it. A disk
// that has failed answers no call any more; one that fails once goes on afterwards.
//
// An interrupted fsync is a fault of its own: the system repeats it (signal(7),
// SA_RESTART), but for some network file systems; SQLite does not, and ends the run.
func faults(r *rand.Rand, dir string) map[string]*fault {
	from := func(least, most int) func(int) bool {
		n := least + r.IntN(most-least)
		return func(i int) bool { return i >= n }
	}
	once := func(least, most int) func(int) bool {
		n := least + r.IntN(most-least)
		return func(i int) bool { return i == n }
	}
	seldom := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
	oneInFour := func(int) bool { return seldom.IntN(4) == 0 }
	work, state := filepath.Join(dir, "work"), filepath.Join(dir, "state")
	return map[string]*fault{
		"EIO run, early":       {dir: work, calls: writes, errno: unix.EIO, fails: from(0, begun)},
		"EIO run":              {dir: work, calls: writes, errno: unix.EIO, fails: from(begun, 3*begun)},
		"EIO run, once, early": {dir: work, calls: writes, errno: unix.EIO, fails: once(0, begun)},
		"EIO run, once":        {dir: work, calls: writes, errno: unix.EIO, fails: once(begun, 3*begun)},
		"EIO run, reads":       {dir: work, calls: reads, errno: unix.EIO, fails: from(0, 100)},
		"EIO journal":          {dir: state, calls: writes, errno: unix.EIO, fails: from(0, 8)},
		"EIO journal, once":    {dir: state, calls: writes, errno: unix.EIO, fails: once(0, 8)},
		"EDQUOT run":           {dir: work, calls: writes, errno: unix.EDQUOT, fails: from(0, 3*begun)},
		"EINTR":                {dir: dir, calls: append(reads[:2:2], writes[:2]...), errno: unix.EINTR, fails: oneInFour},
		"EINTR fsync":          {dir: dir, calls: writes[2:4], errno: unix.EINTR, fails: once(0, begun/4)},
	}
}

// begun is about how many calls a run makes before its first sample.
const begun = 300

// TestFaults: disks answer with EIO and with EINTR while a run is recorded. Interrupted
// calls cost nothing. A disk that fails ends the run in order, never with exit code 0 and
// half a run; the database is as it was, and what can be read of the run can be shown.
func TestFaults(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	st := w.addStore(sandboxtest.MariaDB)
	names := sorted(faults(w.rand, w.dir))
	if !whole() {
		names = []string{"EINTR", names[w.rand.IntN(len(names)-1)]}
	}
	for range times(1, 4) {
		for _, name := range names {
			w.faulty(st, name, faults(w.rand, w.dir)[name])
		}
	}
}

func (w *world) faulty(st *dbServer, name string, f *fault) {
	w.Helper()
	log := w.write("faulty.log", "")
	w.unchanged(name, func() {
		p := w.startFaulty(f, "record", "--mysql", st.dsn, "--digests", "--accesslog", log,
			"--interval", "100ms", "--for", "2s", "-o", "faulty.kasoku")
		code := p.wait(patience)
		w.Logf("%s: exit %d, %s", name, code, f)
		switch {
		case code == 0:
			w.complete(name+", "+f.String(), w.path("faulty.kasoku"))
			w.saysJournal(name, f)
		case name == "EINTR":
			w.Errorf("%s: exit %d, %s\n%s", name, code, f, tail(p.printed()))
		default:
			w.wants(name+", "+f.String(), code, p.printed(), 3)
		}
		if n := strings.Count(p.printed(), "kasoku: error:"); n > 1 || n == 0 && code != 0 {
			w.Errorf("%s: %d lines of errors\n%s", name, n, tail(p.printed()))
		}
		if _, err := store.Open(w.path("faulty.kasoku")); err != nil && code == 0 {
			w.Errorf("%s: %v", name, err)
		}
		w.run(patience, "restore")
	})
	w.forget("faulty.")
}

// saysJournal wants a run that could not keep its journal to say what it lacks for that.
func (w *world) saysJournal(name string, f *fault) {
	w.Helper()
	rec, err := store.Open(w.path("faulty.kasoku"))
	if name == "EIO journal" && f.hit.Load() > 0 && err == nil {
		var codes []string
		for _, warning := range rec.Warnings {
			codes = append(codes, warning.Code)
		}
		w.Logf("%s: warnings %v", name, codes)
		if !slices.ContainsFunc(codes, func(c string) bool { return c == "no-slow-log" || c == "no-digests" || c == "not-restored" }) {
			w.Errorf("%s: the run says nothing of it: %s", name, f)
		}
	}
}
