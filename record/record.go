package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/prepared"
	"github.com/kasoku/kasoku/diagnose/settings"
	"github.com/kasoku/kasoku/internal/causes"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/record/clock"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/record/thishost"
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
	Start     time.Time         // offset 0, with monotonic reading

	ends []lines.Mark // of the access logs at the run's end; with On
}

// session is one run while it is made: the parts of the recorder, each with its own state
// and end.
type session struct {
	*recorder
	stop     context.CancelCauseFunc // ends the run in order
	config   *configuration
	changes  *changes
	sampling *sampling
	logs     *logbook
	joins    *joining
	loads    *loads
	profiles *profiles
	tracing  *tracing
	service  *serviceWatch
	cover    *mask.Cover
	rows     *rowCounts
	digests  *digests
	ending   *ending

	cut     time.Duration // from the sampler's beginning to the run's
	trigger *kasoku.Event // the request that began the run
	ends    []lines.Mark  // of the access logs at the run's end; with On
}

func newSession(o Options, stop context.CancelCauseFunc) *session {
	r := &recorder{o: o, run: o.Run}
	s := &session{recorder: r, stop: stop, config: &configuration{recorder: r}, changes: &changes{recorder: r},
		profiles: &profiles{recorder: r}}
	s.service = &serviceWatch{recorder: r, config: s.config}
	s.profiles.service = s.service
	s.tracing = &tracing{recorder: r, service: s.service}
	s.loads = newLoads(r, &underLoad{profiles: s.profiles, tracing: s.tracing})
	s.logs = &logbook{recorder: r, config: s.config}
	s.joins = &joining{recorder: r, config: s.config, logs: s.logs}
	s.logs.joins = s.joins
	s.rows = &rowCounts{recorder: r, logs: s.logs, loads: s.loads}
	s.digests = &digests{recorder: r, logs: s.logs}
	s.sampling = &sampling{recorder: r, logs: s.logs, changes: s.changes, service: s.service}
	s.ending = &ending{recorder: r, config: s.config, rows: s.rows, digests: s.digests, changes: s.changes, logs: s.logs}
	return s
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
	s := newSession(o, stop)
	if err := s.part("start", func() error { return s.open(ctx) }); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("stopped before the recording began: %w", context.Cause(ctx))
		}
		if left := s.abandon(err); left != nil {
			err = errors.Join(err, left)
		}
		return nil, err
	}
	defer handover.Announce(o.Path, Places(o))()
	measureErr := s.part("measure", func() error { return s.measure(ctx) })
	if o.Over != nil {
		o.Over()
	}
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
		return nil, causes.Distinct(store.IsFull, measureErr, closeErr, openErr)
	}
	if rec.Run.State == kasoku.Running { // its end could not be stored
		rec.Run.State, rec.Run.StopReason = kasoku.Incomplete, stopReason
	}
	if closeErr != nil {
		s.amend(rec)
	}
	return &Result{Path: o.Path, Recording: rec, Start: s.start, ends: s.ends}, causes.Distinct(store.IsFull,
		measureErr, closeErr)
}

// open prepares all that watches, so that the first tick is complete.
func (s *session) open(ctx context.Context) (err error) {
	if s.o.MySQL != "" {
		s.progress(Progress{Phase: PhasePrepare, Text: "database"})
		if s.db, err = openDatabase(ctx, s.o); err != nil {
			return err
		}
	}
	s.run.Hosts = []kasoku.Host{thishost.Info()}
	if len(s.o.Watched) > 0 && (s.waits() || s.o.Prepare != nil) {
		s.config.lookEarly(ctx) // which of them are the service's
	}
	if s.waits() {
		if err := s.await(ctx); err != nil {
			return err
		}
	}
	if s.o.Prepare == nil {
		s.config.take(ctx) // with the look for what is seen without load
	}
	if !s.waits() {
		if s.start, err = s.o.begin(ctx); err != nil {
			return err
		}
	}
	s.describe(ctx)
	if s.store, err = store.Create(s.o.Path, mask.Run(s.run)); err != nil {
		return err
	}
	s.cover = mask.NewCover(s.store, func() *mask.Names { return s.ownNames() })
	s.clock = clock.New(s.start, s.cover)
	s.clock.GiveUp, s.clock.WallAt = s.stop, s.o.Wall
	if !s.waits() {
		if err := s.changes.switchOn(ctx); err != nil {
			return err
		}
	}
	if s.db != nil {
		// Stored at once, so that the file of a killed run says what was left.
		if err := store.Save(s.store, s.db.changes()); err != nil {
			return err
		}
	}
	if err := s.config.save(ctx); err != nil {
		return err
	}
	if s.waits() {
		if s.trigger != nil {
			err = s.clock.Event(*s.trigger)
		}
		err = errors.Join(err, s.sampling.early.Release(s.clock, s.cut))
		if s.db != nil {
			s.db.asked -= s.sampling.early.Statements()
		}
		return err
	}
	if err := s.logs.mark(); err != nil {
		return err
	}
	if s.o.OnDoubt != nil {
		for _, w := range s.logs.doubtful() {
			s.o.OnDoubt(w)
		}
	}
	s.joins.begin(ctx)
	return s.sampling.begin(s.clock)
}

// measure prepares the target and makes the load, runs the command or waits.
func (s *session) measure(ctx context.Context) error {
	if s.o.Prepare != nil {
		s.progress(Progress{Phase: PhasePrepare, Text: "target"})
		if err := s.o.Prepare(ctx, watch{s.sampling.procs}); err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
		// What was prepared may have changed the configuration.
		s.config.take(ctx)
		if err := s.config.save(ctx); err != nil {
			return err
		}
	}
	if err := s.rows.count(ctx); err != nil {
		return err
	}
	s.changes.startRelaxing()
	defer s.loads.once.end()
	s.service.procs = s.sampling.procs
	s.service.begin(ctx, s.changes.ownPIDs()...)
	defer s.service.end()
	switch {
	case s.o.Load != nil:
		return s.loads.make(ctx)
	case len(s.o.Command) > 0:
		return s.runCommand(ctx)
	}
	return s.wait(ctx)
}

// watch is what Prepare may add to.
type watch struct{ procs *process.Source }

// Process samples one more process.
func (w watch) Process(pid int) {
	if w.procs != nil {
		w.procs.Add(pid)
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
	if s.o.UntilIdle > 0 || s.o.Shared != nil {
		idle = trigger.WatchIdle(s.o.UntilIdle, s.logs.marksOf("accesslog"), s.o.Shared, s.waits())
	}
	switch {
	case s.waits():
		s.loads.once.begin(0, 0)
	case s.o.UntilIdle == 0:
		s.loads.once.begin(time.Since(s.start), s.o.For)
	}
	every := s.o.Interval
	if idle != nil {
		defer idle.Close()
	}
	if s.o.UntilIdle > 0 {
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
					s.loads.once.begin(time.Since(s.start), 0)
				}
			}
			s.progress(Progress{Phase: PhaseRecord, Elapsed: time.Since(began), Text: s.sampling.growth()})
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
		s.ends = s.logs.ends()
	}
	sampleErr := s.sampling.end()
	errs := []error{sampleErr, s.part("neighbours", s.nameNeighbours), s.ending.takeConfig(ctx), s.part("profiles", func() error { return s.profiles.end(ctx) })}
	if s.db != nil {
		errs = append(errs, s.part("tenants", func() error { return mask.Tenants(s.store, s.db.detail) }), s.ending.askDatabase(ctx), s.db.broken)
		s.ending.ask(ctx, "rows of statements", answerWithin, func(ctx context.Context) error { s.tracing.unlogged(ctx, s.digests); return nil })
	}
	s.joins.join.Halt()
	if s.o.Probe == nil {
		s.changes.endGuard()
	}
	errs = append(errs, s.part("logs", s.ending.collectLogs), s.part("join", func() error { return s.joins.save(ctx) }),
		s.part("digests", s.digests.save), s.part("trace", func() error { return s.tracing.save(s.joins) }),
		s.part("load", s.loads.save), s.part("rows", s.rows.save),
		s.part("phases", func() error { return s.loads.savePhases(s.logs) }))
	if s.db != nil {
		s.ending.ask(ctx, "plans of the slowest statements", s.ending.plansLimit(), func(ctx context.Context) error {
			errs = append(errs, s.ending.savePlans(ctx))
			s.warn(s.db.tidyTable(ctx)...)
			return nil
		})
		errs = append(errs, s.db.close(), s.ending.silence())
	}
	if stopReason == "" && s.ending.silent == nil {
		errs = append(errs, s.part("probe", s.joins.probe),
			s.part("answers", func() error { return s.ending.compareAnswers(ctx) }))
	}
	s.changes.endGuard()
	s.run.State = kasoku.Finished
	if stopReason == "" && sampleErr != nil {
		stopReason = sampleErr.Error()
	}
	if stopReason != "" && !s.untilStopped() {
		s.run.State, s.run.StopReason = kasoku.Incomplete, stopReason
	}
	errs = append(errs, store.Save(s.store, s.warnings))
	if err := s.store.Finish(mask.Run(s.run)); err != nil {
		return errors.Join(append(errs, err)...)
	}
	return errors.Join(append(errs, s.part("diagnosis", func() error { return s.diagnose(ctx, stopReason == "") }))...)
}

// diagnose lets the rules look at the file as anybody finds it, asks the database about the SQL
// that they propose where it may be asked, and keeps what a list of runs says of this one.
func (s *session) diagnose(ctx context.Context, ask bool) (err error) {
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
		if ask && s.db != nil && !s.o.NoPlans {
			said := len(s.warnings)
			s.ending.ask(ctx, "the SQL of findings", prepared.Within, func(ctx context.Context) error {
				return prepared.Fixes(ctx, rec, s.o.MySQL)
			})
			if fresh := s.warnings[said:]; len(fresh) > 0 { // the file has those from before
				if err := ed.SaveWarnings(slices.Concat(rec.Warnings, fresh)); err != nil {
					return err
				}
			}
		}
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
	errs = append(errs, s.sampling.end())
	s.joins.join.Halt()
	if s.db != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
		defer cancel()
		for _, w := range s.changes.release(ctx) {
			errs = append(errs, fmt.Errorf("%s; %s", w.Text, w.Hint))
		}
		s.db.tidyTable(ctx)
		errs = append(errs, s.db.close())
	}
	s.changes.endGuard()
	if s.store != nil {
		s.run.State, s.run.StopReason = kasoku.Incomplete, why.Error()
		errs = append(errs, s.store.Finish(mask.Run(s.run)))
	}
	return errors.Join(errs...)
}
