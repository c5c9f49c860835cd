package evidence

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Commits is what the commits of a run cost. A COMMIT writes the log, and so does
// each statement that changes rows outside of a transaction: what they take beyond
// what a statement takes anyway is the wait for the disk.
type Commits struct {
	Calls  uint64
	time   time.Duration   // beyond a statement's own
	Share  float64         // that requests wait, of their time; without requests of the run's
	Of     string          // "of the requests' time", "of the run's time"
	top    []*kasoku.Query // most time first
	syncs  diagnose.Grown  // of InnoDB
	synced error           // why syncs is not known
	Redo   bool            // innodb_flush_log_at_trx_commit = 1
	Binlog bool            // log_bin = ON
	Sync   bool            // and sync_binlog = 1
}

// What a statement takes apart from its commit, where no cheap read of the same
// run shows it: measured over loopback on two cores that had time left.
const (
	plainCommit = 40 * time.Microsecond
	plainWrite  = 120 * time.Microsecond
	// FewCommits are too few to say anything.
	FewCommits = 100
	// enoughReads are needed to take a class of reads as the measure.
	enoughReads = 20
	// fewRowsEach: a write that examines or writes more rows takes its time for them.
	fewRowsEach = 3
	// singleShare of a class's calls must write a single row where the log does not have
	// rows affected.
	singleShare = 0.9
)

// CommitsOf adds up the commits of a run.
func CommitsOf(c *diagnose.Case) (Commits, error) {
	if !c.Lines().HasSlowLog() {
		return Commits{}, errors.New(c.Lines().NoLog("slowlog"))
	}
	flush, ok := c.Number("innodb_flush_log_at_trx_commit")
	if !ok {
		return Commits{}, errors.New("the server's variables were not recorded")
	}
	k := Commits{Redo: flush == 1, Binlog: SwitchedOn(c, "log_bin")}
	if n, ok := c.Number("sync_binlog"); ok {
		k.Sync = k.Binlog && n == 1
	}
	var within []string // classes of statements inside of transactions
	for i := range c.Transactions {
		within = append(within, c.Transactions[i].Shape...)
	}
	base := CheapestRead(c)
	var writes time.Duration
	var ofRequests float64 // of the time
	sure := true
	for i := range c.Queries {
		q := &c.Queries[i]
		own, calls, total := max(base, plainCommit), c.Statements().QueryCalls(q), c.Statements().QueryTime(q)
		switch q.Verb {
		case "COMMIT":
		case "INSERT", "UPDATE", "DELETE", "REPLACE":
			if slices.Contains(within, q.ID) || !writesFewRows(q, calls) {
				continue
			}
			own = max(base, plainWrite)
			writes += max(total-time.Duration(calls)*own, 0)
		default:
			continue
		}
		k.Calls += calls
		waited := max(total-time.Duration(calls)*own, 0)
		part, known := requestPart(c, []*kasoku.Query{q})
		k.time += waited
		ofRequests += part * float64(waited)
		sure = sure && known
		k.top = append(k.top, q)
	}
	ofRequests /= max(float64(k.time), 1)
	// A write outside of a transaction may have waited for a lock instead.
	k.time -= min(LockTime(c), writes)
	slices.SortStableFunc(k.top, func(a, b *kasoku.Query) int { return int(b.Total - a.Total) })
	if k.Share, k.Of = shareOfTime(c, k.time); c.Statements().RequestTime() > 0 {
		k.Share = c.Statements().ShareOf(time.Duration(ofRequests * float64(k.time)))
		if !sure {
			k.Of += " at most"
		}
	}
	k.syncs, k.synced = WholeRun(c).Counters().Status(mysql.InnodbDataFsyncs)
	return k, nil
}

// writesFewRows reports whether a write takes its time for its commit: it examines and
// writes few rows. calls are those outside of initialize. An INSERT examines none, and so
// is judged by the rows that it writes.
func writesFewRows(q *kasoku.Query, calls uint64) bool {
	if calls == 0 || q.RowsExamined/q.Calls > fewRowsEach {
		return false
	}
	if q.HasAffected && calls == q.Calls {
		return q.RowsAffected <= fewRowsEach*q.Calls
	}
	inserts := q.Verb == "INSERT" || q.Verb == "REPLACE"
	return !inserts || float64(q.SingleRow) >= singleShare*float64(calls)
}

// CheapestRead returns the mean time of the cheapest class of reads of single rows: what
// any statement takes on this host under this load. 0 without one.
func CheapestRead(c *diagnose.Case) (least time.Duration) {
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

// Each is what a commit waits on average.
func (k Commits) Each() time.Duration { return k.time / time.Duration(max(k.Calls, 1)) }

// Evidence quotes up to two classes that took most time, the part of the time that was a
// wait for the disk, and InnoDB's synchronisations where they were counted.
func (k Commits) Evidence(c *diagnose.Case) []kasoku.Evidence {
	var out []kasoku.Evidence
	for i, q := range k.top {
		if i == 2 {
			break
		}
		out = append(out, kasoku.Evidence{
			Source: c.StatementSource(q), Text: wording.Cut(q.Fingerprint, 100),
			Note: fmt.Sprintf("%s, mean %s", wording.Times(q.Calls),
				unit.Duration(q.Total/time.Duration(max(q.Calls, 1)))),
			Value: unit.Duration(q.Total), Number: q.Total.Seconds(), Strong: true, Interval: c.Whole(),
		})
	}
	out = append(out, kasoku.Evidence{
		Source: c.StatementSource(k.top...), Text: "waits for the disk", Note: "beyond what a statement takes",
		Value: unit.Percent(k.Share), Number: k.Share, Strong: true, Interval: c.Whole(),
	})
	if k.synced == nil {
		out = append(out, WholeRun(c).Quote().Counted(k.syncs, true))
	}
	return out
}

// SyncSignal returns the signal that InnoDB synchronised at least once for every ten
// commits; several commits at once share one.
func (k Commits) SyncSignal() diagnose.Signal {
	s := diagnose.Signal{Holds: k.syncs.By >= 0.1*float64(k.Calls), Lacks: "InnoDB synchronised seldom"}
	if k.synced != nil {
		s.Blind = k.synced.Error()
	}
	return s
}
