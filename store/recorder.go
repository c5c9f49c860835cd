package store

import (
	"os"
	"strings"

	"github.com/kasoku/kasoku/internal/procstat"
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
	r.start, _ = startOf(os.Getpid())
	r.bootID = bootID()
	return r
}

// alive reports whether the recorder still runs on this machine. It is a hint
// that spares a wait: whether a file is in use is settled by its lock.
func (r recorder) alive() bool {
	if r.pid <= 0 || r.bootID == "" || r.bootID != bootID() {
		return false
	}
	start, err := startOf(int(r.pid))
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
func startOf(pid int) (int64, error) {
	st, err := procstat.Read(pid)
	return int64(st.Start), err
}
