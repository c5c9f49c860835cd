package host

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/internal/unit"
)

// Thresholds of HW-12 for workers that have one request in work at a time and wait for its
// statements.
const (
	// leastLine requests are open for each worker on average: one is in work.
	leastLine = 2
	// lockedPart of the statements' time that locks of rows take is too much: more workers
	// would wait for them too.
	lockedPart = 0.5
)

// A line is what workers do that have one request in work at a time: they compute, or wait for its
// statements, while other requests wait for them.
type line struct {
	statements map[int]time.Duration // of the service, by the second of the run
	seconds    int
	computed   float64 // of a worker's time, on average
	asked      float64 // of it, in which it waits for a statement
	open       float64 // requests that are open for each worker, on average
	free       []float64
	waits      bool
}

// newLine returns the line of workers; without statements where they cannot be known as theirs.
func newLine(c *diagnose.Case, w *workers) line {
	l := line{statements: map[int]time.Duration{}}
	if w.m.Threads != 1 || len(c.Service.Of(kasoku.RoleApplication)) != 1 || evidence.WorkersSeen(c, w.m) > w.n {
		return l
	}
	var all time.Duration
	for i := range c.Queries {
		for s, v := range c.Queries[i].Seconds {
			l.statements[s] += v.Total
			all += v.Total
		}
	}
	if evidence.LockTime(c) > time.Duration(lockedPart*float64(all)) {
		clear(l.statements)
	}
	return l
}

// add takes a second: what each worker used, and the cores that were free.
func (l *line) add(iv kasoku.Interval, used []float64, free float64, known bool) {
	l.seconds++
	for _, v := range used {
		l.computed += v / float64(len(used))
	}
	var asked time.Duration
	for s := int(iv.From / time.Second); s <= int(iv.To/time.Second); s++ {
		at := time.Duration(s) * time.Second
		within := min(at+time.Second, iv.To) - max(at, iv.From)
		asked += time.Duration(float64(l.statements[s]) * within.Seconds())
	}
	l.asked += asked.Seconds() / iv.Len().Seconds() / float64(len(used))
	if known {
		l.free = append(l.free, free)
	}
}

// settle makes averages of the sums, and decides whether requests wait for the workers.
func (l *line) settle(c *diagnose.Case, w *workers) {
	n := float64(max(l.seconds, 1))
	l.computed, l.asked = l.computed/n, l.asked/n
	l.open = pace(c) * meanLatency(c).Seconds() / float64(w.n) // Little's law
	l.waits = l.asked > 0 && l.computed+l.asked >= fullCore && l.open >= leastLine &&
		len(l.free) >= evidence.EnoughSeconds/2
}

// lined reports whether requests wait for the workers, which wait for statements.
func (w *workers) lined() bool { return w.each < fullCore && w.line.waits }

// title names the workers and what is idle.
func (l *line) title(w *workers, name string) string {
	if w.n > 1 {
		return fmt.Sprintf("%s's %d processes have one request each in work; %s of %s cores are idle", name, w.n,
			unit.Sig3(w.room), unit.Plain(w.cores))
	}
	return fmt.Sprintf("%s has one request in work; %s of %s cores are idle", name, unit.Sig3(w.room),
		unit.Plain(w.cores))
}

// cause says what the workers did, and what the requests waited for.
func (l *line) cause(w *workers) string {
	return fmt.Sprintf("computed %s of the time and waited for statements %s of it, with one request in work at a time. "+
		"%s requests were open for each process, and %s of %s cores %s: the others wait in line for the process, not for "+
		"CPU.", unit.Percent(l.computed), unit.Percent(l.asked), unit.Sig3(l.open), unit.Sig3(w.room),
		unit.Plain(w.cores), w.stood())
}

// evidence quotes the statements and the requests.
func (l *line) evidence(c *diagnose.Case) []kasoku.Evidence {
	return []kasoku.Evidence{{
		Source: c.StatementSource(), Text: "time of statements, for each process",
		Value: unit.Percent(l.asked) + " of the time", Number: l.asked, Strong: true, Interval: c.Focus.Interval,
	}, {
		Source: "access", Text: "requests that are open, for each process", Note: "one of them is in work",
		Value: unit.Sig3(l.open), Number: l.open, Strong: true, Interval: c.Focus.Interval,
	}}
}
