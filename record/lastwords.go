package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
)

// What is asked of a database at the end of a run has a limit each. One that takes a
// question and does not answer is not asked again: the run is closed without it.
const (
	// aliveWithin is how long the database may take to answer at all.
	aliveWithin = 3 * time.Second
	// answerWithin bounds each thing that is asked then, but for plans and probes,
	// which have limits of their own.
	answerWithin = 10 * time.Second
	// restoreWithin bounds the last attempt to put back what was changed on a
	// database that does not answer, or by a recorder in a hurry; the guard process
	// goes on trying.
	restoreWithin = 2 * time.Second
	hurryWithin   = 600 * time.Millisecond
)

// errSilent is that the database did not answer at the end.
var errSilent = errors.New("it does not answer")

// hurried reports whether the run is to end at once: a second signal came.
func (s *session) hurried() bool { return s.o.Hard != nil && s.o.Hard.Err() != nil }

// last asks the database something at the end, and says on the way what is waited
// for. Once it did not answer in time it is asked no more: the context that what is
// asked then gets is over.
func (s *session) last(ctx context.Context, what string, limit time.Duration, ask func(ctx context.Context) error) {
	s.progress(Progress{Phase: PhaseAnalyse, Text: "database: " + what + ", " + unit.Exact(limit) + " at most"})
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()
	if s.silent != nil {
		cancel()
	}
	_ = s.part(what, func() error { return ask(ctx) }) // it warns of what it lacks; here counts whether it was in time
	if s.silent == nil && (errors.Is(context.Cause(ctx), errSilent) || s.hurried() && ctx.Err() != nil) {
		s.silent = fmt.Errorf("database: %s: no answer within %s", what, unit.Exact(limit))
		if s.hurried() {
			s.silent = fmt.Errorf("database: %s: stopped at once", what)
		}
	}
}

// lastConfig takes and stores the configuration in force at the end.
func (s *session) lastConfig(ctx context.Context) error {
	take := func(ctx context.Context) error { s.takeAftermath(ctx); return nil }
	if s.db == nil {
		return errors.Join(s.part("configuration", func() error { return take(ctx) }), s.part("configuration", s.saveConfigs))
	}
	s.last(ctx, "does it answer", aliveWithin, s.db.reader.Ping)
	s.last(ctx, "definitions of the tables", schemaWithin, take)
	return s.part("configuration", s.saveConfigs)
}

// lastWords asks what is known only at the end, and puts the server back.
func (s *session) lastWords(ctx context.Context) (err error) {
	s.last(ctx, "count of rows", answerWithin, func(ctx context.Context) error { s.recountRows(ctx); return nil })
	s.last(ctx, "statement digests", answerWithin, func(ctx context.Context) error { s.readDigests(ctx); return nil })
	s.last(ctx, "deadlocks", answerWithin, func(ctx context.Context) error { err = s.saveLocks(ctx); return nil })
	if b := s.db.braked.Load(); b != nil {
		s.warn(b.warning(s.start))
	}
	return errors.Join(err, s.part("release", func() error { s.putBack(ctx); return nil }))
}

// collectUnhurried reads the logs, unless the run is to end at once.
func (s *session) collectUnhurried() error {
	if !s.hurried() || len(s.logs) == 0 {
		return s.collectLogs()
	}
	s.warn(kasoku.Warning{Code: "no-logs", Text: "the logs of the run were not read: it was stopped at once", Hint: "stop a run with one signal; its end takes as long as its logs are"})
	return nil
}

// hurry is closed when the run is to end at once; nil when that never happens.
func (o *Options) hurry() <-chan struct{} {
	if o.Hard == nil {
		return nil
	}
	return o.Hard.Done()
}

// putBack releases what was changed on the server, also on one that has not answered
// before and for a recorder that is in a hurry, but then not for long.
func (s *session) putBack(ctx context.Context) {
	limit := answerWithin
	switch {
	case s.hurried():
		limit = hurryWithin
	case s.silent != nil:
		limit = restoreWithin
	}
	s.progress(Progress{Phase: PhaseAnalyse, Text: "database: put the settings back, " + unit.Exact(limit) + " at most"})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	s.warn(s.release(ctx)...)
}

// silence is the error of a run whose database did not answer at its end; nil when
// it did, and when it was not asked since the run was stopped at once and all is back.
func (s *session) silence() error {
	if s.silent == nil || s.hurried() && s.db.restored {
		return nil
	}
	err := s.silent
	if !s.db.restored {
		err = fmt.Errorf("%w; what was changed there is left to the guard process, which tries for %s", err, unit.Exact(guard.RecoverWithin))
	}
	return &silentError{err}
}

// A silentError is a run whose end lacks what its database did not say.
type silentError struct{ error }

// Unwrap returns the cause.
func (e *silentError) Unwrap() error { return e.error }

// Hint says how to look after it.
func (e *silentError) Hint() string {
	return "`kasoku restore --list` says what is still changed, `kasoku restore` puts it back"
}

// part does one part of a run's end. A panic in it is an error and a warning; the other
// parts are done.
func (s *session) part(name string, f func() error) error {
	err := contain.Do(contain.Part{Kind: contain.Step, Name: name}, f)
	var bug *contain.Bug
	if errors.As(err, &bug) && bug.Part.Kind == contain.Step && bug.Part.Name == name {
		w, _ := kasoku.LostPart(bug)
		s.warn(w)
	}
	return err
}
