package record

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record/clock"
	"github.com/kasoku/kasoku/record/thishost"
	"github.com/kasoku/kasoku/store"
	"github.com/kasoku/kasoku/topology"
	"github.com/kasoku/kasoku/topology/find"
)

// take takes the configuration in force, of servers only of those that are the service's
// already; save stores it.
func (c *configuration) take(ctx context.Context) {
	if c.o.Capture == nil {
		c.lookEarly(ctx)
		return
	}
	c.progress(Progress{Phase: PhasePrepare, Text: "configuration"})
	c.subjects = subjects{}
	c.lookEarly(ctx)
	o := c.captureOptions()
	c.subjects.add(&c.members)
	if c.o.MySQL != "" {
		c.subjects.servers = append(c.subjects.servers, topology.Owners(mysqlflags.Address(c.o.MySQL))...)
	}
	c.subjects.hand(&o)
	o.PIDs = slices.Concat(o.PIDs, c.o.PIDs, c.o.Watched)
	if c.db != nil {
		o.Database = c.db.reader
	}
	_ = c.part("configuration", func() error { c.taken = *capture.Take(ctx, o); return nil })
	c.warn(c.taken.Warnings...)
}

// lookEarly looks for the members that are seen without load. The look under load says why
// the service is not known.
func (c *configuration) lookEarly(ctx context.Context) {
	_ = c.part(membersPart.Name, func() error {
		ask := askService(c.o)
		ask.Loaded = false
		ctx, cancel := context.WithTimeout(ctx, lookWithin)
		defer cancel()
		seen, err := find.Look(ctx, ask)
		if seen != nil {
			c.members, c.foreign = seen.Service, seen.Foreign
		}
		if len(c.o.Watched) > 0 { // the first look is then before the first tick
			c.narrow.Do(func() { c.o.Watched = thishost.OwnWatched("/proc", c.o.Watched, c.o.Units, &c.members) })
		}
		return err
	})
}

func (c *configuration) captureOptions() capture.Options {
	o := *c.o.Capture
	o.Host, _ = os.Hostname() // as hostInfo names it
	return o
}

// takeMembers takes and stores the configuration of members that were found since.
func (c *configuration) takeMembers(ctx context.Context, s *kasoku.Service) error {
	if c.members = *s; c.o.Capture == nil {
		return nil
	}
	fresh := c.subjects.add(s)
	if fresh.empty() {
		return nil
	}
	o := c.captureOptions()
	fresh.hand(&o)
	o.Units = nil // they are kept
	more := capture.TakeMembers(ctx, o)
	c.warn(more.Warnings...)
	for _, text := range more.Configs {
		if !slices.ContainsFunc(c.taken.Configs, func(t kasoku.Config) bool { return t.Name == text.Name && t.Kind == text.Kind }) {
			c.taken.Configs = append(c.taken.Configs, text)
		}
	}
	for _, v := range more.Settings {
		if !slices.ContainsFunc(c.settings, func(t kasoku.Setting) bool { return t.Scope == v.Scope && t.Name == v.Name }) {
			c.settings = append(c.settings, v)
		}
	}
	return errors.Join(store.Save(c.store, c.settings), c.saveTexts(ctx))
}

// Checkpoint stores the configuration in force in a run file of its own, without any load.
// Of the options it uses Path, Run, Settings, MySQL, PIDs, Watched and Capture.
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
	for _, u := range s.config.unkept() {
		s.warn(kasoku.Warning{Code: "not-captured", Text: u.What + ": " + u.Why, Hint: u.Show})
	}
	s.describe(ctx)
	if s.store, err = store.Create(o.Path, s.run); err != nil {
		return nil, err
	}
	err = errors.Join(s.config.save(ctx), store.Save(s.store, s.warnings))
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

// clockSettings describes in which zone this host's clock and the database are.
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
