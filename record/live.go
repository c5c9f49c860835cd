package record

import (
	"context"
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/record/thishost"
)

// A Live samples what a run of the same options would, for callers that watch without
// making a run. It changes nothing on a server: statements are counted only by what the
// server counts anyway.
type Live struct {
	Host     kasoku.Host
	Sources  []observe.Source // to be closed by the sampler that they are given to
	Settings []kasoku.Setting // in force, those of the database among them

	AccessLogs []string // that the options name; no source reads them

	db *database // nil without one
}

// NewLive opens the sources of o. It ignores Path, the load and all that concerns a run
// file. The caller closes the result.
func NewLive(ctx context.Context, o Options) (_ *Live, err error) {
	o.Guard, o.SlowLog, o.Digests = nil, false, false
	s := newSession(o, nil)
	s.sampling.service = nil // no one looks for members: who looks on sees the host
	l := &Live{Host: thishost.Info(), Settings: mask.Settings(o.Settings), AccessLogs: o.accessLogs()}
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

// Close closes the connections to the database. The sampler must have ended before.
func (l *Live) Close() error {
	if l.db == nil {
		return nil
	}
	return l.db.close()
}
