package process

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/procfile"
)

// The kinds of groups.
const (
	byExe = iota
	byUnit
	byContainer
	kinds
)

// kindSeries are the names of each kind's series.
var kindSeries = [kinds]struct{ cpu, rss, processes, threads string }{
	{ExeCPU, ExeRSS, ExeProcesses, ExeThreads},
	{UnitCPU, UnitRSS, UnitProcesses, UnitThreads},
	{ContainerCPU, ContainerRSS, ContainerProcesses, ContainerThreads},
}

const (
	// topGroups of each kind get series, by CPU at a tick, and keep them.
	topGroups = 8
	// maxGroups bounds those that have them, of each kind.
	maxGroups = 24
	// maxGroupsEver bounds those of a whole run: one that used more takes the place of
	// the one that used least.
	maxGroupsEver = 96
	// settled is the tick of a process's life at which it is looked at again: by then
	// a server has given up its rights and a manager has moved it.
	settled = 5
)

// A group is what processes have in common.
type group struct {
	instance string
	cpu      uint64 // ticks, of all that were ever seen in it
	used     uint64 // since the tick before
	rss      uint64 // pages
	threads  uint64
	count    uint64 // of processes
	shown    bool
}

// groups are those of one kind.
type groups struct {
	by    map[string]*group
	order []*group // in which they were found
	best  []*group // scratch
	shown int
	ever  int // that have or had series
}

// place finds the groups of a process and its user. It is done when a process is
// first seen, when it takes another name, and once when it has settled.
func (s *Source) place(p *process) {
	p.user = s.userOf(p.pid)
	if s.noGroups {
		return
	}
	p.groups = [kinds]*group{}
	if p.stat.flags&kthreadFlag != 0 {
		p.groups[byExe] = s.groups[byExe].get("kernel")
		return
	}
	p.groups[byExe] = s.groups[byExe].get(s.exe(p))
	text, ok := s.cgroupText(p.pid)
	if !ok {
		return
	}
	unit, container := cgroup.Place(text)
	if unit != "" {
		p.groups[byUnit] = s.groups[byUnit].get(unit)
	}
	if container != "" {
		p.groups[byContainer] = s.groups[byContainer].get(container)
	}
}

// exe returns the base name of what a process runs; of other users', unless as root,
// the name that the kernel has for it.
func (s *Source) exe(p *process) string {
	n, err := unix.Readlink(s.path(p.pid, "exe"), s.buf[:])
	if err != nil || n == 0 {
		return procfile.Printable(p.comm)
	}
	path := bytes.TrimSuffix(s.buf[:n], []byte(" (deleted)"))
	return procfile.Printable(path[bytes.LastIndexByte(path, '/')+1:])
}

// cgroupText reads /proc/PID/cgroup. The text is valid until the next read.
func (s *Source) cgroupText(pid uint64) ([]byte, bool) {
	fd, err := procfile.OpenFD(s.path(pid, "cgroup"), unix.O_RDONLY)
	if err != nil {
		return nil, false // gone, or no groups
	}
	defer procfile.CloseFD(fd)
	n, err := procfile.Pread(fd, s.buf, 0)
	return s.buf[:n], err == nil
}

// get returns the group of a name.
func (gs *groups) get(name string) *group {
	g := gs.by[name]
	if g == nil {
		g = &group{instance: strings.Clone(name)}
		gs.by[g.instance] = g
		gs.order = append(gs.order, g)
	}
	return g
}

// sumUp adds the processes of this tick to their groups and users, and appends the
// groups that have series.
func (s *Source) sumUp(f *kasoku.Frame) {
	for _, u := range s.users {
		u.tasks = 0
	}
	for kind := range s.groups {
		for _, g := range s.groups[kind].order {
			g.used, g.rss, g.threads, g.count = 0, 0, 0, 0
		}
	}
	for _, p := range s.live {
		if p.user != nil {
			p.user.tasks += p.stat.threads
		}
		for _, g := range p.groups {
			if g != nil {
				g.used += p.cpu()
				g.rss += p.stat.rss
				g.threads += p.stat.threads
				g.count++
			}
		}
	}
	for kind := range s.groups {
		gs := &s.groups[kind]
		gs.settle()
		for _, g := range gs.order {
			if g.shown {
				names := &kindSeries[kind]
				f.Counter(names.cpu, g.instance, "s", float64(g.cpu)/userHZ)
				f.Gauge(names.rss, g.instance, "bytes", float64(g.rss)*s.pageSize)
				f.Gauge(names.processes, g.instance, "count", float64(g.count))
				f.Gauge(names.threads, g.instance, "count", float64(g.threads))
			}
		}
	}
}

// settle takes over what the groups used, gives the ones that used the most their
// series and forgets those that are empty and have none.
func (gs *groups) settle() {
	gs.best = gs.best[:0]
	empty := 0
	for _, g := range gs.order {
		g.cpu += g.used
		if g.count == 0 && !g.shown {
			empty++
		}
		if g.used > 0 {
			gs.rank(g)
		}
	}
	for _, g := range gs.best {
		if !g.shown && gs.room(g) {
			g.shown = true
			gs.shown++
			gs.ever++
		}
	}
	if empty > 0 {
		gs.order = slices.DeleteFunc(gs.order, func(g *group) bool {
			if g.count > 0 || g.shown {
				return false
			}
			delete(gs.by, g.instance)
			return true
		})
	}
}

// room reports whether a group may have series, and takes them from the one that used
// least when that is less than half as much.
func (gs *groups) room(g *group) bool {
	if gs.shown < maxGroups {
		return true
	}
	var least *group
	for _, other := range gs.order {
		if other.shown && (least == nil || other.cpu < least.cpu) {
			least = other
		}
	}
	if gs.ever >= maxGroupsEver || 2*least.cpu >= g.cpu {
		return false
	}
	least.shown = false
	gs.shown--
	return true
}

// rank inserts a group into the best ones, most CPU first.
func (gs *groups) rank(g *group) {
	at := len(gs.best)
	for at > 0 && gs.best[at-1].used < g.used {
		at--
	}
	if at >= topGroups {
		return
	}
	if len(gs.best) < topGroups {
		gs.best = append(gs.best, nil)
	}
	copy(gs.best[at+1:], gs.best[at:])
	gs.best[at] = g
}
