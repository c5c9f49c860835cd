package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Children returns the processes that the threads of a process have started; none
// when it has ended.
//
// Source: proc_tid_children(5).
func Children(pid int) []int {
	var out []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is good
	for _, path := range lists {
		b, _ := os.ReadFile(path) // the thread has ended: it has none
		for field := range strings.FieldsSeq(string(b)) {
			if child, err := strconv.Atoi(field); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}

// Memory returns what a process has resident, and the most that it ever had, in
// bytes. The peak of getrusage(2) is another one: it begins at what the process that
// started this one had.
//
// Source: VmRSS and VmHWM in proc_pid_status(5).
func Memory(pid int) (resident, peak uint64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	if resident, err = kibibytes(b, "VmRSS:"); err != nil {
		return 0, 0, err
	}
	if peak, err = kibibytes(b, "VmHWM:"); err != nil {
		return 0, 0, err
	}
	return resident, peak, nil
}

// kibibytes returns the size that follows a label, in bytes.
func kibibytes(status []byte, label string) (uint64, error) {
	for line := range bytes.Lines(status) {
		if f := strings.Fields(string(line)); len(f) == 3 && f[0] == label {
			kib, err := strconv.ParseUint(f[1], 10, 54)
			if err != nil {
				return 0, fmt.Errorf("bad %s %q", label, f[1])
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("no %s in the status of a process", label)
}
