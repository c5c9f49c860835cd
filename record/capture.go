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

// take takes the configuration in force; save stores it.
func (c *configuration) take(ctx context.Context) {
	if c.o.Capture == nil {
		return
	}
	c.progress(Progress{Phase: PhasePrepare, Text: "configuration"})
	o := *c.o.Capture
	o.Host, _ = os.Hostname() // as hostInfo names it
	o.PIDs = append(append([]int(nil), o.PIDs...), c.o.PIDs...)
	if c.db != nil {
		o.Database = c.db.reader
	}
	if c.o.MySQL != "" {
		o.Servers = topology.Owners(mysqlflags.Address(c.o.MySQL))
	}
	_ = c.part("configuration", func() error {
		c.taken = *capture.Take(ctx, o)
		return nil
	})
	c.warn(c.taken.Warnings...)
}

// Checkpoint keeps the configuration in force in a run file of its own, without any
// load. It uses Path, Run, Settings, MySQL, PIDs and Capture of the options.
func Checkpoint(ctx context.Context, o Options) (_ *Result, err error) {
	s := newSession(o, nil)
	s.run.Load = store.Checkpoint
	if o.MySQL != "" {
		if s.db, err = openDatabase(ctx, o); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.db.close()) }()
	}
	s.start = time.Now()
	s.config.take(ctx)
	s.describe(ctx)
	if s.store, err = store.Create(o.Path, s.run); err != nil {
		return nil, err
	}
	err = errors.Join(s.config.save(ctx), s.store.SaveWarnings(s.warnings))
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
func (c *configuration) clockSettings(ctx context.Context) []kasoku.Setting {
	_, seconds := c.start.Zone()
	out := []kasoku.Setting{{Host: c.host(), Scope: clock.Scope, Name: "host", Value: clock.ZoneName(time.Duration(seconds) * time.Second)}}
	if c.db == nil {
		return out
	}
	zone, err := c.db.reader.ZoneOffset(ctx)
	if err != nil {
		return out // the variables say that the database cannot be asked
	}
	return append(out, kasoku.Setting{Host: c.host(), Scope: clock.Scope, Name: "database", Value: clock.ZoneName(zone)})
}
