// Package pathwalk opens files by paths that other users may change.
//
// The one idea: a path is gone name by name, with openat(2), and each name is looked at
// before it is passed. So a rule can say what is followed, and what was looked at is
// what is opened: nothing can be put in its place in between.
//
// Sources: openat(2), open(2) on O_PATH; fs.protected_symlinks and
// fs.protected_hardlinks in proc_sys_fs(5); openat2(2) on RESOLVE_NO_XDEV.
package pathwalk

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/mounts"
)

// maxLinks is how many symbolic links a path may lead over; the kernel's own limit.
const maxLinks = 40

// A Rule defines where a path may lead.
type Rule interface {
	// Enter is asked about what each name is: directory, link or file, open as O_PATH.
	Enter(fd int, dir, st *unix.Stat_t) error
	// Follow is asked about each link, and about what it leads to in the end: it is
	// nil at first.
	Follow(dir, link, to *unix.Stat_t) error
}

// A Walker goes paths from a root directory. It never opens what is no directory and no
// regular file, unless it is asked for, and follows the text of links, never the magic
// ones of /proc, and enters no file system that another user serves. It is not safe for
// concurrent use.
type Walker struct {
	rule Rule
	in   []string // whose mount tables are read
	dirs []place  // the directories passed, the root first
	file int      // what the path led to, where that is no directory; 0 else
}

// A place is an open directory.
type place struct {
	fd    int
	st    unix.Stat_t
	mount mounts.ID
}

// NewWalker begins at an open directory, which stays the caller's. It is the root of a process,
// /proc/PID.
func NewWalker(rule Rule, root int, process string) (*Walker, error) {
	w := &Walker{rule: rule, in: []string{process, "/proc/self"}, dirs: []place{{fd: root}}}
	return w, w.look(root, &w.dirs[0])
}

// look finds out what a descriptor leads to, unless that may never be answered.
func (w *Walker) look(fd int, to *place) (err error) {
	if to.mount, err = mounts.CheckServed(fd, w.here().mount, w.in...); err != nil {
		return err
	}
	return unix.Fstat(fd, &to.st)
}

// Rewind goes back to the root, and closes what was opened on the way.
func (w *Walker) Rewind() {
	if w.file != 0 {
		_ = unix.Close(w.file) // it was not opened for reading
		w.file = 0
	}
	for _, d := range w.dirs[1:] {
		_ = unix.Close(d.fd) // a directory has nothing to lose
	}
	w.dirs = w.dirs[:1]
}

// Here returns the descriptor of the directory that the walker is in.
func (w *Walker) Here() int { return w.here().fd }

// found is what the path led to, open as O_PATH.
func (w *Walker) found() int {
	if w.file != 0 {
		return w.file
	}
	return w.Here()
}

func (w *Walker) here() *place { return &w.dirs[len(w.dirs)-1] }

// A followed is a link on the way.
type followed struct{ dir, st unix.Stat_t }

// A part is a name that is still to be gone, and the links whose texts end with it.
type part struct {
	name string
	ends []followed
}

// split returns the names of a path; the last of them ends the links.
func split(name string, ends []followed) []part {
	var out []part
	for n := range strings.SplitSeq(name, "/") {
		out = append(out, part{name: n})
	}
	out[len(out)-1].ends = ends
	return out
}

// Find goes a path. It returns the name of what it leads to, in the directory that the
// walker is in then, and "." for that directory itself.
func (w *Walker) Find(name string) (last string, st unix.Stat_t, err error) {
	w.Rewind()
	links := 0
	last, st = ".", w.here().st
	for left := split(name, nil); len(left) > 0; {
		p := left[0]
		left = left[1:]
		to := ""
		if last, to, err = w.pass(last, p.name, &st); err != nil {
			return "", st, pathError(name, err)
		}
		if to != "" {
			if links++; links > maxLinks {
				return "", st, pathError(name, unix.ELOOP)
			}
			left = append(split(to, append(p.ends, followed{w.here().st, st})), left...)
			if path.IsAbs(to) {
				w.Rewind()
			}
			st = w.here().st
			continue
		}
		for i := range p.ends {
			if err := w.rule.Follow(&p.ends[i].dir, &p.ends[i].st, &st); err != nil {
				return "", st, pathError(name, err)
			}
		}
	}
	return last, st, nil
}

// pass goes one name further, to st. It returns the text of a link, which it does not
// follow.
func (w *Walker) pass(last, name string, st *unix.Stat_t) (next, to string, err error) {
	switch name {
	case "..":
		if n := len(w.dirs); n > 1 && last == "." {
			_ = unix.Close(w.Here())
			w.dirs = w.dirs[:n-1]
		}
		fallthrough
	case "", ".":
		if last == "." {
			*st = w.here().st
		}
		return last, "", nil
	}
	if last != "." {
		return "", "", unix.ENOTDIR
	}
	at, err := w.step(name)
	if *st = at.st; err != nil {
		return "", "", err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		w.dirs = append(w.dirs, at)
		return ".", "", nil
	case unix.S_IFLNK:
		to, err = w.target(at.fd, st)
		_ = unix.Close(at.fd) // it was not opened for reading
		return ".", to, err
	}
	w.file = at.fd
	return name, "", nil
}

// step opens what a name in the current directory is, without reading it.
func (w *Walker) step(name string) (at place, err error) {
	at.fd, err = unix.Openat(w.Here(), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return at, err
	}
	if err = w.look(at.fd, &at); err == nil {
		err = w.rule.Enter(at.fd, &w.here().st, &at.st)
	}
	if err != nil {
		_ = unix.Close(at.fd)
	}
	return at, err
}

// target returns the text of a link that may be followed.
func (w *Walker) target(fd int, st *unix.Stat_t) (string, error) {
	if err := w.rule.Follow(&w.here().st, st, nil); err != nil {
		return "", err
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err == nil && n == 0 {
		err = unix.ENOENT
	}
	return string(buf[:max(n, 0)]), err
}

// Open opens what a path leads to for reading, without waiting for the other end of a
// pipe. What wanted refuses is not opened: the file is nil then.
func (w *Walker) Open(name string, wanted func(*unix.Stat_t) bool) (*os.File, unix.Stat_t, error) {
	_, st, err := w.Find(name)
	if err != nil || !wanted(&st) {
		return nil, st, err
	}
	fd, err := reopen(w.found())
	if err != nil {
		return nil, st, pathError(name, err)
	}
	return os.NewFile(uintptr(fd), name), st, nil
}

// reopen opens for reading what a descriptor of O_PATH leads to, whatever has its name by now.
func reopen(fd int) (int, error) {
	return unix.Open(Name(fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
}

// IsRegular reports whether it is a regular file.
func IsRegular(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFREG }

// IsDir reports whether it is a directory.
func IsDir(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFDIR }

func pathError(name string, err error) error {
	return &fs.PathError{Op: "open", Path: name, Err: err}
}
