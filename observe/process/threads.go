package process

import (
	"errors"
	"io/fs"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

const (
	// hotProcesses is of how many processes the threads are read: the busiest ones.
	hotProcesses = 3
	// hotThreads is how many threads of one are read at a tick. Beyond it those that
	// do nothing give their place to others.
	hotThreads = 64
	// hotTicks is how long a process that is no longer among the busiest is kept.
	hotTicks = 10
	// hotShare is the part of a core from which a thread has series.
	hotShare = 5
	// hotNamed bounds the threads that have series at a time; one that ends makes room.
	hotNamed = 48
	// hotNamedEver bounds those of a whole run.
	hotNamedEver = 512
)

// A hot process has its threads read: who of them fills a core.
type hot struct {
	slots []slot
	until uint64 // tick after which it is given up
	turn  int    // where in the listing new threads are looked for
}

// A slot is a thread whose file is open.
type slot struct {
	tid      uint64
	fd       int
	stat     schedStat
	idle     uint64 // ticks without CPU
	instance string // "PID/TID NAME", when it has series
}

// chooseHot sets which processes have their threads read: the busiest of those that
// are watched and have more than one.
func (s *Source) chooseHot() {
	if s.noThreads {
		return
	}
	s.busiest = [hotProcesses]*process{}
	for _, p := range s.watched {
		if p.used == 0 || p.stat.threads < 2 || p.details == nil {
			continue
		}
		for i, q := range s.busiest {
			if q == nil || q.used < p.used {
				copy(s.busiest[i+1:], s.busiest[i:])
				s.busiest[i] = p
				break
			}
		}
	}
	for _, p := range s.busiest {
		if p == nil {
			continue
		}
		if p.hot == nil {
			p.hot = &hot{}
		}
		p.hot.until = s.tick + hotTicks
	}
	for _, p := range s.watched {
		if p.hot != nil && s.tick > p.hot.until {
			s.closeHot(p)
		}
	}
}

// readHot reads the threads of a hot process and appends those that fill a core, or
// did.
func (s *Source) readHot(p *process, tids []uint64, f *kasoku.Frame) {
	h := p.hot
	kept := h.slots[:0]
	for i := range h.slots {
		t := h.slots[i]
		if s.readSlot(p, &t, f) {
			kept = append(kept, t)
		}
	}
	clear(h.slots[len(kept):])
	h.slots = kept
	for n := 0; n < len(tids) && len(h.slots) < hotThreads; n++ {
		tid := tids[h.turn%len(tids)]
		h.turn++
		if !h.has(tid) && !s.openSlot(p, tid) {
			return
		}
	}
}

// has reports whether a thread has a place.
func (h *hot) has(tid uint64) bool {
	for i := range h.slots {
		if h.slots[i].tid == tid {
			return true
		}
	}
	return false
}

// readSlot reads one thread. It reports whether the thread keeps its place; one that
// has gone does not, nor an idle one that others wait for.
func (s *Source) readSlot(p *process, t *slot, f *kasoku.Frame) bool {
	n, err := procfile.Pread(t.fd, s.buf, 0)
	st, ok := parseSched(s.buf[:n])
	if err != nil || !ok {
		s.closeSlot(t)
		return false
	}
	used := time.Duration(st.ran - min(st.ran, t.stat.ran))
	t.stat, t.idle = st, t.idle+1
	if used > 0 {
		t.idle = 0
	}
	if t.instance == "" && used*hotShare >= s.elapsed {
		s.nameHot(p, t)
	}
	if t.instance != "" {
		f.Counter(ThreadCPU, t.instance, "s", float64(st.ran)/1e9)
		f.Counter(ThreadWait, t.instance, "s", float64(st.waited)/1e9)
		return true
	}
	if t.idle > 1 && p.stat.threads > hotThreads {
		s.closeSlot(t)
		return false
	}
	return true
}

// nameHot gives a thread series, while there is room.
func (s *Source) nameHot(p *process, t *slot) {
	switch {
	case s.hotNamedEver >= hotNamedEver:
		s.warn("the CPU time of their processes has them; a program that starts a thread for each task has many",
			"threads are missing: more than "+strconv.Itoa(hotNamedEver)+
				" took a fifth of a core, the first ones are recorded")
	case s.hotNamed < hotNamed:
		s.hotNamed++
		s.hotNamedEver++
		t.instance = s.threadName(p, t.tid)
	}
}

// openSlot gives a thread a place. It is false when no more may be opened.
func (s *Source) openSlot(p *process, tid uint64) bool {
	if s.kept >= 2*s.keptMax {
		return false
	}
	fd, err := procfile.OpenFD(s.path(p.pid, "task/"+strconv.FormatUint(tid, 10)+"/schedstat"), unix.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return true // it has ended, or the kernel counts no such times
	}
	if err != nil {
		s.unreadable(err)
		return false
	}
	t := slot{tid: tid, fd: fd}
	n, err := procfile.Pread(fd, s.buf, 0)
	if err == nil {
		t.stat, _ = parseSched(s.buf[:n])
	}
	s.kept++
	p.hot.slots = append(p.hot.slots, t)
	return true
}

func (s *Source) closeSlot(t *slot) {
	procfile.CloseFD(t.fd)
	s.kept--
	if t.instance != "" {
		s.hotNamed--
	}
}

// closeHot gives the threads of a process up.
func (s *Source) closeHot(p *process) {
	if p.hot == nil {
		return
	}
	for i := range p.hot.slots {
		s.closeSlot(&p.hot.slots[i])
	}
	p.hot = nil
}

// threadName returns "PID/TID NAME".
func (s *Source) threadName(p *process, tid uint64) string {
	id := strconv.FormatUint(tid, 10)
	name := strconv.FormatUint(p.pid, 10) + "/" + id
	fd, err := procfile.OpenFD(s.path(p.pid, "task/"+id+"/comm"), unix.O_RDONLY)
	if err != nil {
		return name
	}
	defer procfile.CloseFD(fd)
	n, err := procfile.Pread(fd, s.buf, 0)
	if err != nil || n == 0 {
		return name
	}
	line, _, _ := procfile.Line(s.buf[:n])
	return name + " " + procfile.Printable(line)
}
