package process

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/kasoku/kasoku/observe/procfile"
)

// userHZ is the number of clock ticks per second in /proc/PID/stat. It is part
// of the kernel's interface and not its timer frequency; see sysconf(3),
// _SC_CLK_TCK.
const userHZ = 100

// kthreadFlag marks a thread of the kernel in the flags of /proc/PID/stat:
// PF_KTHREAD of include/linux/sched.h.
const kthreadFlag = 0x00200000

// A stat is what is taken of /proc/PID/stat.
//
// Kernel: Documentation/filesystems/proc.rst, table 1-4. The times are of the
// whole process, with its threads that have ended, without its children.
type stat struct {
	state   byte   // field 3: R S D Z T …
	flags   uint64 // field 9
	user    uint64 // field 14, 1/100 s
	system  uint64 // field 15, 1/100 s
	threads uint64 // field 20
	start   uint64 // field 22, 1/100 s since boot; with the number it names a process
	rss     uint64 // field 24, pages; lags by up to some dozen pages per CPU

	childUser, childSystem uint64 // fields 16 and 17, 1/100 s: of children that have ended and were waited for

	parent uint64 // field 4
	faults uint64 // field 12: page faults that had to wait for a disk
	size   uint64 // field 23: address space, bytes
}

// cpu returns the CPU time in ticks.
func (st *stat) cpu() uint64 { return st.user + st.system }

// children returns the CPU time of children in ticks.
func (st *stat) children() uint64 { return st.childUser + st.childSystem }

// dead reports whether the process has ended and only waits for its parent. A
// process whose first thread has ended is a zombie too, but has other threads.
func (st *stat) dead() bool {
	return (st.state == 'Z' || st.state == 'X') && st.threads <= 1
}

// parseStat reads one line. The name points into it; it may hold spaces and
// parentheses.
//
//	1204 (userapi) S 1 1204 1204 0 -1 4194560 …
func parseStat(line []byte) (name []byte, st stat, err error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return nil, stat{}, fmt.Errorf("no name in %q", line)
	}
	name = line[open+1 : end]
	word, rest := procfile.Word(line[end+1:])
	if len(word) != 1 {
		return nil, stat{}, fmt.Errorf("bad state %q", word)
	}
	st.state = word[0]
	fields := [...]struct {
		skip int // words between the one before and this one
		to   *uint64
	}{
		{0, &st.parent},      // 4
		{4, &st.flags},       // 9
		{2, &st.faults},      // 12
		{1, &st.user},        // 14
		{0, &st.system},      // 15
		{0, &st.childUser},   // 16
		{0, &st.childSystem}, // 17
		{2, &st.threads},     // 20
		{1, &st.start},       // 22
		{0, &st.size},        // 23
		{0, &st.rss},         // 24
	}
	for _, f := range fields {
		word, rest = procfile.Word(procfile.Skip(rest, f.skip))
		n, ok := procfile.Uint(word)
		if !ok && (f.to == &st.childUser || f.to == &st.childSystem) {
			continue // the kernel declares them signed
		}
		if !ok {
			return nil, stat{}, fmt.Errorf("bad number %q in %q", word, line)
		}
		*f.to = n
	}
	return name, st, nil
}

// An ioStat is what is taken of /proc/PID/io.
//
// Kernel: Documentation/filesystems/proc.rst, 3.3. Bytes are those that
// reached, or came from, the storage layer; calls are of write(2) and its
// relatives on anything, sockets included.
type ioStat struct {
	readBytes, writeBytes, writeCalls uint64
}

func parseIO(text []byte) (ioStat, error) {
	var st ioStat
	seen := 0
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			break
		}
		text = rest
		word, line := procfile.Word(line)
		var to *uint64
		switch string(word) {
		case "read_bytes:":
			to = &st.readBytes
		case "write_bytes:":
			to = &st.writeBytes
		case "syscw:":
			to = &st.writeCalls
		default:
			continue
		}
		value, _ := procfile.Word(line)
		if *to, ok = procfile.Uint(value); !ok {
			return ioStat{}, fmt.Errorf("bad %s %q", word, value)
		}
		seen++
	}
	if seen != 3 {
		return ioStat{}, errors.New("lines are missing")
	}
	return st, nil
}

// The limits that are read, as /proc/PID/limits names them.
const (
	limitFiles   = "Max open files"
	limitTasks   = "Max processes" // of the user, threads counted; root has none
	limitAddress = "Max address space"
)

// parseLimit finds a soft limit in /proc/PID/limits. ok is false when there is none
// or it is unlimited.
//
//	Max open files            20000                20000                files
func parseLimit(text []byte, label string) (n uint64, ok bool) {
	for {
		line, rest, more := procfile.Line(text)
		if !more {
			return 0, false
		}
		text = rest
		if bytes.HasPrefix(line, []byte(label)) {
			word, _ := procfile.Word(line[len(label):])
			return procfile.Uint(word)
		}
	}
}

// A schedStat is what /proc/PID/task/TID/schedstat says of one thread: how long it
// ran and how long it could have run and waited for a core, in ns.
//
// Kernel: Documentation/scheduler/sched-stats.rst.
type schedStat struct{ ran, waited uint64 }

func parseSched(line []byte) (schedStat, bool) {
	var n [2]uint64
	line, _, _ = procfile.Line(line)
	ok := procfile.Uints(n[:], line) == 2
	return schedStat{n[0], n[1]}, ok
}

// A switchStat is how often one thread gave up the CPU, and how often it was
// taken away, from /proc/PID/task/TID/status.
type switchStat struct{ voluntary, forced uint64 }

func parseSwitches(text []byte) (st switchStat, ok bool) {
	if st.voluntary, ok = after(text, "\nvoluntary_ctxt_switches:"); !ok {
		return switchStat{}, false
	}
	if st.forced, ok = after(text, "\nnonvoluntary_ctxt_switches:"); !ok {
		return switchStat{}, false
	}
	return st, true
}

// after returns the number that follows a label.
func after(text []byte, label string) (uint64, bool) {
	i := bytes.Index(text, []byte(label))
	if i < 0 {
		return 0, false
	}
	line, _, _ := procfile.Line(text[i+len(label):])
	word, _ := procfile.Word(line)
	return procfile.Uint(word)
}
