package process

import (
	"fmt"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/observe/procfile"
)

// A process is what is known of one process. Its number and its start together
// name it.
type process struct {
	pid    uint64
	fd     int // of its stat file, -1 when that is not kept open
	stat   procstat.Stat
	seen   sightings
	cpu    usage
	name   name
	user   *user
	groups [kinds]*group
	tree   *tree // that it is in; nil without one
	named  bool  // always watched

	watchedAt uint64 // the last tick at which it was watched; 0 before the first
	details   *details
	switches  switches
	hot       *hot // nil unless its threads are read
}

// sightings are when a process was seen.
type sightings struct {
	born   uint64 // tick at which it was first listed
	tick   uint64 // of the last listing that had it
	age    uint64 // how often it was read
	idle   uint64 // how often without CPU
	unread bool   // there at this tick, but its file could not be read
}

// A usage is the CPU ticks of a process since the tick before.
type usage struct {
	used   uint64
	reaped uint64 // and those of children that ended unseen
	childs uint64 // by which those of all ended children grew
	exited uint64 // sum of reaped, of all ticks
	ever   uint64 // sum of both, from the second tick of the source on, with that of children that went
}

// sum returns the CPU ticks with those of children that ended unseen.
func (u *usage) sum() uint64 { return u.used + u.reaped }

// A table is who is there: the processes as they were listed at this tick.
type table struct {
	r        *reader
	dir      *procfile.Dir
	places   places
	families families

	tick   uint64              // number of the present listing
	pids   []uint64            // as listed at this tick
	procs  map[uint64]*process // by number
	live   []*process          // in the order of pids
	named  map[uint64]bool     // numbers that were asked for and have not gone; true when seen
	events []kasoku.Event
}

// list lists the processes and reads the short file of each.
func (t *table) list() error {
	t.tick++
	pids, err := t.dir.AppendNumbers(t.pids[:0])
	if err != nil {
		return err
	}
	t.pids, t.live = pids, t.live[:0]
	for _, pid := range pids {
		t.update(pid)
	}
	t.sweep()
	return nil
}

// name makes a process one that is always watched.
func (t *table) name(pid uint64) {
	p := t.procs[pid]
	t.named[pid] = p != nil
	if p != nil {
		p.named = true
	}
}

// update reads the short file of a listed process, and notes it as living.
func (t *table) update(pid uint64) {
	p := t.procs[pid]
	if p != nil && p.resting(t.tick) {
		p.cpu.used, p.cpu.childs, p.seen.tick = 0, 0, t.tick
		t.live = append(t.live, p)
		return
	}
	if p != nil && p.fd >= 0 {
		if name, st, err := t.r.readStat(p.fd); err == nil && st.Start == p.stat.Start {
			t.advance(p, name, st)
			return
		}
		// The process of the open file has gone. The number was listed, so it
		// may have been given to a new one.
		t.drop(p)
		p = nil
	}
	fd, err := procfile.OpenFD(t.r.path(pid, "stat"), unix.O_RDONLY)
	if err != nil {
		t.r.missing.unreadable(err)
		if p != nil && !gone(err) {
			p.seen.unread, p.seen.tick = true, t.tick // it lives on
			t.live = append(t.live, p)
		}
		return
	}
	name, st, err := t.r.readStat(fd)
	if err != nil {
		procfile.CloseFD(fd)
		t.r.missing.unreadable(err)
		return
	}
	if p != nil && p.stat.Start != st.Start {
		t.drop(p)
		p = nil
	}
	if p == nil {
		p = t.add(pid)
	}
	if t.r.kept < t.r.keptMax {
		p.fd, t.r.kept = fd, t.r.kept+1
	} else {
		procfile.CloseFD(fd)
	}
	t.advance(p, name, st)
}

func (t *table) add(pid uint64) *process {
	p := &process{pid: pid, fd: -1, seen: sightings{born: t.tick}}
	if _, asked := t.named[pid]; asked {
		t.named[pid] = true
		p.named = true
	}
	t.procs[pid] = p
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
	return p.seen.idle > restTicks && !p.named && !p.seen.unread && (p.pid+tick)%restTurns != 0
}

// advance takes over what was read. CPU time of a process that was not there at
// the tick before counts from its start.
func (t *table) advance(p *process, name []byte, st procstat.Stat) {
	p.cpu.used = st.CPU() - min(st.CPU(), p.stat.CPU())
	p.cpu.childs = st.Children() - min(st.Children(), p.stat.Children())
	p.seen.age++
	if p.seen.idle++; p.cpu.used > 0 || p.cpu.childs > 0 {
		p.seen.idle = 0
	}
	p.stat, p.seen.tick, p.seen.unread = st, t.tick, false
	if p.name.change(name, st.Kernel()) || p.seen.age == settled {
		t.places.find(p)
	}
	if p.named && st.Dead() {
		t.forget(p)
	}
	t.live = append(t.live, p)
}

// sweep drops the processes that were not listed or could not be read, and reports
// named ones that were never there.
func (t *table) sweep() {
	if len(t.live) != len(t.procs) {
		for _, p := range t.procs {
			if p.seen.tick != t.tick {
				t.bequeath(p)
			}
		}
		for _, p := range t.procs {
			if p.seen.tick != t.tick {
				t.drop(p)
			}
		}
	}
	for pid, seen := range t.named {
		if !seen {
			t.exited(fmt.Sprintf("process %d does not exist", pid))
			delete(t.named, pid)
		}
	}
}

// bequeath gives what was seen of a process that has gone to the nearest of its ancestors
// that lives, for the case that this one's tree is asked for later.
func (t *table) bequeath(p *process) {
	if p.tree != nil {
		return // which has it
	}
	for q, n := t.procs[p.stat.Parent], 0; q != nil && n < generations; q, n = t.procs[q.stat.Parent], n+1 {
		if q.seen.tick == t.tick {
			q.cpu.ever += p.cpu.ever
			return
		}
	}
}

// drop takes a process that has gone off the table.
func (t *table) drop(p *process) {
	if p.named {
		t.forget(p)
	}
	t.families.end(p, t.tick)
	p.close(t.r)
	if t.procs[p.pid] == p {
		delete(t.procs, p.pid)
	}
}

// forget reports the end of a named process. Its number means nothing from now on.
func (t *table) forget(p *process) {
	t.exited("process " + p.instance(t.r) + " exited")
	p.named = false
	delete(t.named, p.pid)
}

func (t *table) exited(text string) {
	t.events = append(t.events, kasoku.Event{Kind: "exit", Text: text})
}

// close closes the files of all processes.
func (t *table) close() error {
	for _, p := range t.procs {
		p.close(t.r)
	}
	clear(t.procs)
	return t.dir.Close()
}

// close closes the files of a process.
func (p *process) close(r *reader) {
	if p.fd >= 0 {
		procfile.CloseFD(p.fd)
		p.fd = -1
		r.kept--
	}
	p.closeDetails(r)
}

// emit appends the samples of a watched process.
func (p *process) emit(r *reader, f *kasoku.Frame) {
	name := p.instance(r)
	f.Counter(CPUUser, name, "s", float64(p.stat.User)/procstat.UserHz)
	f.Counter(CPUSystem, name, "s", float64(p.stat.System)/procstat.UserHz)
	if n := p.stat.ChildUser + p.stat.ChildSystem; n > 0 {
		f.Counter(CPUChildren, name, "s", float64(n)/procstat.UserHz)
	}
	if p.cpu.exited > 0 {
		f.Counter(CPUExited, name, "s", float64(p.cpu.exited)/procstat.UserHz)
	}
	f.Counter(FaultsMajor, name, "count", float64(p.stat.Faults))
	f.Gauge(RSS, name, "bytes", float64(p.stat.RSS)*r.pageSize)
	f.Gauge(Threads, name, "count", float64(p.stat.Threads))
	if p.details == nil {
		p.openDetails(r)
	}
	if p.details != nil {
		p.emitDetails(r, name, f)
	}
}
