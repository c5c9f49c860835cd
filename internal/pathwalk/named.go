package pathwalk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenNamed opens what the user has named, a log mostly, for reading. It does not wait
// for the other end of a pipe.
//
// With rights that ordinary users lack, the path is gone step by step: who may write to
// a directory on the way could otherwise lead root to what he may not read himself, and
// have it stored. What lies where root and who asks alone may write is their word.
// Elsewhere a link is followed when it is of root's, of who asks, or of the owner of
// what it leads to; and what another person owns is passed only in a directory of his.
// The error is a [*RefusedError] then.
func OpenNamed(name string) (f *os.File, err error) {
	err = lookNamed(name, openAs(name, &f))
	return f, err
}

// lookNamed calls fn with what the user has named, open as O_PATH.
func lookNamed(name string, fn func(fd int) error) error {
	if !privileged() || isOwn(name) {
		return Look(name, fn)
	}
	path, err := absolute(name)
	if err != nil {
		return err
	}
	return walk("/", "/proc/self", named{}, name, path, fn)
}

// from calls fn with a walker at a directory, which is the root of a process, /proc/PID.
func from(dir, process string, rule Rule, fn func(*Walker) error) error {
	root, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return pathError(dir, err)
	}
	defer func() { _ = unix.Close(root) }() // only read
	w, err := NewWalker(rule, root, process)
	if err != nil {
		return pathError(dir, err)
	}
	defer w.Rewind()
	return fn(w)
}

// anywhere is the rule of [Look].
type anywhere struct{}

func (anywhere) Enter(int, *unix.Stat_t, *unix.Stat_t) error           { return nil }
func (anywhere) Follow(*unix.Stat_t, *unix.Stat_t, *unix.Stat_t) error { return nil }

// privileged reports whether the kernel lets this process read what is others' alone.
func privileged() bool {
	if os.Geteuid() == 0 {
		return true
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&hdr, &data[0])
	const reads = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	return err != nil || data[0].Effective&reads != 0
}

// A RefusedError reports that a path leads to what is not its owner's to name, or to what may
// never answer.
type RefusedError struct {
	Path string
	Why  string // "uid 33 made the link, and uid 0 owns what it leads to"
	hint string
}

// Error returns "PATH is not read: why".
func (e *RefusedError) Error() string { return fmt.Sprintf("%s is not read: %s", e.Path, e.Why) }

// Hint returns what to do about it.
func (e *RefusedError) Hint() string {
	if e.hint != "" {
		return e.hint
	}
	return "run kasoku as the user who owns the file (sudo -u), give its bytes on standard input (- < FILE), or let root own the link (chown -h root)"
}

// A refusal is why the rule of named paths stops.
type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// named is the rule of [OpenNamed].
type named struct{}

// Enter refuses what the one who owns the directory may have got hold of, and does not
// own himself: a hard link, or another's directory under a new name.
func (named) Enter(_ int, dir, st *unix.Stat_t) error {
	kind := st.Mode & unix.S_IFMT
	if kind == unix.S_IFLNK || isSafe(dir) {
		return nil
	}
	own, alone := st.Uid == dir.Uid, dir.Mode&0o022 == 0
	switch {
	case kind != unix.S_IFDIR && st.Nlink > 1 && !(own && alone):
		return refuse("it has other names, and others than the owner of the file, uid %d, may have made this one",
			st.Uid)
	case own, IsSystem(int(st.Uid)), IsAsker(int(st.Uid)), dir.Mode&unix.S_ISVTX != 0:
		return nil
	}
	return refuse("uid %d owns it, in a directory of uid %d", st.Uid, dir.Uid)
}

// Follow is fs.protected_symlinks in every directory that others may write to.
func (named) Follow(dir, link, to *unix.Stat_t) error {
	if to == nil || isSafe(dir) || link.Uid == 0 || IsAsker(int(link.Uid)) || link.Uid == to.Uid {
		return nil
	}
	return refuse("uid %d made the link, and uid %d owns what it leads to", link.Uid, to.Uid)
}

// isSafe reports whether root and who asks alone say what lies in a directory. The
// group of an account of the system may write there too, as that of syslog in /var/log,
// and a person's own group.
func isSafe(dir *unix.Stat_t) bool {
	group := dir.Mode&0o020 == 0 || IsSystem(int(dir.Gid)) || dir.Gid == dir.Uid
	return (dir.Uid == 0 || IsAsker(int(dir.Uid))) && group && dir.Mode&0o002 == 0
}
