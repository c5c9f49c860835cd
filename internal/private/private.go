// Package private makes the files and directories that kasoku keeps: what was
// measured on a host, with statements, paths and settings of its users, is for the
// user who measured it alone.
//
// The one idea: mode and owner are given to the open descriptor of a file that this
// process has just made, never to a path. A file is always a new one (O_EXCL,
// O_NOFOLLOW) below a directory that was opened once; a file of the same name is
// replaced by rename, so that a link or a file that somebody has planted there gets
// nothing of it and lends nothing to it.
//
// Files have mode 0600 and directories 0700, whatever the umask. As root below sudo
// they belong to the user who called it, so that he can read what he recorded. With
// [Share], which `--share` calls, outputs get 0644 and 0755, less the umask.
//
// It does not change files that are there: their modes are their owner's decision.
//
// Sources: open(2), openat(2), rename(2), flock(2); sudo(8), "ENVIRONMENT", for
// SUDO_UID and SUDO_GID.
package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A Kind is what a file is for, which decides who may read it.
type Kind int

const (
	// Output is what the user asked for: a run, a report, an export.
	Output Kind = iota
	// State is what kasoku needs to find again: journals, locks, figures handed from
	// one process to another. It is never shared. It belongs to the user who called
	// sudo only below a directory of his: he could replace it there anyway, while
	// what root's guard does must not be his to write elsewhere.
	State
)

// shared is a property of the process, as the umask is.
var shared atomic.Bool

// Share lets others read the outputs that are made from now on, as far as the umask
// allows. State stays private.
func Share(on bool) { shared.Store(on) }

func (k Kind) shared() bool { return k == Output && shared.Load() }

// fileMode returns the mode of a new file, and whether the umask does not count.
func (k Kind) fileMode() (mode uint32, exact bool) {
	if k.shared() {
		return 0o644, false
	}
	return 0o600, true
}

func (k Kind) dirMode() (mode uint32, exact bool) {
	if k.shared() {
		return 0o755, false
	}
	return 0o700, true
}

// CreateNew makes a file that must not be there yet; the error wraps fs.ErrExist when
// anything has the name, also a link to nothing.
func (k Kind) CreateNew(path string) (*os.File, error) {
	dir, err := openParent(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(dir) }() // only names in it
	return k.createAt(dir, dir, filepath.Base(path), path)
}

// Create makes a file in place of what has the name, which is not followed, changed or
// read. A device, a named pipe of this user's and the names of open descriptors
// (/dev/stdout) are written to as they are.
func (k Kind) Create(path string) (*os.File, error) {
	if f, err := openSpecial(path); f != nil || err != nil {
		return f, err
	}
	r, err := k.replace(path)
	if err != nil {
		return nil, err
	}
	return r.file, errors.Join(r.finish(), r.close())
}

// replacePrefix begins the names of directories in which files are made that replace
// others.
const replacePrefix = ".kasoku-new-"

// A replacement is a file that is to get its name.
type replacement struct {
	path string
	dir  int // open directory of the path
	temp *TempDir
	file *os.File
}

// madeName is the name of a file until it gets its own, in a directory of its own.
const madeName = "new"

func (k Kind) replace(path string) (*replacement, error) {
	dir, err := openParent(path)
	if err != nil {
		return nil, err
	}
	r := &replacement{path: path, dir: dir}
	if r.temp, err = MakeTempDir(filepath.Dir(path), replacePrefix); err == nil {
		r.file, err = k.createAt(r.temp.fd, dir, madeName, path)
	}
	if err != nil {
		return nil, errors.Join(pathError("create", path, err), r.close())
	}
	return r, nil
}

// finish gives the file its name.
func (r *replacement) finish() error {
	return pathError("rename", r.path, unix.Renameat(r.temp.fd, madeName, r.dir, filepath.Base(r.path)))
}

func (r *replacement) close() (err error) {
	if r.temp != nil {
		err = r.temp.Close()
	}
	return errors.Join(err, unix.Close(r.dir))
}

// Replace writes a file that appears under its name only when all of it is written and
// on the disk; what has the name stays when write fails. See [Kind.Create] for what is
// no file.
func (k Kind) Replace(path string, write func(io.Writer) error) (err error) {
	if f, err := openSpecial(path); f != nil || err != nil {
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	r, err := k.replace(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	err = write(r.file)
	if err == nil {
		err = syncFile(r.file)
	}
	if err = errors.Join(err, r.file.Close()); err != nil {
		return err
	}
	return r.finish()
}

// syncFile makes a content last before the name does. Not each file system can.
func syncFile(f *os.File) error {
	if err := f.Sync(); !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// WriteFile is [Kind.Replace] with a content that is there already.
func (k Kind) WriteFile(path string, content []byte) error {
	return k.Replace(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteNew writes a file that must not be there yet, and removes it when that fails.
func (k Kind) WriteNew(path string, content []byte) error {
	f, err := k.CreateNew(path)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // the write's error is the one to report
	}
	return err
}

// Open opens a file for reading and writing, as a lock or to be appended to with flag
// os.O_APPEND, and makes it when it is not there. What is there must be a regular file
// with one name; a link is refused.
func (k Kind) Open(path string, flag int) (*os.File, error) {
	for range 3 { // another process may make or remove it meanwhile
		f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|flag, 0)
		if err == nil {
			if err := checkPlain(f); err != nil {
				return nil, err
			}
			return f, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		f, err = k.CreateNew(path)
		if err == nil && flag&os.O_APPEND != 0 {
			_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, unix.O_APPEND)
		}
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, pathError("open", path, unix.EAGAIN)
}

// checkPlain closes a file that is not regular or has several names, and says so.
func checkPlain(f *os.File) error {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	switch {
	case err != nil:
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		err = errors.New("it is no regular file")
	case st.Nlink > 1:
		err = errors.New("it has a second name")
	default:
		return nil
	}
	return errors.Join(pathError("open", f.Name(), err), f.Close())
}

// MkdirAll makes a directory with those above it, like os.MkdirAll. Those that are
// there stay as they are.
func (k Kind) MkdirAll(path string) error {
	path = filepath.Clean(path)
	st, err := os.Stat(path)
	switch {
	case err == nil && st.IsDir():
		return nil
	case err == nil:
		return pathError("mkdir", path, unix.ENOTDIR)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if parent := filepath.Dir(path); parent != path {
		if err := k.MkdirAll(parent); err != nil {
			return err
		}
	}
	err = k.mkdir(path)
	if st, statErr := os.Stat(path); errors.Is(err, fs.ErrExist) && statErr == nil && st.IsDir() {
		return nil // another process was quicker
	}
	return err
}

// mkdir makes one directory.
func (k Kind) mkdir(path string) error {
	parent, err := openParent(path)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(parent) }() // nothing was written
	name := filepath.Base(path)
	mode, exact := k.dirMode()
	if err := unix.Mkdirat(parent, name, mode); err != nil {
		return pathError("mkdir", path, err)
	}
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return pathError("mkdir", path, err)
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	return pathError("mkdir", path, k.give(fd, parent, mode, exact))
}

// openParent opens the directory of a path. Links that lead to it are followed.
func openParent(path string) (int, error) {
	dir := filepath.Dir(path)
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return fd, pathError("open", path, err)
}

// createAt makes a file of this name in an open directory, with the owner that one in
// home gets.
func (k Kind) createAt(dir, home int, name, path string) (*os.File, error) {
	mode, exact := k.fileMode()
	fd, err := unix.Openat(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil {
		return nil, pathError("create", path, err)
	}
	if err := k.give(fd, home, mode, exact); err != nil {
		_ = unix.Unlinkat(dir, name, 0)
		_ = unix.Close(fd)
		return nil, pathError("create", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// give gives what this process has just made its mode and its owner.
func (k Kind) give(fd, parent int, mode uint32, exact bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if exact && st.Mode&0o7777 != mode {
		if err := unix.Fchmod(fd, mode); err != nil && !cannot(err) {
			return fmt.Errorf("keep it private: %w", err)
		}
	}
	if int(st.Uid) != os.Geteuid() {
		return nil // a file system that gives files an owner of its own, such as NFS to root
	}
	uid, gid, ok := k.owner(parent)
	if !ok {
		return nil
	}
	if err := unix.Fchown(fd, uid, gid); err != nil && !cannot(err) {
		return fmt.Errorf("give it to user %d, who called sudo: %w", uid, err)
	}
	return nil
}

// cannot reports whether a file system has no modes or owners, as FAT, or does not let
// root change them.
func cannot(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) ||
		errors.Is(err, unix.ENOSYS)
}

// pathError names the path of a system call that failed; nil stays nil.
func pathError(op, path string, err error) error {
	var have *fs.PathError
	if err == nil || errors.As(err, &have) {
		return err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// openSpecial opens what is there and is no file to be replaced. It returns nil when a
// file is to be made.
func openSpecial(path string) (*os.File, error) {
	if dir := filepath.Dir(filepath.Clean(path)); dir == "/dev" || dir == "/dev/fd" || dir == "/proc/self/fd" {
		return os.OpenFile(path, os.O_WRONLY, 0)
	}
	st, err := os.Lstat(path)
	if err != nil || st.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) == 0 {
		return nil, nil
	}
	if !Mine(st) {
		return nil, pathError("create", path, errors.New("a device or named pipe of another user has this name"))
	}
	return os.OpenFile(path, os.O_WRONLY|unix.O_NOFOLLOW, 0)
}

// Rename gives a file its name, unless there is one of that name. Not each file
// system can rename so, such as NFS, or link, such as FAT.
func Rename(made, path string) error {
	err := unix.Renameat2(unix.AT_FDCWD, made, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Link(made, path); err != nil {
		return err
	}
	return os.Remove(made)
}
