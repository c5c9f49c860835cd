package process

import (
	"slices"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/observe/procfile"
)

// families are the CPU times that went from children to parents.
type families struct {
	ended map[uint64]ended // what was seen of processes that went, by parent
	went  []departed       // at this tick
}

// attribute gives the CPU time of processes that began and ended between two ticks
// to their parents, and returns what all processes used, in CPU ticks.
//
// The kernel adds the time of a child to its parent's when the parent waits for it.
// What was seen of the children that went is taken off; the rest is of children, and
// theirs, that no tick saw, or of the last moments of those that were seen. A parent
// may be read later than its child was missed, so what was seen is kept for a while.
func (f *families) attribute(live []*process, tick uint64) (sum uint64) {
	f.inherit(tick)
	for _, p := range live {
		p.cpu.reaped = 0
		if p.seen.unread {
			p.cpu.used, p.cpu.childs = 0, 0
			continue
		}
		if p.cpu.childs > 0 && tick > 1 {
			p.cpu.reaped = p.cpu.childs - f.take(p.pid, p.cpu.childs)
			p.cpu.exited += p.cpu.reaped
		}
		sum += p.cpu.sum()
		if tick > 1 { // at the first it is what was used before
			p.cpu.ever += p.cpu.sum()
		}
	}
	for pid, e := range f.ended {
		if tick-e.tick > endedTicks {
			delete(f.ended, pid)
		}
	}
	return sum
}

// endedTicks is how long what was seen of children is kept: two turns of a resting
// parent.
const endedTicks = 2 * restTurns

// An ended is the CPU time that was seen of children that went, in ticks.
type ended struct{ seen, tick uint64 }

// end takes note of a child that went.
func (f *families) end(p *process, tick uint64) {
	e := f.ended[p.stat.Parent]
	f.ended[p.stat.Parent] = ended{e.seen + p.stat.CPU() + p.stat.Children(), tick}
	f.went = append(f.went, departed{p.pid, p.stat.Parent})
}

// A departed process, and its parent.
type departed struct{ pid, parent uint64 }

// inherit hands what was seen of the children of processes that went themselves on to
// their parents: a parent that waited for its child and then went gave the child's
// time to its own parent.
func (f *families) inherit(tick uint64) {
	const generations = 8
	for range generations {
		moved := false
		for _, g := range f.went {
			e, ok := f.ended[g.pid]
			if !ok || g.pid == g.parent {
				continue
			}
			delete(f.ended, g.pid)
			f.ended[g.parent] = ended{f.ended[g.parent].seen + e.seen, tick}
			moved = true
		}
		if !moved {
			break
		}
	}
	f.went = f.went[:0]
}

// take takes up to so much off what was seen of a parent's children.
func (f *families) take(parent, most uint64) uint64 {
	e, ok := f.ended[parent]
	if !ok {
		return 0
	}
	taken := min(e.seen, most)
	e.seen -= taken
	f.ended[parent] = e
	return taken
}

// A balance is the CPU time of the host less that of all processes, from the first
// tick on. It goes up and down a little, as the kernel counts the two in different
// ways; the most that it was is a counter.
type balance struct {
	file  *procfile.File // nil without /proc/stat
	host  uint64         // CPU ticks at the tick before
	owed  int64          // host's less all processes'
	last  [restTurns + 1]int64
	turn  int
	most  int64
	known bool // there were two ticks
	begun bool
}

func (b *balance) open(root string) {
	file, err := procfile.Open(root + "/stat")
	if err != nil {
		return // then nothing is known of the host
	}
	b.file = file
}

func (b *balance) close() error { return b.file.Close() }

// advance takes over what all processes used since the tick before.
func (b *balance) advance(used uint64, buf []byte) {
	if b.file == nil {
		return
	}
	text, err := b.file.Append(buf[:0])
	host, ok := parseHostCPU(text)
	if err != nil || !ok {
		b.known, b.begun = false, false
		return
	}
	if b.begun && host >= b.host {
		b.owed += int64(min(host-b.host, 1<<40)) - int64(min(used, 1<<40))
		b.last[b.turn%len(b.last)] = b.owed
		b.turn++
		b.most = max(b.most, slices.Min(b.last[:]))
		b.known = true
	}
	b.host, b.begun = host, true
}

// emit appends what is left, once it is known.
func (b *balance) emit(f *kasoku.Frame) {
	if b.known {
		f.Counter(CPUUnattributed, "", "s", float64(b.most)/procstat.UserHz)
	}
}

// parseHostCPU returns user, nice and system time of the first line of /proc/stat.
// What interrupts took belongs to no process.
func parseHostCPU(text []byte) (ticks uint64, ok bool) {
	line, _, _ := procfile.Line(text)
	word, rest := procfile.Word(line)
	var n [3]uint64
	if string(word) != "cpu" || procfile.Uints(n[:], rest) != len(n) {
		return 0, false
	}
	return n[0] + n[1] + n[2], true
}
