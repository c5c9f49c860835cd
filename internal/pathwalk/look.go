package pathwalk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/mounts"
)

// Look calls fn with what a path of this host leads to over all links, open as O_PATH: nothing
// else can be put in its place, and nothing was asked of it yet. The error is a [*RefusedError]
// before a file system that another user serves.
//
// What lies in the file system of the root directory, with no link on the way, takes one system
// call; else the path is gone step by step.
func Look(name string, fn func(fd int) error) error {
	if isOwn(name) {
		return withPath(name, fn)
	}
	path, err := absolute(name)
	if err != nil {
		return err
	}
	fd, err := within(unix.AT_FDCWD, path)
	switch {
	case err == nil:
		defer func() { _ = unix.Close(fd) }() // only looked at
		return fn(fd)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EACCES):
		return pathError(name, err)
	}
	return walk("/", "/proc/self", anywhere{}, name, path, fn)
}

// LookIn is [Look] from a directory of a process, which is /proc/PID: its root or cwd.
func LookIn(process, dir, name string, fn func(fd int) error) error {
	return walk(process+"/"+dir, process, anywhere{}, name, name, fn)
}

// walk calls fn with what a path leads to by a rule, open as O_PATH, from a directory that is the
// root of a process. Errors have the name by which it was asked for.
func walk(root, process string, rule Rule, name, path string, fn func(fd int) error) error {
	err := from(root, process, rule, func(w *Walker) error {
		if _, _, err := w.Find(path); err != nil {
			return err
		}
		return fn(w.found())
	})
	var why *refusal
	var silent *mounts.SilentError
	if errors.As(err, &why) {
		return &RefusedError{Path: name, Why: why.Error()}
	}
	if errors.As(err, &silent) {
		return &RefusedError{name, silent.Error(), "let the log lie in a file system of the host's, or run kasoku as the user who serves that one"}
	}
	if e := new(fs.PathError); errors.As(err, &e) {
		e.Path = name
	}
	return err
}

// absolute returns a path from the root. It is not cleaned: what is before ".." may be a link.
func absolute(name string) (string, error) {
	if name == "" {
		return "", pathError(name, unix.ENOENT)
	}
	if filepath.IsAbs(name) {
		return name, nil
	}
	dir, err := os.Getwd()
	return dir + "/" + name, err
}

// isOwn reports whether a path means what is this process's own: a file that is open already, by
// who called kasoku and with his rights, or what the kernel shows of processes to a user who has
// no rights of others.
func isOwn(name string) bool {
	return name == "/dev/stdin" || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/self/fd/") ||
		strings.HasPrefix(name, "/proc/") && !privileged()
}

// within opens a path as O_PATH that passes no link and stays in the file system that it begins
// in: of another one nothing is asked.
func within(dir int, path string) (fd int, err error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS}
	for {
		if fd, err = unix.Openat2(dir, path, &how); !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// withPath calls fn with a path of this process's own, open as O_PATH.
func withPath(name string, fn func(fd int) error) error {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return pathError(name, err)
	}
	defer func() { _ = unix.Close(fd) }() // only looked at
	return fn(fd)
}

// OpenIn opens what [LookIn] finds for reading. It does not wait for the other end of a pipe.
func OpenIn(process, dir, name string) (f *os.File, err error) {
	err = LookIn(process, dir, name, openAs(name, &f))
	return f, err
}

// openAs returns what opens a descriptor of O_PATH for reading.
func openAs(name string, f **os.File) func(fd int) error {
	return func(fd int) error {
		fd, err := reopen(fd)
		if err != nil {
			return pathError(name, err)
		}
		*f = os.NewFile(uintptr(fd), name)
		return nil
	}
}

// Name is the kernel's name of what is open, for calls that take a path.
func Name(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Stat is stat(2) of what [Look] finds.
func Stat(name string) (st unix.Stat_t, err error) {
	err = Look(name, func(fd int) error { return again(func() error { return unix.Fstat(fd, &st) }) })
	return st, err
}

// StatIn is stat(2) of what [LookIn] finds.
func StatIn(process, dir, name string) (st unix.Stat_t, err error) {
	err = LookIn(process, dir, name, func(fd int) error { return unix.Fstat(fd, &st) })
	return st, err
}

// Statfs is statfs(2) of what [Look] finds.
func Statfs(name string) (st unix.Statfs_t, err error) {
	err = Look(name, func(fd int) error { return again(func() error { return unix.Fstatfs(fd, &st) }) })
	return st, err
}

// again repeats a call that a signal interrupts, as network file systems let it.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Resolve returns the path without links of what [Look] finds.
func Resolve(name string) (path string, err error) {
	err = Look(name, func(fd int) error {
		path, err = os.Readlink(Name(fd))
		return err
	})
	return path, err
}

// A Dir is a directory that is read without a word to what is mounted in it.
type Dir struct{ f *os.File }

// OpenDir opens the directory that [Look] finds.
func OpenDir(name string) (d Dir, err error) {
	err = Look(name, openAs(name, &d.f))
	return d, err
}

// Names returns what lies in the directory.
func (d Dir) Names() ([]string, error) { return d.f.Readdirnames(-1) }

// Stat looks at what has a name in the directory. What is mounted there, and what is a link, is
// an error.
func (d Dir) Stat(name string) (st unix.Stat_t, err error) {
	fd, err := within(int(d.f.Fd()), name)
	if err != nil {
		return st, pathError(name, err)
	}
	defer func() { _ = unix.Close(fd) }() // only looked at
	return st, unix.Fstat(fd, &st)
}

// Close closes the directory.
func (d Dir) Close() error { return d.f.Close() }

// Glob is [filepath.Glob] over what [Look] finds.
func Glob(pattern string) ([]string, error) {
	fsys := looked{}
	if filepath.IsAbs(pattern) {
		fsys.root = "/"
	}
	found, err := fs.Glob(fsys, strings.TrimPrefix(pattern, fsys.root))
	for i := range found {
		found[i] = fsys.root + found[i]
	}
	return found, err
}

// looked is the file system that [Glob] goes: it knows names alone.
type looked struct{ root string }

func (looked) Open(name string) (fs.File, error) { return nil, pathError(name, fs.ErrInvalid) }

func (l looked) Stat(name string) (fs.FileInfo, error) {
	return nil, Look(l.root+name, func(int) error { return nil })
}

func (l looked) ReadDir(name string) (out []fs.DirEntry, err error) {
	d, err := OpenDir(l.root + name)
	if err != nil {
		return nil, err
	}
	names, err := d.Names()
	slices.Sort(names)
	for _, n := range names {
		out = append(out, entry{name: n})
	}
	return out, errors.Join(err, d.Close())
}

// An entry has a name, and nothing else.
type entry struct {
	fs.DirEntry
	name string
}

func (e entry) Name() string { return e.name }
