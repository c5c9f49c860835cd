package process

import (
	"slices"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// attribute gives the CPU time of processes that began and ended between two ticks
// to their parents, and appends what is left.
//
// The kernel adds the time of a child to its parent's when the parent waits for it.
// What was seen of the children that went is taken off; the rest is of children, and
// theirs, that no tick saw, or of the last moments of those that were seen. A parent
// may be read later than its child was missed, so what was seen is kept for a while.
func (s *Source) attribute(f *kasoku.Frame) {
	s.inherit()
	var sum uint64
	for _, p := range s.live {
		p.reaped = 0
		if p.unread {
			p.used, p.childs = 0, 0
			continue
		}
		if p.childs > 0 && s.tick > 1 {
			p.reaped = p.childs - s.take(p.pid, p.childs)
			p.exited += p.reaped
		}
		sum += p.cpu()
	}
	for pid, e := range s.ended {
		if s.tick-e.tick > endedTicks {
			delete(s.ended, pid)
		}
	}
	s.balance.advance(sum, s.buf)
	if s.balance.known {
		f.Counter(CPUUnattributed, "", "s", float64(s.balance.most)/userHZ)
	}
}

// endedTicks is how long what was seen of children is kept: two turns of a resting
// parent.
const endedTicks = 2 * restTurns

// An ended is the CPU time that was seen of children that went, in ticks.
type ended struct{ seen, tick uint64 }

// end takes note of a child that went.
func (s *Source) end(p *process) {
	e := s.ended[p.stat.parent]
	s.ended[p.stat.parent] = ended{e.seen + p.stat.cpu() + p.stat.children(), s.tick}
	s.went = append(s.went, departed{p.pid, p.stat.parent})
}

// A departed process, and its parent.
type departed struct{ pid, parent uint64 }

// inherit hands what was seen of the children of processes that went themselves on to
// their parents: a parent that waited for its child and then went gave the child's
// time to its own parent.
func (s *Source) inherit() {
	const generations = 8
	for range generations {
		moved := false
		for _, g := range s.went {
			e, ok := s.ended[g.pid]
			if !ok || g.pid == g.parent {
				continue
			}
			delete(s.ended, g.pid)
			s.ended[g.parent] = ended{s.ended[g.parent].seen + e.seen, s.tick}
			moved = true
		}
		if !moved {
			break
		}
	}
	s.went = s.went[:0]
}

// take takes up to so much off what was seen of a parent's children.
func (s *Source) take(parent, most uint64) uint64 {
	e, ok := s.ended[parent]
	if !ok {
		return 0
	}
	taken := min(e.seen, most)
	e.seen -= taken
	s.ended[parent] = e
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

// A user is who runs processes.
type user struct {
	id    uint32
	tasks uint64 // threads of all processes at this tick
}

// userOf returns the user of a process: the owner of its directory, which is its
// effective user. It is nil when the process has gone.
func (s *Source) userOf(pid uint64) *user {
	if unix.Stat(s.path(pid, ""), &s.fileStat) != nil {
		return nil
	}
	u := s.users[s.fileStat.Uid]
	if u == nil {
		u = &user{id: s.fileStat.Uid}
		s.users[u.id] = u
	}
	return u
}
