package members

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/kasoku/kasoku/topology/internal/programs"
	"github.com/kasoku/kasoku/topology/scan"
)

// An instance is one program that runs: a process with the workers that it started.
type instance struct {
	leader   *scan.Process
	procs    []*scan.Process // the leader first
	listens  []*scan.Socket  // that its processes hold
	accepted []*scan.Socket  // connections that came in
	called   []*scan.Socket  // connections that went out
	load     bool
	self     bool
	// shared: the leader leads others too, as PHP-FPM's does for each pool: the others'
	// processes and sockets are in instances of their own.
	shared bool
	parts  []*instance // of a leader of several
}

// doubt describes why the instance is not believed to be what it says. The workers that root's
// process made are what it made them, whichever user it gave them.
func (in *instance) doubt() string {
	for _, p := range in.procs {
		made := in.leader.UID == 0 && in.leader.Doubt == "" && p.Parent == in.leader.PID
		if p.Doubt != "" && !made {
			return p.Doubt
		}
	}
	return ""
}

// A wiring is which programs run, which sockets they hold, and who is at the other end
// of each.
type wiring struct {
	snap  *scan.Snapshot
	index *index
	procs map[int]*scan.Process
	all   []*instance
	byPID map[int]*instance
	// partOf are the instances of leaders that lead several, by where they listen.
	partOf map[socketPlace]*instance
}

func newWiring(s *scan.Snapshot) *wiring {
	w := &wiring{snap: s, index: newIndex(s), procs: map[int]*scan.Process{}, byPID: map[int]*instance{},
		partOf: map[socketPlace]*instance{}}
	w.group()
	w.hand()
	return w
}

// group makes instances of the processes.
func (w *wiring) group() {
	held := map[int][]*scan.Socket{} // listening sockets by process
	for i := range w.snap.Sockets {
		k := &w.snap.Sockets[i]
		if k.State == scan.Listening {
			for _, pid := range k.Owners {
				held[pid] = append(held[pid], k)
			}
		}
	}
	for i := range w.snap.Processes {
		w.procs[w.snap.Processes[i].PID] = &w.snap.Processes[i]
	}
	w.unveil()
	for i := range w.snap.Processes {
		p := w.procs[w.snap.Processes[i].PID]
		leader := p
		for range 64 { // a pid that was given anew while /proc was read could make a ring
			parent := w.procs[leader.Parent]
			if parent == nil || parent == p || parent.PID == w.snap.Self || !sameInstance(parent, leader, held) {
				break
			}
			leader = parent
		}
		in := w.byPID[leader.PID]
		if in == nil || in.leader != leader {
			in = &instance{leader: leader, self: leader.PID == w.snap.Self}
			w.all = append(w.all, in)
			w.byPID[leader.PID] = in
			in.procs = append(in.procs, leader)
		}
		if p != leader {
			in.procs = append(in.procs, p)
			w.byPID[p.PID] = in
		}
		in.self = in.self || p.PID == w.snap.Self
	}
	w.joinCopies(held)
	for _, in := range w.all[:len(w.all):len(w.all)] {
		w.split(in, held)
	}
}

// unveil takes processes of which another user sees neither program nor namespaces, as the master of
// nginx, which is root's, for what the child is that has its name, where that is the name of the child's
// program: who shows its name and that of its child is one with it, or nothing that is believed.
func (w *wiring) unveil() {
	for i := range w.snap.Processes {
		p := &w.snap.Processes[i]
		parent := w.procs[p.Parent]
		if p.Exe == "" || parent == nil || parent.Exe != "" || parent.PID == 1 || parent.UID != 0 && parent.UID != p.UID ||
			parent.Name != p.Name || filepath.Base(p.Exe) != p.Name || parent.Container != p.Container ||
			parent.Unit != p.Unit {
			continue
		}
		seen := *parent
		seen.Exe, seen.NetNS = p.Exe, cmp.Or(parent.NetNS, p.NetNS)
		seen.MntNS, seen.PidNS = cmp.Or(parent.MntNS, p.MntNS), cmp.Or(parent.PidNS, p.PidNS)
		w.procs[parent.PID] = &seen
	}
}

// hand gives the sockets to the instances that hold them.
func (w *wiring) hand() {
	for i := range w.snap.Sockets {
		k := &w.snap.Sockets[i]
		for _, in := range w.holders(k) {
			switch {
			case k.State == scan.Listening:
				in.listens = append(in.listens, k)
			case w.index.serverEnd(k):
				in.accepted = append(in.accepted, k)
			default:
				in.called = append(in.called, k)
			}
		}
	}
}

// sameInstance reports whether a process is a worker of its parent: it runs the same program.
// Of an interpreter that shows nothing, as a supervisor and what it runs may both be Python;
// there the arguments must be the same, or a listener be shared.
func sameInstance(parent, p *scan.Process, held map[int][]*scan.Socket) bool {
	if parent.Container != p.Container || parent.Unit != p.Unit || parent.PidNS != p.PidNS || parent.MntNS != p.MntNS {
		return false
	}
	if parent.Exe == "" || p.Exe == "" {
		return parent.Exe == p.Exe && parent.Name == p.Name && parent.UID == p.UID && parent.PID != 1
	}
	if parent.Exe != p.Exe {
		return false
	}
	base := programs.Name(p.Exe)
	if isInit(parent) || isShell(base) {
		return false
	}
	if !isInterpreter(base) {
		return true
	}
	if slices.Equal(tail(parent.Args), tail(p.Args)) || shareListener(held[parent.PID], held[p.PID]) {
		return true
	}
	// Node.js hands what a cluster's first process accepts to its workers, which listen nowhere.
	return languages[base] == "javascript" && len(held[parent.PID]) > 0 && len(held[p.PID]) == 0 && !isPM2(parent)
}

// tail returns the arguments of a call without the program.
func tail(args []string) []string {
	if len(args) < 2 {
		return args
	}
	return args[1:]
}

// shareListener reports whether two processes listen at one address, by one socket or,
// with SO_REUSEPORT, by two.
func shareListener(a, b []*scan.Socket) bool {
	return slices.ContainsFunc(a, func(x *scan.Socket) bool {
		return slices.ContainsFunc(b, func(y *scan.Socket) bool {
			if x.Inode == y.Inode && x.Inode != 0 {
				return true
			}
			return x.Network == "tcp" && y.Network == "tcp" && x.NetNS == y.NetNS && x.Local == y.Local
		})
	})
}

// markLoad marks what makes the load, with all that it started.
func (w *wiring) markLoad(pids []int) {
	load := map[int]bool{}
	for _, pid := range pids {
		load[pid] = true
	}
	for _, in := range w.all {
		for _, p := range in.procs {
			for at, n := p, 0; at != nil && n < 64; at, n = w.procs[at.Parent], n+1 {
				if load[at.PID] {
					in.load = true
				}
				if at.PID == w.snap.Self || at.Parent == at.PID {
					break // what kasoku started for itself is listed by number
				}
			}
		}
	}
}

// markOwn marks what kasoku started to help it: what these ask is asked by kasoku.
func (w *wiring) markOwn(pids []int) {
	for _, pid := range pids {
		if in := w.byPID[pid]; in != nil {
			in.self = true
		}
	}
}

// below returns the processes of an instance, and the children of its leader that run its
// program: those to which it may hand what it accepted.
func (w *wiring) below(in *instance) (pids []int) {
	for _, p := range in.procs {
		pids = append(pids, p.PID)
	}
	for i := range w.snap.Processes {
		p := &w.snap.Processes[i]
		child := p.Parent == in.leader.PID && p.Exe == in.leader.Exe && p.Exe != ""
		if child && !in.shared && !slices.Contains(pids, p.PID) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}
