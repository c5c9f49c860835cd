package rules

import (
	"errors"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// A poolLoad is what a program says of its pool over the run.
type poolLoad struct {
	name        string
	limit       float64
	inUse       float64 // most
	waits, wait diagnose.Grown
	share       float64
	of          string
	ahead       float64 // requests that waited at once, on average
}

const sourceExpvar = "expvar"

// poolLoads returns the pool that requests waited longest for.
func poolLoads(c *diagnose.Case) (p poolLoad, err error) {
	err = errors.New("no program publishes its pool (watch.expvar)")
	whole := wholeRun(c)
	for _, s := range c.FindAll(sourceExpvar, "WaitDuration") {
		key := func(name string) kasoku.Key {
			return kasoku.Key{Host: s.Key.Host, Source: sourceExpvar, Name: name, Instance: s.Key.Instance}
		}
		q := poolLoad{name: s.Key.Instance}
		var err1, err2 error
		if q.wait, err1 = whole.Grown(s.Key); err1 == nil {
			q.waits, err2 = whole.Grown(key("WaitCount"))
		}
		if err1 = errors.Join(err1, err2); err1 != nil {
			err = err1
			continue
		}
		if g, e := whole.Gauge(key("MaxOpenConnections")); e == nil {
			q.limit = g.Max
		}
		if g, e := whole.Gauge(key("InUse")); e == nil {
			q.inUse = g.Max
		}
		if p.wait.Key.Name == "" || q.wait.By > p.wait.By {
			p = q
		}
	}
	if p.wait.Key.Name == "" {
		return p, err
	}
	waited := time.Duration(min(max(p.wait.By, 0), 1e9) * float64(time.Second))
	p.share, p.of = shareOfTime(c, waited)
	if busy := busyTime(c); busy > 0 {
		p.ahead = waited.Seconds() / busy
	}
	return p, nil
}

// busyTime returns for how many seconds the run was loaded.
func busyTime(c *diagnose.Case) (sum float64) {
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
