package evidence

import (
	"cmp"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// stuckShare of the statements' time makes connections wait for nothing else.
const stuckShare = 0.5

// A LockLoad is what waits for locks of rows cost a run.
type LockLoad struct {
	Waits, Millis diagnose.Grown
	Time          time.Duration
	Share         float64
	Of            string
	Stuck         bool // most of what statements take is that wait

	// Of a server that others use too, whose counters are theirs as well, Waits, Time and Share are
	// what samples saw of waits for rows that are not others': the least that they can be. Whose
	// describes why they are not known: no sample shows one.
	Sampled bool
	Whose   error
}

// LockLoadOf adds up the waits for locks of rows that the server counted in the whole run; where
// others use the server too, those that samples saw.
// The share counts the waits for the pool too when statements do little but wait for locks.
func LockLoadOf(c *diagnose.Case) (l LockLoad, err error) {
	whole := WholeRun(c)
	if l.Waits, err = whole.Counters().Status(mysql.InnodbRowLockWaits); err != nil {
		return l, err
	}
	if l.Millis, err = whole.Counters().Status(mysql.InnodbRowLockTime); err != nil {
		return l, err
	}
	l.Time = time.Duration(min(max(l.Millis.By, 0), 1e12)) * time.Millisecond
	if IsShared(c) {
		if l.takeSampled(c); l.Whose != nil {
			l.Share, l.Of = shareOfTime(c, l.Time)
			return l, nil
		}
	}
	all := l.Time
	in := statementTime(c)
	if l.Stuck = in > 0 && l.Time > time.Duration(stuckShare*float64(in)) && l.Time > c.Run.Length/20; l.Stuck {
		if p, err := PoolLoads(c); err == nil {
			all += time.Duration(min(max(p.Wait.By, 0), 1e9) * float64(time.Second))
		}
	}
	l.Share, l.Of = shareOfTime(c, all)
	return l, nil
}

// takeSampled replaces what the server counted by what samples of one a second saw: a sample is
// a second of at least one that waits, and a wait is in no more samples than its seconds, and one.
func (l *LockLoad) takeSampled(c *diagnose.Case) {
	var samples uint64
	var longest time.Duration
	for i := range c.LockWaits {
		samples += c.LockWaits[i].Samples
		longest = max(longest, c.LockWaits[i].Longest)
	}
	if samples == 0 {
		l.Whose = CheckOwn(c, "waits for locks of rows")
		return
	}
	l.Sampled = true
	l.Time = min(l.Time, time.Duration(min(samples, 1e6))*time.Second)
	l.Waits.By = min(l.Waits.By, max(float64(samples)/float64(longest/time.Second+1), 1))
}

// statementTime returns how long all statements of the slow log took.
func statementTime(c *diagnose.Case) (sum time.Duration) {
	for i := range c.Queries {
		sum += c.Queries[i].Total
	}
	return sum
}

// crowded is how many statements for each core run at once, on a host without CPU left, from
// which they wait for CPU more than for anything else.
const crowded = 3

// HostBusy returns the part of the CPU of the database's host that was in use, by whomever;
// false where it was not recorded.
func HostBusy(c *diagnose.Case) (part float64, ok bool) {
	busy, cores, err := c.Hosts().BusyOn(DatabaseHost(c))
	return busy / max(cores, 0.01), err == nil && cores > 0
}

// NeighboursOf returns how many cores of the database's host programs outside of the service
// used, and how many it has; false where that is not known.
func NeighboursOf(c *diagnose.Case) (used, cores float64, ok bool) {
	host := cmp.Or(DatabaseHost(c), hostsOf(c)[0])
	used, ok = c.NeighbourCores(host)
	_, cores, err := c.Hosts().BusyOn(host)
	return used, cores, ok && err == nil
}

// OwnCores returns how many cores of the database's host the service's programs used.
func OwnCores(c *diagnose.Case) (used float64) {
	host := cmp.Or(DatabaseHost(c), hostsOf(c)[0])
	programs, err := c.Processes().Programs()
	if err != nil {
		return 0
	}
	for _, p := range programs {
		if p.Host == host && p.Member != "" {
			used += p.Cores
		}
	}
	return used
}

// Crowded returns why what runs in the database waits for CPU: its host has none left, and many
// more statements run at once than it has cores. Empty where that is not so, or not known.
func Crowded(c *diagnose.Case) string {
	busy, cores, err := c.Hosts().BusyOn(DatabaseHost(c))
	atOnce := statementTime(c).Seconds() / max(c.Run.Length.Seconds(), 0.01)
	if err != nil || cores <= 0 || busy < Saturated*cores || atOnce < crowded*cores {
		return ""
	}
	return fmt.Sprintf("%s statements run at once on %s cores that are %s busy", unit.Sig3(atOnce), unit.Plain(cores),
		unit.Percent(busy/cores))
}

// Each returns how long a wait for a lock of rows took on average.
func (l LockLoad) Each() time.Duration {
	return time.Duration(l.Time.Seconds() / max(l.Waits.By, 1) * float64(time.Second))
}
