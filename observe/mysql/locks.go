package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// LocksName is the name of the source of waits for locks.
const LocksName = "locks"

const (
	// locksLimit is how long the questions of a tick about locks may take.
	locksLimit = 3 * time.Second
	// mostClasses of waits are kept; further ones are dropped.
	mostClasses = 200
)

// A Shape gives the fingerprint of a statement and the id of its class, without
// the statement's values.
type Shape func(statement string) (fingerprint, id string)

// A lockReader is what Locks asks of a server: a serverLocks but in tests.
type lockReader interface {
	Waits(context.Context) ([]mysql.Wait, error)
	DeadlockCount(context.Context) (uint64, bool, error)
	LastDeadlock(context.Context) (*mysql.Deadlock, error)
	Statements() uint64
	Close() error
}

// serverLocks asks the server itself, over one reader.
type serverLocks struct {
	*mysql.Reader
	mysql.RowLocks
}

// Locks is the source "locks": which statements wait for locks of rows, and who
// holds them.
//
// The one idea: the tables that show this are dear to read when many sessions wait, and
// of no use when none does. So they are read, over a connection of its own, only
// at ticks before which [Source] saw a wait: Innodb_row_lock_current_waits above 0,
// or Innodb_row_lock_waits grown. All else costs nothing.
//
// Its series are how many wait and how old the oldest transaction is that they
// wait for, at ticks at which it looked. It is safe for one Collect beside the
// other methods.
type Locks struct {
	connect func(context.Context) (lockReader, error)
	status  *Source
	shape   Shape

	mu      sync.Mutex // guards the fields below, and so the reading
	reader  lockReader // nil until the first connection
	waits   float64    // Innodb_row_lock_waits when it looked last; below 0 before
	classes map[waitClass][]seen
	counts  []counted // of deadlocks, oldest first
	missed  error     // why nothing is read any more
}

// A waitClass is what waits of one kind have in common.
type waitClass struct{ table, index, waiting, waitingID, blocking, blockingID string }

// A seen is what one look saw of a class.
type seen struct {
	at              time.Time
	waiters         uint64
	longest, oldest time.Duration
}

type counted struct {
	at time.Time
	n  uint64
}

// rowLocks are the status variables that decide whether to look.
type rowLocks struct{ current, waits float64 }

// NewLocks returns a source for the server of a database, which stays the
// caller's. The status source is of the same server.
func NewLocks(db *sql.DB, status *Source, shape Shape) *Locks {
	return &Locks{status: status, shape: shape, waits: -1, classes: map[waitClass][]seen{},
		connect: func(ctx context.Context) (lockReader, error) {
			r, err := mysql.New(ctx, db)
			if err != nil {
				return nil, err
			}
			return serverLocks{r, mysql.NewRowLocks(r)}, nil
		}}
}

// Name returns "locks".
func (l *Locks) Name() string { return LocksName }

// Collect looks who waits, if anybody did. Without the privilege for it nothing is
// read any more, with a warning once something was missed by it.
func (l *Locks) Collect(ctx context.Context, f *kasoku.Frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, locksLimit)
	defer cancel()
	if l.reader == nil {
		r, err := l.connect(ctx)
		if err != nil {
			return err
		}
		l.reader = r
		defer l.status.own.read(ctx, r) //nolint:errcheck // the next look fails likewise
		if err := l.countDeadlocks(ctx); err != nil {
			return l.missing(err)
		}
	}
	now := l.status.locks.Load()
	if now == nil {
		return nil
	}
	look := l.waits >= 0 && now.waits != l.waits || now.current > 0
	l.waits = now.waits
	if !look || l.missed != nil {
		return nil
	}
	defer l.status.own.read(ctx, l.reader) //nolint:errcheck // the next look fails likewise
	waits, err := l.reader.Waits(ctx)
	if err == nil {
		err = l.countDeadlocks(ctx)
	}
	if err != nil {
		return l.missing(err)
	}
	l.take(time.Now(), waits)
	var oldest time.Duration
	for _, w := range waits {
		oldest = max(oldest, w.Age)
	}
	f.Gauge(LocksWaiting, "", "count", float64(len(waits)))
	f.Gauge(LocksHolderOldest, "", "s", oldest.Seconds())
	return nil
}

// missing passes an error on, unless it is the lack of a privilege.
func (l *Locks) missing(err error) error {
	if n := mysqlflags.ErrorNumber(err); n == accessDenied || n == tableAccessDenied {
		l.missed = err
		return nil
	}
	return err
}

func (l *Locks) countDeadlocks(ctx context.Context) error {
	n, ok, err := l.reader.DeadlockCount(ctx)
	if err == nil && ok {
		l.counts = append(l.counts, counted{time.Now(), n})
	}
	return err
}

// take folds the waits of one look.
func (l *Locks) take(at time.Time, waits []mysql.Wait) {
	now := map[waitClass]*seen{}
	for _, w := range waits {
		k := waitClass{table: w.Table, index: w.Index}
		if w.Schema != "" {
			k.table = w.Schema + "." + w.Table
		}
		k.waiting, k.waitingID = l.shaped(w.Waiting)
		k.blocking, k.blockingID = l.shaped(w.Blocking)
		s := now[k]
		if s == nil {
			s = &seen{at: at}
			now[k] = s
		}
		s.waiters++
		s.longest, s.oldest = max(s.longest, w.For), max(s.oldest, w.Age)
	}
	for k, s := range now {
		if _, known := l.classes[k]; known || len(l.classes) < mostClasses {
			l.classes[k] = append(l.classes[k], *s)
		}
	}
}

func (l *Locks) shaped(statement string) (fingerprint, id string) {
	if statement == "" {
		return "", ""
	}
	return l.shape(statement)
}

// Waits returns the classes of waits that were seen since the run's start, those
// with most waiters first.
func (l *Locks) Waits(host string, start time.Time) []kasoku.LockWait {
	l.mu.Lock()
	defer l.mu.Unlock()
	type row struct {
		wait kasoku.LockWait
		sum  uint64
	}
	var rows []row
	for k, all := range l.classes {
		r := row{wait: kasoku.LockWait{Host: host, Table: k.table, Index: k.index, Waiting: k.waiting,
			WaitingID: k.waitingID, Blocking: k.blocking, BlockingID: k.blockingID}}
		w := &r.wait
		for _, s := range all {
			at := s.at.Sub(start)
			if at < 0 {
				continue
			}
			if w.Samples == 0 {
				w.First = at
			}
			w.Last, r.sum = at, r.sum+s.waiters
			w.Samples++
			w.Waiters, w.Longest, w.Oldest = max(w.Waiters, s.waiters), max(w.Longest, s.longest),
				max(w.Oldest, s.oldest)
		}
		if w.Samples > 0 {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.sum, a.sum), cmp.Compare(a.wait.First, b.wait.First),
			cmp.Compare(a.wait.Table, b.wait.Table), cmp.Compare(a.wait.Waiting, b.wait.Waiting),
			cmp.Compare(a.wait.Blocking, b.wait.Blocking), cmp.Compare(a.wait.Index, b.wait.Index))
	})
	out := make([]kasoku.LockWait, len(rows))
	for i := range rows {
		out[i] = rows[i].wait
	}
	return out
}

// Deadlock returns the last deadlock that the server found since the run's start,
// nil when there was none. Collect must not run any more.
func (l *Locks) Deadlock(ctx context.Context, host string, start time.Time) (*kasoku.Deadlock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reader == nil || l.missed != nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, locksLimit)
	defer cancel()
	if err := l.countDeadlocks(ctx); err != nil {
		return nil, l.missing(err)
	}
	n, known := l.deadlocksSince(start)
	if known && n == 0 {
		return nil, nil
	}
	last, err := l.reader.LastDeadlock(ctx)
	if err != nil {
		return nil, l.missing(err)
	}
	at := time.Since(start)
	if last != nil {
		at -= last.Ago
	}
	// The server reports whole seconds.
	if last == nil || at < -time.Second {
		return nil, nil
	}
	d := &kasoku.Deadlock{Host: host, At: max(at, 0), Table: last.Table, Indexes: last.Indexes, Count: n}
	for _, s := range last.Statements {
		fingerprint, _ := l.shaped(s)
		d.Statements = append(d.Statements, fingerprint)
	}
	return d, nil
}

// deadlocksSince counts deadlocks from the last count at or before a moment on. A
// restarted server counts anew.
func (l *Locks) deadlocksSince(start time.Time) (n uint64, known bool) {
	base := -1
	for i, c := range l.counts {
		if base < 0 || !c.at.After(start) {
			base = i
		}
	}
	if base < 0 {
		return 0, false
	}
	was := l.counts[base].n
	for _, c := range l.counts[base+1:] {
		n += kasoku.Growth(was, c.n)
		was = c.n
	}
	return n, true
}

// Warnings returns what could not be read although somebody waited.
func (l *Locks) Warnings() []kasoku.Warning {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.status.locks.Load()
	if l.missed == nil || now == nil || now.waits == 0 {
		return nil
	}
	return []kasoku.Warning{{
		Code: "no-locks", Text: "who waits for whose locks is not known: " + l.missed.Error(),
		Hint: "give the user the rights to see it: GRANT PROCESS ON *.* TO …; on MySQL GRANT SELECT ON performance_schema.* TO … too",
	}}
}

// Statements returns how many statements it has sent; the server's Questions
// counts them too.
func (l *Locks) Statements() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reader == nil {
		return 0
	}
	return l.reader.Statements()
}

// Session returns the id of the connection; 0 without one.
func (l *Locks) Session() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sessionOf(l.reader)
}

// Release gives the connection up.
func (l *Locks) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reader == nil {
		return nil
	}
	err := l.reader.Close()
	l.reader = nil
	return err
}

// noteLocks keeps what the last status says of waits.
func (s *Source) noteLocks() {
	current, _ := s.status.Get("Innodb_row_lock_current_waits")
	waits, ok := s.status.Get("Innodb_row_lock_waits")
	if ok {
		s.locks.Store(&rowLocks{current, waits})
	}
}
