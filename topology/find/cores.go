package find

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// mostTasks bounds the threads of a member of which is read where they may run.
const mostTasks = 256

// allowedCores returns the cores that the processes of a member may run on, in all: those of
// its workers, where it has any. It is empty when that cannot be read. A thread may be held to
// other cores than its process (taskset without -a), so all are read until they have all cores.
//
// Source: proc_pid_status(5), Cpus_allowed_list: what taskset and the cpuset leave.
func allowedCores(m *kasoku.Member) string {
	processes := slices.DeleteFunc(slices.Clone(m.Processes), func(p kasoku.MemberProcess) bool {
		return p.Ended > 0 || p.Leader && m.Workers > 1
	})
	online := unit.ParseCores(readSmall("/sys/devices/system/cpu/online"))
	allowed := map[int]bool{}
	read := 0
	for _, p := range processes {
		if list := statusLine(readSmall("/proc/"+strconv.Itoa(p.PID)+"/status"), "Cpus_allowed_list:"); slices.Equal(online, unit.ParseCores(list)) {
			return list // most are not held: this spares the threads
		}
		dir := "/proc/" + strconv.Itoa(p.PID) + "/task"
		tasks, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, task := range tasks {
			if read++; read > mostTasks {
				break
			}
			for _, cpu := range unit.ParseCores(statusLine(readSmall(dir+"/"+task.Name()+"/status"), "Cpus_allowed_list:")) {
				allowed[cpu] = slices.Contains(online, cpu)
			}
			if len(allowed) >= len(online) && !slices.ContainsFunc(online, func(cpu int) bool { return !allowed[cpu] }) {
				return unit.FormatCores(online)
			}
		}
	}
	maps.DeleteFunc(allowed, func(_ int, is bool) bool { return !is })
	return unit.FormatCores(slices.Sorted(maps.Keys(allowed)))
}

func readSmall(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// statusLine returns the value of a line of /proc/PID/status.
func statusLine(status, name string) string {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// quotaOf returns how many cores the control groups of a process leave it, 0 for no limit.
//
// Sources: the kernel's Documentation/admin-guide/cgroup-v2.rst, cpu.max, and
// scheduler/sched-bwc.rst; cgroups(7).
func quotaOf(pid int) (cores float64) {
	for line := range strings.Lines(readSmall("/proc/" + strconv.Itoa(pid) + "/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 || !strings.HasPrefix(f[2], "/") || strings.Contains(f[2], "..") { // outside of our namespace
			continue
		}
		var mounts []string
		switch {
		case f[1] == "":
			mounts = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}
		case slices.Contains(strings.Split(f[1], ","), "cpu"):
			mounts = []string{"/sys/fs/cgroup/" + f[1], "/sys/fs/cgroup/cpu"}
		}
		for _, mount := range mounts {
			for group := f[2]; ; group = filepath.Dir(group) {
				if n := groupQuota(filepath.Join(mount, group)); n > 0 && (cores == 0 || n < cores) {
					cores = n
				}
				if group == "/" {
					break
				}
			}
		}
	}
	return cores
}

// groupQuota returns the quota of one control group, of either version of the interface.
func groupQuota(dir string) float64 {
	quota, period, _ := strings.Cut(strings.TrimSpace(readSmall(dir+"/cpu.max")), " ")
	if quota == "" {
		quota, period = strings.TrimSpace(readSmall(dir+"/cpu.cfs_quota_us")), strings.TrimSpace(readSmall(dir+"/cpu.cfs_period_us"))
	}
	q, err := strconv.ParseFloat(quota, 64) // "max", or -1: none
	p, err2 := strconv.ParseFloat(period, 64)
	if n := q / p; err == nil && err2 == nil && n > 0 && !math.IsInf(n, 0) {
		return n
	}
	return 0
}
