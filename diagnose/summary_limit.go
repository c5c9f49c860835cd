package diagnose

import (
	"path"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// When a resource is what held the load up.
const (
	// usedUpCPU is the share of a host's cores above which requests wait for one.
	usedUpCPU = 0.85
	// dominantCPU is the share of the CPU in use that one program takes at least when
	// it is named for all: three tiers that share alike are not its doing.
	dominantCPU = 1.0 / 3
	// usedUpDisk is the share of time in which a disk had something to do.
	usedUpDisk = 0.90
	// oneCore is how much of a core a process with one thread takes at its limit.
	oneCore = 0.90
	// leastShare is the least impact of a finding that may stand for the run.
	leastShare = 0.10
)

// findBottleneck names in a few words what was used up where the evidence is taken:
// CPU by who took most of it, a thread, a disk, the server's connections, else what
// the first finding that costs something is about. It is empty when nothing was.
func findBottleneck(rec *kasoku.Recording, times []kasoku.Interval) string {
	c := NewCase(rec, nil)
	switch {
	case c.Focus.Step != nil:
		times = []kasoku.Interval{c.Focus.Step.Interval}
	case len(times) > 1:
		times = []kasoku.Interval{{From: times[0].From, To: times[len(times)-1].To}}
	}
	if len(times) == 0 {
		return ""
	}
	l := limited{c, rec, times[0]}
	for _, find := range []func() string{l.cpu, l.held, l.thread, l.disk, c.connections, c.named} {
		if s := find(); s != "" {
			return s
		}
	}
	return ""
}

// A limited run is asked for what was used up in one interval.
type limited struct {
	c   *Case
	rec *kasoku.Recording
	iv  kasoku.Interval
}

// cpu names the program that took most of a host's CPU when there was little left.
func (l limited) cpu() string {
	for i := range l.rec.Run.Hosts {
		h := &l.rec.Run.Hosts[i]
		busy, ratio := l.busy(h)
		if ratio < usedUpCPU {
			continue
		}
		name, cores := l.greediest(h.Name)
		if cores < dominantCPU*busy || name == anyone {
			name, cores = "CPU", busy
		}
		return name + " " + unit.Sig3(cores) + " of " + unit.Counted(h.Cores, "core", "cores") + l.on(h.Name)
	}
	return ""
}

// held names the member that used up what it is held to.
func (l limited) held() string {
	m, a := l.c.Hosts().mostHeld()
	if m == nil || a.Busy < usedUpCPU*a.Cores {
		return ""
	}
	return m.Program + " " + unit.Sig3(a.Busy) + " of its " + CoresText(a.Cores) + l.on(m.Host)
}

// on names the host when there are several.
func (l limited) on(host string) string {
	if len(l.rec.Run.Hosts) < 2 {
		return ""
	}
	return " on " + host
}

// busy returns the CPU that was in use on a host, in cores and as a share.
func (l limited) busy(h *kasoku.Host) (cores, ratio float64) {
	var used, idle float64
	for _, mode := range busyModes {
		used += l.grown(kasoku.Key{Host: h.Name, Source: Host, Name: mode})
	}
	for _, mode := range [...]string{hostkeys.CPUIdle, hostkeys.CPUIowait} {
		idle += l.grown(kasoku.Key{Host: h.Name, Source: Host, Name: mode})
	}
	if used+idle <= 0 {
		return 0, 0
	}
	ratio = used / (used + idle)
	return ratio * float64(h.Cores), ratio
}

func (l limited) grown(k kasoku.Key) float64 {
	if s := l.rec.Find(k); s != nil {
		return grownIn(s, l.iv)
	}
	return 0
}

// greediest returns the program of a host whose processes took most CPU together.
func (l limited) greediest(host string) (name string, cores float64) {
	byName := map[string]float64{}
	whole := map[*kasoku.Member]bool{}
	for _, t := range process.MemberTrees(l.rec) {
		if k := t.Series.Key; k.Host == host {
			byName[l.program(host, k.Instance)] += grownIn(&t.Series, l.iv)
			whole[t.Member] = true
		}
	}
	for _, of := range [...]string{process.CPUUser, process.CPUSystem} {
		for _, s := range l.rec.FindAll(Process, of) {
			if pid, _, _ := strings.Cut(s.Key.Instance, " "); s.Key.Host == host && !whole[l.c.memberOf(host, pid)] {
				byName[l.program(host, s.Key.Instance)] += grownIn(s, l.iv)
			}
		}
	}
	for n, used := range byName {
		if used > cores || used == cores && n < name {
			name, cores = n, used
		}
	}
	return name, cores / l.iv.Len().Seconds()
}

// What programs are called together that are not of the service, where its members are
// known, and where they are not.
const (
	neighbours = "neighbours"
	anyone     = ""
)

// program returns the name of a member's process, such as mysqld; generator for what made
// the load, and neighbours or anyone for what is not of the service.
func (l limited) program(host, instance string) string {
	pid, name, _ := strings.Cut(instance, " ")
	if l.c.memberOf(host, pid) != nil {
		return name
	}
	if cmd := l.rec.Run.Command; cmd != nil && len(cmd.Args) > 0 && name == path.Base(cmd.Args[0]) {
		return "generator"
	}
	if l.rec.Load != nil && name == "kasoku" {
		return "generator"
	}
	switch role, _ := l.c.Processes().role(host, pid, name); role {
	case Neighbour:
		return neighbours
	case Unknown:
		return anyone
	}
	return name
}

// thread names a process that has one thread and kept a core busy with it.
func (l limited) thread() string {
	for _, s := range l.rec.FindAll(Process, process.Threads) {
		if most, ok := s.Max(l.iv); !ok || most != 1 {
			continue
		}
		k := s.Key
		k.Name = process.CPUUser
		used := l.grown(k)
		k.Name = process.CPUSystem
		used += l.grown(k)
		name := l.program(k.Host, k.Instance)
		if name == neighbours || name == anyone {
			continue // what it waits for is its own affair
		}
		if cores := used / l.iv.Len().Seconds(); cores >= oneCore {
			return name + " " + unit.Sig3(cores) + " of 1 core" + l.on(k.Host)
		}
	}
	return ""
}

// disk names a disk that was hardly ever idle.
func (l limited) disk() string {
	for _, s := range l.rec.FindAll(Host, hostkeys.DiskBusy) {
		if share := grownIn(s, l.iv) / l.iv.Len().Seconds(); share >= usedUpDisk {
			return "disk " + s.Key.Instance + " " + unit.Percent(min(share, 1)) + " busy" + l.on(s.Key.Host)
		}
	}
	return ""
}

// connections reports that the database server had as many as it allows.
func (c *Case) connections() string {
	limit, ok := c.Number("max_connections")
	g, err := c.Counters().Gauge(kasoku.Key{Source: MySQL, Name: mysql.ThreadsConnected})
	if !ok || err != nil || limit <= 0 || g.Max < limit {
		return ""
	}
	return "max_connections " + Whole(limit) + " of " + Whole(limit)
}

// named describes what the first finding that explains failure or delay is about.
func (c *Case) named() string {
	if c.Diagnosis == nil {
		return ""
	}
	for _, f := range c.Diagnosis.Findings {
		if f.Severity != kasoku.Problem || f.Clause == "" || f.Impact.Share < leastShare {
			continue
		}
		switch {
		case f.Object.Name == "":
			return f.Object.Kind
		case f.Object.Kind == "variable":
			return f.Object.Name
		}
		return f.Object.Kind + ": " + f.Object.Name
	}
	return ""
}
