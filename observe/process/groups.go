package process

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/procstat"
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
	// topGroups of each kind get series, by CPU at a tick, and keep them, beside those of named processes.
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
	named    bool // a process of it was named, or its tree: it has series whatever others use
}

// groups are those of one kind.
type groups struct {
	by    map[string]*group
	order []*group // in which they were found
	best  []*group // scratch
	shown int
	ever  int // that have or had series
}

// places are where the processes of this host belong.
type places struct {
	r        *reader
	noGroups bool
	groups   [kinds]groups
	users    map[uint32]*user
}

func newPlaces(r *reader, noGroups bool) places {
	l := places{r: r, noGroups: noGroups, users: map[uint32]*user{}}
	for kind := range l.groups {
		l.groups[kind].by = map[string]*group{}
	}
	return l
}

// find finds the groups of a process and its user. It is done when a process is
// first seen, when it takes another name, and once when it has settled.
func (l *places) find(p *process) {
	p.user = l.userOf(p.pid)
	if l.noGroups {
		return
	}
	p.groups = [kinds]*group{}
	if p.stat.Kernel() {
		p.groups[byExe] = l.groups[byExe].get("kernel")
		return
	}
	p.groups[byExe] = l.groups[byExe].get(l.exe(p))
	text, err := l.r.readOnce(l.r.path(p.pid, "cgroup"))
	if err != nil {
		return // gone, or no groups
	}
	unit, container := cgroup.Place(text)
	if unit != "" {
		p.groups[byUnit] = l.groups[byUnit].get(unit)
	}
	if container != "" {
		p.groups[byContainer] = l.groups[byContainer].get(container)
	}
}

// exe returns the base name of what a process runs; of other users', unless as root,
// the name that the kernel has for it.
func (l *places) exe(p *process) string {
	n, err := unix.Readlink(l.r.path(p.pid, "exe"), l.r.buf)
	if err != nil || n == 0 {
		return procfile.Printable(p.name.comm)
	}
	path := bytes.TrimSuffix(l.r.buf[:n], []byte(" (deleted)"))
	return procfile.Printable(path[bytes.LastIndexByte(path, '/')+1:])
}

// A user is who runs processes.
type user struct {
	id    uint32
	tasks uint64 // threads of all processes at this tick
}

// userOf returns the user of a process: the owner of its directory, which is its
// effective user. It is nil when the process has gone.
func (l *places) userOf(pid uint64) *user {
	if unix.Stat(l.r.path(pid, ""), &l.r.stat) != nil {
		return nil
	}
	u := l.users[l.r.stat.Uid]
	if u == nil {
		u = &user{id: l.r.stat.Uid}
		l.users[u.id] = u
	}
	return u
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
func (l *places) sumUp(live []*process, f *kasoku.Frame) {
	for _, u := range l.users {
		u.tasks = 0
	}
	for kind := range l.groups {
		for _, g := range l.groups[kind].order {
			g.used, g.rss, g.threads, g.count = 0, 0, 0, 0
		}
	}
	for _, p := range live {
		if p.user != nil {
			p.user.tasks += p.stat.Threads
		}
		for _, g := range p.groups {
			if g != nil {
				g.used += p.cpu.sum()
				g.rss += p.stat.RSS
				g.threads += p.stat.Threads
				g.count++
				g.named = g.named || p.named || p.tree != nil && p.tree.leader == p
			}
		}
	}
	for kind := range l.groups {
		gs := &l.groups[kind]
		gs.settle()
		for _, g := range gs.order {
			if g.shown {
				names := &kindSeries[kind]
				f.Counter(names.cpu, g.instance, "s", float64(g.cpu)/procstat.UserHz)
				f.Gauge(names.rss, g.instance, "bytes", float64(g.rss)*l.r.pageSize)
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
		if g.named && !g.shown {
			gs.show(g)
		}
		if g.used > 0 {
			gs.rank(g)
		}
	}
	for _, g := range gs.best {
		if !g.shown && gs.room(g) {
			gs.show(g)
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

// show gives a group series.
func (gs *groups) show(g *group) {
	g.shown = true
	gs.shown++
	gs.ever++
}

// room reports whether a group may have series, and takes them from the one that used
// least when that is less than half as much.
func (gs *groups) room(g *group) bool {
	if gs.shown < maxGroups {
		return true
	}
	var least *group
	for _, other := range gs.order {
		if other.shown && !other.named && (least == nil || other.cpu < least.cpu) {
			least = other
		}
	}
	if least == nil || gs.ever >= maxGroupsEver || 2*least.cpu >= g.cpu {
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
