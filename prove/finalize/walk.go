package finalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/prove/answers"
)

// walker is one walk.
type walker struct {
	Options
	result Result
	db     *mysql.Reader // nil without a database
	close  func() error
	units  unitSet
	data   prober
	began  sizes // of the logs at the start
}

// Walk walks the end of a contest and returns what it saw, also together with an error, which
// says that the walk could not go on.
//
// When the context ends, the units are started again and the walk ends.
func Walk(ctx context.Context, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	w := &walker{Options: o, close: func() error { return nil }}
	if w.Limit == 0 {
		w.Limit = defaultLimit
	}
	if w.Wait == 0 {
		w.Wait = defaultWait
	}
	if w.Gap == 0 {
		w.Gap = defaultGap
	}
	units, _ := orderUnits(o.Units) // Validate has asked
	w.units = unitSet{units: units, wait: w.Wait, progress: w.progress, states: map[string]string{}}
	start := time.Now()
	w.result.Started = start.Round(0)
	err := w.walk(ctx)
	if monotonic := time.Since(start); ctx.Err() == nil && err == nil {
		w.result.add(clockMoved(time.Now().Round(0).Sub(w.result.Started), monotonic))
	}
	if ctx.Err() != nil {
		w.result.Stopped, err = context.Cause(ctx).Error(), nil
	}
	w.result.Length, w.result.Probes = time.Since(start), w.data.taken
	return &w.result, errors.Join(err, w.close())
}

// walk takes the parts in turn.
func (w *walker) walk(ctx context.Context) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	w.data = prober{db: w.db, asker: answers.Asker{Permit: w.Permit}, progress: w.progress}
	defer w.data.asker.Close()
	w.data.requests, w.data.left = requestsOf(w.Answers)
	w.began = sizesOf(append(slices.Clone(w.Silent), w.Written...))
	for _, part := range []struct {
		name string
		walk func(context.Context)
	}{
		{PartCollectors, w.collectors}, {PartInitialize, w.initialize}, {PartRestart, w.restart},
		{PartOrder, w.wrongOrder},
		{PartRun, w.lastRun}, {PartLogs, w.logs},
	} {
		if ctx.Err() != nil {
			return nil
		}
		if slices.Contains(w.Skip, part.name) {
			w.result.skip(part.name, "skipped", "by --skip "+part.name)
			continue
		}
		part.walk(ctx)
	}
	return nil
}

// connect opens the database that is to be asked.
func (w *walker) connect(ctx context.Context) error {
	if w.MySQL == "" {
		return nil
	}
	db, err := mysqlflags.OpenBounded(w.MySQL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if w.db, err = mysql.New(ctx, db); err != nil {
		return errors.Join(fmt.Errorf("database %s: %w", mysqlflags.Redact(w.MySQL), err), db.Close())
	}
	w.close = func() error { return errors.Join(w.db.Close(), db.Close()) }
	return nil
}

func (w *walker) progress(format string, args ...any) {
	if w.OnProgress != nil {
		w.OnProgress(fmt.Sprintf(format, args...))
	}
}
