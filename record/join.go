package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/join"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/mysql"
)

// How the times of statements are known that show which endpoint runs which.
const (
	JoinAuto  = "auto"  // as the server's slow log has them; where those are whole seconds, as JoinTail
	JoinTail  = "tail"  // from the slow log's file, looked at every 5 ms
	JoinTable = "table" // from the slow log's table
	JoinOff   = "off"   // not looked for
)

const (
	// joinWindow is how much of a run is looked at; join.md: more does not help.
	joinWindow = 30 * time.Second
	// mostJoined bounds the statements that are looked at.
	mostJoined = 100_000
	// joinWithin bounds the time that it takes.
	joinWithin = 20 * time.Second
)

// A joiner collects what shows which endpoint runs which statements.
type joiner struct {
	tail  *tailer // nil when no log is looked at while it is written
	feed  *feed
	truth *truth
	stats joinStats
}

// joinStats is what the preconditions are measured by.
type joinStats struct {
	logged  uint64  // statements in the slow log
	asked   float64 // that the server counted meanwhile; NaN when not known
	offsets []time.Duration
}

// joins reports whether the run looks for who issues which query.
func (s *session) joins() bool { return !s.o.sampled() && s.couldJoin() }

// couldJoin reports whether it would with all statements.
func (s *session) couldJoin() bool {
	return s.o.Join != JoinOff && s.db != nil && s.db.slowOn && len(s.o.accessLogs()) > 0
}

// startJoin begins to look at the logs that need it.
func (s *session) startJoin(ctx context.Context) {
	if !s.joins() {
		return
	}
	s.join = &joiner{truth: newTruth()}
	s.db.asked = -s.db.questions(ctx) // as the logs are read from here on
	var marks []lines.Mark
	for _, l := range s.logs {
		switch l.kind {
		case "accesslog":
			marks = append(marks, l.mark)
		case "slowlog":
			if !s.db.fineTimes() && !s.db.table {
				marks = append(marks, l.mark)
			}
		}
	}
	s.join.tail = startTailer(marks)
}

// follow returns what is called with each statement of the slow log.
func (j *joiner) follow(f *feed) func(*slowlog.Event, int) {
	j.feed = f
	return func(e *slowlog.Event, class int) {
		if f.source != sourceTable { // which has them better
			f.add(e, class)
		}
		j.truth.add(e, class)
	}
}

// settle learns what the classes are, when all statements were read.
func (j *joiner) settle(classes []slowlog.Class) {
	if j.feed.source != sourceTable {
		j.feed.settle(classes)
	}
	j.truth.settle(classes)
}

// fineTimes reports whether the slow log's file has microseconds.
func (d *database) fineTimes() bool {
	return d.reader.Flavor() == mysql.MySQL && d.reader.Version().AtLeast(5, 7, 2)
}

// haltJoin ends the looking.
func (s *session) haltJoin() {
	if s.join != nil {
		s.join.tail.halt()
	}
}

// saveJoin finds out who issues which query and stores it. All logs were read.
func (s *session) saveJoin(ctx context.Context) error {
	switch {
	case s.join == nil:
		if j := s.refusedJoin(); j != nil {
			return s.store.SaveJoins(j)
		}
		return nil
	case s.join.feed == nil:
		return s.store.SaveJoins([]kasoku.Join{{Host: s.host(), Refused: "the slow log could not be read"}})
	}
	began := cpuTime()
	j, callers, err := s.infer(ctx)
	if err != nil {
		return fmt.Errorf("join requests and statements: %w", err)
	}
	named := s.join.truth.callers(s.queries, s.join.feed.counted(s.endpoints))
	for i := range named {
		named[i].Host = s.host()
	}
	s.callers = Surest(append(named, s.join.truth.without(callers)...))
	j.CPU = cpuTime() - began
	return errors.Join(s.store.SaveJoins([]kasoku.Join{*j}), s.store.SaveCallers(s.callers))
}

// infer joins by overlap in time.
func (s *session) infer(ctx context.Context) (*kasoku.Join, []kasoku.Caller, error) {
	f := s.join.feed
	if f.source == sourceTable {
		if err := f.readTable(ctx, s); err != nil {
			return nil, nil, err
		}
	}
	in, err := f.input(s)
	if err != nil {
		return nil, nil, err
	}
	j := &kasoku.Join{Host: s.host(), Source: f.source, Resolution: in.Resolution, Interval: f.window}
	if asked := s.join.stats.asked; asked > 0 { // not NaN
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
			callers := f.take(j, r, s)
			j.Checks = s.joinChecks(j, r)
			return j, callers, nil
		}
	}
	j.Requests, j.Statements = uint64(len(in.Requests)), uint64(len(in.Events))
	j.Checks = s.joinChecks(j, &join.Result{})
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

// Surest returns callers, of which several may be of one endpoint and one class of
// statements, with one of each: the surest, those with the most statements first.
// What was counted by a probe goes before what comments say, and that before what
// overlaps in time.
func Surest(callers []kasoku.Caller) []kasoku.Caller {
	rank := func(c *kasoku.Caller) int {
		classes := []kasoku.CallerClass{kasoku.CallerConfirmed, kasoku.CallerHigh, kasoku.CallerPossible, kasoku.CallerGroup}
		sources := []string{kasoku.FromProbe, kasoku.FromComments, kasoku.FromOverlap}
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
