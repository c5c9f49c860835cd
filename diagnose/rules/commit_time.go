package rules

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// commits is what the commits of a run cost. A COMMIT writes the log, and so does
// each statement that changes rows outside of a transaction: what they take beyond
// what a statement takes anyway is the wait for the disk.
type commits struct {
	calls  uint64
	time   time.Duration   // beyond a statement's own
	share  float64         // of the requests' time, else of the run's
	of     string          // "of the requests' time", "of the run's time"
	top    []*kasoku.Query // most time first
	syncs  diagnose.Grown  // of InnoDB
	synced error           // why syncs is not known
	redo   bool            // innodb_flush_log_at_trx_commit = 1
	binlog bool            // log_bin = ON
	sync   bool            // and sync_binlog = 1
}

// What a statement takes apart from its commit, where no cheap read of the same
// run shows it: measured over loopback on two cores that had time left.
const (
	plainCommit = 40 * time.Microsecond
	plainWrite  = 120 * time.Microsecond
	// fewCommits are too few to say anything.
	fewCommits = 100
	// enoughReads are needed to take a class of reads as the measure.
	enoughReads = 20
	// fewRowsEach: a write that examines more rows takes its time for them.
	fewRowsEach = 3
)

// commitsOf adds up the commits of a run.
func commitsOf(c *diagnose.Case) (commits, error) {
	if !c.HasSlowLog() {
		return commits{}, errors.New(c.NoLog("slowlog"))
	}
	flush, ok := c.Number("innodb_flush_log_at_trx_commit")
	if !ok {
		return commits{}, errors.New("the server's variables were not recorded")
	}
	k := commits{redo: flush == 1, binlog: switchedOn(c, "log_bin")}
	if n, ok := c.Number("sync_binlog"); ok {
		k.sync = k.binlog && n == 1
	}
	var within []string // classes of statements inside of transactions
	for i := range c.Transactions {
		within = append(within, c.Transactions[i].Shape...)
	}
	base := cheapest(c)
	var writes time.Duration
	for i := range c.Queries {
		q := &c.Queries[i]
		own := max(base, plainCommit)
		switch q.Verb {
		case "COMMIT":
		case "INSERT", "UPDATE", "DELETE", "REPLACE":
			if slices.Contains(within, q.ID) || q.Calls == 0 || q.RowsExamined/q.Calls > fewRowsEach {
				continue
			}
			own = max(base, plainWrite)
			writes += max(q.Total-time.Duration(q.Calls)*own, 0)
		default:
			continue
		}
		k.calls += q.Calls
		k.time += max(q.Total-time.Duration(q.Calls)*own, 0)
		k.top = append(k.top, q)
	}
	// A write outside of a transaction may have waited for a lock instead.
	k.time -= min(lockTime(c), writes)
	slices.SortStableFunc(k.top, func(a, b *kasoku.Query) int { return int(b.Total - a.Total) })
	k.share, k.of = shareOfTime(c, k.time)
	k.syncs, k.synced = wholeRun(c).Status("Innodb_data_fsyncs")
	return k, nil
}

// cheapest returns the mean time of the cheapest class of reads of single rows: what
// any statement takes on this host under this load. 0 without one.
func cheapest(c *diagnose.Case) (least time.Duration) {
	for i := range c.Queries {
		q := &c.Queries[i]
		if q.Verb != "SELECT" || q.Calls < enoughReads || q.RowsExamined > q.Calls {
			continue
		}
		if mean := q.Total / time.Duration(q.Calls); least == 0 || mean < least {
			least = mean
		}
	}
	return least
}

// each is what a commit waits on average.
func (k commits) each() time.Duration { return k.time / time.Duration(max(k.calls, 1)) }

func (k commits) evidence(c *diagnose.Case) []kasoku.Evidence {
	var out []kasoku.Evidence
	for i, q := range k.top {
		if i == 2 {
			break
		}
		out = append(out, kasoku.Evidence{
			Source: "slow.log", Text: cut(q.Fingerprint, 100), Note: fmt.Sprintf("%s, mean %s", calls(q.Calls),
				unit.Duration(q.Total/time.Duration(max(q.Calls, 1)))),
			Value: unit.Duration(q.Total), Number: q.Total.Seconds(), Strong: true, Interval: c.Whole(),
		})
	}
	out = append(out, kasoku.Evidence{
		Source: "slow.log", Text: "waits for the disk", Note: "beyond what a statement takes",
		Value: unit.Percent(k.share), Number: k.share, Strong: true, Interval: c.Whole(),
	})
	if k.synced == nil {
		out = append(out, wholeRun(c).Counted(k.syncs, true))
	}
	return out
}

// synced reports the signal of at least some synchronisations for commits; several
// commits at once share one.
func (k commits) syncSignal() diagnose.Signal {
	s := diagnose.Signal{Holds: k.syncs.By >= 0.1*float64(k.calls), Lacks: "InnoDB synchronised seldom"}
	if k.synced != nil {
		s.Blind = k.synced.Error()
	}
	return s
}
