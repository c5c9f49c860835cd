package thishost

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/procstat"
)

// Watched returns the processes that run now under one of the names, as ps shows
// them, or in one of the units of systemd.
//
// Source: proc(5), /proc/PID/comm, cut to 15 bytes, and cgroups(7), /proc/PID/cgroup.
func Watched(proc string, names, units []string) []int {
	if len(names)+len(units) == 0 {
		return nil
	}
	pids, err := procstat.Processes(proc)
	if err != nil {
		return nil // without procfs no process is sampled at all
	}
	var out []int
	for _, pid := range pids {
		comm := commOf(proc, pid)
		named := slices.ContainsFunc(names, func(n string) bool { return comm != "" && comm == n[:min(len(n), 15)] })
		if named || inUnit(cgroupOf(proc, pid), units) {
			out = append(out, pid)
		}
	}
	return out
}

// OwnWatched leaves out the processes of neighbours that run under the name of a member: where the
// service is known, such a name is the service's own. What runs in one of the units stays.
func OwnWatched(proc string, pids []int, units []string, s *kasoku.Service) []int {
	names := map[string]bool{}
	for i := range s.Members {
		for _, p := range s.Members[i].Processes {
			names[commOf(proc, p.PID)] = true
		}
	}
	delete(names, "") // of those that have ended
	isMember := func(pid int) bool {
		return slices.ContainsFunc(s.Members, func(m kasoku.Member) bool { return m.Has(pid) })
	}
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
		return names[commOf(proc, pid)] && !isMember(pid) && !inUnit(cgroupOf(proc, pid), units)
	})
}

// commOf returns the name of a process, empty when it has gone.
func commOf(proc string, pid int) string {
	return strings.TrimSpace(string(readFile(filepath.Join(proc, strconv.Itoa(pid), "comm"))))
}

// cgroupOf returns the control groups of a process.
func cgroupOf(proc string, pid int) string {
	return string(readFile(filepath.Join(proc, strconv.Itoa(pid), "cgroup")))
}

// inUnit reports whether a control group is that of one of the units or below it.
func inUnit(cgroup string, units []string) bool {
	for line := range strings.Lines(cgroup) {
		parts := strings.Split(strings.TrimSpace(line), "/")
		for _, u := range units {
			if !strings.Contains(u, ".") {
				u += ".service"
			}
			if slices.Contains(parts[1:], u) {
				return true
			}
		}
	}
	return false
}

// Programs returns the names of the programs that run here, without some processes.
func Programs(without []int) (names []string) {
	pids, _ := procstat.Processes("/proc") // without procfs none is known
	for _, pid := range pids {
		if name := commOf("/proc", pid); !slices.Contains(without, pid) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
