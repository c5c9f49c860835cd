package revert

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/private"
)

// A place is the open directory in which a file is replaced. What is done there goes by
// its descriptor: a directory that is exchanged for a link meanwhile changes nothing.
type place struct {
	fd   int
	name string // of the file in it
	path string
	st   unix.Stat_t // of the directory
}

// openPlace opens the directory of a path in which links were followed before; one
// that has become a link since is refused.
func openPlace(path string) (*place, error) {
	dir := filepath.Dir(path)
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // before Linux 5.6, or kept away by seccomp
		fd, err = unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	p := &place{fd: fd, name: filepath.Base(path), path: path}
	if err := unix.Fstat(fd, &p.st); err != nil {
		return nil, errors.Join(&os.PathError{Op: "stat", Path: dir, Err: err}, p.close())
	}
	return p, nil
}

func (p *place) close() error { return unix.Close(p.fd) }

// check refuses a directory that others than the file's owner may write: they could put
// there what they want to be read, or take what is written.
func (p *place) check(f *File) error {
	dir := filepath.Dir(p.path)
	owner := int(p.st.Uid)
	by, _, sudo := private.SudoUser()
	switch {
	case p.st.Mode&0o002 != 0:
		return fmt.Errorf("others may write its directory %s", dir)
	case owner != 0 && owner != os.Geteuid() && (!sudo || owner != by) && (!f.exists || owner != f.uid):
		return fmt.Errorf("its directory %s is another user's", dir)
	case p.st.Mode&0o020 != 0 && p.st.Gid != 0 && (!f.exists || int(p.st.Gid) != f.gid || f.mode&0o020 == 0):
		return fmt.Errorf("a group may write its directory %s", dir)
	}
	return nil
}

// read returns the present text, which is a plain file's with one name.
func (p *place) read() (text string, st unix.Stat_t, err error) {
	fd, err := unix.Openat(p.fd, p.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", st, &os.PathError{Op: "open", Path: p.path, Err: err}
	}
	f := os.NewFile(uintptr(fd), p.path)
	defer f.Close()
	switch err := unix.Fstat(fd, &st); {
	case err != nil:
		return "", st, err
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return "", st, errors.New("it is no regular file")
	case st.Nlink > 1:
		return "", st, errors.New("it has a second name, which would keep the present text")
	}
	b, err := io.ReadAll(io.LimitReader(f, mostBytes))
	return string(b), st, err
}

// mostBytes is more than a text that is captured may have.
const mostBytes = 64 << 20

// replace gives a new file the name at once: whoever reads it sees the old text or the
// new one. Where there was none, it fails when one has been made meanwhile.
//
// The new file is locked until it has its name, so that the next revert in the directory
// knows what a killed one left there.
func (p *place) replace(f *File) (err error) {
	p.sweep()
	temp := fmt.Sprintf(".%.200s%s%d", p.name, tempMark, os.Getpid())
	fd, err := unix.Openat(p.fd, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &os.PathError{Op: "create", Path: p.path, Err: err}
	}
	_ = unix.Flock(fd, unix.LOCK_EX) // not each file system has locks
	w := os.NewFile(uintptr(fd), p.path)
	defer func() {
		err = errors.Join(err, w.Close())
		if err != nil {
			_ = unix.Unlinkat(p.fd, temp, 0) // the error of the write is the one to report
		}
	}()
	if _, err := w.WriteString(f.now); err != nil {
		return err
	}
	// The owner before the mode: a text with secrets is never another's to read.
	if f.uid != os.Geteuid() || f.gid != os.Getegid() {
		if err := w.Chown(f.uid, f.gid); err != nil {
			return fmt.Errorf("keep its owner: %w", err)
		}
	}
	if err := unix.Fchmod(fd, f.mode); err != nil {
		return err
	}
	if err := w.Sync(); err != nil {
		return err
	}
	flags := uint(unix.RENAME_NOREPLACE)
	if f.exists {
		flags = 0
	}
	if err := unix.Renameat2(p.fd, temp, p.fd, p.name, flags); err != nil {
		return &os.PathError{Op: "rename", Path: p.path, Err: err}
	}
	return unix.Fsync(p.fd)
}

// tempMark stands in the name of a file that is to replace another, before the number of
// the process that writes it.
const tempMark = ".kasoku-"

// mostSwept bounds how many names of the directory are looked at.
const mostSwept = 20_000

// sweep removes what reverts that were killed left in the directory.
func (p *place) sweep() {
	fd, err := unix.Openat(p.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	d := os.NewFile(uintptr(fd), filepath.Dir(p.path))
	defer d.Close()
	names, _ := d.Readdirnames(mostSwept)
	for _, name := range names {
		i := strings.LastIndex(name, tempMark)
		if i < 1 || name[0] != '.' {
			continue
		}
		if _, err := strconv.ParseUint(name[i+len(tempMark):], 10, 31); err == nil {
			p.sweepFile(name)
		}
	}
}

// sweepFile removes a regular file that is not locked.
func (p *place) sweepFile(name string) {
	fd, err := unix.Openat(p.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = unix.Unlinkat(p.fd, name, 0)
	}
}
