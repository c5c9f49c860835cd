package process

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// limitTicks is how often a process's limits are read; they rarely change.
const limitTicks = 10

// The details of a process are its long files, open while it is watched. A file
// that may not be read is nil.
type details struct {
	io     *procfile.File
	limits *procfile.File
	fds    *procfile.Dir // for counting; nil when the size gives the count
	tasks  *procfile.Dir
	fdSize int // descriptor of the directory fd, -1 when the size is not the count

	age       uint64    // ticks since the limits were read
	files     limitStat // of open files
	userTasks limitStat // of the user's threads
	size      limitStat // of the address space
}

// A limitStat is a limit, when there is one.
type limitStat struct {
	most uint64
	set  bool
}

// detailFiles is how many files the details of a process hold open.
const detailFiles = 4

// openDetails opens the long files, unless that would take more than half of the
// descriptors that this process may have. What may not be opened is left out,
// with a warning.
func (s *Source) openDetails(p *process) {
	if s.kept+detailFiles > 2*s.keptMax {
		s.unreadable(&fs.PathError{Op: "open", Path: s.path(p.pid, "io"), Err: unix.EMFILE})
		return
	}
	s.kept += detailFiles
	d := &details{fdSize: -1}
	p.details = d
	var errs [5]error
	d.io, errs[0] = procfile.Open(s.path(p.pid, "io"))
	d.limits, errs[1] = procfile.Open(s.path(p.pid, "limits"))
	d.tasks, errs[2] = procfile.OpenDir(s.path(p.pid, "task"))
	if s.fdSizes {
		d.fdSize, errs[3] = procfile.OpenFD(s.path(p.pid, "fd"), unix.O_PATH|unix.O_DIRECTORY)
	} else {
		d.fds, errs[4] = procfile.OpenDir(s.path(p.pid, "fd"))
	}
	for _, err := range errs {
		if err != nil {
			s.unreadable(err)
		}
	}
}

func (s *Source) closeDetails(p *process) {
	d := p.details
	if d == nil {
		return
	}
	s.closeHot(p)
	s.kept -= detailFiles
	p.details = nil
	_ = errors.Join(d.io.Close(), d.limits.Close(), d.fds.Close(), d.tasks.Close()) // opened for reading
	if d.fdSize >= 0 {
		procfile.CloseFD(d.fdSize)
	}
}

// emitDetails appends what the long files say.
func (s *Source) emitDetails(p *process, name string, f *kasoku.Frame) {
	d := p.details
	if n, ok := s.countFDs(d); ok {
		f.Gauge(FDs, name, "count", float64(n))
	}
	s.emitLimits(p, name, f)
	if st, ok := s.readIO(d); ok {
		f.Counter(IOReadBytes, name, "bytes", float64(st.readBytes))
		f.Counter(IOWriteBytes, name, "bytes", float64(st.writeBytes))
		f.Counter(IOWriteCalls, name, "count", float64(st.writeCalls))
	}
	if d.tasks == nil {
		return
	}
	if p.used > 0 || p.switches.threads == nil || p.hot != nil {
		tids, ok := s.listThreads(d)
		if !ok {
			return
		}
		s.readSwitches(p, tids)
		if p.hot != nil {
			s.readHot(p, tids, f)
		}
	}
	f.Counter(SwitchVoluntary, name, "count", float64(p.switches.sum.voluntary))
	f.Counter(SwitchForced, name, "count", float64(p.switches.sum.forced))
}

// listThreads lists the threads of a process. The slice is valid until the next
// listing.
func (s *Source) listThreads(d *details) (tids []uint64, ok bool) {
	tids, err := d.tasks.AppendNumbers(s.tids[:0])
	if err != nil {
		s.unreadable(err)
		return nil, false
	}
	s.tids = tids[:0]
	return tids, len(tids) > 0
}

// emitLimits appends the limits that are set, with what counts against them.
func (s *Source) emitLimits(p *process, name string, f *kasoku.Frame) {
	d := p.details
	s.readLimits(d)
	if d.files.set {
		f.Gauge(FDsLimit, name, "count", float64(d.files.most))
	}
	if d.userTasks.set && p.user != nil && p.user.id != 0 {
		f.Gauge(TasksLimit, name, "count", float64(d.userTasks.most))
		f.Gauge(TasksUser, name, "count", float64(p.user.tasks))
	}
	if d.size.set {
		f.Gauge(SizeLimit, name, "bytes", float64(d.size.most))
		f.Gauge(Size, name, "bytes", float64(p.stat.size))
	}
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

func (s *Source) countFDs(d *details) (n uint64, ok bool) {
	if d.fdSize >= 0 {
		if unix.Fstat(d.fdSize, &s.fileStat) != nil {
			return 0, false
		}
		return uint64(s.fileStat.Size), true
	}
	if d.fds == nil {
		return 0, false
	}
	fds, err := d.fds.AppendNumbers(s.tids[:0])
	if err != nil {
		s.unreadable(err)
		return 0, false
	}
	s.tids = fds[:0]
	return uint64(len(fds)), true
}

func (s *Source) readLimits(d *details) {
	if d.limits == nil || d.age%limitTicks != 0 {
		d.age++
		return
	}
	d.age++
	text, err := d.limits.Append(s.buf[:0])
	if err != nil {
		s.unreadable(err)
		return
	}
	for _, l := range [...]struct {
		label string
		to    *limitStat
	}{{limitFiles, &d.files}, {limitTasks, &d.userTasks}, {limitAddress, &d.size}} {
		l.to.most, l.to.set = parseLimit(text, l.label)
	}
}

func (s *Source) readIO(d *details) (ioStat, bool) {
	if d.io == nil {
		return ioStat{}, false
	}
	text, err := d.io.Append(s.buf[:0])
	if err != nil {
		s.unreadable(err)
		return ioStat{}, false
	}
	st, err := parseIO(text)
	if err != nil {
		s.warn("see proc(5)", "some series of processes are missing: parse "+d.io.Path()+": "+err.Error())
		return ioStat{}, false
	}
	return st, true
}
