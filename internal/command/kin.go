package command

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
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
		// The group outlives its leader, and its number is not given away
		// while it has members.
		if syscall.Kill(-p.Pid(), sig) != nil {
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

// anyAlive reports whether a member of the group, or with KeepForeground one of
// the given descendants, still runs. A zombie does not: in a container there may
// be no process that reaps it.
func (p *Process) anyAlive(kin []kinsman) bool {
	if !p.spec.KeepForeground {
		if syscall.Kill(-p.Pid(), 0) != nil {
			return false // the common case, without a look at all processes
		}
		for _, st := range allStats() {
			if st.group == p.Pid() && !st.zombie {
				return true
			}
		}
		return false
	}
	for _, k := range kin {
		if k.alive() {
			return true
		}
	}
	return false
}

func (k kinsman) alive() bool {
	st, ok := readStat(k.pid)
	return ok && st.start == k.start && !st.zombie
}

// descendants lists the child's descendants with KeepForeground, where no
// group identifies them. One whose parent has already ended is not found.
func (p *Process) descendants() []kinsman {
	if !p.spec.KeepForeground {
		return nil
	}
	children := map[int][]kinsman{}
	for pid, st := range allStats() {
		children[st.parent] = append(children[st.parent], kinsman{pid, st.start})
	}
	var kin []kinsman
	for queue := children[p.Pid()]; len(queue) > 0; queue = queue[1:] {
		kin = append(kin, queue[0])
		queue = append(queue, children[queue[0].pid]...)
	}
	return kin
}

// A stat is what is used of a /proc/PID/stat.
type stat struct {
	zombie        bool
	parent, group int
	start         uint64
}

// allStats reads the stat of every process that is still there.
func allStats() map[int]stat {
	all := map[int]stat{}
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
		if st, ok := readStat(pid); ok {
			all[pid] = st
		}
	}
	return all
}

// StartOf returns when a process was started, in clock ticks since boot, which
// distinguishes it from a later one of the same number. ok is false when there is
// none, or when it has ended and waits to be reaped.
func StartOf(pid int) (ticks uint64, ok bool) {
	st, ok := readStat(pid)
	return st.start, ok && !st.zombie
}

func readStat(pid int) (stat, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	return parseStat(b)
}

// parseStat reads fields 3, 4, 5 and 22 of a /proc/PID/stat. The name in field
// 2 may hold spaces and parentheses, so fields are counted from its last one.
//
// Source: proc_pid_stat(5).
func parseStat(b []byte) (stat, bool) {
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return stat{}, false
	}
	fields := bytes.Fields(b[end+1:]) // starts with field 3
	if len(fields) < 20 {
		return stat{}, false
	}
	parent, err1 := strconv.Atoi(string(fields[1]))
	group, err2 := strconv.Atoi(string(fields[2]))
	start, err3 := strconv.ParseUint(string(fields[19]), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return stat{}, false
	}
	return stat{string(fields[0]) == "Z", parent, group, start}, true
}
