package command

import (
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/kasoku/kasoku/internal/procstat"
)

// A kinsman is a descendant of the child. The start time, in clock ticks since
// boot, distinguishes it from a later process of the same number.
type kinsman struct {
	pid   int
	start uint64
}

// signal sends sig to the child's group or, with KeepForeground, to the child
// and the given descendants.
func (p *Process) signal(sig syscall.Signal, kin []kinsman) error {
	if !p.spec.KeepForeground {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.hasGroup() || syscall.Kill(-p.Pid(), sig) != nil {
			return os.ErrProcessDone
		}
		return nil
	}
	p.mu.Lock()
	err := os.ErrProcessDone
	if !p.reaped {
		err = syscall.Kill(p.Pid(), sig)
	}
	p.mu.Unlock()
	for _, k := range kin {
		if k.alive() {
			_ = syscall.Kill(k.pid, sig) // it may have gone since
		}
	}
	return err
}

// hasGroup reports whether the group is still the child's; the caller has the lock. The group
// outlives its leader, and its number is not given away while it has members: after the child
// was reaped one of those that were seen last must be there.
func (p *Process) hasGroup() bool {
	if !p.reaped {
		return true
	}
	if len(p.left) == 0 {
		return false
	}
	now := p.groupNow()
	if !slices.ContainsFunc(p.left, func(k kinsman) bool { return slices.Contains(now, k) }) {
		now = nil
	}
	p.left = now
	return len(now) > 0
}

// groupNow lists the members of the child's group but the child, zombies too.
func (p *Process) groupNow() (out []kinsman) {
	for pid, st := range allStats() {
		if st.Group == p.Pid() && pid != p.Pid() {
			out = append(out, kinsman{pid, st.Start})
		}
	}
	return out
}

// anyAlive reports whether a member of the group, or with KeepForeground one of
// the given descendants, still runs. A zombie does not: in a container there may
// be no process that reaps it.
func (p *Process) anyAlive(kin []kinsman) bool {
	if !p.spec.KeepForeground {
		p.mu.Lock()
		defer p.mu.Unlock()
		kin = nil
		if p.hasGroup() {
			kin = p.left
		}
	}
	for _, k := range kin {
		if k.alive() {
			return true
		}
	}
	return false
}

func (k kinsman) alive() bool {
	start, ok := StartOf(k.pid)
	return ok && start == k.start
}

// descendants lists the child's descendants with KeepForeground, where no
// group identifies them. One whose parent has already ended is not found.
func (p *Process) descendants() []kinsman {
	if !p.spec.KeepForeground {
		return nil
	}
	children := map[int][]kinsman{}
	for pid, st := range allStats() {
		children[int(st.Parent)] = append(children[int(st.Parent)], kinsman{pid, st.Start})
	}
	var kin []kinsman
	for queue := children[p.Pid()]; len(queue) > 0; queue = queue[1:] {
		kin = append(kin, queue[0])
		queue = append(queue, children[queue[0].pid]...)
	}
	return kin
}

// allStats reads the stat of every process that is still there.
func allStats() map[int]procstat.Stat {
	all := map[int]procstat.Stat{}
	dir, err := os.Open("/proc")
	if err != nil {
		return all
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return all
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if st, err := procstat.Read(pid); err == nil {
			all[pid] = st
		}
	}
	return all
}

// StartOf returns when a process was started, in clock ticks since boot, which
// distinguishes it from a later one of the same number. ok is false when there is
// none, or when it has ended and waits to be reaped.
func StartOf(pid int) (ticks uint64, ok bool) {
	st, err := procstat.Read(pid)
	return st.Start, err == nil && !st.Zombie()
}
