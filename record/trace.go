package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record/callers"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/record/unlogged"
	"github.com/kasoku/kasoku/store"
	"github.com/kasoku/kasoku/trace/window"
)

// tracing is the trace of a run, taken once.
type tracing struct {
	*recorder
	service *serviceWatch
	over    context.CancelFunc // the load has ended; nil before there is to be a trace
	done    <-chan struct{}    // closed when nothing is under way any more
	seen    *window.Seen       // read once done is closed, as refused
	refused string
	result  *kasoku.Trace
}

// begin has the service watched when the load, of a known length or 0, has gone on for a while, once.
func (t *tracing) begin(from, known time.Duration) {
	if t.over != nil || t.o.Trace == nil || t.o.Observers == kasoku.ObserversOff {
		return
	}
	ctx, over := context.WithCancel(context.Background())
	t.over = over
	t.done = contain.Go(contain.Part{Kind: contain.Step, Name: "trace"}, func() {
		if length, ok := t.o.Trace.Wait(ctx, t.start.Add(from), known); ok {
			t.watch(ctx, length)
		}
	})
}

// watch watches the members that are known by now, or soon.
func (t *tracing) watch(ctx context.Context, length time.Duration) {
	targets := window.Await(ctx, func() []window.Target {
		t.service.mu.Lock()
		defer t.service.mu.Unlock()
		return window.Targets(&t.service.found)
	})
	if len(targets) == 0 {
		if t.o.Trace.Asked {
			t.refused = "no process of an application is known to be the service's on this host"
		}
		return
	}
	event := kasoku.Event{At: time.Since(t.start), Host: t.host(), Kind: "trace", Text: mask.Text(fmt.Sprintf(
		"trace begins: %s of system calls", length))}
	if err := t.store.Event(event); err != nil {
		t.warn(kasoku.Warning{Code: "store", Text: "keep when the trace began: " + err.Error()})
	}
	var err error
	if t.seen, err = window.Take(ctx, targets, length, t.o.Trace.Asked, t.more()); err != nil {
		t.refused = err.Error()
	}
}

// more is asked how much longer is watched, where the slow log may lack statements and nothing else has them.
func (t *tracing) more() func(uint64) time.Duration {
	if t.db == nil || !t.db.slowOn || t.db.digests != nil || t.o.sampled() {
		return nil
	}
	return unlogged.NewWatch(t.db.slow.File()).More
}

// unlogged takes statements from the trace, for where the slow log lacks most. How many there were is known.
func (t *tracing) unlogged(ctx context.Context, d *digests) {
	if t.over == nil || t.more() == nil {
		return
	}
	t.over()
	<-t.done
	d.queries, d.about = unlogged.Queries(t.seen, t.db.expected())
	if !t.o.NoPlans {
		unlogged.CountRows(ctx, t.db.reader, d.queries, mysqlflags.Database(t.o.MySQL))
	}
	t.db.counted = d.queries
}

// endLoad notes that the load has ended.
func (t *tracing) endLoad() {
	if t.over != nil {
		t.over()
	}
}

// save waits for the trace, and stores it with the callers that it shows. All logs were read.
func (t *tracing) save(j *joining) error {
	if t.over == nil {
		return nil
	}
	t.over()
	<-t.done
	switch {
	case t.seen != nil:
		t.result = callers.Traced(t.seen, t.start, t.run.Length, callers.LocateBy(j.logs.access))
	case t.refused != "":
		t.result = &kasoku.Trace{Refused: t.refused}
	default:
		return nil
	}
	t.result.Host = t.host()
	mask.Trace(t.result)
	found, compared := callers.Overrule(t.result, j.logs.queries, j.callers, j.joined)
	j.callers = found
	errs := []error{store.Save(t.store, []kasoku.Trace{*t.result}), store.Save(j.store, found)}
	if compared {
		errs = append(errs, store.Save(j.store, j.joined))
	}
	return errors.Join(errs...)
}
