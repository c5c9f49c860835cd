package stacks

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/kasoku/kasoku/trace/symbols"
)

// resolveWithin is how long names are looked for.
const resolveWithin = 20 * time.Second

// sample is what stands for one of the clock.
const sample = time.Second / rate

// finish adds up what was read and gives it names.
func (t *taking) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), resolveWithin)
	defer cancel()
	if t.o.Waits {
		t.stillness = t.still.samples(t.ends)
		t.ends.snapshot(ctx)
		t.sumWaits()
	}
	for pid := range t.seen {
		_ = t.table.See(pid) // one that has ended keeps what it had mapped
	}
	for _, p := range t.samples {
		t.want(&p.record)
	}
	for _, w := range t.waits {
		t.want(&w.record)
	}
	t.routines.want(t.table)
	t.table.Resolve(ctx)
	for _, p := range t.samples {
		t.out.CPU = append(t.out.CPU, Sample{PID: p.pid, Stack: t.stackOf(&p.record, nil), Count: p.count,
			Time: time.Duration(p.count) * sample})
	}
	t.finishWaits()
	t.out.Waits = append(t.out.Waits, t.routines.samples(t.table)...)
	t.finishStill()
	for pid, d := range t.routines.queued {
		q := t.out.Queues[pid]
		q.Routines = d
		t.out.Queues[pid] = q
	}
	for _, list := range [][]Sample{t.out.CPU, t.out.Waits} {
		slices.SortFunc(list, func(a, b Sample) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.PID, b.PID)) })
	}
	t.notes()
}

// want asks for the names of a stack, and cuts off what is none: where code keeps no frame
// pointers, the walk ends in numbers of other kinds.
func (t *taking) want(r *record) {
	for i, a := range r.kernel {
		t.table.WantKernel(callAddress(i, a))
	}
	for i, a := range r.user {
		if !t.table.Want(r.pid, callAddress(i, a)) {
			r.user = r.user[:i]
			break
		}
	}
	if r.ret != 0 && len(r.user) > 0 && !t.table.Want(r.pid, r.ret-1) {
		r.ret = 0
	}
}

// callAddress returns an address in the call of a return address; the innermost is where the
// code is.
func callAddress(i int, addr uint64) uint64 {
	if i == 0 || addr == 0 {
		return addr
	}
	return addr - 1
}

// stackOf gives a stack its names, innermost first. kernel are the functions of the kernel
// where they are named already.
func (t *taking) stackOf(r *record, kernel []symbols.Frame) []symbols.Frame {
	if kernel == nil {
		kernel = t.kernelOf(r)
	}
	out := slices.Clone(kernel)
	for i, a := range r.user {
		frames, _ := t.table.Frames(r.pid, callAddress(i, a))
		out = append(out, frames...)
		// A function of Go without a frame of its own: the walk leaves out its caller.
		if i == 0 && r.ret != 0 && t.table.Bare(r.pid, a) && (len(r.user) < 2 || r.user[1] != r.ret) {
			frames, _ := t.table.Frames(r.pid, r.ret-1)
			out = append(out, frames...)
		}
	}
	return out
}

func (t *taking) kernelOf(r *record) (out []symbols.Frame) {
	for i, a := range r.kernel {
		out = append(out, t.table.Kernel(callAddress(i, a)))
	}
	return out
}

// sumWaits reads what the kernel has added up, and adds the waits that are not over.
func (t *taking) sumWaits() {
	now := uint64(t.began) + uint64(t.out.Length)
	sums := map[waitKey]waitSum{}
	var key waitKey
	var sum waitSum
	for it := t.places.Iterate(); it.Next(&key, &sum); {
		sums[key] = sum
	}
	var task uint64
	var w waiting
	for it := t.threads.Iterate(); it.Next(&task, &w); {
		s := sums[w.Key]
		switch {
		case w.Since >= now:
		case w.Woken == 0 || w.Woken > now:
			s.Waited += now - w.Since
			s.Count++
		case w.Woken >= w.Since:
			s.Waited += w.Woken - w.Since
			s.Queued += now - w.Woken
			s.Count++
		}
		sums[w.Key] = s
	}
	t.sums = sums
}

// finishWaits makes samples of what was added up.
func (t *taking) finishWaits() {
	unknown := map[int]waitSum{}
	for key, s := range t.sums {
		q := t.out.Queues[int(key.PID)]
		q.Time += time.Duration(s.Queued)
		q.Times += int64(s.Count)
		q.Forced += int64(s.Forced)
		t.out.Queues[int(key.PID)] = q
		if s.Waited == 0 {
			continue
		}
		w := t.waits[key]
		if w == nil {
			u := unknown[int(key.PID)]
			u.Waited += s.Waited
			u.Count += s.Count - s.Forced
			unknown[int(key.PID)] = u
			continue
		}
		kernel := t.kernelOf(&w.record)
		reason := reasonOf(kernel, &w.record)
		if reason == Ended {
			continue
		}
		out := Sample{PID: w.pid, Count: int64(s.Count - s.Forced), Time: time.Duration(s.Waited), Wait: Wait{Reason: reason}}
		out.Stack = t.stackOf(&w.record, trimmed(kernel))
		out.Wait.On = t.ends.on(w.pid, w.fd, reason)
		if t.routines.has(w.pid) {
			if reason == Lock || reason == Events || reason == Sleep {
				continue // threads of Go's runtime: what its goroutines wait for is sampled
			}
		}
		t.out.Waits = append(t.out.Waits, out)
	}
	for pid, s := range unknown {
		t.out.Waits = append(t.out.Waits, Sample{PID: pid, Count: int64(s.Count), Time: time.Duration(s.Waited), Wait: Wait{Reason: Other}})
	}
}

// finishStill adds the threads that waited all the time; of Go, goroutines are seen.
func (t *taking) finishStill() {
	for _, s := range t.stillness {
		if s.Wait.Reason != Ended && !t.routines.has(s.PID) {
			s.Time = t.out.Length
			t.out.Waits = append(t.out.Waits, s)
		}
	}
}

// notes says what limits the profile.
func (t *taking) notes() {
	add := func(format string, args ...any) { t.out.Notes = append(t.out.Notes, fmt.Sprintf(format, args...)) }
	c := t.counted()
	if n := c[lostRecords] + uint64(t.dropped); n > 0 {
		add("%d stacks found no room: their time is counted, their functions are not known", n)
	}
	if n := c[lostPlaces]; n > 0 {
		add("%d waits were at places beyond the %d that are kept: their time is counted, their functions are not known", n, mostPlaces)
	}
	if n := c[lostThreads]; n > 0 {
		add("%d waits are not counted: more than %d threads waited at a time", n, mostThreads)
	}
	if n := t.table.Lost(); n > 0 {
		add("%d addresses have no names: there are too many", n)
	}
	if t.table.Hidden() {
		add("the kernel hides the names of its functions: they take CAP_SYSLOG (or kernel.kptr_restrict = 0), so that waits are known by their system call alone")
	}
	for _, f := range t.table.Failures() {
		add("no names of %s", f)
	}
	for _, language := range []string{"python", "php", "ruby", "javascript", "java", "perl"} {
		if t.interpreted(language) {
			add("%s", languageNotes[language])
		}
	}
	t.out.Notes = append(t.out.Notes, t.routines.notes()...)
}

// interpreted reports whether a process of a language was seen of whose own functions none
// has a name.
func (t *taking) interpreted(language string) bool {
	pids := map[int]bool{}
	for _, p := range t.out.Processes {
		if p.Language == language {
			pids[p.PID] = true
		}
	}
	if len(pids) == 0 {
		return false
	}
	for _, list := range [][]Sample{t.out.CPU, t.out.Waits} {
		for _, s := range list {
			if pids[s.PID] && slices.ContainsFunc(s.Stack, func(f symbols.Frame) bool {
				return f.File == symbols.JIT && path.Base(f.Name) != f.Name || f.File == symbols.JIT && f.Name[0] != '['
			}) {
				return false
			}
		}
	}
	return true
}

// languageNotes say what shows functions of a language that runs on an interpreter.
var languageNotes = map[string]string{
	"python":     "Python: functions of the interpreter; `python -X perf` (3.12 and newer) names the program's own",
	"javascript": "Node.js: functions of the engine; `node --perf-basic-prof` names the program's own",
	"java":       "Java: functions of the virtual machine; its agent perf-map-agent, and -XX:+PreserveFramePointer, name the program's own",
	"ruby":       "Ruby: functions of the interpreter; `ruby --yjit --yjit-perf` names the program's own where they are compiled",
	"php":        "PHP: functions of the interpreter; its own functions have no names outside of it",
	"perl":       "Perl: functions of the interpreter; its own functions have no names outside of it",
}
