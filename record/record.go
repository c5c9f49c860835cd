package record

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/settings"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/phases"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/freespace"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/record/callers"
	"github.com/kasoku/kasoku/record/clock"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/record/safe"
	"github.com/kasoku/kasoku/record/trigger"
	"github.com/kasoku/kasoku/store"
)

// closeWithin bounds the time from the end of the measuring to the closed file
// when something that must be asked, such as a database, does not answer.
const closeWithin = time.Minute

// Result is a finished run.
type Result struct {
	Path      string
	Recording *kasoku.Recording // as read back from the file

	ends []lines.Mark // of the access logs at the run's end; with On
}

// session is one run while it is made.
type session struct {
	o     Options
	start time.Time               // offset 0, with monotonic reading
	stop  context.CancelCauseFunc // ends the run in order
	run   kasoku.Run
	store *store.Writer
	clock *clock.Clock
	procs *process.Source
	db    *database         // nil without one
	guard *guard.Process    // nil without one
	space *freespace.Source // brakes the slow log; nil while that is off

	digested     []kasoku.Query   // by statement digest
	aboutDigests []kasoku.Warning // nil when none were read
	slowRead     bool             // the slow log gave the run its queries
	queries      []kasoku.Query   // of the slow log, with a statement of each as it was sent

	logs    []*logFile
	join    *callers.Joiner // who issues which query; nil when it is not looked for
	callers []kasoku.Caller // that are known

	early   *trigger.Hold // while and since the run waits for its request; nil else
	cut     time.Duration // from the sampler's beginning to the run's
	trigger *kasoku.Event // the request that began the run
	ends    []lines.Mark

	sampler    *observe.Sampler
	halt       context.CancelFunc // ends the sampler
	sampled    chan error
	profiling  *profiling // nil without
	rows       []kasoku.RowCheck
	steps      []kasoku.Step
	summary    *kasoku.LoadSummary
	unkept     []kasoku.LoadSecond // of the load, not in the file yet
	loaded     uint64              // answers with 2xx to the load
	asked      uint64              // requests of the steps that have ended
	access     *accesslog.Table    // of all access logs; nil before they are read
	accessRead []routes            // of each access log by itself
	endpoints  []kasoku.Endpoint
	messages   []kasoku.Message
	settings   []kasoku.Setting // as stored last
	taken      capture.Taken    // the configuration in force
	warnings   []kasoku.Warning
	handed     []kasoku.Warning // of a load made by the command
	phases     []kasoku.Phase   // as it reported them
	told       []kasoku.Event   // by it

	silent error // why the database is asked no more at the end; nil while it answers

	saidBefore map[string]int // by code of a warning about the generator: steps that said it

	progressMu sync.Mutex // serialises OnProgress
}

// Record makes one run and returns it as the file holds it.
//
// When the context ends early the run stops in order and is marked incomplete,
// with the context's cause as the reason; that is no error. With an error the
// result is there too when anything was kept. A load that leads where none may go
// is a [*load.ForbiddenError], before anything is begun.
func Record(ctx context.Context, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.Observers == kasoku.ObserversOff {
		o = o.unobserved()
	}
	if o.Load != nil {
		if err := o.Load.Permitted(ctx); err != nil {
			return nil, err
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &session{o: o, run: o.Run, stop: stop, saidBefore: map[string]int{}}
	if err := s.part("start", func() error { return s.open(ctx) }); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("stopped before the recording began: %w", context.Cause(ctx))
		}
		if left := s.abandon(err); left != nil {
			err = errors.Join(err, left)
		}
		return nil, err
	}
	defer handover.Announce(o.Path)()
	measureErr := s.part("measure", func() error { return s.measure(ctx) })
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	if o.Hard != nil {
		defer context.AfterFunc(o.Hard, cancel)()
	}
	stopReason := ""
	if ctx.Err() != nil {
		stopReason = context.Cause(ctx).Error()
	} else if measureErr != nil {
		stopReason = measureErr.Error()
	}
	closeErr := s.part("close", func() error { return s.close(end, stopReason) })
	if bug := new(contain.Bug); errors.As(closeErr, &bug) && bug.Part.Name == "close" {
		closeErr = errors.Join(closeErr, s.abandon(bug)) // what was changed is put back all the same
	}
	if ctx.Err() != nil && errors.Is(measureErr, ctx.Err()) {
		measureErr = nil
	}
	rec, openErr := store.Open(o.Path)
	if openErr != nil {
		return nil, distinct(measureErr, closeErr, openErr)
	}
	if rec.Run.State == kasoku.Running { // its end could not be stored
		rec.Run.State, rec.Run.StopReason = kasoku.Incomplete, stopReason
	}
	if closeErr != nil {
		s.amend(rec)
	}
	return &Result{Path: o.Path, Recording: rec, ends: s.ends}, distinct(measureErr, closeErr)
}

// open prepares all that watches, so that the first tick is complete.
func (s *session) open(ctx context.Context) (err error) {
	if s.o.MySQL != "" {
		s.progress(Progress{Phase: PhasePrepare, Text: "database"})
		if s.db, err = openDatabase(ctx, s.o); err != nil {
			return err
		}
	}
	s.run.Hosts = []kasoku.Host{hostInfo()}
	if s.waits() {
		if err := s.await(ctx); err != nil {
			return err
		}
	}
	if s.o.Prepare == nil {
		s.takeConfig(ctx)
	}
	if !s.waits() {
		s.start = time.Now()
	}
	s.describe(ctx)
	if s.store, err = store.Create(s.o.Path, safe.Run(s.run)); err != nil {
		return err
	}
	s.clock = clock.New(s.start, s.store)
	s.clock.GiveUp, s.clock.WallAt = s.stop, s.o.Wall
	if !s.waits() {
		if err := s.switchOn(ctx); err != nil {
			return err
		}
	}
	if s.db != nil {
		// Stored at once, so that the file of a killed run says what was left.
		if err := s.store.SaveChanges(s.db.changes()); err != nil {
			return err
		}
	}
	if err := s.saveSettings(ctx); err != nil {
		return err
	}
	if s.waits() {
		err := errors.Join(s.clock.Event(*s.trigger), s.early.Release(s.clock, s.cut))
		if s.db != nil {
			s.db.asked -= s.early.Statements()
		}
		return err
	}
	if err := s.markLogs(); err != nil {
		return err
	}
	s.startJoin(ctx)
	return s.startSampler(s.clock)
}

// waits reports whether the run begins with a request.
func (s *session) waits() bool { return s.o.On != (phases.Request{}) }

// describe fills in what the run was made with.
func (s *session) describe(ctx context.Context) {
	r := &s.run
	r.Started = s.start.Round(0)
	r.State = kasoku.Running
	if r.ID == "" {
		r.ID = store.NewID(r.Started, r.Label)
	}
	if len(r.Hosts) == 0 {
		r.Hosts = []kasoku.Host{hostInfo()}
	}
	if r.Observers == "" {
		r.Observers = kasoku.ObserversOn
	}
	if r.Revision == "" {
		r.Revision, r.Dirty = revision(ctx)
	}
}

func (s *session) host() string { return s.run.Hosts[0].Name }

func (s *session) startSampler(sink observe.Sink) error {
	sources, procs, err := s.sources()
	if err != nil {
		return err
	}
	s.procs = procs
	s.sampler = observe.New(observe.Options{
		Host: s.host(), Interval: s.o.Interval, Every: s.o.every(), Start: s.start, Sources: sources,
		Sink: sink, Hurry: s.o.hurry(), Wall: s.o.Wall,
	})
	ctx, cancel := context.WithCancel(context.Background())
	s.halt, s.sampled = cancel, make(chan error, 1)
	go func() {
		s.sampled <- contain.Do(contain.Part{Kind: contain.Step, Name: "samples"}, func() error { return s.sampler.Run(ctx) })
	}()
	return nil
}

// measure prepares the target and makes the load, runs the command or waits.
func (s *session) measure(ctx context.Context) error {
	if s.o.Prepare != nil {
		s.progress(Progress{Phase: PhasePrepare, Text: "target"})
		if err := s.o.Prepare(ctx, watch{s.procs}); err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
		// What was prepared may have changed the configuration.
		s.takeConfig(ctx)
		if err := s.saveSettings(ctx); err != nil {
			return err
		}
	}
	if err := s.countRows(ctx); err != nil {
		return err
	}
	s.startRelaxing()
	defer s.loadOver()
	switch {
	case s.o.Load != nil:
		return s.makeLoad(ctx)
	case len(s.o.Command) > 0:
		return s.runCommand(ctx)
	}
	return s.wait(ctx)
}

// saveSettings stores the configuration in force, what takeConfig took among it; it
// replaces what was stored.
func (s *session) saveSettings(ctx context.Context) error {
	settings := safe.Settings(s.o.Settings)
	if s.db != nil {
		vars, err := s.db.settings(ctx, s.host())
		if err != nil {
			return err
		}
		settings = append(settings, vars...)
	}
	settings = append(settings, s.taken.Settings...)
	s.settings = append(settings, s.clockSettings(ctx)...)
	return errors.Join(s.store.SaveSettings(s.settings), s.saveConfigs())
}

// watch is what Prepare may add to.
type watch struct{ procs *process.Source }

// Process samples one more process.
func (w watch) Process(pid int) {
	if w.procs != nil {
		w.procs.Add(pid)
	}
}

// opened lets the caller give up rights. The command, if there is one, keeps them. A
// build with CGO, which no release is, cannot do it on all threads: nothing is given up.
func (s *session) opened() {
	if s.o.Opened == nil {
		return
	}
	if err := s.o.Opened(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		s.warn(kasoku.Warning{Code: "not-confined", Text: "the recorder keeps rights that it does not need: " + err.Error()})
	}
}

// wait records for a time, or until the context ends.
func (s *session) wait(ctx context.Context) error {
	s.opened()
	var over <-chan time.Time
	if s.o.For > 0 {
		t := time.NewTimer(s.o.For)
		defer t.Stop()
		over = t.C
	}
	var idle *trigger.Idle
	if s.o.UntilIdle > 0 {
		idle = trigger.WatchIdle(s.o.UntilIdle, s.marksOf("accesslog"))
	}
	switch {
	case s.waits():
		s.profileLoad(0, 0)
	case idle == nil:
		s.profileLoad(time.Since(s.start), s.o.For)
	}
	every := s.o.Interval
	if idle != nil {
		defer idle.Close()
		every = min(every, trigger.LookEvery)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case <-over:
			return nil
		case now := <-tick.C:
			if idle != nil {
				if ended, err := idle.Over(now); ended || err != nil {
					return err
				}
				if idle.Any() {
					s.profileLoad(time.Since(s.start), 0)
				}
			}
			s.progress(Progress{Phase: PhaseRecord, Elapsed: time.Since(began), Text: s.growth()})
		case <-ctx.Done():
			if s.untilStopped() {
				return nil // it was to go on until it is stopped
			}
			return ctx.Err()
		}
	}
}

// close ends the run in order. Each part is done whatever became of the others.
func (s *session) close(ctx context.Context, stopReason string) error {
	s.run.Length = time.Since(s.start)
	if s.waits() {
		s.ends = s.logEnds()
	}
	s.halt()
	sampleErr := <-s.sampled
	s.warn(s.sampler.Warnings()...)
	errs := []error{sampleErr, s.lastConfig(ctx), s.part("profiles", func() error { return s.endProfiles(ctx) })}
	if s.db != nil {
		errs = append(errs, s.lastWords(ctx))
	}
	s.join.Halt()
	if s.o.Probe == nil {
		s.endGuard()
	}
	errs = append(errs, s.part("logs", s.collectUnhurried), s.part("join", func() error { return s.saveJoin(ctx) }),
		s.part("digests", s.saveDigests), s.part("load", s.saveLoad), s.part("rows", s.saveRows),
		s.part("phases", s.savePhases))
	if s.db != nil {
		s.last(ctx, "plans of the slowest statements", plansWithin, func(ctx context.Context) error {
			errs = append(errs, s.savePlans(ctx))
			s.warn(s.db.tidyTable(ctx)...)
			return nil
		})
		errs = append(errs, s.db.close(), s.silence())
	}
	if stopReason == "" && s.silent == nil {
		errs = append(errs, s.part("probe", s.probe))
	}
	s.endGuard()
	s.run.State = kasoku.Finished
	if stopReason == "" && sampleErr != nil {
		stopReason = sampleErr.Error()
	}
	if stopReason != "" && !s.untilStopped() {
		s.run.State, s.run.StopReason = kasoku.Incomplete, stopReason
	}
	errs = append(errs, s.store.SaveWarnings(s.warnings))
	if err := s.store.Finish(safe.Run(s.run)); err != nil {
		return errors.Join(append(errs, err)...)
	}
	return errors.Join(append(errs, s.part("diagnosis", s.diagnose))...)
}

// untilStopped reports whether the run was to go on until it is stopped.
func (s *session) untilStopped() bool {
	return s.o.Load == nil && len(s.o.Command) == 0 && s.o.For == 0 && s.o.UntilIdle == 0
}

// diagnose lets the rules look at the file as anybody finds it, and keeps what a
// list of runs says of this one.
func (s *session) diagnose() (err error) {
	rec, err := store.Open(s.o.Path)
	if err != nil {
		return err
	}
	ed, err := store.Edit(s.o.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ed.Close()) }()
	if len(s.o.Rules) > 0 {
		rec.Diagnosis = diagnose.Diagnose(diagnose.NewCase(rec, nil), s.o.Rules)
		if err := ed.SaveDiagnosis(rec.Diagnosis); err != nil {
			return err
		}
	}
	if s.o.MySQL != "" {
		r := settings.Examine(settings.FromRecording(rec)) // what it could not look at, `kasoku advise` says
		if err := ed.SaveAdvice(r.Advice); err != nil {
			return err
		}
	}
	return ed.SaveSummary(diagnose.Summarise(rec))
}

// abandon undoes what open had begun.
func (s *session) abandon(why error) error {
	var errs []error
	if s.halt != nil {
		s.halt()
		errs = append(errs, <-s.sampled)
	}
	s.join.Halt()
	if s.db != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
		defer cancel()
		for _, w := range s.release(ctx) {
			errs = append(errs, fmt.Errorf("%s; %s", w.Text, w.Hint))
		}
		s.db.tidyTable(ctx)
		errs = append(errs, s.db.close())
	}
	s.endGuard()
	if s.store != nil {
		s.run.State, s.run.StopReason = kasoku.Incomplete, why.Error()
		errs = append(errs, s.store.Finish(safe.Run(s.run)))
	}
	return errors.Join(errs...)
}

func (s *session) warn(w ...kasoku.Warning) {
	s.warnings = append(s.warnings, safe.Warnings(w)...)
}

func (s *session) progress(p Progress) {
	if s.o.OnProgress == nil {
		return
	}
	p.Label = s.run.Label
	s.progressMu.Lock()
	defer s.progressMu.Unlock()
	s.o.OnProgress(p)
}
