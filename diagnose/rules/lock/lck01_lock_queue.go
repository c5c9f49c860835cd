package lock

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Queue is the rule LCK-01.
type Queue struct{}

// Thresholds of LCK-01.
const (
	fewLockWaits = 20
	// fewSampledWaits is as many where only samples show them: each stands for a second.
	fewSampledWaits = 5
	// lockShare is the least part of the requests' time that is a queue: on a table
	// of three rows, half of the transactions locking one for 5 ms, it was above
	// one half.
	lockShare = 0.05
	// someLockShare is the least part that is worth a remark. Queues grow and shrink with chance:
	// five runs of one service had from 1.7 to 4.8 %, and without its cause 0.
	someLockShare = 0.01
	// starvedShare is the least part where neighbours leave the host no CPU and the holders run
	// no statement: each lock is held for longer there, whatever the program does.
	starvedShare = 0.5
	// longerQueue is by how much waits grow with the pool where only the queue did.
	longerQueue = 1.5
)

// ID returns LCK-01.
func (Queue) ID() string { return "LCK-01" }

// Doc describes the rule.
func (Queue) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds requests that queue for locks of rows (also POOL-05).`,
		Evidence: `statements waited for locks of rows at least 20 times and for at least 5 % of the
			requests' time (Innodb_row_lock_time, Innodb_row_lock_waits), or for half of all the time of
			statements: then requests wait in the program for one of the connections that are held up, and
			that wait counts too. From 1 % on it is a remark. Samples of who waits name the table, the
			statement that waits, and the statement of the transaction that holds the lock, with its age.
			Against a baseline in which only the pool was smaller: waits that grew, and a result that did not get better.`,
		Cause: `a transaction holds the lock of a row that others need for longer than it must: it does
			something else before it commits. More connections make the queue longer, not faster.`,
		Fix: `shorten the transaction that holds the lock, then size the pool.`,
		Silent: `below the thresholds; below half of the time where the host has no CPU left, programs outside of
			the service use more of it than the service does, and no sample shows a statement of the holder, as it
			may wait for CPU; blind without the server's counters. Where programs outside of the service use the server
			too, its counters are theirs as well: each sample of a wait for rows that are not theirs counts as
			one second then, and it is blind where none was seen.`,
	}
}

// Check adds up what statements waited.
func (r Queue) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	l, err := evidence.LockLoadOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	few := fewLockWaits
	if l.Sampled {
		few = fewSampledWaits
	}
	if l.Waits.By < float64(few) || l.Share < someLockShare && !l.Stuck {
		return nil, diagnose.Quiet(r.ID(), min(l.Waits.By/float64(few), l.Share/someLockShare),
			"%s waits for locks of rows took %s %s; the thresholds are %d and %s",
			diagnose.Whole(l.Waits.By), unit.Percent(l.Share), l.Of, few, unit.Percent(someLockShare))
	}
	if l.Whose != nil {
		return nil, diagnose.Blind(r.ID(), l.Whose)
	}
	if starved := r.starved(c); starved != "" && l.Share < starvedShare {
		return nil, diagnose.Quiet(r.ID(), l.Share/starvedShare,
			"%s waits for locks of rows took %s %s, but %s; the threshold then is %s", diagnose.Whole(l.Waits.By),
			unit.Percent(l.Share), l.Of, starved, unit.Percent(starvedShare))
	}
	return []kasoku.Finding{r.finding(c, l)}, nil
}

// starved returns why those that hold locks may do nothing but wait for CPU: the database's host
// has none left, programs outside of the service have a good part of it, and in no sample a
// holder was seen to run a statement. Else it is empty.
func (Queue) starved(c *diagnose.Case) string {
	theirs, cores, ok := evidence.NeighboursOf(c)
	busy, known := evidence.HostBusy(c)
	// Its own queue was 2.5 % of the requests' time with and without neighbours that had a quarter of the CPU in
	// use; it was 14.6 % by waits for CPU alone where they had two thirds.
	if w, _ := worstWait(c); !ok || !known || busy < evidence.Saturated || theirs < evidence.OwnCores(c) ||
		w != nil && w.Blocking != "" {
		return ""
	}
	return fmt.Sprintf("%s cores are %s busy, %s by programs outside of the service, and who holds a lock may wait for that",
		unit.Plain(cores), unit.Percent(busy), unit.Sig3(theirs))
}

func (r Queue) finding(c *diagnose.Case, l evidence.LockLoad) kasoku.Finding {
	w, table := worstWait(c)
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: table},
		Title:  wording.Cut(fmt.Sprintf("Requests queue for locks of rows of %s", table), 70),
		Clause: "requests queue for locks of rows of " + table, Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(r.signals(w)...),
		Impact:     kasoku.Impact{Share: l.Share, Of: l.Of},
		Evidence:   r.evidence(c, l, w),
		Cause:      r.cause(c, l, w, table), Fixes: r.fixes(c, w, table),
		Expect:   r.expect(l),
		Verify:   "repeat the load: Innodb_row_lock_time must fall",
		Explains: []string{"POOL-06"}, Interval: c.Whole(),
	}
	if table == "" {
		f.Object = kasoku.Object{Kind: "database", Name: c.Server()}
		f.Title, f.Clause = "Requests queue for locks of rows", "requests queue for locks of rows"
	}
	if l.Share < lockShare && !l.Stuck {
		f.Severity = kasoku.Info
	}
	r.compare(c, l, table, &f)
	return f
}

// expect says what must fall: how long a wait takes is not known where others wait too.
func (Queue) expect(l evidence.LockLoad) string {
	if l.Sampled {
		return "fewer samples in which a statement waits"
	}
	return fmt.Sprintf("less than the %s that a wait takes now", unit.Duration(l.Each()))
}

// worstWait returns the class of waits that was seen most, nil when none was, and
// the table that it is about; without samples the one that locking statements read.
func worstWait(c *diagnose.Case) (*kasoku.LockWait, string) {
	var worst *kasoku.LockWait
	for i := range c.LockWaits {
		w := &c.LockWaits[i]
		if worst == nil || w.Samples*w.Waiters > worst.Samples*worst.Waiters {
			worst = w
		}
	}
	if worst != nil {
		return worst, bareTable(worst.Table)
	}
	var most *kasoku.Query
	for i := range c.Queries {
		q := &c.Queries[i]
		locks := q.Verb == "UPDATE" || q.Verb == "DELETE" || wording.ContainsFold(q.Fingerprint, " for update", " for share",
			" lock in share mode")
		if locks && len(q.Tables) > 0 && (most == nil || q.Total > most.Total) {
			most = q
		}
	}
	if most == nil {
		return nil, ""
	}
	return nil, most.Tables[0]
}

// bareTable is the name of a table as statements write it.
func bareTable(name string) string {
	if _, table, ok := strings.Cut(name, "."); ok {
		return table
	}
	return name
}

func (Queue) signals(w *kasoku.LockWait) []diagnose.Signal {
	seen := diagnose.Signal{Blind: "no sample shows who waits for whom"}
	holder := seen
	if w != nil {
		seen = diagnose.Signal{Holds: w.Samples >= 2, Lacks: "only one sample shows the wait"}
		holder = diagnose.Signal{Holds: true}
		if w.Blocking == "" {
			holder = diagnose.Signal{Lacks: "the statement of the holder is not known"}
		}
	}
	return []diagnose.Signal{{Holds: true}, {Holds: true}, seen, holder}
}

func (Queue) evidence(c *diagnose.Case, l evidence.LockLoad, w *kasoku.LockWait) []kasoku.Evidence {
	out := []kasoku.Evidence{
		evidence.WholeRun(c).Quote().Counted(l.Waits, true),
		{Source: "status", Text: mysql.InnodbRowLockTime, Note: "mean " + unit.Duration(l.Each()),
			Value: unit.Duration(l.Time), Number: l.Time.Seconds(), Strong: true,
			Series: []kasoku.Key{l.Millis.Key}, Interval: c.Whole()},
	}
	if l.Sampled {
		out = []kasoku.Evidence{{Source: "locks", Text: "samples with a statement that waits for rows",
			Note:  "one a second; the server's counters are others' too",
			Value: "at least " + unit.Duration(l.Time), Number: l.Time.Seconds(), Strong: true, Interval: c.Whole()}}
	}
	if w == nil {
		return out
	}
	iv := kasoku.Interval{From: w.First, To: w.Last + time.Second}
	out = append(out, kasoku.Evidence{
		Source: "locks", Text: "waits: " + wording.Cut(w.Waiting, 120), Note: fmt.Sprintf("on %s of %s, up to %s at once",
			wording.OrMissing(w.Index), bareTable(w.Table), unit.Count(w.Waiters)),
		Value: unit.Count(w.Samples) + " samples", Number: float64(w.Samples), Strong: true, Interval: iv,
	})
	e := kasoku.Evidence{Source: "locks", Text: "holds: " + wording.Cut(w.Blocking, 120), Note: "the transaction's age",
		Value: ageWords(w.Oldest), Number: w.Oldest.Seconds(), Strong: true, Interval: iv}
	if w.Blocking == "" {
		e.Text = "holds: a transaction that runs no statement at the time"
	}
	return append(out, e)
}

// ageWords prints an age of which only whole seconds may be known.
func ageWords(d time.Duration) string {
	switch {
	case d <= 0:
		return "below 1 s"
	case d%time.Second == 0: // MariaDB has no finer times
		return "at least " + unit.Exact(d)
	}
	return unit.Duration(d)
}

// listHolders names the endpoints that hold the lock, else those that wait.
func listHolders(c *diagnose.Case, w *kasoku.LockWait) string {
	if w == nil {
		return ""
	}
	for _, x := range []struct{ id, says string }{{w.BlockingID, "It is of "},
		{w.WaitingID, "Those that wait are of "}} {
		var names []string
		for _, caller := range c.Statements().CallersOf(x.id) {
			names = append(names, caller.Endpoint())
		}
		if x.id != "" && len(names) > 0 {
			return " " + x.says + wording.List(names, 3) + "."
		}
	}
	return ""
}

func (Queue) cause(c *diagnose.Case, l evidence.LockLoad, w *kasoku.LockWait, table string) string {
	s := fmt.Sprintf("%s statements waited for locks of rows, %s each: %s %s.", diagnose.Whole(l.Waits.By),
		unit.Duration(l.Each()), unit.Percent(l.Share), l.Of)
	if l.Sampled {
		s = fmt.Sprintf("Statements waited for locks of rows in at least %s of the run: at least %s %s.",
			unit.Duration(l.Time), unit.Percent(l.Share), l.Of)
	}
	switch {
	case w == nil:
		return s
	case w.Blocking == "":
		s += fmt.Sprintf(" The transaction that holds the lock of %s runs no statement meanwhile: its program does "+
			"something else before it commits", table)
		if busy, ok := evidence.HostBusy(c); ok && busy >= evidence.Saturated {
			s += fmt.Sprintf(", or waits for CPU, which is %s busy", unit.Percent(busy))
		}
		s += "."
	default:
		s += fmt.Sprintf(" The transaction that holds the lock of %s ran %s and was up to %s old.", table,
			wording.Cut(w.Blocking, 120), ageWords(w.Oldest))
	}
	return s + listHolders(c, w)
}

func (Queue) fixes(c *diagnose.Case, w *kasoku.LockWait, table string) []kasoku.Fix {
	f := kasoku.Fix{
		Text: "Shorten the transaction that holds the lock of " + table, Where: "the program",
		Risk: kasoku.RiskAppRestart,
		Note: "Take the lock last and commit at once; files, other services and computations belong before it." +
			listHolders(c, w),
	}
	if table == "" {
		f.Text = "Shorten the transactions that lock rows"
	}
	return []kasoku.Fix{f, {Text: "Leave the pool of connections small until then: each further one only waits too",
		Where: "where the pool is opened", Risk: kasoku.RiskNone}}
}

// compare describes what a larger pool did, when that is all that was changed.
func (Queue) compare(c *diagnose.Case, l evidence.LockLoad, table string, f *kasoku.Finding) {
	pool, others, err := poolChange(c)
	if err != nil || pool == nil || len(others) > 0 {
		return
	}
	before, err := evidence.LockLoadOf(diagnose.NewCase(c.Baseline, nil))
	if err != nil || l.Sampled || before.Sampled || before.Whose != nil ||
		l.Each() < time.Duration(longerQueue*float64(before.Each())) {
		return
	}
	was, is, err := evidence.SameStep(c)
	if err != nil || evidence.EffectOf(was, is).Better() {
		return
	}
	e := evidence.EffectOf(was, is)
	f.Title = wording.Cut(fmt.Sprintf("A larger pool only lengthens the queue for locks of %s", table), 70)
	if e.Worse() {
		f.Title = wording.Cut(fmt.Sprintf("A larger pool is worse: it lengthens the queue for locks of %s", table), 70)
	}
	f.Evidence = append(f.Evidence,
		kasoku.Evidence{Source: "var", Text: pool.Name, Value: pool.Before + " → " + pool.After, Strong: true},
		kasoku.Evidence{Source: "status", Text: "mean wait for a lock",
			Value: unit.Duration(before.Each()) + " → " + unit.Duration(l.Each()), Number: l.Each().Seconds(),
			Strong: true},
		kasoku.Evidence{Source: "load", Text: "mean latency",
			Value: unit.Duration(e.MeanBefore) + " → " + unit.Duration(e.MeanAfter), Number: e.MeanAfter.Seconds(),
			Strong: true})
	f.Cause += fmt.Sprintf(" Only %s was changed, from %s to %s: a wait went from %s to %s.", pool.Name, pool.Before,
		pool.After, unit.Duration(before.Each()), unit.Duration(l.Each()))
	f.Fixes = append(f.Fixes, kasoku.Fix{Text: fmt.Sprintf("Put %s back to %s", pool.Name, pool.Before),
		Where: "where the pool is opened", Risk: kasoku.RiskAppRestart})
}

// poolChange returns the setting of the pool's size that grew since the baseline,
// nil when none did, and what else was changed but the pool's idle limit.
func poolChange(c *diagnose.Case) (pool *evidence.SettingChange, others []string, err error) {
	if c.Baseline == nil {
		return nil, nil, diagnose.ErrNoBaseline
	}
	before, after := evidence.SettingsOf(c.Baseline), evidence.SettingsOf(c.Recording)
	known := false
	for _, s := range slices.Concat(after.Order, before.Order) {
		was, had := before.Value[s]
		is, has := after.Value[s]
		size := isPoolSize(s)
		known = known || size && had && has
		a, err1 := strconv.ParseFloat(was, 64)
		b, err2 := strconv.ParseFloat(is, 64)
		switch {
		case had && has && was == is, evidence.IsIdleLimit(s):
		case size && err1 == nil && err2 == nil && b > a:
			pool = &evidence.SettingChange{Name: s.Name, Before: was, After: is}
		case !slices.Contains(others, s.Name):
			others = append(others, s.Name)
		}
	}
	if c.Baseline.Run.Revision != c.Run.Revision {
		others = append(others, "the code's revision")
	}
	if !known {
		return nil, others, errors.New("the pool's size was not recorded in both runs")
	}
	return pool, others, nil
}

// isPoolSize reports whether a setting outside the server is how many connections a
// pool may open, whatever it is called there: SetMaxOpenConns, pool.max_open,
// maximumPoolSize, -db-max-open.
func isPoolSize(s evidence.SettingName) bool {
	if s.Scope == "mysql" || s.Scope == "sysctl" || evidence.IsIdleLimit(s) {
		return false
	}
	name := strings.ToLower(s.Name)
	return strings.Contains(name, "open") && wording.ContainsFold(name, "max", "pool", "conn") ||
		strings.Contains(name, "pool") && wording.ContainsFold(name, "max", "size", "limit")
}
