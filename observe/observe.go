// Package observe samples everything that a run watches, once a second, on the
// run's clock.
//
// The one idea: a tick asks every [Source] at the same moment and waits for
// none. Each source has a goroutine and two frames of its own, one to fill and
// one that is being stored, so a source that hangs, fails or panics costs itself
// a gap with a reason and nothing else anything; the same holds for a disk that
// stalls. A gap is never a zero.
//
// Values are raw: counters as the kernel or server keeps them, in base units.
// Rates are computed when a run is read, from the times of the reads.
//
// # Clock
//
// Ticks are due at whole multiples of the interval since the run's start, on the
// monotonic clock; one more is taken at once when sampling begins, and one when
// it ends. A frame carries the moment when its read was complete, so a late tick
// is late, not wrong. A step of the wall clock is an event.
//
// # Cost
//
// The CPU time of each read is measured and is part of its frame. The source
// "self" holds the sums, and the CPU time and memory of this whole process.
//
// Start at [New]. The sources are in the packages below this one.
package observe

import (
	"context"
	"time"

	"github.com/kasoku/kasoku"
)

// DefaultInterval is the time between two ticks.
const DefaultInterval = time.Second

// A Source reads one thing that a run watches.
//
// Collect appends what it reads to the frame, all at once, and returns. The
// sampler sets the frame's host, source, time and cost. What was appended before
// an error is dropped, and the error is the reason of the gap; its hint, if it
// has one, is kept with it. Collect is never called twice at a time. It sets its
// own time limit on what it waits for; until it returns, the source has a gap.
//
// A source that implements io.Closer is closed when Run ends.
type Source interface {
	Name() string
	Collect(ctx context.Context, f *kasoku.Frame) error
}

// An EventSource is a Source that also observes events. Events is called after each
// Collect, failed or not, by the same goroutine, and returns those that are new. An event
// without a time gets the time of the read. The caller owns the slice.
type EventSource interface {
	Source
	Events() []kasoku.Event
}

// A WarningSource is a Source that may leave something out. Warnings is called after the
// last Collect.
type WarningSource interface {
	Source
	Warnings() []kasoku.Warning
}

// A Sink takes what the sources gave. Its methods are called by one goroutine,
// the one of Run, in the order of time for each source. The frame must not be
// kept. After an error it is called again for what comes next.
//
// Gap is called when a gap has ended. A sink that also has Missing(kasoku.Gap) is
// notified at each tick that a source misses what its gap is so far.
type Sink interface {
	Frame(*kasoku.Frame) error
	Gap(kasoku.Gap) error
	Event(kasoku.Event) error
}

// Options configure what is sampled, and how often.
type Options struct {
	Host     string        // name of this host, for frames, gaps and events
	Interval time.Duration // between ticks; 0 means DefaultInterval
	// Every gives sources, by name, an interval of their own. All intervals must be
	// multiples of the shortest one. Names of no source count for nothing.
	Every   map[string]time.Duration
	Start   time.Time // moment 0 of the run, as time.Now gave it (with its monotonic reading); zero means when Run begins
	Sources []Source  // with different names, none of them SelfName
	Sink    Sink
	Hurry   <-chan struct{} // once closed, reads under way at the end are hardly waited for; may be nil
	// Wall returns what the wall clock says at a moment that time.Now gave, for tests
	// that set it; nil: that moment.
	Wall func(time.Time) time.Time
}
