package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/pathwalk"
)

// errProc refuses /proc: there a name such as self means who asks, kasoku, and not the
// process whose file is meant.
var errProc = errors.New("it lies in /proc")

// A walker goes a path from the root of a process, with its rights, over its own links
// and those of root and kasoku.
type walker struct {
	*pathwalk.Walker
	p       *Process
	adopted bool // the kernel decides by the process's rights
	anyLink bool // anybody's links are followed
}

// newWalker takes the rights of the process for this thread.
func newWalker(p *Process, root int) (*walker, error) {
	adopted, err := p.rights.adopt()
	if err != nil {
		return nil, err
	}
	w := &walker{p: p, adopted: adopted}
	w.Walker, err = pathwalk.NewWalker(w, root, p.dir())
	return w, err
}

// Enter refuses what lies in /proc and, where the kernel cannot be asked, what the mode
// bits refuse to the process.
func (w *walker) Enter(fd int, _, st *unix.Stat_t) error {
	var system unix.Statfs_t
	if err := unix.Fstatfs(fd, &system); err != nil {
		return err
	}
	switch {
	case system.Type == unix.PROC_SUPER_MAGIC:
		return errProc
	case !w.adopted && st.Mode&unix.S_IFMT != unix.S_IFLNK && !w.p.rights.allow(st):
		return unix.EACCES
	}
	return nil
}

// Follow allows links that root, the process's own user or kasoku's made: another
// user's link is his word.
func (w *walker) Follow(_, link, _ *unix.Stat_t) error {
	if own := int(link.Uid); !w.anyLink && own != 0 && own != w.p.rights.uid && own != os.Geteuid() {
		return fmt.Errorf("uid %d made the link", own)
	}
	return nil
}

// open opens a regular file for reading.
func (w *walker) open(name string) (*os.File, unix.Stat_t, error) {
	return w.Open(name, pathwalk.IsRegular)
}

// names lists a directory, at most so many.
func (w *walker) names(dir string, most int) ([]string, error) {
	last, st, err := w.Find(dir)
	if err != nil {
		return nil, err
	}
	if last != "." || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil, pathError(dir, unix.ENOTDIR)
	}
	if !w.adopted && !w.p.rights.list(&st) {
		return nil, pathError(dir, unix.EACCES)
	}
	fd, err := unix.Openat(w.Here(), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
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
