package process

// How many threads of one process are read at one tick. A server with a thread for each of a
// thousand connections would otherwise cost more than all other processes together: one read
// takes some 10 µs. A process that used no CPU is left out. Threads beyond it have their turn
// at the next ticks, and nothing is lost, because the kernel's numbers go on growing.
const (
	threadsOfNamed  = 16
	threadsOfOthers = 4
)

// The switches of a process are the sum over its threads. The kernel keeps the
// numbers by thread and shows no sum: /proc/PID/status has those of the first
// thread only. What a thread did is added when it is read, so the sum never
// falls when threads end; what a thread did after it was last read is lost.
//
// The sum begins at zero when the process is first watched.
type switches struct {
	sum     switchStat
	threads map[uint64]*thread
	turn    int    // where in the listing the next tick goes on
	tick    uint64 // number of the last listing
}

// A thread is what was last read of one thread.
type thread struct {
	switchStat
	tick uint64 // of the last listing that had it
	old  bool   // was there when the watch began and has not been read
}

// readSwitches adds what the listed threads did to the sum.
func (p *process) readSwitches(r *reader, tids []uint64) {
	sw := &p.switches
	sw.list(tids)
	reads := min(len(tids), threadsOfOthers)
	if p.named {
		reads = min(len(tids), threadsOfNamed)
	}
	for i := range reads {
		tid := tids[(sw.turn+i)%len(tids)]
		if st, ok := readThreadSwitches(r, p.pid, tid); ok {
			sw.add(tid, st)
		}
	}
	sw.turn = (sw.turn + reads) % len(tids)
}

// list takes over which threads there are.
func (sw *switches) list(tids []uint64) {
	first := sw.threads == nil
	if first {
		sw.threads = make(map[uint64]*thread, len(tids))
	}
	sw.tick++
	for _, tid := range tids {
		t := sw.threads[tid]
		if t == nil {
			t = &thread{old: first}
			sw.threads[tid] = t
		}
		t.tick = sw.tick
	}
	if len(sw.threads) == len(tids) {
		return
	}
	for tid, t := range sw.threads {
		if t.tick != sw.tick {
			delete(sw.threads, tid)
		}
	}
}

// add adds what a thread did since it was last read, or since it began. What a
// thread did before the watch began is not counted.
func (sw *switches) add(tid uint64, st switchStat) {
	t := sw.threads[tid]
	switch {
	case t.old:
		t.old = false
	case st.voluntary < t.voluntary || st.forced < t.forced: // the number belongs to another thread now
		sw.sum.voluntary += st.voluntary
		sw.sum.forced += st.forced
	default:
		sw.sum.voluntary += st.voluntary - t.voluntary
		sw.sum.forced += st.forced - t.forced
	}
	t.switchStat = st
}

func readThreadSwitches(r *reader, pid, tid uint64) (switchStat, bool) {
	text, err := r.readOnce(r.threadPath(pid, tid, "status"))
	if err != nil {
		r.missing.unreadable(err)
		return switchStat{}, false
	}
	return parseSwitches(text)
}
