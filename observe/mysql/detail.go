package mysql

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

const (
	// snapshotEvery is how often what is dear is read.
	snapshotEvery = 10 * time.Second
	// early is how much earlier than that a tick may come.
	early = 300 * time.Millisecond
	// detailLimit is how long a source of Detail may take for an answer.
	detailLimit = 3 * time.Second
)

// A detailReader is what Detail asks of a server: a serverDetails but in tests.
type detailReader interface {
	Replication(context.Context) ([]mysqlflags.Replica, error)
	ActiveDigests(ctx context.Context, within time.Duration, most int) (mysql.ActiveDigests, bool, error)
	TableUse(ctx context.Context, most int) ([]mysql.Use, bool, error)
	Statements() uint64
	Close() error
}

// serverDetails asks the server itself, over one reader.
type serverDetails struct {
	*mysql.Reader
	mysql.Summaries
}

// Detail is what is known of a server beyond its status: the sources "replication",
// "digests" and "tables".
//
// The one idea: they share one connection, apart from that of [Source], so that a
// slow answer delays no status. What a server does not offer is left out; what it
// refuses for want of a right is a gap that names the right, and is asked again
// every ten seconds. That a server is away, [Source] alone reports.
type Detail struct {
	Replication *Replication
	Digests     *Digests
	Tables      *Tables

	// Of distinguishes what is the service's: Digests and Tables read nothing until Ready, and
	// keep nothing that is Others.
	Of Owners

	own     *ownWork // of what samples this server
	connect func(context.Context) (detailReader, error)
	mu      sync.Mutex // guards reader
	reader  detailReader
}

// Owners say whose the schemas of a server are. The zero value knows no others.
type Owners struct {
	Ready  func() bool                         // whether that is known by now
	Others func(schema, statement string) bool // of a statement in a schema, or of a table in it
}

func (o Owners) ready() bool { return o.Ready == nil || o.Ready() }

func (o Owners) others(schema, statement string) bool {
	return o.Others != nil && o.Others(schema, statement)
}

// NewDetail returns the sources for the server of a database, which stays the
// caller's. It connects at the first Collect. The status source is of the same server.
func NewDetail(db *sql.DB, status *Source, shape Shape) *Detail {
	d := newDetail(shape, func(ctx context.Context) (detailReader, error) {
		r, err := mysql.New(ctx, db)
		if err != nil {
			return nil, err
		}
		return serverDetails{r, mysql.NewSummaries(r)}, nil
	})
	d.own = &status.own
	return d
}

func newDetail(shape Shape, connect func(context.Context) (detailReader, error)) *Detail {
	d := &Detail{connect: connect, own: &ownWork{}}
	d.Replication = &Replication{part: part{d: d}, was: map[string]bool{}}
	d.Digests = &Digests{part: part{d: d}, shape: shape, classes: map[mysql.DigestKey]*class{}}
	d.Tables = &Tables{part: part{d: d}, uses: map[useKey]*mysql.Use{}}
	return d
}

// get returns the reader, connected at the first call.
func (d *Detail) get(ctx context.Context) (detailReader, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reader == nil {
		r, err := d.connect(ctx)
		if err != nil {
			return nil, err
		}
		d.reader = r
	}
	return d.reader, nil
}

// Statements returns how many statements they have sent; the server's Questions
// counts them too.
func (d *Detail) Statements() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reader == nil {
		return 0
	}
	return d.reader.Statements()
}

// Session returns the id of the connection; 0 without one.
func (d *Detail) Session() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return sessionOf(d.reader)
}

// Release gives the connection up. No source may be reading.
func (d *Detail) Release() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reader == nil {
		return nil
	}
	err := d.reader.Close()
	d.reader = nil
	return err
}

// A part is what the sources of Detail have in common: when to ask next.
type part struct {
	d       *Detail
	began   time.Time // of the last time that it asked
	next    time.Time
	refused error // for want of a right, until it asks again
}

// ask calls f with the reader when it is time to. f returns after how long to ask next. An
// error for want of a right is returned again until then.
func (p *part) ask(ctx context.Context, f func(context.Context, detailReader) (time.Duration, error)) error {
	now := time.Now()
	if now.Before(p.next) {
		return p.refused
	}
	p.refused = nil
	ctx, cancel := context.WithTimeout(ctx, detailLimit)
	defer cancel()
	r, err := p.d.get(ctx)
	var again time.Duration
	if err == nil {
		again, err = f(ctx, r)
		_ = p.d.own.read(ctx, r) // one that is lost is found by the next question
	}
	switch {
	case err == nil:
		p.began, p.next = now, now.Add(again-early)
		return nil
	case mysqlflags.ErrorNumber(err) == accessDenied || mysqlflags.ErrorNumber(err) == tableAccessDenied:
		p.next, p.refused = now.Add(snapshotEvery-early), err
		return err
	}
	p.next = now.Add(retryAfter - early)
	if p.d.away(err) {
		return nil
	}
	return err
}

// away reports whether an error is that the server cannot be asked at all.
func (d *Detail) away(err error) bool {
	return mysqlflags.ErrorNumber(err) == 0 && !errors.Is(err, context.DeadlineExceeded) &&
		!errors.Is(err, mysql.ErrUnexpected)
}

// Replication is the source "replication": of each source that the server
// replicates from, by channel, whether the threads run and how far it lags. A
// server that is no replica has no series, and is asked every ten seconds.
//
// "lag" is missing while it is unknown. "pending" is what was fetched of the
// source's log and not yet applied, where both are in one file of it.
type Replication struct {
	part
	was    map[string]bool // by channel, whether it ran
	events []kasoku.Event
}

// ReplicationName is the name of the source of replication.
const ReplicationName = "replication"

// Name returns "replication".
func (s *Replication) Name() string { return ReplicationName }

// Collect reads the status of all channels.
func (s *Replication) Collect(ctx context.Context, f *kasoku.Frame) error {
	return s.ask(ctx, func(ctx context.Context, r detailReader) (time.Duration, error) {
		all, err := r.Replication(ctx)
		if err != nil || len(all) == 0 {
			return snapshotEvery, err
		}
		for i := range all {
			s.emit(f, &all[i])
			s.note(&all[i])
		}
		return early, nil // at each tick
	})
}

// emit appends the series of one channel.
func (s *Replication) emit(f *kasoku.Frame, r *mysqlflags.Replica) {
	if lag, known := r.Lag(); known {
		f.Gauge(ReplicationLag, r.Channel, "s", lag.Seconds())
	}
	f.Gauge(ReplicationIORunning, r.Channel, "ratio", one(r.IO.Yes()))
	f.Gauge(ReplicationIOConnecting, r.Channel, "ratio", one(!r.IO.Yes() && r.IO.String() != "No"))
	f.Gauge(ReplicationSQLRunning, r.Channel, "ratio", one(r.SQL.Yes()))
	f.Gauge(ReplicationRelaySpace, r.Channel, "bytes", float64(r.RelayLogSpace))
	if r.ReadFile == r.ExecFile && r.ReadPos >= r.ExecPos {
		f.Gauge(ReplicationPending, r.Channel, "bytes", float64(r.ReadPos-r.ExecPos))
	}
	if r.Delay > 0 {
		f.Gauge(ReplicationDelay, r.Channel, "s", float64(r.Delay))
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// note makes an event of a channel that stops or goes on.
func (s *Replication) note(r *mysqlflags.Replica) {
	runs := r.Running()
	was, known := s.was[r.Channel]
	s.was[r.Channel] = runs
	if !known || was == runs {
		return
	}
	text := "replication runs again"
	if !runs {
		text = "replication stopped: IO " + r.IO.String() + ", SQL " + r.SQL.String()
	}
	if r.Channel != "" {
		text += ", channel " + r.Channel
	}
	for _, said := range []string{r.IOError, r.SQLError} {
		if !runs && said != "" {
			text += ": " + said
		}
	}
	s.events = append(s.events, kasoku.Event{Kind: "replication", Text: text})
}

// Events returns what stopped and went on since the last call.
func (s *Replication) Events() []kasoku.Event {
	out := s.events
	s.events = nil
	return out
}
