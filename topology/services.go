package topology

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/internal/programs"
)

// kindOf returns what a process is by its name, else by its program's.
func kindOf(p *process) Kind {
	names := []string{p.name, filepath.Base(p.exe)}
	if len(p.args) > 1 && strings.HasPrefix(names[1], "python") {
		names = append([]string{filepath.Base(p.args[1])}, names...)
	}
	for _, name := range names {
		if known, ok := programs.Known(name); ok {
			return kindOfProgram(name, known)
		}
		if programs.IsSystem(name) {
			return Other
		}
	}
	return App
}

// kindsByProtocol are the kinds of servers that are looked at more closely.
var kindsByProtocol = map[string]Kind{"mysql": MySQL, "postgresql": Postgres, "redis": Redis, "memcached": Memcached, "carbon": Carbon}

// kindOfProgram returns the kind of a known program.
func kindOfProgram(name string, p programs.Program) Kind {
	switch {
	case programs.IsNginx(name):
		return Nginx
	case p.Role == kasoku.RoleWeb:
		return Proxy
	case p.Role == kasoku.RoleCache && name == "varnishd":
		return Varnish
	case p.Role == kasoku.RoleDatabase, p.Role == kasoku.RoleStore:
		return cmp.Or(kindsByProtocol[p.Protocol], Other)
	}
	return Other
}

// A family is a process with its children of the same name: a master with its
// workers.
type family struct {
	head    *process
	members []*process
	listen  []Listener
	how     string
}

// families groups the processes.
func families(procs []*process) map[int]*family {
	byPID := map[int]*process{}
	for _, p := range procs {
		byPID[p.pid] = p
	}
	out := map[int]*family{}
	for _, p := range procs {
		head := p
		// A pid that was given anew while /proc was read could make a ring.
		for range procs {
			parent := byPID[head.parent]
			if parent == nil || parent == head || !sameProgram(parent, p) || parent.container != p.container {
				break
			}
			head = parent
		}
		if out[head.pid] == nil {
			out[head.pid] = &family{head: head}
		}
		out[head.pid].members = append(out[head.pid].members, p)
	}
	return out
}

// sameProgram reports whether a process and its parent are one server: workers have
// its name, but for Varnish's child, which calls itself cache-main.
func sameProgram(parent, p *process) bool {
	return parent.name == p.name || parent.name == "varnishd" && p.name == "cache-main"
}

// services finds the programs that listen, and those that are known by name.
func (l *looker) services(procs []*process) {
	c := newCensus(l.view, procs)
	c.giveSockets(procs)
	c.noteUnowned()
	l.links = c.links
	own, _ := l.view.tree.link("/proc/self")
	for _, pid := range slices.Sorted(maps.Keys(c.families)) {
		f := c.families[pid]
		kind := kindOf(f.head)
		known := kind != App && kind != Other
		if strconv.Itoa(pid) == own || len(f.listen) == 0 && !known { // own: kasoku itself
			continue
		}
		if s := f.service(kind); l.believe(s, kind) {
			l.subjects = append(l.subjects, s)
		}
	}
	l.noteDoubts()
}

// A census is which processes belong together, and which sockets they have.
type census struct {
	view     *view
	families map[int]*family // by the pid of the head
	familyOf map[int]*family // by the pid of each member
	links    []connection    // established ones, for the scores
	unowned  []string        // addresses whose process cannot be seen
}

func newCensus(v *view, procs []*process) *census {
	c := &census{view: v, families: families(procs), familyOf: map[int]*family{}}
	for _, f := range c.families {
		for _, p := range f.members {
			c.familyOf[p.pid] = f
		}
	}
	return c
}

// giveSockets gives each family the sockets that it listens on, and keeps the
// established connections.
func (c *census) giveSockets(procs []*process) {
	perSpace := c.view.sockets(procs)
	ownSpace, _ := c.view.tree.link("/proc/self/ns/net")
	owners := map[string][]*process{}
	for _, p := range procs {
		for _, to := range p.fds {
			if inode, ok := strings.CutPrefix(to, "socket:["); ok {
				inode = p.netns + " " + strings.TrimSuffix(inode, "]")
				owners[inode] = append(owners[inode], p)
			}
		}
	}
	for _, space := range slices.Sorted(maps.Keys(perSpace)) {
		for _, s := range perSpace[space] {
			who := owners[space+" "+s.inode]
			switch {
			case !s.listens:
				for _, p := range who {
					c.links = append(c.links, connection{p.pid, s.local, s.remote})
				}
			case len(who) > 0:
				slices.SortFunc(who, func(a, b *process) int { return a.pid - b.pid })
				c.familyOf[who[0].pid].add(s.listener(space != ownSpace), "the socket is among its open files")
			default:
				c.giveByUser(s, space != ownSpace)
			}
		}
	}
}

// giveByUser gives a socket whose owner cannot be seen to the one family of its user,
// and keeps it for a note when there are several.
func (c *census) giveByUser(s socket, private bool) {
	var of []*family
	for _, f := range c.families {
		if f.head.uid == s.uid && f.head.hidden {
			of = append(of, f)
		}
	}
	switch {
	case len(of) == 1:
		of[0].add(s.listener(private), "the socket is of its user, who has no other process")
	case len(of) > 1 && s.network == "tcp":
		c.unowned = append(c.unowned, s.local.String())
	}
}

// noteUnowned notes the ports whose process cannot be seen.
func (c *census) noteUnowned() {
	n := len(c.unowned)
	if n == 0 {
		return
	}
	slices.Sort(c.unowned)
	const most = 5 // a host has few ports that matter
	at := strings.Join(c.unowned[:min(n, most)], ", ")
	if n > most {
		at += " and " + strconv.Itoa(n-most) + " more ports"
	}
	c.view.note("who listens", "at "+at+": root alone may see which process it is", "run it once with sudo to see more")
}

func (f *family) add(at Listener, how string) {
	if !slices.Contains(f.listen, at) {
		f.listen = append(f.listen, at)
	}
	f.how = how
}

// service describes a family.
func (f *family) service(kind Kind) *subject {
	p := f.head
	s := &subject{args: p.args, fds: p.fds, Service: &Service{
		Kind: kind, Name: p.name, PID: p.pid, UID: p.uid, Exe: p.exe, Dir: p.dir, Unit: p.unit, Container: p.container,
		Listen: f.listen, How: "a process of that name",
	}}
	s.PIDs = append(s.PIDs, p.pid)
	for _, m := range f.members {
		if m != p {
			s.PIDs = append(s.PIDs, m.pid)
			s.fds = withLogs(s.fds, p, m)
		}
	}
	if f.how != "" {
		s.How = "listens; " + f.how
	}
	slices.SortStableFunc(s.Listen, func(a, b Listener) int { return strings.Compare(a.Network, b.Network) })
	return s
}

// workerFiles is where the numbers of a worker's files begin among those of its service.
const workerFiles = 1 << 20

// withLogs adds the logs that a worker has open: what it opens after the fork its parent does not have.
// Of another program or user, or in a container, whose names are its own, it adds nothing.
func withLogs(fds map[int]string, head, worker *process) map[int]string {
	if worker.exe != head.exe || worker.uid != head.uid || head.container != "" || worker.container != "" {
		return fds
	}
	out := maps.Clone(fds)
	for fd, to := range worker.fds {
		if out != nil && fd > 2 && filepath.Ext(to) == ".log" {
			out[workerFiles+worker.pid<<12+fd] = to
		}
	}
	return out
}
