package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many symbolic links a path may lead over; the kernel's own limit.
const maxLinks = 40

// errProc refuses /proc: there a name such as self means who asks, kasoku, and not the
// process whose file is meant.
var errProc = errors.New("it lies in /proc")

// A walker goes a path from the root of a process, step by step, so that each step is
// looked at before it is taken. It never opens what is no directory and no regular
// file, and follows the text of links, never the magic ones of /proc.
type walker struct {
	p       *Process
	adopted bool  // the kernel decides by the process's rights
	dirs    []int // descriptors of the directories passed, the root first
}

// newWalker takes the rights of the process for this thread.
func newWalker(p *Process, root int) (*walker, error) {
	adopted, err := p.rights.adopt()
	if err != nil {
		return nil, err
	}
	return &walker{p: p, adopted: adopted, dirs: []int{root}}, nil
}

// rewind goes back to the root.
func (w *walker) rewind() {
	for _, fd := range w.dirs[1:] {
		_ = unix.Close(fd) // a directory has nothing to lose
	}
	w.dirs = w.dirs[:1]
}

func (w *walker) here() int { return w.dirs[len(w.dirs)-1] }

// find goes a path. It returns the name of what it leads to, in the directory that the
// walker is in then, and "." for that directory itself.
func (w *walker) find(name string) (last string, st unix.Stat_t, err error) {
	w.rewind()
	left := strings.Split(name, "/")
	links := 0
	last = "."
	for len(left) > 0 {
		part := left[0]
		left = left[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if n := len(w.dirs); n > 1 {
				_ = unix.Close(w.here())
				w.dirs = w.dirs[:n-1]
			}
			continue
		}
		if last != "." {
			return "", st, pathError(name, unix.ENOTDIR)
		}
		fd, err := w.step(part, &st)
		if err != nil {
			return "", st, pathError(name, err)
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			w.dirs = append(w.dirs, fd)
			continue
		case unix.S_IFLNK:
			to, err := w.target(fd, &st)
			_ = unix.Close(fd)
			if links++; err == nil && links > maxLinks {
				err = unix.ELOOP
			}
			if err != nil {
				return "", st, pathError(name, err)
			}
			if path.IsAbs(to) {
				w.rewind()
			}
			left = append(strings.Split(to, "/"), left...)
		default:
			_ = unix.Close(fd)
			last = part
		}
	}
	if last == "." {
		err = unix.Fstat(w.here(), &st)
	}
	return last, st, err
}

// step opens what a name in the current directory is, without reading it.
func (w *walker) step(part string, st *unix.Stat_t) (fd int, err error) {
	fd, err = unix.Openat(w.here(), part, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var system unix.Statfs_t
	if err = errors.Join(unix.Fstat(fd, st), unix.Fstatfs(fd, &system)); err == nil {
		switch {
		case system.Type == unix.PROC_SUPER_MAGIC:
			err = errProc
		case !w.adopted && st.Mode&unix.S_IFMT != unix.S_IFLNK && !w.p.rights.allow(st):
			err = unix.EACCES
		}
	}
	if err != nil {
		_ = unix.Close(fd)
	}
	return fd, err
}

// target returns where a link leads. Only links that root, the process's own user or
// kasoku's made are followed: another user's link is his word.
func (w *walker) target(fd int, st *unix.Stat_t) (string, error) {
	if own := int(st.Uid); own != 0 && own != w.p.rights.uid && own != os.Geteuid() {
		return "", fmt.Errorf("uid %d made the link", own)
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// open opens a regular file for reading.
func (w *walker) open(name string) (*os.File, unix.Stat_t, error) {
	last, st, err := w.find(name)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, st, err
	}
	fd, err := unix.Openat(w.here(), last, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, st, pathError(name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	var now unix.Stat_t
	if err := unix.Fstat(fd, &now); err != nil || now.Dev != st.Dev || now.Ino != st.Ino {
		return nil, st, errors.Join(pathError(name, errors.New("it was replaced while it was opened")), f.Close())
	}
	return f, now, nil
}

// names lists a directory, at most so many.
func (w *walker) names(dir string, most int) ([]string, error) {
	last, st, err := w.find(dir)
	if err != nil {
		return nil, err
	}
	if last != "." || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil, pathError(dir, unix.ENOTDIR)
	}
	if !w.adopted && !w.p.rights.list(&st) {
		return nil, pathError(dir, unix.EACCES)
	}
	fd, err := unix.Openat(w.here(), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, pathError(dir, err)
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	names, err := f.Readdirnames(most)
	if len(names) > 0 {
		err = nil
	}
	return names, ignoreEnd(err)
}

func pathError(name string, err error) error {
	return &fs.PathError{Op: "open", Path: name, Err: err}
}
