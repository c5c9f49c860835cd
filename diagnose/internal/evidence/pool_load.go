package evidence

import (
	"errors"
	"slices"
	"strings"
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
	// Idle is the part of Used for which no statement was logged, all of the run taken to be of this pool. It is 0
	// where that says little of what the program does meanwhile (see [idlePart]).
	Idle float64
}

// leastIdle is the part of the time of a pool's connections from which on it is not the database that they are
// taken for.
const leastIdle = 0.5

// Thresholds of connections that are held without a statement.
const (
	// leastGap is the least time without a statement for each that is logged: the way to the server on the same host
	// and back, and the driver's work for it, take about a tenth of that.
	leastGap = time.Millisecond
	// fewSeenWaits are samples of waits for locks that say who holds them, and quietHolders the part of them in which
	// the holder runs no statement. MySQL's samples have the last that it ran.
	fewSeenWaits = 5
	quietHolders = 0.75
)

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
	p.Idle = idlePart(c, &p)
	return p, nil
}

// idlePart returns the part of the time of a pool's connections for which no statement was logged. It is 0 where
// something else may fill it: statements that the log lacks, the way to a database on another host, a wait for
// CPU, and the way there and back of many short statements.
func idlePart(c *diagnose.Case, p *PoolLoad) float64 {
	if p.Used <= 0 || len(c.Queries) == 0 || c.StatementSource() != "slow.log" || !logsAll(c) ||
		!onOneHost(c, p.Wait.Key.Host) {
		return 0
	}
	if busy, cores := busiestOf(c); cores <= 0 || busy >= Saturated {
		return 0
	}
	var calls uint64
	for i := range c.Queries {
		calls += c.Queries[i].Calls
	}
	idle := max(p.Used-statementTime(c).Seconds(), 0)
	if idle < float64(calls)*leastGap.Seconds() {
		return 0
	}
	return idle / p.Used
}

// logsAll reports whether the slow log is not known to lack statements of the run.
func logsAll(c *diagnose.Case) bool {
	lacks := []string{diagnose.UnloggedCode, "slow-log-braked", "log-lost", "log-gone"}
	return !slices.ContainsFunc(c.Warnings, func(w kasoku.Warning) bool { return slices.Contains(lacks, w.Code) })
}

// onOneHost reports whether the database and all applications are known to run on one host, that of what a program
// publishes.
func onOneHost(c *diagnose.Case, host string) bool {
	databases, applications := c.Service.Of(kasoku.RoleDatabase), c.Service.Of(kasoku.RoleApplication)
	if len(databases) == 0 || len(applications) == 0 {
		return false
	}
	at := databases[0].Host
	return (host == at || len(c.Run.Hosts) < 2) &&
		!slices.ContainsFunc(slices.Concat(databases, applications), func(m *kasoku.Member) bool { return m.Host != at })
}

// LocksIdle reports whether those that wait for locks of rows, for so many seconds, wait mostly for transactions that
// run no statement meanwhile: samples saw that, or the transactions that may have locked rows were open for
// twice as long as their statements took, or the statements were too short for such waits.
func (p PoolLoad) LocksIdle(c *diagnose.Case, locks float64) bool {
	if locks <= 0 || IsShared(c) || c.StatementSource() != "slow.log" || !logsAll(c) {
		return false
	}
	var seen, quiet uint64
	for i := range c.LockWaits {
		w := &c.LockWaits[i]
		if seen += w.Samples; w.Blocking == "" {
			quiet += w.Samples
		}
	}
	if seen >= fewSeenWaits && float64(quiet) >= quietHolders*float64(seen) {
		return true
	}
	if open, ran := openTransactions(c); open > 0 && ran <= (1-leastIdle)*open && open-ran > locks {
		return true
	}
	// While a holder runs a statement, at most all other connections wait for it.
	own, _ := OwnConnections(c)
	others, ran := max(p.InUse, own)-1, statementTime(c).Seconds()
	return others >= 1 && ran >= locks && locks*(1-leastIdle) >= others*(ran-locks)
}

// openTransactions returns for how many seconds transactions that may have locked rows were open, and how many
// their statements took at most. A log with whole seconds has the least that they can have been open.
func openTransactions(c *diagnose.Case) (open, ran float64) {
	var within []string
	for i := range c.Transactions {
		if t := &c.Transactions[i]; !t.ReadOnly && !strings.Contains(t.Verbs, "…") {
			open, within = open+t.Total.Seconds(), append(within, t.Shape...)
		}
	}
	for i := range c.Queries {
		if q := &c.Queries[i]; slices.Contains([]string{"COMMIT", "ROLLBACK"}, q.Verb) || slices.Contains(within, q.ID) {
			ran += q.Total.Seconds()
		}
	}
	return open, ran
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
