package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/store"
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

// ending asks the database what is known only at the end of a run, and puts back what was
// changed there.
type ending struct {
	*recorder
	config  *configuration
	rows    *rowCounts
	digests *digests
	changes *changes
	logs    *logbook

	silent error // why the database is asked no more; nil while it answers
}

// errSilent is that the database did not answer at the end.
var errSilent = errors.New("it does not answer")

// ask asks the database something at the end, and says on the way what is waited
// for. Once it did not answer in time it is asked no more: the context that what is
// asked then gets is over.
func (e *ending) ask(ctx context.Context, what string, limit time.Duration, ask func(ctx context.Context) error) {
	e.progress(Progress{Phase: PhaseAnalyse, Text: "database: " + what + ", " + unit.Exact(limit) + " at most"})
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()
	if e.silent != nil {
		cancel()
	}
	_ = e.part(what, func() error { return ask(ctx) }) // it warns of what it lacks; here counts whether it was in time
	if e.silent == nil && (errors.Is(context.Cause(ctx), errSilent) || e.hurried() && ctx.Err() != nil) {
		e.silent = fmt.Errorf("database: %s: no answer within %s", what, unit.Exact(limit))
		if e.hurried() {
			e.silent = fmt.Errorf("database: %s: stopped at once", what)
		}
	}
}

// takeConfig takes and stores the configuration in force at the end.
func (e *ending) takeConfig(ctx context.Context) error {
	take := func(ctx context.Context) error { e.config.takeAftermath(ctx); return nil }
	save := func() error { return e.config.saveTexts(ctx) }
	if e.db == nil {
		return errors.Join(e.part("configuration", func() error { return take(ctx) }), e.part("configuration", save))
	}
	e.ask(ctx, "does it answer", aliveWithin, e.db.reader.Ping)
	e.ask(ctx, "definitions of the tables", schemaWithin, take)
	return e.part("configuration", save)
}

// askDatabase asks what is known only at the end, and puts the server back.
func (e *ending) askDatabase(ctx context.Context) (err error) {
	e.ask(ctx, "count of rows", answerWithin, func(ctx context.Context) error { e.rows.recount(ctx); return nil })
	e.ask(ctx, "statement digests", answerWithin, func(ctx context.Context) error { e.digests.read(ctx); return nil })
	e.ask(ctx, "deadlocks", answerWithin, func(ctx context.Context) error { err = e.saveLocks(ctx); return nil })
	if b := e.db.braked.Load(); b != nil {
		e.warn(b.warning(e.start))
	}
	return errors.Join(err, e.part("release", func() error { e.putBack(ctx); return nil }))
}

// collectLogs reads the logs, unless the run is to end at once.
func (e *ending) collectLogs() error {
	if !e.hurried() || len(e.logs.files) == 0 {
		return e.logs.collectAll()
	}
	e.warn(kasoku.Warning{Code: "no-logs", Text: "the logs of the run were not read: it was " +
		"stopped at once", Hint: "stop a run with one signal; its end takes as long as its logs are"})
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
func (e *ending) putBack(ctx context.Context) {
	limit := answerWithin
	switch {
	case e.hurried():
		limit = hurryWithin
	case e.silent != nil:
		limit = restoreWithin
	}
	e.progress(Progress{Phase: PhaseAnalyse, Text: "database: put the settings back, " + unit.Exact(limit) + " at most"})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	e.warn(e.changes.release(ctx)...)
}

// silence is the error of a run whose database did not answer at its end; nil when
// it did, and when it was not asked since the run was stopped at once and all is back.
func (e *ending) silence() error {
	if e.silent == nil || e.hurried() && e.db.restored {
		return nil
	}
	err := e.silent
	if !e.db.restored {
		err = fmt.Errorf("%w; what was changed there is left to the guard process, which "+
			"tries for %s", err, unit.Exact(guard.RecoverWithin))
	}
	return &silentError{err}
}

// A silentError is a run whose end lacks what its database did not say.
type silentError struct{ error }

// Unwrap returns the cause.
func (e *silentError) Unwrap() error { return e.error }

// Hint returns the commands that list what is still changed, and put it back.
func (e *silentError) Hint() string {
	return "`kasoku restore --list` says what is still changed, `kasoku restore` puts it back"
}

// compareAnswers keeps how the service's answers compare with the golden ones. What could not
// be asked is a warning.
func (e *ending) compareAnswers(ctx context.Context) error {
	if e.o.Answers == nil {
		return nil
	}
	e.progress(Progress{Phase: PhaseAnalyse, Text: "answers: compared with the golden ones"})
	got, err := e.o.Answers(ctx)
	if err != nil {
		e.warn(kasoku.Warning{Code: "answers", Text: "answers were not compared to the end: " + err.Error(),
			Hint: hint(err)})
	}
	if got.Asked == 0 {
		return nil
	}
	e.config.settings = append(e.config.settings, got.Settings()...)
	return store.Save(e.store, e.config.settings) // in place of those that were kept
}
