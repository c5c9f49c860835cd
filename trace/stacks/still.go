package stacks

import (
	"os"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/trace/symbols"
)

// The bounds of looking at threads that do not move.
const (
	mostStill  = 4000 // threads, in all
	mostFrames = 64
)

// A stillThread is one that waited when the profile began.
type stillThread struct {
	pid, thread int
	turns       string // how often it was given a processor, as the kernel counts
}

// still finds threads that wait all the time: the scheduler has nothing to say of them.
type still struct{ before []stillThread }

// begin notes how often each thread of a process was given a processor.
func (s *still) begin(pid int) {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(max(mostStill-len(s.before), 0)) // what could not be read are none
	for _, name := range names {
		thread, err := strconv.Atoi(name)
		if err != nil || len(s.before) >= mostStill {
			continue
		}
		if turns := turnsOf(pid, name); turns != "" {
			s.before = append(s.before, stillThread{pid, thread, turns})
		}
	}
}

// turnsOf returns the third number of /proc/PID/task/TID/schedstat: timeslices.
//
// Source: the kernel's Documentation/scheduler/sched-stats.rst.
func turnsOf(pid int, thread string) string {
	f := strings.Fields(readShort(pid, "task/"+thread+"/schedstat"))
	if len(f) != 3 {
		return ""
	}
	return f[2]
}

// samples returns the threads that were given no processor until now, with the kernel's stack,
// which root may read.
func (s *still) samples(e *ends) (out []Sample) {
	for _, b := range s.before {
		name := strconv.Itoa(b.thread)
		if turnsOf(b.pid, name) != b.turns {
			continue
		}
		_, st, err := procstat.Parse([]byte(readShort(b.pid, "task/"+name+"/stat")))
		if err != nil || st.State != 'S' && st.State != 'D' {
			continue
		}
		kernel := parseStack(readShort(b.pid, "task/"+name+"/stack"))
		r := record{pid: b.pid, thread: b.thread, fd: -1}
		r.call, r.fd = parseCall(readShort(b.pid, "task/"+name+"/syscall"))
		sample := Sample{PID: b.pid, Stack: trimmed(kernel), Count: 1, Wait: Wait{Reason: reasonOf(kernel, &r)}}
		e.look(b.pid, r.fd)
		sample.Wait.On = e.on(b.pid, r.fd, sample.Wait.Reason)
		out = append(out, sample)
	}
	return out
}

// parseStack reads /proc/PID/task/TID/stack, innermost first:
//
//	[<0>] futex_wait_queue+0x60/0x90
func parseStack(text string) (out []symbols.Frame) {
	for line := range strings.Lines(text) {
		_, name, ok := strings.Cut(strings.TrimSpace(line), "] ")
		name, _, _ = strings.Cut(name, "+")
		if ok && name != "" && len(out) < mostFrames {
			out = append(out, symbols.Frame{Name: printable(name), File: symbols.KernelFile})
		}
	}
	return out
}

// parseCall reads /proc/PID/task/TID/syscall: the number of the call and its arguments. The
// descriptor is -1 where the call waits for none.
func parseCall(text string) (call uint64, fd int32) {
	f := strings.Fields(text)
	if len(f) < 2 {
		return ^uint64(0), -1
	}
	n, err := strconv.ParseInt(f[0], 10, 32)
	if err != nil {
		return ^uint64(0), -1 // it runs, or is in no call
	}
	fd = -1
	for _, c := range descriptorCalls {
		if c == int32(n) {
			if v, err := strconv.ParseUint(strings.TrimPrefix(f[1], "0x"), 16, 64); err == nil && v < 1<<31 {
				fd = int32(v)
			}
		}
	}
	return uint64(n), fd
}
