package private

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A TempDir is a directory that only this user may enter and that goes with its
// process: Close removes it, and when the process was killed the next [MakeTempDir] of
// the same place and prefix does.
//
// It is locked (flock) as long as its process lives. A lock holds across containers
// that share the directory, where process ids say nothing. On a file system without
// locks for directories, such as NFS, what is left stays.
type TempDir struct {
	Path string
	fd   int // of the directory, locked; -1 once closed
}

// MakeTempDir makes a directory with a random name after the prefix, in parent or, when
// that is empty, in the directory for temporary files. First it removes those that
// killed processes of this user left there.
func MakeTempDir(parent, prefix string) (*TempDir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	sweep(parent, prefix)
	for range 100 {
		path := filepath.Join(parent, prefix+strings.ToLower(rand.Text()[:10]))
		if err := unix.Mkdir(path, 0o700); errors.Is(err, unix.EEXIST) {
			continue
		} else if err != nil {
			return nil, pathError("mkdir", path, err)
		}
		fd, err := lockDir(path)
		if err != nil {
			return nil, errors.Join(pathError("mkdir", path, err), os.Remove(path))
		}
		if fd == gone {
			continue // a sweep was quicker than the lock
		}
		return &TempDir{path, fd}, nil
	}
	return nil, fmt.Errorf("make directory in %s: no name is free", parent)
}

const gone = -1

// lockDir opens and locks a directory that this process has just made.
func lockDir(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return gone, nil
	}
	if err != nil {
		return gone, err
	}
	_ = unix.Fchmod(fd, 0o700)       // the umask may have taken the user's own rights
	_ = unix.Flock(fd, unix.LOCK_EX) // not each file system has locks for directories
	if !isAt(fd, path) {
		_ = unix.Close(fd)
		return gone, nil
	}
	return fd, nil
}

// isAt reports whether an open directory of this user is the one at the path.
func isAt(fd int, path string) bool {
	var open, there unix.Stat_t
	return unix.Fstat(fd, &open) == nil && unix.Lstat(path, &there) == nil &&
		open.Ino == there.Ino && open.Dev == there.Dev && int(open.Uid) == os.Geteuid()
}

// File returns the path of a name in the directory.
func (t *TempDir) File(name string) string { return filepath.Join(t.Path, name) }

// Close removes the directory with all that is in it.
func (t *TempDir) Close() error {
	err := os.RemoveAll(t.Path)
	if t.fd >= 0 {
		err = errors.Join(err, unix.Close(t.fd))
		t.fd = -1
	}
	return err
}

// Prefixes are those of the directories in the directory for temporary files, which
// [SweepTemp] looks for.
var Prefixes = []string{"kasoku-load-", "kasoku-open-", "kasoku-note-", "kasoku-demo-", "kasoku-server-",
	"kasoku-fleet-"}

// SweepTemp removes what processes of this user that were killed left in the directory
// for temporary files. Each start of the program does so, but for its version's.
func SweepTemp() { sweep(os.TempDir(), Prefixes...) }

// SweepReplaced removes what killed processes of this user left in a directory in which
// they replaced files, and returns how many they are that somebody still writes.
func SweepReplaced(dir string) (busy int) {
	sweep(dir, replacePrefix)
	left, _ := filepath.Glob(filepath.Join(dir, replacePrefix+"*"))
	return len(left)
}

// mostSwept bounds how many names of a directory a sweep looks at: one with more is a
// place that others fill.
const mostSwept = 20_000

// sweep removes the directories that killed processes of this user left. It reports no error:
// what stays harms nothing, and the next sweep tries again.
func sweep(parent string, prefixes ...string) {
	d, err := os.Open(parent)
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(mostSwept)
	_ = d.Close()
	for _, name := range names {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			sweepDir(filepath.Join(parent, name))
		}
	}
}

// sweepDir removes a directory that has no owner any more. It holds the lock until the
// directory is gone, so one that is being made waits and takes another name.
func sweepDir(path string) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil || !isAt(fd, path) {
		return
	}
	_ = os.RemoveAll(path)
}
