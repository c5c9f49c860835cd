package machine

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/timeline"
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

// resources finds how near a run came to the limits that are known.
type resources struct{ recorded.View }

// recordedLimits returns the limits that were recorded, and how near they came.
func (r resources) recordedLimits() []limit {
	var out []limit
	for _, c := range counted {
		for _, x := range r.FindAll(c.source, c.used) {
			used, ok := x.Max(r.All())
			most := r.LastOf(x.Key, c.most)
			if !ok || math.IsNaN(most) || most <= 0 || c.source == process.Name && hostUse(r).ofNeighbour(x.Key.Instance) {
				continue
			}
			l := limit{Name: c.name, From: c.from, Used: unit.Plain(used), Limit: unit.Plain(most), Share: used / most}
			if name := spoken(c.source, x.Key.Instance); name != "" {
				l.Name += ", " + name
			}
			out = append(out, l)
		}
	}
	return out
}

// spoken is what people call an instance: a process without its number.
func spoken(source, instance string) string {
	if source == process.Name {
		_, name, _ := strings.Cut(instance, " ")
		return name
	}
	return instance
}

// A limit is a resource that can run out.
type limit struct {
	Name, Limit, Used, From string
	Share                   float64 // used of the limit at most, 0..1
}

// limits returns how far the resources with a known limit were used, on each host.
func (r resources) limits() []limit {
	var out []limit
	r.Each(func(one recorded.View, _ int, before string) {
		for _, l := range (resources{one}).hostLimits() {
			l.Name = before + l.Name
			out = append(out, l)
		}
	})
	slices.SortStableFunc(out, func(a, b limit) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

func (r resources) hostLimits() []limit {
	var out []limit
	add := func(name, from string, used, most float64) {
		if most > 0 {
			out = append(out, limit{Name: name, From: from, Used: unit.Plain(used), Limit: unit.Plain(most),
				Share: used / most})
		}
	}
	if v, ok := r.Setting("mysql", "max_connections"); ok {
		if most, err := strconv.ParseFloat(v, 64); err == nil {
			if x := r.Find(kasoku.Key{Source: mysql.Name, Name: mysql.ThreadsConnected}); x != nil {
				if used, has := x.Max(r.All()); has {
					add("max_connections", SourceOf("mysql"), used, most)
				}
			}
		}
	}
	out = append(out, r.recordedLimits()...)
	if r.Host().Cores > 0 {
		if peak, ok := timeline.BusiestCores(r.View); ok {
			out = append(out, limit{
				Name: "CPU", From: "/proc/stat", Used: unit.Sig3(peak) + " cores",
				Limit: unit.Counted(r.Host().Cores, "core", "cores"),
				Share: peak / float64(r.Host().Cores),
			})
		}
	}
	if total, free := r.Find(kasoku.Key{Source: host.Name, Name: host.MemTotal}),
		r.Find(kasoku.Key{Source: host.Name, Name: host.MemAvailable}); total != nil && free != nil {
		if most, ok := total.Max(r.All()); ok && most > 0 {
			least := most
			for _, p := range free.Points {
				least = min(least, p.Value)
			}
			out = append(out, limit{
				Name: "memory", From: "/proc/meminfo", Used: unit.BytesIEC(uint64(most - least)),
				Limit: unit.BytesIEC(uint64(most)),
				Share: (most - least) / most,
			})
		}
	}
	return out
}

// headroom names the resource nearest to its limit.
func (r resources) headroom() string {
	ls := r.limits()
	if len(ls) == 0 {
		return ""
	}
	l := ls[0]
	return l.Name + ", " + l.Used + " of " + l.Limit + " used at most, headroom " + unit.Percent(max(0, 1-l.Share))
}

// Headroom names the resource nearest to its limit, with what is left of it; empty when
// no limit is known.
func Headroom(r recorded.View) string { return resources{r}.headroom() }

// Limits returns how far the resources with a known limit were used, the fullest first.
func Limits(r recorded.View) []limit { return resources{r}.limits() }

// SourceOf describes where the settings of a scope were read.
func SourceOf(scope string) string {
	switch scope {
	case "mysql":
		return "SHOW GLOBAL VARIABLES"
	case "mysql.connection":
		return "connection"
	case "sysctl":
		return "/proc/sys"
	case "limits":
		return "/proc/PID/limits"
	}
	return scope
}
