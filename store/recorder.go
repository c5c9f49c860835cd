package store

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A recorder identifies the process that writes a run: its id alone may be
// given to another process later, so the time of its start and the boot are kept
// beside it.
type recorder struct {
	pid    int64
	start  int64  // clock ticks from boot to its start; 0 when unknown
	bootID string // empty when unknown
}

// thisProcess returns the recorder that this process is.
func thisProcess() recorder {
	r := recorder{pid: int64(os.Getpid())}
	r.start, _ = startOf("self")
	r.bootID = bootID()
	return r
}

// alive reports whether the recorder still runs on this machine. It is a hint
// that spares a wait: whether a file is in use is settled by its lock.
func (r recorder) alive() bool {
	if r.pid <= 0 || r.bootID == "" || r.bootID != bootID() {
		return false
	}
	start, err := startOf(strconv.FormatInt(r.pid, 10))
	return err == nil && start == r.start
}

// bootID returns the kernel's random id of this boot.
//
// Kernel: Documentation/admin-guide/sysctl/kernel.rst, random/boot_id.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// startOf returns when a process started, in clock ticks after boot.
func startOf(pid string) (int64, error) {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, err
	}
	return parseStart(b)
}

// parseStart returns field 22, starttime, of /proc/PID/stat. Field 2 is the
// command's name in parentheses and may hold anything, parentheses too.
//
// Kernel: Documentation/filesystems/proc.rst, table 1-4.
func parseStart(stat []byte) (int64, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const after = 22 - 3 // the first field after the name is number 3
	if len(fields) <= after {
		return 0, fmt.Errorf("process stat %q: no field 22", stat)
	}
	return strconv.ParseInt(string(fields[after]), 10, 64)
}
