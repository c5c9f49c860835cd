package record

import (
	"context"
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/record/safe"
)

// A Live is what a run of the same options would sample, for who looks on without
// making a run. Nothing is changed on a server: statements are counted by what it
// counts anyway.
type Live struct {
	Host     kasoku.Host
	Sources  []observe.Source // to be closed by the sampler that they are given to
	Settings []kasoku.Setting // in force, those of the database among them

	AccessLogs []string // that the options name; no source reads them

	db *database // nil without one
}

// NewLive opens what is to be sampled. Path, load and what concerns a run file are
// not looked at.
func NewLive(ctx context.Context, o Options) (_ *Live, err error) {
	o.Guard, o.SlowLog, o.Digests = nil, false, false
	s := newSession(o, nil)
	l := &Live{Host: hostInfo(), Settings: safe.Settings(o.Settings), AccessLogs: o.accessLogs()}
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
	l.Sources, _, err = s.sampling.sources()
	return l, err
}

// HasDatabase reports whether a database is watched.
func (l *Live) HasDatabase() bool { return l.db != nil }

// Digests reads what the database counted of each class of statements, over a
// connection of its own. Not for concurrent use.
func (l *Live) Digests(ctx context.Context) (*mysql.Digests, error) {
	if l.db == nil {
		return nil, errors.New("no database is watched")
	}
	return l.db.reader.Digests(ctx)
}

// Close gives the connections to the database up. The sampler must have ended.
func (l *Live) Close() error {
	if l.db == nil {
		return nil
	}
	return l.db.close()
}
