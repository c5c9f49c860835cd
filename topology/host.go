package topology

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Host describes what the kernel of this host lets this process see.
type Host struct {
	Synced     bool          // a time service keeps the clock
	ClockError time.Duration // the most that it may be off; 0 when not known
	Cgroup     int           // version 1 or 2; 0 without
	Pressure   bool          // /proc/pressure can be read
	HidesPIDs  bool          // processes of other users cannot be seen
	Perf       int           // kernel.perf_event_paranoid; −2 when not known
	Systemd    bool
}

// UnknownPerf is [Host.Perf] where the kernel does not say; real values begin
// at −1.
const UnknownPerf = -2

// CheckHost asks the kernel of this host.
//
// Sources: adjtimex(2), STA_UNSYNC and maxerror; cgroups(7); the kernel's
// Documentation/accounting/psi.rst; proc(5), hidepid; perf_event_open(2).
func CheckHost() Host {
	return tree{}.host()
}

func (t tree) host() Host {
	h := Host{Perf: UnknownPerf, Systemd: t.isDir("/run/systemd/system")}
	var clock unix.Timex
	if _, err := unix.Adjtimex(&clock); err == nil && clock.Status&unix.STA_UNSYNC == 0 {
		h.Synced, h.ClockError = true, time.Duration(clock.Maxerror)*time.Microsecond
	}
	switch {
	case t.exists("/sys/fs/cgroup/cgroup.controllers"):
		h.Cgroup = 2
	case t.isDir("/sys/fs/cgroup/cpu") || t.isDir("/sys/fs/cgroup/cpu,cpuacct"):
		h.Cgroup = 1
	}
	_, err := t.read("/proc/pressure/cpu")
	h.Pressure = err == nil
	_, err = t.read("/proc/1/status") // of root, and open to all unless hidden
	h.HidesPIDs = err != nil
	if text, err := t.read("/proc/sys/kernel/perf_event_paranoid"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			h.Perf = n
		}
	}
	return h
}
