// Package foreign looks at other processes of this host: is one what it says it is,
// and what do the files hold that it names.
//
// The one idea: what a process says of itself is a claim. Anybody may run a program
// that calls itself nginx or mysqld and whose command line names the private file of
// another user, a pipe, or a program. So nothing here runs what a process points to;
// [Process.Believe] holds a claim against what the kernel says, which a user cannot
// forge; and [Process.ReadFile] opens a file in the mount namespace of the process,
// with its user, groups and capabilities, so that nothing is read that the process
// could not read itself.
//
// Start at [Hold]. A Process is safe for concurrent use. Sizes are in bytes.
//
// Sources: proc_pid_status(5), proc_pid_root(5), credentials(7), setfsuid(2),
// capabilities(7), openat(2) O_PATH and O_NOFOLLOW, symlink(7) "magic links".
package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/mounts"
)

// ErrGone means that a process has ended, or has become another program while it was
// looked at.
var ErrGone = errors.New("the process has gone")

// A Process is one that is held: the pid may be given anew, what is known of it stays.
type Process struct {
	PID  int
	Name string   // comm, which the process may have set itself
	Args []string // command line, which it may have set too
	Exe  string   // path of its program in its own file system; empty when hidden
	Unit string   // systemd unit, as its control group says; empty without
	Here bool     // it sees the same files under the same names as kasoku

	uids    [4]int // real, effective, saved, of the file system
	rights  rights
	program exeFile
	root    *os.File // its root directory; our own where its is hidden
	start   uint64
	hung    atomic.Bool // one of its files did not answer
}

// An exeFile is what the kernel says of a process's program.
type exeFile struct {
	known    bool
	mode     uint32
	uid, gid int
}

// Hold takes what the kernel says of a process. It returns [ErrGone] when there is no
// such process, or when it became another one meanwhile. The caller must Close it.
func Hold(pid int) (*Process, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	start, ok := command.StartOf(pid)
	if !ok {
		return nil, ErrGone
	}
	p := &Process{PID: pid, start: start}
	name, err := os.ReadFile(dir + "/comm")
	if err != nil {
		return nil, ErrGone
	}
	p.Name = strings.TrimSuffix(string(name), "\n")
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return nil, ErrGone
	}
	p.uids, p.rights = parseStatus(status)
	p.Args, _ = Arguments("/proc", pid) // hidden: not known
	if group, err := os.ReadFile(dir + "/cgroup"); err == nil {
		p.Unit = systemUnit(group)
	}
	p.Exe, p.program = readExe(dir)
	if !sameLink(dir+"/ns/user", "/proc/self/ns/user") {
		p.rights.caps = 0 // they count in its own namespace alone
	}
	if err := p.openRoot(dir); err != nil {
		return nil, err
	}
	again, _ := os.ReadFile(dir + "/comm")
	if now, ok := command.StartOf(pid); !ok || now != start || !bytes.Equal(again, name) {
		return nil, errors.Join(ErrGone, p.Close())
	}
	return p, nil
}

// Close lets go of the process.
func (p *Process) Close() error { return p.root.Close() }

// dupRoot returns a descriptor of the root directory for one call. A call that hangs
// keeps it beyond Close, when the number of the first may be another file's.
func (p *Process) dupRoot() (fd int, err error) {
	raw, err := p.root.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("root directory of pid %d: %w", p.PID, err)
	}
	var dupErr error
	err = raw.Control(func(root uintptr) { fd, dupErr = unix.FcntlInt(root, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, dupErr); err != nil {
		return -1, fmt.Errorf("root directory of pid %d: %w", p.PID, err)
	}
	return fd, nil
}

// UID returns the user whose rights the process has.
func (p *Process) UID() int { return p.uids[1] }

// readExe returns what the kernel says of the program that runs.
func readExe(dir string) (path string, f exeFile) {
	path, err := os.Readlink(dir + "/exe")
	if err != nil {
		return "", f
	}
	if st, err := statKnown(unix.AT_FDCWD, dir+"/exe", 0); err == nil {
		f = exeFile{true, uint32(st.Mode), int(st.Uid), int(st.Gid)}
	}
	return strings.TrimSuffix(path, " (deleted)"), f // an update replaced it
}

// openRoot opens the root directory of the process, and finds out whether it is ours.
func (p *Process) openRoot(dir string) (err error) {
	p.Here = sameLink(dir+"/ns/mnt", "/proc/self/ns/mnt")
	p.root, err = openPath(dir + "/root")
	if errors.Is(err, os.ErrPermission) {
		p.Here = true // as far as can be seen
		p.root, err = openPath("/")
	}
	if err != nil {
		return ErrGone
	}
	its, err1 := statKnown(int(p.root.Fd()), "", unix.AT_EMPTY_PATH)
	ours, err2 := statKnown(unix.AT_FDCWD, "/", 0)
	if err1 != nil || err2 != nil || its.Ino != ours.Ino || its.Dev_major != ours.Dev_major || its.Dev_minor != ours.Dev_minor {
		p.Here = false
	}
	return nil
}

// statKnown returns what the kernel knows of a file without a word to its file system, which
// may be a user's own (FUSE): whoever waits for one that does not answer does not end when he
// is killed.
func statKnown(dir int, name string, flags int) (st unix.Statx_t, err error) {
	const wanted = unix.STATX_TYPE | unix.STATX_MODE | unix.STATX_UID | unix.STATX_GID | unix.STATX_INO
	err = unix.Statx(dir, name, flags|unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, wanted, &st)
	return st, err
}

// dir is the directory of the process in /proc.
func (p *Process) dir() string { return "/proc/" + strconv.Itoa(p.PID) }

// openLink opens what a link of the kernel leads to, by its name in the directory of the process,
// unless that may never be answered.
func (p *Process) openLink(name string) (*os.File, error) {
	fd, err := unix.Open(p.dir()+"/"+name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }() // only looked at
	if _, err := mounts.CheckServed(fd, mounts.ID{}, p.dir(), "/proc/self"); err != nil {
		return nil, err
	}
	return os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), os.O_RDONLY|unix.O_NONBLOCK, 0)
}

func openPath(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// sameLink reports whether two links lead to the same, also when one is hidden.
func sameLink(a, b string) bool {
	to, err := os.Readlink(a)
	own, ownErr := os.Readlink(b)
	return err != nil || ownErr != nil || to == own
}

// parseStatus reads users, groups and capabilities of /proc/PID/status. What is not
// there is -1, and no right.
func parseStatus(status []byte) (uids [4]int, r rights) {
	uids, r.uid, r.gid = [4]int{-1, -1, -1, -1}, -1, -1
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields := strings.Fields(value)
		switch {
		case key == "Uid" && len(fields) == 4:
			for i, f := range fields {
				uids[i] = number(f)
			}
			r.uid = uids[3]
		case key == "Gid" && len(fields) == 4:
			r.gid = number(fields[3])
		case key == "Groups":
			for _, f := range fields {
				r.groups = append(r.groups, number(f))
			}
		case key == "CapEff" && len(fields) == 1:
			r.caps, _ = strconv.ParseUint(fields[0], 16, 64) // none when it is no number
		}
	}
	return uids, r
}

func number(s string) int {
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return int(n)
	}
	return -1
}

// systemUnit returns the service of /proc/PID/cgroup that systemd itself runs: one in
// system.slice, not in a user's.
func systemUnit(group []byte) string {
	for line := range strings.Lines(string(group)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 || !strings.HasPrefix(fields[2], "/system.slice/") {
			continue
		}
		for part := range strings.SplitSeq(fields[2], "/") {
			if strings.HasSuffix(part, ".service") {
				return part
			}
		}
	}
	return ""
}

// ReadExe reads the program that runs, as data: read gets its file, at most most bytes
// long. It fails when the program is hidden or larger, or when the process has gone.
func ReadExe[T any](ctx context.Context, p *Process, most int64, read func(io.ReaderAt, int64) (T, error)) (T, error) {
	return within(ctx, p, "its program", func() (out T, err error) {
		f, err := p.openLink("exe")
		if err != nil {
			return out, fmt.Errorf("program of pid %d: %w", p.PID, err)
		}
		defer f.Close()
		if now, ok := command.StartOf(p.PID); !ok || now != p.start {
			return out, ErrGone
		}
		info, err := f.Stat()
		switch {
		case err != nil:
			return out, fmt.Errorf("program of pid %d: %w", p.PID, err)
		case !info.Mode().IsRegular() || info.Size() > most:
			return out, fmt.Errorf("program %s of pid %d: no regular file, or larger than %d bytes",
				filepath.Base(p.Exe), p.PID, most)
		}
		return read(f, info.Size())
	})
}
