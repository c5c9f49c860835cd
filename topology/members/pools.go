package members

import (
	"slices"

	"github.com/kasoku/kasoku/topology/internal/programs"
	"github.com/kasoku/kasoku/topology/scan"
)

// A pool is what listens at the same places below one leader.
type pool struct {
	listens  []*scan.Socket
	branches [][]*scan.Process // children of the leader with what they started
}

// split makes instances of what a leader leads apart: the pools of PHP-FPM, the applications
// of uWSGI's emperor. Each has the leader, and the workers that hold its own listeners; what
// they call is theirs alone. Where all workers listen at the same places they are one program.
func (w *wiring) split(in *instance, held map[int][]*scan.Socket) {
	pools := w.poolsOf(in, held)
	working := 0
	for i := range pools {
		if len(pools[i].branches) > 0 {
			working++
		}
	}
	if len(pools) < 2 || working < 2 && programs.Name(in.leader.Exe) != "php-fpm" { // whose workers may come and go
		return
	}
	rest := []*scan.Process{in.leader}
	for _, p := range in.procs {
		if p != in.leader && !slices.ContainsFunc(pools, func(l pool) bool { return l.has(p) }) {
			rest = append(rest, p)
		}
	}
	in.procs = rest
	for i := range pools {
		part := pools[i].instance(in)
		for _, p := range part.procs {
			if p != in.leader {
				w.byPID[p.PID] = part
			}
		}
		for _, k := range pools[i].listens {
			w.partOf[placeOfSocket(k)] = part
		}
		in.parts = append(in.parts, part)
		w.all = append(w.all, part)
	}
}

// instance returns what listens in a pool: led by the leader of all, unless that one does not
// listen there and the pool has a leader of its own.
func (l *pool) instance(of *instance) *instance {
	ledByAll := slices.ContainsFunc(l.listens, func(k *scan.Socket) bool {
		return slices.Contains(k.Owners, of.leader.PID)
	})
	if !ledByAll && len(l.branches) == 1 {
		return &instance{leader: l.branches[0][0], procs: l.branches[0]}
	}
	out := &instance{leader: of.leader, procs: []*scan.Process{of.leader}, shared: true}
	for _, b := range l.branches {
		out.procs = append(out.procs, b...)
	}
	return out
}

func (l *pool) has(p *scan.Process) bool {
	return slices.ContainsFunc(l.branches, func(b []*scan.Process) bool { return slices.Contains(b, p) })
}

// poolsOf returns the pools below a leader: places at which one branch listens are of one pool,
// and so is each at which the leader alone does.
func (w *wiring) poolsOf(in *instance, held map[int][]*scan.Socket) (pools []pool) {
	branches, order := map[int][]*scan.Process{}, []int{}
	for _, p := range in.procs[1:] {
		top := w.branchOf(in, p)
		if branches[top] == nil {
			order = append(order, top)
		}
		if p.PID == top { // it leads
			branches[top] = slices.Insert(branches[top], 0, p)
		} else {
			branches[top] = append(branches[top], p)
		}
	}
	for _, top := range order {
		var listens []*scan.Socket
		for _, p := range branches[top] {
			listens = append(listens, held[p.PID]...)
		}
		if len(listens) > 0 {
			pools = joinPool(pools, pool{listens, [][]*scan.Process{branches[top]}})
		}
	}
	for _, k := range held[in.leader.PID] {
		pools = joinPool(pools, pool{listens: []*scan.Socket{k}})
	}
	return pools
}

// branchOf returns the child of an instance's leader from which a process descends.
func (w *wiring) branchOf(in *instance, p *scan.Process) int {
	for range 64 {
		if p.Parent == in.leader.PID || w.procs[p.Parent] == nil {
			break
		}
		p = w.procs[p.Parent]
	}
	return p.PID
}

// joinPool adds a pool, or joins it with those that listen at one of its places.
func joinPool(pools []pool, add pool) (out []pool) {
	for _, l := range pools {
		if shareListener(l.listens, add.listens) {
			add = pool{append(l.listens, add.listens...), append(l.branches, add.branches...)}
		} else {
			out = append(out, l)
		}
	}
	return append(out, add)
}

// A socketPlace is where a listener is.
type socketPlace struct {
	space uint64
	at    string
}

func placeOfSocket(k *scan.Socket) socketPlace { return socketPlace{k.NetNS, k.Network + place(k)} }

// whole returns an instance, or all those that its leader leads.
func (in *instance) whole() []*instance {
	if len(in.parts) > 0 {
		return in.parts
	}
	return []*instance{in}
}

// partAt returns, of a leader of several programs, the one that has a listener.
func (w *wiring) partAt(in *instance, k *scan.Socket) *instance {
	if len(in.parts) == 0 || k.State != scan.Listening {
		return in
	}
	if part := w.partOf[placeOfSocket(k)]; part != nil && slices.Contains(in.parts, part) {
		return part
	}
	return in
}

// joinCopies makes one program of children of one process that run an interpreter in the same
// words and listen nowhere themselves: what their parent accepted is handed to them, as by PM2
// and Node.js' cluster.
func (w *wiring) joinCopies(held map[int][]*scan.Socket) {
	first := map[int][]*instance{} // by parent
	for _, in := range w.all {
		p := in.leader
		parent := w.procs[p.Parent]
		if parent == nil || parent.Exe != p.Exe || !isInterpreter(programs.Name(p.Exe)) || len(p.Args) == 0 || in.self ||
			slices.ContainsFunc(in.procs, func(p *scan.Process) bool { return len(held[p.PID]) > 0 }) {
			continue
		}
		i := slices.IndexFunc(first[p.Parent], func(o *instance) bool {
			return sameCopy(o.leader, p) && slices.Equal(o.leader.Args, p.Args)
		})
		if i < 0 {
			first[p.Parent] = append(first[p.Parent], in)
			continue
		}
		one := first[p.Parent][i]
		one.procs = append(one.procs, in.procs...)
		for _, p := range in.procs {
			w.byPID[p.PID] = one
		}
		in.procs = nil
	}
	w.all = slices.DeleteFunc(w.all, func(in *instance) bool { return len(in.procs) == 0 })
}

// sameCopy reports whether two processes run in one place, as one user.
func sameCopy(a, b *scan.Process) bool {
	return a.UID == b.UID && a.Dir == b.Dir && a.Container == b.Container && a.Unit == b.Unit &&
		a.PidNS == b.PidNS && a.MntNS == b.MntNS
}

func inodesOf(all []*scan.Socket) (out []uint32) {
	for _, k := range all {
		if k.Inode != 0 && !slices.Contains(out, k.Inode) {
			out = append(out, k.Inode)
		}
	}
	return out
}
