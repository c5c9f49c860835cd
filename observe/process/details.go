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
func (p *process) openDetails(r *reader) {
	if r.kept+detailFiles > 2*r.keptMax {
		r.missing.unreadable(&fs.PathError{Op: "open", Path: r.path(p.pid, "io"), Err: unix.EMFILE})
		return
	}
	r.kept += detailFiles
	d := &details{fdSize: -1}
	p.details = d
	var errs [5]error
	d.io, errs[0] = procfile.Open(r.path(p.pid, "io"))
	d.limits, errs[1] = procfile.Open(r.path(p.pid, "limits"))
	d.tasks, errs[2] = procfile.OpenDir(r.path(p.pid, "task"))
	if r.fdSizes {
		d.fdSize, errs[3] = procfile.OpenFD(r.path(p.pid, "fd"), unix.O_PATH|unix.O_DIRECTORY)
	} else {
		d.fds, errs[4] = procfile.OpenDir(r.path(p.pid, "fd"))
	}
	for _, err := range errs {
		if err != nil {
			r.missing.unreadable(err)
		}
	}
}

func (p *process) closeDetails(r *reader) {
	d := p.details
	if d == nil {
		return
	}
	p.closeHot()
	r.kept -= detailFiles
	p.details = nil
	_ = errors.Join(d.io.Close(), d.limits.Close(), d.fds.Close(), d.tasks.Close()) // opened for reading
	if d.fdSize >= 0 {
		procfile.CloseFD(d.fdSize)
	}
}

// emitDetails appends what the long files say.
func (p *process) emitDetails(r *reader, name string, f *kasoku.Frame) {
	d := p.details
	if n, ok := d.countFDs(r); ok {
		f.Gauge(FDs, name, "count", float64(n))
	}
	p.emitLimits(r, name, f)
	if st, ok := d.readIO(r); ok {
		f.Counter(IOReadBytes, name, "bytes", float64(st.readBytes))
		f.Counter(IOWriteBytes, name, "bytes", float64(st.writeBytes))
		f.Counter(IOWriteCalls, name, "count", float64(st.writeCalls))
	}
	if d.tasks == nil {
		return
	}
	if p.cpu.used > 0 || p.switches.threads == nil || p.hot != nil {
		tids, ok := r.list(d.tasks)
		if !ok || len(tids) == 0 {
			return
		}
		p.readSwitches(r, tids)
		if p.hot != nil {
			p.hot.read(p, tids, f)
		}
	}
	f.Counter(SwitchVoluntary, name, "count", float64(p.switches.sum.voluntary))
	f.Counter(SwitchForced, name, "count", float64(p.switches.sum.forced))
}

// emitLimits appends the limits that are set, with what counts against them.
func (p *process) emitLimits(r *reader, name string, f *kasoku.Frame) {
	d := p.details
	d.readLimits(r)
	if d.files.set {
		f.Gauge(FDsLimit, name, "count", float64(d.files.most))
	}
	if d.userTasks.set && p.user != nil && p.user.id != 0 {
		f.Gauge(TasksLimit, name, "count", float64(d.userTasks.most))
		f.Gauge(TasksUser, name, "count", float64(p.user.tasks))
	}
	if d.size.set {
		f.Gauge(SizeLimit, name, "bytes", float64(d.size.most))
		f.Gauge(Size, name, "bytes", float64(p.stat.Size))
	}
}

func (d *details) countFDs(r *reader) (n uint64, ok bool) {
	if d.fdSize >= 0 {
		if unix.Fstat(d.fdSize, &r.stat) != nil {
			return 0, false
		}
		return uint64(r.stat.Size), true
	}
	if d.fds == nil {
		return 0, false
	}
	fds, ok := r.list(d.fds)
	return uint64(len(fds)), ok
}

func (d *details) readLimits(r *reader) {
	d.age++
	if (d.age-1)%limitTicks != 0 {
		return
	}
	text, ok := r.readLong(d.limits)
	if !ok {
		return
	}
	for _, l := range [...]struct {
		label string
		to    *limitStat
	}{{limitFiles, &d.files}, {limitTasks, &d.userTasks}, {limitAddress, &d.size}} {
		l.to.most, l.to.set = parseLimit(text, l.label)
	}
}

func (d *details) readIO(r *reader) (ioStat, bool) {
	text, ok := r.readLong(d.io)
	if !ok {
		return ioStat{}, false
	}
	st, err := parseIO(text)
	if err != nil {
		r.missing.warn("see proc(5)", "some series of processes are missing: parse "+d.io.Path()+": "+err.Error())
		return ioStat{}, false
	}
	return st, true
}
