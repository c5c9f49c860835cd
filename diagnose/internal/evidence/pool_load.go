package evidence

import (
	"errors"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/observe/expvar"
)

// A PoolLoad is what a program says of its pool over the run.
type PoolLoad struct {
	Name        string
	Limit       float64
	InUse       float64 // connections in use at once, the most
	Waits, Wait diagnose.Grown
	Share       float64
	Of          string
	Ahead       float64 // requests that waited at once, on average
	Queued      int     // seconds in which at least one in ten requests waited
	Used        float64 // seconds for which its connections were in use under the load, added up
	// Idle is the least part of Used in which no statement ran on them: in it the program had taken them and did
	// something else. All statements of the run are taken to be of this pool.
	Idle float64
}

// leastIdle is the part of the time of a pool's connections from which on it is not the database that they are
// taken for.
const leastIdle = 0.5

// HeldIdle reports whether the program holds its connections mostly without running a statement on them, as in a
// transaction in which it waits for something else, and for longer than statements wait for locks of rows.
func (p PoolLoad) HeldIdle(locks float64) bool {
	return p.Used > 0 && p.Idle >= leastIdle && p.Idle*p.Used > locks
}

// QueuedShare is how many waits there are at least for a request where a pool is too small; one may wait for
// each of its statements.
const QueuedShare = 0.10

// SourceExpvar is the name of the source that reads what programs publish by expvar.
const SourceExpvar = expvar.Name

// PoolLoads returns the pool that requests waited longest for. It fails when no program
// publishes one, or its counters cannot be read over the run.
func PoolLoads(c *diagnose.Case) (p PoolLoad, err error) {
	err = errors.New("no program publishes its pool (watch.expvar)")
	whole := WholeRun(c)
	for _, s := range c.FindAll(SourceExpvar, expvar.WaitDuration) {
		key := func(name string) kasoku.Key {
			return kasoku.Key{Host: s.Key.Host, Source: SourceExpvar, Name: name, Instance: s.Key.Instance}
		}
		q := PoolLoad{Name: s.Key.Instance}
		var err1, err2 error
		if q.Wait, err1 = whole.Counters().Grown(s.Key); err1 == nil {
			q.Waits, err2 = whole.Counters().Grown(key(expvar.WaitCount))
		}
		if err1 = errors.Join(err1, err2); err1 != nil {
			err = err1
			continue
		}
		if g, e := whole.Counters().Gauge(key(expvar.MaxOpenConnections)); e == nil {
			q.Limit = g.Max
		}
		if g, e := whole.Counters().Gauge(key(expvar.InUse)); e == nil {
			q.InUse = g.Max
		}
		if p.Wait.Key.Name == "" || q.Wait.By > p.Wait.By {
			p = q
		}
	}
	if p.Wait.Key.Name == "" {
		return p, err
	}
	waited := time.Duration(min(max(p.Wait.By, 0), 1e9) * float64(time.Second))
	p.Share, p.Of = shareOfTime(c, waited)
	if busy := BusyTime(c); busy > 0 {
		p.Ahead = waited.Seconds() / busy
	}
	p.Queued = queuedSeconds(c, p.Waits.Key)
	p.Used = usedSeconds(c, p.Wait.Key)
	if p.Used > 0 && len(c.Queries) > 0 && c.StatementSource() == "slow.log" {
		p.Idle = max(1-statementTime(c).Seconds()/p.Used, 0)
	}
	return p, nil
}

// usedSeconds returns the connections of a pool that were in use on average, times the seconds of the load.
func usedSeconds(c *diagnose.Case, of kasoku.Key) float64 {
	of.Name = expvar.InUse
	s := c.Find(of)
	if s == nil {
		return 0
	}
	var sum, n float64
	for _, p := range s.Points {
		if len(c.Steps) == 0 || slices.ContainsFunc(c.Steps, func(x kasoku.Step) bool {
			return x.Interval.From <= p.At && p.At < x.Interval.To
		}) {
			sum, n = sum+p.Value, n+1
		}
	}
	return sum / max(n, 1) * BusyTime(c)
}

// queuedSeconds counts the seconds in which at least [QueuedShare] of the requests waited, by a counter of waits.
// A load that grows fills a pool only at its end.
func queuedSeconds(c *diagnose.Case, waits kasoku.Key) (n int) {
	for _, s := range c.FindAll(waits.Source, waits.Name) {
		if s.Key != waits {
			continue
		}
		for i := 1; i < len(s.Points); i++ {
			a, b := s.Points[i-1], s.Points[i]
			r, err := c.Requests(kasoku.Interval{From: a.At, To: b.At})
			if err == nil && b.Value-a.Value >= max(QueuedShare*float64(r.Count), 1) {
				n++
			}
		}
	}
	return n
}

// BusyTime returns for how many seconds the run was loaded.
func BusyTime(c *diagnose.Case) (sum float64) {
	for i := range c.Steps {
		sum += c.Steps[i].Interval.Len().Seconds()
	}
	if sum > 0 {
		return sum
	}
	counts, _ := c.BySecond()
	if len(counts) > 0 {
		return float64(len(counts))
	}
	return c.Run.Length.Seconds()
}
