package diagnose

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// A Limit is a resource that can be used up, and how much of it was.
type Limit struct {
	Name string  // max_connections
	Used float64 // 0..1
	Text string  // "max_connections, 101 of 300 used"
}

// NearestLimit returns the resource that was closest to its limit in the focus;
// ok is false when none was recorded.
func (hs Hosts) NearestLimit() (nearest Limit, ok bool) {
	for _, l := range []func() (Limit, bool){hs.connectionLimit, hs.heldLimit, hs.cpuLimit, hs.memoryLimit, hs.fileLimit} {
		if got, have := l(); have && (!ok || got.Used > nearest.Used) {
			nearest, ok = got, true
		}
	}
	return nearest, ok
}

func (hs Hosts) connectionLimit() (Limit, bool) {
	limit, ok := hs.c.Number("max_connections")
	g, err := hs.c.Counters().Gauge(kasoku.Key{Source: MySQL, Name: mysql.ThreadsConnected})
	if !ok || err != nil || limit <= 0 {
		return Limit{}, false
	}
	return Limit{"max_connections", unitInterval(g.Max / limit),
		fmt.Sprintf("max_connections, %s of %s used", Whole(g.Max), Whole(limit))}, true
}

// HostBusy returns the CPU that all of the first host's processes used while the
// focus's load ran, and how many cores it has.
func (hs Hosts) HostBusy() (busy, cores float64, err error) { return hs.BusyOn("") }

// BusyOn is HostBusy of the host with that name; an empty one means the first.
func (hs Hosts) BusyOn(host string) (busy, cores float64, err error) {
	var total, idle float64
	for _, mode := range [...]string{"user", "nice", "system", "irq", "softirq", "steal", "idle", "iowait"} {
		perSec, err := hs.c.Counters().UnderLoad(kasoku.Key{Host: host, Source: Host, Name: "cpu." + mode})
		switch {
		case err == nil:
		case mode == "user" || mode == "idle":
			return 0, 0, err
		default:
			continue
		}
		total += perSec
		if mode == "idle" || mode == "iowait" {
			idle += perSec
		}
	}
	if total <= 0 {
		return 0, 0, hs.c.Counters().nothing(kasoku.Key{Source: Host})
	}
	cores = total
	for i, h := range hs.c.Run.Hosts {
		if (h.Name == host || host == "" && i == 0) && h.Cores > 0 {
			cores = float64(h.Cores)
		}
	}
	return cores * (1 - idle/total), cores, nil
}

// leastBeside is the part of the CPU in use from which that of neighbours is said with it.
const leastBeside = 0.1

func (hs Hosts) cpuLimit() (Limit, bool) {
	busy, cores, err := hs.HostBusy()
	if err != nil || cores <= 0 {
		return Limit{}, false
	}
	text := fmt.Sprintf("CPU, %s of %s cores busy", unit.Sig3(busy), unit.Plain(cores))
	if len(hs.c.Run.Hosts) > 0 {
		if beside, ok := hs.c.NeighbourCores(hs.c.Run.Hosts[0].Name); ok && beside >= leastBeside*busy {
			text += ", " + unit.Sig3(beside) + " by neighbours"
		}
	}
	return Limit{"CPU", unitInterval(busy / cores), text}, true
}

func (hs Hosts) memoryLimit() (Limit, bool) {
	total, err := hs.c.Counters().Gauge(kasoku.Key{Source: Host, Name: hostkeys.MemTotal})
	free, err2 := hs.c.Counters().Gauge(kasoku.Key{Source: Host, Name: hostkeys.MemAvailable})
	if err != nil || err2 != nil || total.Max <= 0 || free.Min < 0 || free.Min > total.Max {
		return Limit{}, false
	}
	return Limit{"memory", 1 - free.Min/total.Max,
		fmt.Sprintf("memory, %s of %s used", unit.BytesIEC(uint64(total.Max-free.Min)),
			unit.BytesIEC(uint64(total.Max)))}, true
}

func (hs Hosts) fileLimit() (nearest Limit, ok bool) {
	for _, s := range hs.c.FindAll(Process, process.FDsLimit) {
		limit, err := hs.c.Counters().Gauge(s.Key)
		k := s.Key
		k.Name = process.FDs
		used, err2 := hs.c.Counters().Gauge(k)
		if err != nil || err2 != nil || limit.Max <= 0 || hs.c.Processes().MemberOf(k) == nil {
			continue
		}
		if l := (Limit{"open files", unitInterval(used.Max / limit.Max),
			fmt.Sprintf("open files of %s, %s of %s", k.Instance, Whole(used.Max), Whole(limit.Max))}); !ok ||
			l.Used > nearest.Used {
			nearest, ok = l, true
		}
	}
	return nearest, ok
}
