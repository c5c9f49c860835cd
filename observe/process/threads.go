package process

import (
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
	// hotShare: a thread has series from 1/hotShare of a core on.
	hotShare = 5
	// hotNamed bounds the threads that have series at a time; one that ends makes room.
	hotNamed = 48
	// hotNamedEver bounds those of a whole run.
	hotNamedEver = 512
)

// busyThreads are the threads of the busiest processes.
type busyThreads struct {
	r       *reader
	off     bool
	busiest [hotProcesses]*process
	named   int       // threads that have series
	ever    int       // threads that have or had series
	last    time.Time // of the tick before
	elapsed time.Duration
}

// begin notes when a tick begins.
func (b *busyThreads) begin(now time.Time) { b.elapsed, b.last = now.Sub(b.last), now }

// choose sets which processes have their threads read: the busiest of those that
// are watched and have more than one.
func (b *busyThreads) choose(watched []*process, tick uint64) {
	if b.off {
		return
	}
	b.busiest = [hotProcesses]*process{}
	for _, p := range watched {
		if p.cpu.used == 0 || p.stat.Threads < 2 || p.details == nil {
			continue
		}
		for i, q := range b.busiest {
			if q == nil || q.cpu.used < p.cpu.used {
				copy(b.busiest[i+1:], b.busiest[i:])
				b.busiest[i] = p
				break
			}
		}
	}
	for _, p := range b.busiest {
		if p == nil {
			continue
		}
		if p.hot == nil {
			p.hot = &hot{of: b}
		}
		p.hot.until = tick + hotTicks
	}
	for _, p := range watched {
		if p.hot != nil && tick > p.hot.until {
			p.closeHot()
		}
	}
}

// A hot process has its threads read: who of them fills a core.
type hot struct {
	of    *busyThreads
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

// read reads the threads of a hot process and appends those that fill a core, or
// did.
func (h *hot) read(p *process, tids []uint64, f *kasoku.Frame) {
	kept := h.slots[:0]
	for i := range h.slots {
		t := h.slots[i]
		if h.of.read(p, &t, f) {
			kept = append(kept, t)
		}
	}
	clear(h.slots[len(kept):])
	h.slots = kept
	for n := 0; n < len(tids) && len(h.slots) < hotThreads; n++ {
		tid := tids[h.turn%len(tids)]
		h.turn++
		if !h.has(tid) && !h.open(p.pid, tid) {
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

// open gives a thread a place. It is false when no more may be opened.
func (h *hot) open(pid, tid uint64) bool {
	r := h.of.r
	if r.kept >= 2*r.keptMax {
		return false
	}
	fd, err := procfile.OpenFD(r.threadPath(pid, tid, "schedstat"), unix.O_RDONLY)
	if gone(err) {
		return true // it has ended, or the kernel counts no such times
	}
	if err != nil {
		r.missing.unreadable(err)
		return false
	}
	t := slot{tid: tid, fd: fd}
	if text, err := r.read(fd); err == nil {
		t.stat, _ = parseSched(text)
	}
	r.kept++
	h.slots = append(h.slots, t)
	return true
}

// closeHot gives the threads of a process up.
func (p *process) closeHot() {
	if p.hot == nil {
		return
	}
	for i := range p.hot.slots {
		p.hot.of.close(&p.hot.slots[i])
	}
	p.hot = nil
}

// read reads one thread. It reports whether the thread keeps its place; one that
// has gone does not, nor an idle one that others wait for.
func (b *busyThreads) read(p *process, t *slot, f *kasoku.Frame) bool {
	text, err := b.r.read(t.fd)
	st, ok := parseSched(text)
	if err != nil || !ok {
		b.close(t)
		return false
	}
	used := time.Duration(st.ran - min(st.ran, t.stat.ran))
	t.stat, t.idle = st, t.idle+1
	if used > 0 {
		t.idle = 0
	}
	if t.instance == "" && used*hotShare >= b.elapsed {
		b.name(p.pid, t)
	}
	if t.instance != "" {
		f.Counter(ThreadCPU, t.instance, "s", float64(st.ran)/1e9)
		f.Counter(ThreadWait, t.instance, "s", float64(st.waited)/1e9)
		return true
	}
	if t.idle > 1 && p.stat.Threads > hotThreads {
		b.close(t)
		return false
	}
	return true
}

// name gives a thread series, while there is room.
func (b *busyThreads) name(pid uint64, t *slot) {
	switch {
	case b.ever >= hotNamedEver:
		b.r.missing.warn("the CPU time of their processes has them; a program that starts a thread for each task has many",
			"threads are missing: more than "+strconv.Itoa(hotNamedEver)+
				" took a fifth of a core, the first ones are recorded")
	case b.named < hotNamed:
		b.named++
		b.ever++
		t.instance = threadName(b.r, pid, t.tid)
	}
}

func (b *busyThreads) close(t *slot) {
	procfile.CloseFD(t.fd)
	b.r.kept--
	if t.instance != "" {
		b.named--
	}
}

// threadName returns "PID/TID NAME".
func threadName(r *reader, pid, tid uint64) string {
	name := strconv.FormatUint(pid, 10) + "/" + strconv.FormatUint(tid, 10)
	text, err := r.readOnce(r.threadPath(pid, tid, "comm"))
	if err != nil || len(text) == 0 {
		return name
	}
	line, _, _ := procfile.Line(text)
	return name + " " + procfile.Printable(line)
}
