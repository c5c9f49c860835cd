package record

import (
	"context"
	"errors"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/record/thishost"
	"github.com/kasoku/kasoku/topology/find"
)

// A Live samples what a run of the same options would, for callers that watch without
// making a run. It changes nothing on a server: statements are counted only by what the
// server counts anyway.
type Live struct {
	Host     kasoku.Host
	Sources  []observe.Source // to be closed by the sampler that they are given to
	Settings []kasoku.Setting // in force, those of the database among them

	AccessLogs []string // that the options name; no source reads them

	db     *database // nil without one
	o      Options
	looked time.Time // when it was asked whose the database's users and schemas are
}

// NewLive opens the sources of o. It ignores Path, the load and all that concerns a run
// file. The caller closes the result.
func NewLive(ctx context.Context, o Options) (_ *Live, err error) {
	o.Guard, o.SlowLog, o.Digests = nil, false, false
	s := newSession(o, nil)
	s.sampling.service = nil // no one looks for members: who looks on sees the host
	l := &Live{o: o, Host: thishost.Info(), Settings: mask.Settings(o.Settings), AccessLogs: o.accessLogs()}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if o.MySQL != "" {
		if s.db, err = openDatabase(ctx, o); err != nil {
			return nil, err
		}
		l.db = s.db
		vars, err := s.db.settings(ctx, l.Host.Name)
		if err != nil {
			return nil, err
		}
		l.Settings = append(l.Settings, vars...)
		l.askWhose(ctx)
	}
	if len(o.Watched) > 0 {
		s.config.lookEarly(ctx) // which of them are the service's
	}
	l.Sources, _, err = s.sampling.sources()
	return l, err
}

// HasDatabase reports whether a database is watched.
func (l *Live) HasDatabase() bool { return l.db != nil }

// Digests reads the database's counters of each class of statements, over a connection of
// its own. It is not safe for concurrent use.
func (l *Live) Digests(ctx context.Context) (*mysql.Digests, error) {
	if l.db == nil {
		return nil, errors.New("no database is watched")
	}
	return mysql.NewSummaries(l.db.reader).Digests(ctx)
}

// Own leaves of what classes of statements did those that are not known to be others'.
func (l *Live) Own(ctx context.Context, added *mysql.Digests) {
	if time.Since(l.looked) > nextLook {
		l.askWhose(ctx)
	}
	l.db.tenants.Without(added)
}

// askWhose learns whose the users and schemas of the database are; where it is not seen, nothing.
func (l *Live) askWhose(ctx context.Context) {
	ask := askService(l.o)
	ask.Loaded, l.looked = false, time.Now()
	if seen, err := find.Look(ctx, ask); err == nil {
		l.db.tenants.Ask(ctx, l.db.reader, &seen.Result, l.o.MySQL)
	}
}

// Close closes the connections to the database. The sampler must have ended before.
func (l *Live) Close() error {
	if l.db == nil {
		return nil
	}
	return l.db.close()
}
