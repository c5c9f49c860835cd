package process

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/confine"
	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/observe/procfile"
)

// A reader reads the files of processes. Some are held open, up to a bound; what it
// returns is valid until it reads again.
type reader struct {
	root     string
	fdSizes  bool // the size of /proc/PID/fd is the number of descriptors, since Linux 6.2
	pageSize float64
	keptMax  int
	kept     int // files of processes that are held open

	buf     []byte      // of the file being read
	numbers []uint64    // of the directory being listed
	stat    unix.Stat_t // of the directory being counted
	missing missing
}

func newReader(root string) *reader {
	return &reader{
		root:     root,
		fdSizes:  fdSizes(root),
		pageSize: float64(os.Getpagesize()),
		keptMax:  keptMax(),
		buf:      make([]byte, bufBytes),
		missing:  missing{warned: map[string]bool{}},
	}
}

// keptMax gives the short files a quarter of the descriptors, and the long ones as
// many again: a load generator in the same process needs the others.
func keptMax() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return maxKept / 4
	}
	return int(min(limit.Cur/4, maxKept))
}

// fdSizes reports whether the size of /proc/PID/fd is the number of open
// descriptors, as since Linux 6.2 (Documentation/filesystems/proc.rst, 3.8).
// Then neither listing nor a right to list is needed.
func fdSizes(root string) bool {
	var fsys unix.Statfs_t
	if unix.Statfs(root, &fsys) != nil || fsys.Type != unix.PROC_SUPER_MAGIC {
		return false
	}
	var st unix.Stat_t
	return unix.Stat(root+"/self/fd", &st) == nil && st.Size > 0
}

// path returns the path of a process's file.
func (r *reader) path(pid uint64, file string) string {
	return r.root + "/" + strconv.FormatUint(pid, 10) + "/" + file
}

// threadPath returns the path of a thread's file.
func (r *reader) threadPath(pid, tid uint64, file string) string {
	return r.path(pid, "task/"+strconv.FormatUint(tid, 10)+"/"+file)
}

// read reads a short file that is held open.
func (r *reader) read(fd int) ([]byte, error) {
	n, err := procfile.Pread(fd, r.buf, 0)
	if err != nil {
		return nil, err
	}
	return r.buf[:n], nil
}

// readOnce reads a short file that is not held open.
func (r *reader) readOnce(path string) ([]byte, error) {
	fd, err := procfile.OpenFD(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer procfile.CloseFD(fd)
	return r.read(fd)
}

// readStat reads a stat file.
func (r *reader) readStat(fd int) (name []byte, st procstat.Stat, err error) {
	text, err := r.read(fd)
	if err != nil {
		return nil, procstat.Stat{}, err
	}
	return procstat.Parse(text)
}

// readLong reads a long file. ok is false when there is none, or it cannot be read.
func (r *reader) readLong(f *procfile.File) (text []byte, ok bool) {
	if f == nil {
		return nil, false
	}
	text, err := f.Append(r.buf[:0])
	if err != nil {
		r.missing.unreadable(err)
		return nil, false
	}
	return text, true
}

// list lists a directory of numbers.
func (r *reader) list(d *procfile.Dir) (numbers []uint64, ok bool) {
	numbers, err := d.AppendNumbers(r.numbers[:0])
	if err != nil {
		r.missing.unreadable(err)
		return nil, false
	}
	r.numbers = numbers[:0]
	return numbers, true
}

// missing is what could not be read, noted once for each kind.
type missing struct {
	warnings []kasoku.Warning
	warned   map[string]bool // by hint
}

// unreadable notes why a file of a process cannot be read. That a process has gone is
// no reason for a note.
func (m *missing) unreadable(err error) {
	if gone(err) || ofInit(err) {
		return
	}
	hint := "see proc(5)"
	switch {
	case errors.Is(err, unix.EMFILE):
		hint = "raise the limit of open files, as with ulimit -n"
	case errors.Is(err, fs.ErrPermission) && unix.Geteuid() == 0 && holdsTrace():
		hint = "the kernel refuses it to root as well, as of a process of another sandbox"
	case errors.Is(err, fs.ErrPermission) && unix.Geteuid() == 0:
		hint = "root lacks the capability CAP_SYS_PTRACE, as in a container; `docker run --cap-add SYS_PTRACE` grants it"
	case errors.Is(err, fs.ErrPermission):
		hint = "run as root, or as the user of the process"
	}
	m.warn(hint, "some series of processes are missing: "+err.Error())
}

// ofInit reports whether root was refused a file of the first process: the agent of a
// virtual machine or of a sandbox is closed to it, and is no one's service.
func ofInit(err error) bool {
	var at *fs.PathError
	return unix.Geteuid() == 0 && errors.Is(err, fs.ErrPermission) && errors.As(err, &at) &&
		strings.HasPrefix(at.Path, "/proc/1/")
}

// holdsTrace reports whether this process may read those of others.
func holdsTrace() bool {
	held, err := confine.Held()
	return err == nil && held.Has(unix.CAP_SYS_PTRACE)
}

// gone reports whether an error says that there is no such process.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}

func (m *missing) warn(hint, text string) {
	if m.warned[hint] {
		return
	}
	m.warned[hint] = true
	m.warnings = append(m.warnings, kasoku.Warning{Code: "process-partial", Text: text, Hint: hint})
}
