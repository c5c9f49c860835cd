package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// A process is what is known of one process. Its number and its start together
// name it.
type process struct {
	pid      uint64
	fd       int    // of its stat file, -1 when that is not kept open
	tick     uint64 // of the last listing that had it
	stat     stat
	used     uint64 // CPU ticks since the tick before
	reaped   uint64 // and those of children that ended unseen
	childs   uint64 // CPU ticks by which those of all ended children grew
	exited   uint64 // sum of reaped
	age      uint64 // how often it was read
	idle     uint64 // how often without CPU
	born     uint64 // tick at which it was first listed
	last     uint64 // tick at which it was last watched
	user     *user
	groups   [kinds]*group
	hot      *hot // nil unless its threads are read
	unread   bool // there at this tick, but its file could not be read
	named    bool // always watched
	watched  bool // at this tick
	comm     []byte
	renames  int
	instance string // "PID NAME", made when first needed
	details  *details
	switches switches
}

// update reads the short file of a listed process, and notes it as living.
func (s *Source) update(pid uint64) {
	p := s.procs[pid]
	if p != nil && p.resting(s.tick) {
		p.used, p.childs, p.tick = 0, 0, s.tick
		s.live = append(s.live, p)
		return
	}
	if p != nil && p.fd >= 0 {
		if name, st, err := s.readStat(p.fd); err == nil && st.start == p.stat.start {
			s.advance(p, name, st)
			return
		}
		// The process of the open file has gone. The number was listed, so it
		// may have been given to a new one.
		s.drop(p)
		p = nil
	}
	fd, err := procfile.OpenFD(s.path(pid, "stat"), unix.O_RDONLY)
	if err != nil {
		s.unreadable(err)
		if p != nil && !gone(err) {
			p.unread, p.tick = true, s.tick // it lives on
			s.live = append(s.live, p)
		}
		return
	}
	name, st, err := s.readStat(fd)
	if err != nil {
		procfile.CloseFD(fd)
		s.unreadable(err)
		return
	}
	if p != nil && p.stat.start != st.start {
		s.drop(p)
		p = nil
	}
	if p == nil {
		p = s.add(pid)
	}
	if s.kept < s.keptMax {
		p.fd, s.kept = fd, s.kept+1
	} else {
		procfile.CloseFD(fd)
	}
	s.advance(p, name, st)
}

func (s *Source) add(pid uint64) *process {
	p := &process{pid: pid, fd: -1, born: s.tick}
	if _, asked := s.named[pid]; asked {
		s.named[pid] = true
		p.named = true
	}
	s.procs[pid] = p
	return p
}

// Most processes of a server sleep all the time, and reading them is most of what a
// tick costs. One that did nothing for restTicks is read in turn with others, at one
// tick of restTurns; that it wakes up is seen so much later, and nothing is lost, as
// the kernel's numbers go on growing.
const (
	restTicks = 10
	restTurns = 3
)

// resting reports whether a process is left out at a tick.
func (p *process) resting(tick uint64) bool {
	return p.idle > restTicks && !p.named && !p.unread && (p.pid+tick)%restTurns != 0
}

// cpu returns the CPU ticks since the tick before, with those of children that
// ended unseen.
func (p *process) cpu() uint64 { return p.used + p.reaped }

// advance takes over what was read. CPU time of a process that was not there at
// the tick before counts from its start.
func (s *Source) advance(p *process, name []byte, st stat) {
	p.used = st.cpu() - min(st.cpu(), p.stat.cpu())
	p.childs = st.children() - min(st.children(), p.stat.children())
	p.age++
	if p.idle++; p.used > 0 || p.childs > 0 {
		p.idle = 0
	}
	p.stat, p.tick, p.unread = st, s.tick, false
	if p.rename(name) || p.age == settled {
		s.place(p)
	}
	if p.named && st.dead() {
		s.forget(p)
	}
	s.live = append(s.live, p)
}

// readStat reads a stat file. The name is valid until the next read.
func (s *Source) readStat(fd int) (name []byte, st stat, err error) {
	n, err := procfile.Pread(fd, s.buf, 0)
	if err != nil {
		return nil, stat{}, err
	}
	return parseStat(s.buf[:n])
}

// sweep drops the processes that were not listed or could not be read, and reports
// named ones that were never there.
func (s *Source) sweep() {
	if len(s.live) != len(s.procs) {
		for _, p := range s.procs {
			if p.tick != s.tick {
				s.drop(p)
			}
		}
	}
	for pid, seen := range s.named {
		if !seen {
			s.exited(fmt.Sprintf("process %d does not exist", pid))
			delete(s.named, pid)
		}
	}
}

// drop takes a process that has gone off the table.
func (s *Source) drop(p *process) {
	if p.named {
		s.forget(p)
	}
	s.end(p)
	s.release(p)
	if s.procs[p.pid] == p {
		delete(s.procs, p.pid)
	}
}

// forget reports the end of a named process. Its number means nothing from now on.
func (s *Source) forget(p *process) {
	s.exited("process " + s.instance(p) + " exited")
	p.named = false
	delete(s.named, p.pid)
}

// release closes the files of a process.
func (s *Source) release(p *process) {
	if p.fd >= 0 {
		procfile.CloseFD(p.fd)
		p.fd = -1
		s.kept--
	}
	s.closeDetails(p)
}

// lingerTicks is how long the long files of a process stay open when it is no longer
// watched: it is likely to be again.
const lingerTicks = 5

// choose sets s.watched to the named processes and the top ones by CPU of the
// others, and closes the long files of those that are no longer among them.
func (s *Source) choose() {
	s.watched, s.before = s.before[:0], s.watched
	for _, p := range s.before {
		p.watched = false
	}
	s.best = s.best[:0]
	for _, p := range s.live {
		switch {
		case p.unread:
		case p.named:
			s.watched = append(s.watched, p)
		case p.cpu() > 0 && !p.stat.dead() && s.lasting(p):
			s.rank(p)
		}
	}
	s.watched = append(s.watched, s.best...)
	for _, p := range s.watched {
		if p.last == 0 {
			s.watchedEver++
		}
		p.watched, p.last = true, s.tick
	}
	clear(s.before)
	for _, p := range s.live {
		if p.details != nil && s.tick-p.last > lingerTicks {
			s.closeDetails(p)
		}
	}
}

// A host that starts programs all the time, as a build does, would give each of them
// series of its own, of one or two points: a process is watched from the second tick
// that sees it, and one tick later for each lastingShare that were watched before, at
// most lastingMost. Its CPU time is in that of its executable from the first.
const (
	lastingShare = 50
	lastingMost  = 15
)

// lasting reports whether a process has been there long enough to be watched; those
// that were there when it all began have.
func (s *Source) lasting(p *process) bool {
	return p.last > 0 || p.born <= 1 || s.tick-p.born >= min(1+s.watchedEver/lastingShare, lastingMost)
}

// rank inserts a process into the best ones, most CPU first; of equals, the one
// that is listed first.
func (s *Source) rank(p *process) {
	at := len(s.best)
	for at > 0 && s.best[at-1].cpu() < p.cpu() {
		at--
	}
	if at >= s.top {
		return
	}
	if len(s.best) < s.top {
		s.best = append(s.best, nil)
	}
	copy(s.best[at+1:], s.best[at:])
	s.best[at] = p
}

// emit appends the samples of a watched process.
func (s *Source) emit(p *process, f *kasoku.Frame) {
	name := s.instance(p)
	f.Counter(CPUUser, name, "s", float64(p.stat.user)/userHZ)
	f.Counter(CPUSystem, name, "s", float64(p.stat.system)/userHZ)
	if n := p.stat.childUser + p.stat.childSystem; n > 0 {
		f.Counter(CPUChildren, name, "s", float64(n)/userHZ)
	}
	if p.exited > 0 {
		f.Counter(CPUExited, name, "s", float64(p.exited)/userHZ)
	}
	f.Counter(FaultsMajor, name, "count", float64(p.stat.faults))
	f.Gauge(RSS, name, "bytes", float64(p.stat.rss)*s.pageSize)
	f.Gauge(Threads, name, "count", float64(p.stat.threads))
	if p.details == nil {
		s.openDetails(p)
	}
	if p.details != nil {
		s.emitDetails(p, name, f)
	}
}

// rename takes over the name, and reports whether it was new. A process gets one by exec too; one that goes on
// changing its name, as a progress display, keeps an early one, so that its
// series hold together.
func (p *process) rename(comm []byte) bool {
	const renamesMax = 3
	if p.stat.flags&kthreadFlag != 0 {
		comm = withoutWork(comm)
	}
	if p.renames > 0 && bytes.Equal(comm, p.comm) || p.renames > renamesMax {
		return false
	}
	p.comm = append(p.comm[:0], comm...)
	p.renames++
	p.instance = ""
	return true
}

// path returns the path of a process's file.
func (s *Source) path(pid uint64, file string) string {
	return s.root + "/" + strconv.FormatUint(pid, 10) + "/" + file
}

// unreadable notes why a file of a process cannot be read, once for each kind.
// That a process has gone is no reason for a note.
func (s *Source) unreadable(err error) {
	if gone(err) {
		return
	}
	hint := "see proc(5)"
	switch {
	case errors.Is(err, unix.EMFILE):
		hint = "raise the limit of open files, as with ulimit -n"
	case errors.Is(err, fs.ErrPermission) && unix.Geteuid() == 0:
		hint = "root lacks the capability CAP_SYS_PTRACE, as in a container; `docker run --cap-add SYS_PTRACE` grants it"
	case errors.Is(err, fs.ErrPermission):
		hint = "run as root, or as the user of the process"
	}
	s.warn(hint, "some series of processes are missing: "+err.Error())
}

// gone reports whether an error says that there is no such process.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}

func (s *Source) warn(hint, text string) {
	if s.warned[hint] {
		return
	}
	s.warned[hint] = true
	s.warnings = append(s.warnings, kasoku.Warning{Code: "process-partial", Text: text, Hint: hint})
}
