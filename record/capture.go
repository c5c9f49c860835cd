package record

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record/clock"
	"github.com/kasoku/kasoku/store"
	"github.com/kasoku/kasoku/topology"
)

// takeConfig takes the configuration in force; saveSettings stores it.
func (s *session) takeConfig(ctx context.Context) {
	if s.o.Capture == nil {
		return
	}
	s.progress(Progress{Phase: PhasePrepare, Text: "configuration"})
	o := *s.o.Capture
	o.Host, _ = os.Hostname() // as hostInfo names it
	o.PIDs = append(append([]int(nil), o.PIDs...), s.o.PIDs...)
	if s.db != nil {
		o.Database = s.db.reader
	}
	if s.o.MySQL != "" {
		o.Servers = topology.Owners(mysqlflags.Address(s.o.MySQL))
	}
	_ = s.part("configuration", func() error {
		s.taken = *capture.Take(ctx, o)
		return nil
	})
	s.warn(s.taken.Warnings...)
}

// Checkpoint keeps the configuration in force in a run file of its own, without any
// load. It uses Path, Run, Settings, MySQL, PIDs and Capture of the options.
func Checkpoint(ctx context.Context, o Options) (_ *Result, err error) {
	s := &session{o: o, run: o.Run}
	s.run.Load = store.Checkpoint
	if o.MySQL != "" {
		if s.db, err = openDatabase(ctx, o); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.db.close()) }()
	}
	s.start = time.Now()
	s.takeConfig(ctx)
	s.describe(ctx)
	if s.store, err = store.Create(o.Path, s.run); err != nil {
		return nil, err
	}
	err = errors.Join(s.saveSettings(ctx), s.store.SaveWarnings(s.warnings))
	s.run.State = kasoku.Finished
	if err != nil {
		s.run.State, s.run.StopReason = kasoku.Incomplete, err.Error()
	}
	s.run.Length = time.Since(s.start)
	if err := errors.Join(err, s.store.Finish(s.run)); err != nil {
		return nil, err
	}
	rec, err := store.Open(o.Path)
	if err != nil {
		return nil, err
	}
	return &Result{Path: o.Path, Recording: rec}, nil
}

// clockSettings says in which zone this host's clock and the database are.
func (s *session) clockSettings(ctx context.Context) []kasoku.Setting {
	_, seconds := s.start.Zone()
	out := []kasoku.Setting{{Host: s.host(), Scope: clock.Scope, Name: "host", Value: clock.ZoneName(time.Duration(seconds) * time.Second)}}
	if s.db == nil {
		return out
	}
	zone, err := s.db.reader.ZoneOffset(ctx)
	if err != nil {
		return out // the variables say that the database cannot be asked
	}
	return append(out, kasoku.Setting{Host: s.host(), Scope: clock.Scope, Name: "database", Value: clock.ZoneName(zone)})
}
