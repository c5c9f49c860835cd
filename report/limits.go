package report

import (
	"math"
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
)

// counted are gauges with a limit that is recorded beside them. The memory of groups
// is not among them: it holds the page cache, which fills any limit.
var counted = []struct{ source, used, most, name, from string }{
	{process.Name, process.FDs, process.FDsLimit, "open files", "/proc/PID/limits"},
	{process.Name, process.TasksUser, process.TasksLimit, "threads of the user", "/proc/PID/limits"},
	{cgroup.Name, cgroup.PIDsCurrent, cgroup.PIDsMax, "tasks of the group", "cgroup"},
	{sockets.Name, sockets.AcceptQueue, sockets.AcceptLimit, "connections to accept", "listen(2)"},
	{host.Name, host.FilesOpen, host.FilesMax, "open files of the host", "/proc/sys/fs/file-max"},
	{host.Name, host.Tasks, host.TasksMax, "threads of the host", "/proc/sys/kernel/threads-max"},
	{host.Name, host.ConntrackCount, host.ConntrackMax, "tracked connections", "/proc/sys/net/netfilter"},
}

// recordedLimits returns the limits that were recorded, and how near they came.
func (r rec) recordedLimits() []limit {
	var out []limit
	for _, c := range counted {
		for _, x := range r.FindAll(c.source, c.used) {
			used, ok := x.Max(r.all())
			most := r.lastOf(x.Key, c.most)
			if !ok || math.IsNaN(most) || most <= 0 {
				continue
			}
			l := limit{name: c.name, from: c.from, used: unit.Plain(used), limit: unit.Plain(most), share: used / most}
			if name := spoken(c.source, x.Key.Instance); name != "" {
				l.name += ", " + name
			}
			out = append(out, l)
		}
	}
	return out
}

// spoken is what people call an instance: a process without its number.
func spoken(source, instance string) string {
	if source == "process" {
		_, name, _ := strings.Cut(instance, " ")
		return name
	}
	return instance
}
