package evidence

import (
	"strings"
	"time"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/observe/mysql"
)

// WholeRun is the case with all of the run as its focus, as the slow log counts.
func WholeRun(c *diagnose.Case) *diagnose.Case {
	whole := *c
	whole.Focus = diagnose.Focus{Interval: c.Whole()}
	return &whole
}

// SwitchedOn reports whether a server variable says yes.
func SwitchedOn(c *diagnose.Case, name string) bool {
	v, _ := c.Setting("mysql", name)
	v = strings.ToUpper(v)
	return v == "ON" || v == "1" || v == "YES"
}

// shareOfTime returns how much of the requests' time something is; of a run without
// requests of its time on the clock.
func shareOfTime(c *diagnose.Case, d time.Duration) (share float64, of string) {
	if c.Statements().RequestTime() > 0 {
		return c.Statements().ShareOf(d), "of the requests' time"
	}
	if c.Run.Length <= 0 {
		return 0, "of the run's time"
	}
	return min(max(d.Seconds()/c.Run.Length.Seconds(), 0), 1), "of the run's time"
}

// UsedCPU returns the CPU that all recorded processes used while the focus's load
// ran, and how many cores there are; without processes that of the host.
func UsedCPU(c *diagnose.Case) (busy, cores float64, err error) {
	busy, cores, err = c.Hosts().HostBusy()
	programs, none := c.Processes().Programs()
	if err != nil || none != nil {
		return busy, cores, err
	}
	busy = 0
	for _, p := range programs {
		busy += p.Cores
	}
	return busy, cores, nil
}

// LockTime returns how long statements waited for locks of rows over the run; 0 when
// the server did not report it.
func LockTime(c *diagnose.Case) time.Duration {
	g, err := WholeRun(c).Counters().Status(mysql.InnodbRowLockTime)
	if err != nil || g.By < 0 || g.By > 1e12 {
		return 0
	}
	return time.Duration(g.By) * time.Millisecond
}
