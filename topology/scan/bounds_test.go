package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/mounts"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// TestNameHere_Many: a process of a mount namespace of its own, with thousands of files that
// are named like logs and not there on this host, is looked at only so far.
func TestNameHere_Many(t *testing.T) {
	turn.Wait(t)
	dir := t.TempDir()
	process := filepath.Join(dir, "7")
	for _, sub := range []string{"fd", "fdinfo", "ns"} {
		if err := os.MkdirAll(filepath.Join(process, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("mnt:[9]", filepath.Join(process, "ns", "mnt")); err != nil {
		t.Fatal(err)
	}
	const files = 2000
	for n := range files {
		name := fmt.Sprint(n)
		if err := os.WriteFile(filepath.Join(process, "fdinfo", name), []byte("flags:\t0100001\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(fmt.Sprintf("%s/gone/%d.log", dir, n), filepath.Join(process, "fd", name)); err != nil {
			t.Fatal(err)
		}
	}
	tk := &taker{ctx: t.Context(), proc: dir, holders: map[uint32][]int{}, holds: map[int]bool{}, filesOf: map[int]int{},
		mounts: map[uint64]*mounts.Table{}, out: &Snapshot{}}
	fd, err := openDir(unix.AT_FDCWD, process)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	p := Process{PID: 7}
	tk.descriptors(fd, &p, make([]byte, 64<<10))
	if len(p.Logs) > 0 || len(tk.out.Cut) != 1 || !strings.Contains(tk.out.Cut[0], "some logs of pid 7") || tk.files != files {
		t.Errorf("logs %q, cut %q, %d files", p.Logs, tk.out.Cut, tk.files)
	}
}

// TestDescriptors_User: one user's open files leave room for those of others, and root's.
func TestDescriptors_User(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("processes of two users take root")
	}
	dir := t.TempDir()
	tk := &taker{ctx: t.Context(), proc: dir, holders: map[uint32][]int{}, holds: map[int]bool{},
		filesOf: map[int]int{61001: maxUserFiles}, out: &Snapshot{}}
	for pid, uid := range map[string]int{"7": 61001, "8": 61002, "9": 0} {
		process := filepath.Join(dir, pid)
		if err := os.MkdirAll(filepath.Join(process, "fd"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("socket:[1"+pid+"]", filepath.Join(process, "fd", "3")); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Chown(process, uid, uid); err != nil {
			t.Fatal(err)
		}
		fd, err := openDir(unix.AT_FDCWD, process)
		if err != nil {
			t.Fatal(err)
		}
		p := Process{PID: int(pid[0] - '0')}
		tk.descriptors(fd, &p, make([]byte, 64<<10))
		_ = unix.Close(fd)
	}
	if tk.holds[7] || !tk.holds[8] || !tk.holds[9] {
		t.Errorf("holders %v", tk.holds)
	}
	if !slices.Equal(tk.out.Cut, []string{"some descriptors of pid 7: there are too many"}) {
		t.Errorf("cut %q", tk.out.Cut)
	}
}

// TestDescriptors_Numbers: the sockets of a process are found wherever their descriptors are:
// one after another, above a gap, and far above the others.
func TestDescriptors_Numbers(t *testing.T) {
	own, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(own, &st); err != nil {
		t.Fatal(err)
	}
	held := func() bool {
		tk := &taker{ctx: t.Context(), proc: "/proc", holders: map[uint32][]int{}, holds: map[int]bool{},
			filesOf: map[int]int{}, mounts: map[uint64]*mounts.Table{}, out: &Snapshot{}}
		p, ok := tk.process(os.Getpid(), make([]byte, 64<<10), false)
		if !ok || p.Hidden {
			t.Fatalf("this process: %+v, %t", p, ok)
		}
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil || tk.files < len(files)-1 { // the list has itself
			t.Fatalf("%d descriptors, of %d: %v", tk.files, len(files), err)
		}
		return slices.Contains(tk.holders[uint32(st.Ino)], os.Getpid())
	}
	for _, at := range []int{own, 60, 61, 90, 255, 1000} {
		if at != own {
			if err := unix.Dup3(own, at, unix.O_CLOEXEC); err != nil {
				t.Fatal(err)
			}
			_ = unix.Close(own) // it is at the other now
			own = at
		}
		if !held() {
			t.Errorf("at descriptor %d it was not found", at)
		}
	}
	_ = unix.Close(own)
	if held() {
		t.Error("it was found after it was closed")
	}
}
