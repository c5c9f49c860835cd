package record

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// watched returns the processes that run now under one of the names, as ps shows
// them, or in one of the units of systemd.
//
// Source: proc(5), /proc/PID/comm, cut to 15 bytes, and cgroups(7), /proc/PID/cgroup.
func watched(proc string, names, units []string) []int {
	if len(names)+len(units) == 0 {
		return nil
	}
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil // without procfs no process is sampled at all
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		dir := filepath.Join(proc, e.Name())
		comm := strings.TrimSpace(string(readFile(filepath.Join(dir, "comm"))))
		named := slices.ContainsFunc(names, func(n string) bool { return comm != "" && comm == n[:min(len(n), 15)] })
		if named || inUnit(string(readFile(filepath.Join(dir, "cgroup"))), units) {
			out = append(out, pid)
		}
	}
	return out
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
