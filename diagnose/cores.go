package diagnose

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/cgroup"
	hostkeys "github.com/kasoku/kasoku/observe/host"
)

// Allowed is what a member may use of its host's cores, and how busy that was.
type Allowed struct {
	Cores float64 // that it may use
	Host  float64 // that the host has
	Busy  float64 // of Cores, by whoever used them, while the focus's load ran
	// CPUs are the cores that it is held to by taskset or a cpuset; none when it may run on all,
	// or that is not known.
	CPUs []int
	// Quota is that of its control group, where that is what holds it; 0 otherwise.
	Quota    float64
	QuotaKey kasoku.Key // of the series, where the quota was recorded
}

// Held reports whether the member may use fewer cores than its host has.
func (a Allowed) Held() bool { return len(a.CPUs) > 0 || a.Quota > 0 }

// By names what holds it, after "held to": "core 3 of 8 cores", "a quota of 0.50 of 2 cores".
func (a Allowed) By() string {
	of := " of " + unit.Counted(int(a.Host), "core", "cores")
	switch {
	case a.Quota > 0:
		return "a quota of " + unit.Sig3(a.Quota) + of
	case len(a.CPUs) == 1:
		return "core " + strconv.Itoa(a.CPUs[0]) + of
	}
	return unit.Count(len(a.CPUs)) + of
}

// Where is where that is set.
func (a Allowed) Where() string {
	if a.Quota > 0 {
		return "CPUQuota= of its unit, cpu.max of its control group, --cpus of its container"
	}
	return "taskset, CPUAffinity= or AllowedCPUs= of its unit, --cpuset-cpus of its container"
}

// Series are those that show how busy it was.
func (a Allowed) Series(host string) (out []kasoku.Key) {
	for _, cpu := range a.CPUs {
		out = append(out, kasoku.Key{Host: host, Source: Host, Name: hostkeys.CPUIdle,
			Instance: "cpu" + strconv.Itoa(cpu)})
	}
	if a.QuotaKey.Source != "" {
		out = append(out, a.QuotaKey)
	}
	return out
}

// Allowed returns what a member may use of its host's cores. It fails when the host's CPU was
// not recorded.
func (hs Hosts) Allowed(m *kasoku.Member) (Allowed, error) {
	var a Allowed
	var err error
	if a.Busy, a.Host, err = hs.BusyOn(m.Host); err != nil {
		return a, err
	}
	a.Cores = a.Host
	cpus := unit.ParseCores(m.Limits.CPUs)
	if n := float64(len(cpus)); n > 0 && n < a.Host {
		if busy, ok := hs.busyOf(m.Host, cpus); ok {
			a.CPUs, a.Cores, a.Busy = cpus, n, busy
		}
	}
	quota, key := hs.quota(m)
	if quota <= 0 || quota >= a.Cores {
		return a, nil
	}
	a.Quota, a.QuotaKey, a.Cores, a.CPUs = quota, key, quota, nil
	a.Busy = hs.coresOf(m)
	if key.Source != "" {
		key.Name = cgroup.CPUUsage
		if used, err := hs.c.Counters().UnderLoad(key); err == nil {
			a.Busy = used
		}
	}
	return a, nil
}

// quota returns the smallest quota of the control groups that a member is in, as it was when
// the member was found or, where it was recorded, at its least; 0 without one.
func (hs Hosts) quota(m *kasoku.Member) (cores float64, key kasoku.Key) {
	cores = m.Limits.Cores
	for _, s := range hs.c.FindAll(Cgroup, cgroup.CPUMax) {
		if !hs.c.Processes().IsWithin(m, s.Key) {
			continue
		}
		if g, err := hs.c.Counters().Gauge(s.Key); err == nil && g.Min > 0 && (cores <= 0 || g.Min <= cores) {
			cores, key = g.Min, s.Key
		}
	}
	return cores, key
}

// busyOf returns how busy some cores of a host were while the focus's load ran; false when they
// were not recorded each.
func (hs Hosts) busyOf(host string, cpus []int) (busy float64, ok bool) {
	for _, cpu := range cpus {
		var total, idle float64
		for _, mode := range append(slices.Clone(busyModes[:]), hostkeys.CPUSteal, hostkeys.CPUIdle, hostkeys.CPUIowait) {
			perSec, err := hs.c.Counters().UnderLoad(kasoku.Key{Host: host, Source: Host, Name: mode,
				Instance: "cpu" + strconv.Itoa(cpu)})
			if err != nil {
				continue
			}
			total += perSec
			if mode == hostkeys.CPUIdle || mode == hostkeys.CPUIowait {
				idle += perSec
			}
		}
		if total <= 0 {
			return 0, false
		}
		busy += 1 - idle/total
	}
	return busy, true
}

// coresOf returns the CPU that a member used while the focus's load ran.
func (hs Hosts) coresOf(m *kasoku.Member) (cores float64) {
	programs, err := hs.c.Processes().Members()
	if err != nil {
		return 0
	}
	for _, p := range programs {
		if p.Member == m.ID && sameHost(p.Host, m.Host) {
			cores += p.Cores
		}
	}
	return cores
}

// mostHeld returns the member that used most of what it is held to; nil when none is held.
func (hs Hosts) mostHeld() (most *kasoku.Member, of Allowed) {
	if hs.c.Service == nil {
		return nil, of
	}
	for i := range hs.c.Service.Members {
		m := &hs.c.Service.Members[i]
		a, err := hs.Allowed(m)
		if err == nil && a.Held() && m.Sure != kasoku.Low && (most == nil || a.Busy/a.Cores > of.Busy/of.Cores) {
			most, of = m, a
		}
	}
	return most, of
}

func (hs Hosts) heldLimit() (Limit, bool) {
	m, a := hs.mostHeld()
	if m == nil {
		return Limit{}, false
	}
	used := unitInterval(a.Busy / a.Cores)
	return Limit{"CPU", used, fmt.Sprintf("CPU of %s, which is held to %s, %s of that used", m.Program, a.By(),
		unit.Percent(used))}, true
}

// CoresText is how many cores there are: "2 cores", "1 core", "0.5 cores".
func CoresText(cores float64) string {
	if cores == 1 {
		return "1 core"
	}
	return unit.Plain(cores) + " cores"
}
