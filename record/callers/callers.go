// Package callers finds out, in one run, which endpoint runs which statements: by the times
// of requests and statements, and by what statements say in comments. Where the times of a
// log are whole seconds its length is looked at while it is written.
//
// Times are those of the run's clock.
package callers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/join"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/record/clock"
)

const (
	// joinWindow is how much of a run is looked at; join.md: more does not help.
	joinWindow = 30 * time.Second
	// mostJoined bounds the statements that are looked at.
	mostJoined = 100_000
	// joinWithin bounds the time that it takes.
	joinWithin = 20 * time.Second
)

// A Run is what is known of a run before its logs are joined.
type Run struct {
	Host      string
	Start     time.Time // with monotonic reading
	Length    time.Duration
	Clock     *clock.Clock
	Access    []AccessLog
	Table     *accesslog.Table  // of all access logs; nil when none could be read
	Endpoints []kasoku.Endpoint // of Table
	Doubled   bool              // the access logs have the same requests, each of them
	Queries   []kasoku.Query    // of the slow log
	Configs   []kasoku.Config   // in force, for what they say of requests that were given up
	// SlowTable reads the statements between two moments from the server's slow log table,
	// at most so many.
	SlowTable func(ctx context.Context, from, to time.Time, most int, each func(*mysql.TableEntry)) error
}

// An AccessLog is one access log of a run.
type AccessLog struct {
	Mark lines.Mark
	Zone clock.Zone
}

// Times describe how precisely the server's slow log gives the times of statements.
type Times struct {
	Fine  bool // its file has microseconds
	Table bool // its table is to be read instead, which has them too
}

// A Joiner collects, during one run, the evidence which endpoint runs which statements. It
// is not safe for concurrent use.
type Joiner struct {
	times Times
	tail  *tailer // nil when no log is looked at while it is written
	feed  *feed   // nil before the slow log is read
	truth *truth
	stats joinStats
}

// joinStats is what the preconditions are measured by.
type joinStats struct {
	logged  uint64  // statements in the slow log
	asked   float64 // that the server counted meanwhile; NaN when not known
	offsets []time.Duration
}

// Start begins to watch the sizes of those logs whose times are too coarse, from the marks
// on.
func Start(times Times, access, slow []lines.Mark) *Joiner {
	j := &Joiner{times: times, truth: newTruth()}
	marks := slices.Clone(access)
	if !times.Fine && !times.Table {
		marks = append(marks, slow...)
	}
	j.tail = startTailer(marks)
	return j
}

// Halt ends the watching. It may be called more than once, and on nil.
func (j *Joiner) Halt() {
	if j != nil {
		j.tail.halt()
	}
}

// Offset adds how far the times of an access log are off this host's clock.
func (j *Joiner) Offset(off time.Duration) { j.stats.offsets = append(j.stats.offsets, off) }

// Follow returns a function to be called with each statement of the slow log, which
// belongs to the run from the mark on. Call it after the access logs were read.
func (j *Joiner) Follow(run *Run, mark lines.Mark) func(*slowlog.Event, int) {
	f := j.newFeed(run, mark)
	j.feed = f
	return func(e *slowlog.Event, class int) {
		if f.source != sourceTable { // which has them better
			f.add(e, class)
		}
		j.truth.add(e, class)
	}
}

// Settle takes the classes when all statements were read: logged is how many statements
// the log holds, asked how many the server counted, below 1 or NaN when it did not say.
func (j *Joiner) Settle(classes []slowlog.Class, logged uint64, asked float64) {
	j.stats.logged, j.stats.asked = logged, asked
	if j.feed.source != sourceTable {
		j.feed.settle(classes)
	}
	j.truth.settle(classes)
}

// Infer returns which endpoint runs which statements, from comments and from overlap in
// time, each with its confidence. Call it after all logs were read.
func (j *Joiner) Infer(ctx context.Context, run *Run) (*kasoku.Join, []kasoku.Caller, error) {
	if j.feed == nil {
		return &kasoku.Join{Host: run.Host, Refused: "the slow log could not be read"}, nil, nil
	}
	began := cpuTime()
	joined, callers, err := j.overlap(ctx, run)
	if err != nil {
		return nil, nil, fmt.Errorf("join requests and statements: %w", err)
	}
	named := j.truth.callers(run.Queries, j.feed.counted(run.Endpoints))
	for i := range named {
		named[i].Host = run.Host
	}
	all := Surest(append(named, j.truth.without(callers)...))
	joined.CPU = cpuTime() - began
	return joined, all, nil
}

// overlap joins by overlap in time.
func (joiner *Joiner) overlap(ctx context.Context, run *Run) (*kasoku.Join, []kasoku.Caller, error) {
	f := joiner.feed
	if f.source == sourceTable {
		var bug *contain.Bug
		switch err := f.readTable(ctx, run); {
		case errors.As(err, &bug): // what comments say remains
			return &kasoku.Join{Host: run.Host, Source: f.source, Interval: f.window, Refused: bug.Error()}, nil, nil
		case err != nil:
			return nil, nil, err
		}
	}
	in, err := f.input(joiner.tail, run)
	if err != nil {
		return nil, nil, err
	}
	j := &kasoku.Join{Host: run.Host, Source: f.source, Resolution: in.Resolution, Interval: f.window}
	if asked := joiner.stats.asked; asked > 0 { // not NaN
		j.Questions = uint64(asked)
	}
	if j.Refused = f.refused(); j.Refused == "" {
		within, cancel := context.WithTimeout(ctx, joinWithin)
		defer cancel()
		r, err := join.Infer(within, *in, join.Options{})
		switch {
		case err != nil && ctx.Err() == nil:
			j.Refused = fmt.Sprintf("it took longer than %s", joinWithin)
		case err != nil:
			return nil, nil, err
		default:
			callers := f.take(j, r, run)
			j.Checks = joiner.checks(run, j, r)
			return j, weaken(callers, j.Checks), nil
		}
	}
	j.Requests, j.Statements = uint64(len(in.Requests)), uint64(len(in.Events))
	j.Checks = joiner.checks(run, j, &join.Result{})
	return j, nil, nil
}

// cpuTime returns what this process has used.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Surest returns one caller for each pair of endpoint and class of statements, the surest
// one, ordered by number of statements, most first. A trace is surer than a probe, that is surer
// than comments, and comments are surer than overlap in time.
func Surest(callers []kasoku.Caller) []kasoku.Caller {
	rank := func(c *kasoku.Caller) int {
		classes := []kasoku.CallerClass{kasoku.CallerConfirmed, kasoku.CallerHigh, kasoku.CallerPossible, kasoku.CallerGroup}
		sources := []string{kasoku.FromTrace, kasoku.FromProbe, kasoku.FromComments, kasoku.FromOverlap}
		return slices.Index(classes, c.Class)*len(sources) + slices.Index(sources, c.Source)
	}
	type pair struct{ host, query, endpoint string }
	best := map[pair]int{}
	var out []kasoku.Caller
	for _, c := range callers {
		p := pair{c.Host, c.QueryID, c.Endpoint()}
		i, known := best[p]
		switch {
		case !known:
			best[p] = len(out)
			out = append(out, c)
		case rank(&c) < rank(&out[i]):
			out[i] = c
		}
	}
	slices.SortStableFunc(out, func(a, b kasoku.Caller) int {
		confirmed := func(c *kasoku.Caller) int {
			if c.Class == kasoku.CallerConfirmed {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(confirmed(&a), confirmed(&b)), cmp.Compare(rank(&a), rank(&b)), cmp.Compare(b.Calls, a.Calls),
			cmp.Compare(a.Endpoint(), b.Endpoint()), cmp.Compare(a.QueryID, b.QueryID))
	})
	return out
}
