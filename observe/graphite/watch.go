package graphite

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
)

// lookEvery is how often a [Watch] looks: a cache that keeps up holds its metrics of itself
// for less than a second.
const lookEvery = 250 * time.Millisecond

// filesEvery is how many of its looks pass between two at which files there are.
const filesEvery = 30

// A Count is what a server counts of itself, under carbon's name or go-carbon's.
type Count string

// The counts. Each is of the interval that the server reports (CARBON_METRIC_INTERVAL), but
// for those of the cache, which are of its end.
const (
	CountReceived  Count = "received"  // points
	CountCommitted Count = "committed" // points that were written
	CountUpdates   Count = "updates"   // writes
	CountCreated   Count = "created"   // series
	CountDropped   Count = "dropped"   // points of series that were not created: thrown away
	CountCached    Count = "cached"    // points that wait to be written
	CountOverflow  Count = "overflow"  // points that had no room in the cache
)

// countNames are the names of each, summed up.
var countNames = map[Count][]string{
	CountReceived:  {MetricsReceived, TCPMetricsReceived, UDPMetricsReceived, PickleMetricsReceived},
	CountCommitted: {CommittedPoints, PersisterCommittedPoints},
	CountUpdates:   {UpdateOperations, PersisterUpdateOperations},
	CountCreated:   {Creates, PersisterCreated},
	CountDropped:   {DroppedCreates, PersisterThrottledCreates},
	CountCached:    {CacheSize},
	CountOverflow:  {CacheOverflow},
}

// countOf returns what a metric counts; false of one that is no count.
func countOf(name string) (Count, bool) {
	for c, names := range countNames {
		if slices.Contains(names, name) {
			return c, true
		}
	}
	return "", false
}

// A Reading is a value that a server reported of itself.
type Reading struct {
	At     time.Time // when it was reported; of one that is read from a file or a render API, when it was seen
	Server string    // agents.HOST-a
	Count  Count
	Value  float64
	ofGo   bool // by a name that only go-carbon gives
}

// A Watch looks at what servers report of themselves while points are sent to them. Readings
// may be taken while it runs.
type Watch struct {
	// Each is called after each look, in Run's goroutine; may be nil. It is set before Run.
	Each func(ctx context.Context)

	source *Source

	mu       sync.Mutex // guards the following fields
	readings []Reading
	answered bool
	err      error
}

// NewWatch returns a watch. Nothing is asked before Run.
func NewWatch(o Options) (*Watch, error) {
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	s.looks = filesEvery
	return &Watch{source: s}, nil
}

// mostReadings bounds what waits for who takes it.
const mostReadings = 10_000

// Run looks until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	defer func() { _ = w.source.Close() }() // it was only read from
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		w.look(ctx)
		if w.Each != nil {
			w.Each(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (w *Watch) look(ctx context.Context) {
	var f kasoku.Frame
	err := w.source.Collect(ctx, &f)
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err = err; err == nil {
		w.answered = true
	}
	for i := range f.Samples {
		s := &f.Samples[i]
		if c, ok := countOf(s.Name); ok && len(w.readings) < mostReadings {
			at := now
			if reported, ok := w.source.reportedAt(s.Instance, s.Name); ok && reported.Before(now) {
				at = reported
			}
			w.readings = append(w.readings, Reading{at, s.Instance, c, s.Value, isGo(s.Name)})
		}
	}
}

// Take returns what was read since it was called last.
func (w *Watch) Take() []Reading {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.readings
	w.readings = nil
	return out
}

// Answered reports whether any of the places that were asked ever answered; else why not,
// nil when nothing was asked yet.
func (w *Watch) Answered() (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answered, w.err
}

// IsRelay reports whether a reading is of a relay or an aggregator: a point that it passes on
// is counted again by a cache.
func (r *Reading) IsRelay() bool { return !strings.HasPrefix(r.Server, "agents.") }
