package evidence

import (
	"strings"
	"time"

	"github.com/kasoku/kasoku"
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

// UsedCPU returns the CPU that the service, its load and kasoku used on a host while the focus's
// load ran, of all recorded processes where the service is not known, and how many cores it has;
// without processes that of the host. An empty name means the first host.
func UsedCPU(c *diagnose.Case, host string) (busy, cores float64, err error) {
	return recordedCPU(c, host, func(p *diagnose.Program) bool { return p.Role != diagnose.Neighbour })
}

// recordedCPU is UsedCPU of the programs that count.
func recordedCPU(c *diagnose.Case, host string, counts func(*diagnose.Program) bool) (busy, cores float64, err error) {
	if host == "" {
		host = hostsOf(c)[0]
	}
	busy, cores, err = c.Hosts().BusyOn(host)
	programs, none := c.Processes().Programs()
	if err != nil || none != nil {
		return busy, cores, err
	}
	sum, seen := 0.0, false
	for i := range programs {
		if p := &programs[i]; (p.Host == host || host == "") && counts(p) {
			sum, seen = sum+p.Cores, true
		}
	}
	if seen {
		busy = sum
	}
	return busy, cores, nil
}

// BusiestCPU returns the CPU that all recorded processes used on the host of which the largest part
// was in use, those of neighbours too: who waits for CPU waits for all of them.
func BusiestCPU(c *diagnose.Case) (busy, cores float64, err error) {
	for i, host := range hostsOf(c) {
		b, n, none := recordedCPU(c, host, func(*diagnose.Program) bool { return true })
		switch {
		case i == 0:
			busy, cores, err = b, n, none
		case none == nil && (err != nil || b*cores > busy*n):
			busy, cores, err = b, n, nil
		}
	}
	return busy, cores, err
}

// usedOnAll is UsedCPU of all hosts.
func usedOnAll(c *diagnose.Case) (busy float64, err error) {
	for i, host := range hostsOf(c) {
		b, _, none := UsedCPU(c, host)
		if i == 0 || err != nil {
			err = none
		}
		if none == nil {
			busy += b
		}
	}
	return busy, err
}

// hostsOf returns the names of the run's hosts; an empty one where they have none.
func hostsOf(c *diagnose.Case) (names []string) {
	for _, h := range c.Run.Hosts {
		names = append(names, h.Name)
	}
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// DatabaseHost returns the host of the service's database; empty where that is not known.
func DatabaseHost(c *diagnose.Case) string {
	if db := c.Member(kasoku.RoleDatabase); db != nil {
		return db.Host
	}
	return ""
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
