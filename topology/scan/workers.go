package scan

import (
	"os"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku/internal/command"
)

// Workers finds the workers that leaders have started since. A child that runs another program
// may become one by exec, so it is looked at again, ever more seldom: a leader can have hundreds,
// and looking at one costs more than all else here. The zero value is ready.
type Workers struct {
	apart map[int]int // children that are no workers, and for how many looks
	now   map[int]int // likewise, as this look goes on
	turn  int         // which threads of leaders are asked next
}

// SeldomLook is of how many looks at a leader's children one sees again what the others were.
const SeldomLook = 64

// Begin begins a look at all leaders.
func (w *Workers) Begin() {
	if w.now == nil {
		w.apart, w.now = map[int]int{}, map[int]int{}
	}
	w.apart, w.now = w.now, w.apart
	clear(w.now)
	w.turn++
}

// Of returns the workers of a leader that are not known: the children that run its program
// and, where listens has any, hold one of these sockets.
func (w *Workers) Of(leader int, listens []uint32, known func(pid int) bool) (out []Process) {
	own := "" // read when the first child asks for it
	for _, pid := range command.ThreadChildren(leader, w.turn) {
		if known(pid) {
			continue
		}
		looks := w.apart[pid]
		if looks&(looks-1) != 0 && looks%SeldomLook != 0 {
			w.now[pid] = looks + 1
			continue
		}
		if own == "" {
			own, _ = os.Readlink("/proc/" + strconv.Itoa(leader) + "/exe")
		}
		its, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		if own == "" || err != nil {
			continue // it has gone, or may not be seen
		}
		if own == its { // else its start is of no use
			if start, ok := command.StartOf(pid); ok && (len(listens) == 0 || holds(pid, listens)) {
				out = append(out, Process{PID: pid, Start: start})
				continue
			}
		}
		w.now[pid] = looks + 1
	}
	return out
}

// holds reports whether a process holds one of some sockets.
func holds(pid int, inodes []uint32) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(files, func(f os.DirEntry) bool {
		to, err := os.Readlink(dir + "/" + f.Name())
		if err != nil {
			return false
		}
		inode, ok := socketInode([]byte(to))
		return ok && slices.Contains(inodes, inode)
	})
}
