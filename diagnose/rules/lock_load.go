package rules

import (
	"time"

	"github.com/kasoku/kasoku/diagnose"
)

// stuckShare of the statements' time makes connections wait for nothing else.
const stuckShare = 0.5

// A lockLoad is what waits for locks of rows cost a run.
type lockLoad struct {
	waits, millis diagnose.Grown
	time          time.Duration
	share         float64
	of            string
	stuck         bool // most of what statements take is that wait
}

func lockLoadOf(c *diagnose.Case) (l lockLoad, err error) {
	whole := wholeRun(c)
	if l.waits, err = whole.Status("Innodb_row_lock_waits"); err != nil {
		return l, err
	}
	if l.millis, err = whole.Status("Innodb_row_lock_time"); err != nil {
		return l, err
	}
	l.time = time.Duration(min(max(l.millis.By, 0), 1e12)) * time.Millisecond
	all := l.time
	in := statementTime(c)
	if l.stuck = in > 0 && l.time > time.Duration(stuckShare*float64(in)) && l.time > c.Run.Length/20; l.stuck {
		if p, err := poolLoads(c); err == nil {
			all += time.Duration(min(max(p.wait.By, 0), 1e9) * float64(time.Second))
		}
	}
	l.share, l.of = shareOfTime(c, all)
	return l, nil
}

// statementTime returns how long all statements of the slow log took.
func statementTime(c *diagnose.Case) (sum time.Duration) {
	for i := range c.Queries {
		sum += c.Queries[i].Total
	}
	return sum
}

func (l lockLoad) each() time.Duration {
	return time.Duration(l.time.Seconds() / max(l.waits.By, 1) * float64(time.Second))
}
