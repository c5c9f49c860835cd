package process

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/kasoku/kasoku/observe/procfile"
)

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
