package evidence

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/host"
)

// Thresholds of a service that is idle.
const (
	// idleCPU is how much of its CPU the busiest host may use: half of it is left for as much load again.
	idleCPU = 0.5
	// oneCore is how much of a core a program of the service may use: one that runs on a single thread has no more.
	oneCore = 0.8
	// idleDisk is for how much of the time a disk may be busy.
	idleDisk = 0.5
	// idleWait is how much of the requests' time may go to locks of rows, to the pool of connections, or to commits.
	idleWait = 0.05
)

// An Idle is a service that has CPU and disks left and waits for nothing that was recorded.
type Idle struct {
	Busy, Cores float64 // of the busiest host
	Waits       string  // "requests wait for locks of rows for 0.1 % of their time"; empty where nothing counted them
}

// Used is the used part of the busiest host's CPU.
func (i Idle) Used() float64 { return i.Busy / max(i.Cores, 0.01) }

// Signal says what is not recorded: requests may wait for a thread of Puma, a child of PHP-FPM, or for a service
// that the application asks, while nothing is busy.
func (Idle) Signal() diagnose.Signal {
	return diagnose.Signal{Blind: "whether requests wait for workers of the application or for another service was not " +
		"recorded"}
}

// Quote is the evidence.
func (i Idle) Quote(c *diagnose.Case) kasoku.Evidence {
	return kasoku.Evidence{Source: "host", Text: "CPU that is used on the busiest host", Value: unit.Percent(i.Used()),
		Note: unit.Sig3(i.Busy) + " of " + diagnose.CoresText(i.Cores), Number: i.Used(), Strong: true,
		Interval: c.Focus.Interval}
}

// Words is the middle of a sentence: "the busiest host used 12 % of its CPU, requests wait for …".
func (i Idle) Words() string {
	words := "the busiest host used " + unit.Percent(i.Used()) + " of its CPU"
	if i.Waits != "" {
		words += ", and " + i.Waits
	}
	return words
}

// IdleOf reports whether the service is idle while the focus's load runs; else why describes what is busy, and near,
// below 1, how near it is to being idle.
func IdleOf(c *diagnose.Case) (idle Idle, why string, near float64, err error) {
	if idle.Busy, idle.Cores, err = BusiestCPU(c); err != nil {
		return idle, "", 0, err
	}
	if used := idle.Used(); used >= idleCPU {
		return idle, fmt.Sprintf("%s of the busiest host's CPU is used; the threshold is %s",
			unit.Percent(min(used, 1)), unit.Percent(idleCPU)), min(idleCPU/used, 0.99), nil
	}
	if programs, err := c.Processes().Members(); err == nil {
		for _, p := range programs {
			if p.Role != diagnose.Generator && p.Role != diagnose.Recorder && p.Cores >= oneCore {
				return idle, fmt.Sprintf("%s uses %s cores, which may be all that it can; the threshold is %s", p.Name,
					unit.Sig3(p.Cores), unit.Sig3(oneCore)), min(oneCore/p.Cores, 0.99), nil
			}
		}
	}
	if name, busy := busiestDisk(c); busy >= idleDisk {
		return idle, fmt.Sprintf("the disk %s is busy for %s of the time; the threshold is %s", name,
			unit.Percent(busy), unit.Percent(idleDisk)), min(idleDisk/busy, 0.99), nil
	}
	type wait struct {
		what  string
		share float64
	}
	var waits []wait
	if l, err := LockLoadOf(c); err == nil {
		waits = append(waits, wait{"locks of rows", l.Share})
	}
	if p, err := PoolLoads(c); err == nil {
		waits = append(waits, wait{"a connection of the pool", p.Share})
	}
	if k, err := CommitsOf(c); err == nil && (k.Redo || k.Sync) && k.Calls >= FewCommits {
		waits = append(waits, wait{"commits", k.Share})
	}
	for i, w := range waits {
		if w.share >= idleWait {
			return idle, fmt.Sprintf("requests wait for %s for %s of their time; the threshold is %s", w.what,
				unit.Percent(w.share), unit.Percent(idleWait)), min(idleWait/w.share, 0.99), nil
		}
		if i == 0 {
			idle.Waits = "requests wait"
		} else {
			idle.Waits += " and"
		}
		idle.Waits += " for " + w.what + " for " + unit.Percent(w.share) + " of their time"
	}
	return idle, "", 0, nil
}

// busiestDisk is the disk that was busy for the greatest part of the focus's load, on any host; 0 where none was
// recorded.
func busiestDisk(c *diagnose.Case) (name string, busy float64) {
	for _, s := range c.FindAll(diagnose.Host, host.DiskBusy) {
		g, err := c.Counters().Grown(s.Key)
		if err != nil {
			continue
		}
		if part := min(g.By/max(g.Interval.Len().Seconds(), 0.001), 1); part > busy {
			name, busy = s.Key.Instance, part
		}
	}
	return name, busy
}
