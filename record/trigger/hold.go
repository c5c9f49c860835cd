package trigger

import (
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/record/clock"
)

// A Hold buffers the frames, gaps and events of the last seconds while it is not known
// when the run begins. Once released it passes everything on to the run's clock, with
// times relative to that beginning.
type Hold struct {
	Window time.Duration // that is kept

	mu       sync.Mutex // guards the fields below
	items    []held     // oldest first
	released bool
	to       *clock.Clock
	by       time.Duration // the run's beginning on the sampler's clock

	counted     bool // the two below are known
	first, last float64
}

// held is a frame, a gap or an event, and when it came.
type held struct {
	came  time.Time
	frame *kasoku.Frame
	gap   *kasoku.Gap
	event *kasoku.Event
}

// Frame keeps a copy of the frame, or passes it on.
func (h *Hold) Frame(f *kasoku.Frame) error {
	own := *f
	own.Samples = slices.Clone(f.Samples)
	return h.take(held{came: time.Now(), frame: &own})
}

// Gap keeps the gap, or passes it on.
func (h *Hold) Gap(g kasoku.Gap) error { return h.take(held{came: time.Now(), gap: &g}) }

// Event keeps the event, or passes it on.
func (h *Hold) Event(e kasoku.Event) error { return h.take(held{came: time.Now(), event: &e}) }

func (h *Hold) take(x held) error {
	h.mu.Lock()
	if h.released {
		h.mu.Unlock()
		return h.pass(x)
	}
	defer h.mu.Unlock()
	h.items = append(h.items, x)
	if n, ok := questions(x.frame); ok && !h.counted {
		h.first, h.last, h.counted = n, n, true
	}
	old := 0
	for old < len(h.items) && x.came.Sub(h.items[old].came) > h.Window {
		old++
	}
	if old > len(h.items)/2 { // now and then, so that it costs nothing
		h.items = slices.Clone(h.items[old:])
	}
	return nil
}

// Release passes on what was kept since the run's beginning, oldest first, and from now on
// all that arrives.
func (h *Hold) Release(to *clock.Clock, by time.Duration) error {
	h.mu.Lock()
	h.to, h.by = to, by
	h.mu.Unlock()
	for {
		h.mu.Lock()
		items := h.items
		h.items = nil
		h.released = len(items) == 0
		h.mu.Unlock()
		if len(items) == 0 {
			return nil
		}
		for _, x := range items {
			if err := h.pass(x); err != nil {
				return err
			}
		}
	}
}

// pass hands one on, unless it was over before the run began. Only the sampler's
// goroutine calls it once the hold is released, and only release before.
func (h *Hold) pass(x held) error {
	switch {
	case x.frame != nil:
		if x.frame.At -= h.by; x.frame.At < 0 {
			if n, ok := questions(x.frame); ok {
				h.last = n
			}
			return nil
		}
		return h.to.FrameAt(x.frame, x.came)
	case x.gap != nil:
		x.gap.Interval.From = max(x.gap.Interval.From-h.by, 0)
		if x.gap.Interval.To -= h.by; x.gap.Interval.Empty() {
			return nil
		}
		return h.to.Gap(*x.gap)
	}
	if x.event.At -= h.by; x.event.At < 0 {
		return nil
	}
	return h.to.Event(*x.event)
}

// Statements returns how many statements the database counted between the first sample and
// the beginning of the run. Call it after Release.
func (h *Hold) Statements() float64 { return max(h.last-h.first, 0) }

// questions returns the database's count of statements in a frame.
func questions(f *kasoku.Frame) (n float64, ok bool) {
	if f == nil || f.Source != mysql.Name {
		return 0, false
	}
	for _, s := range f.Samples {
		if s.Name == mysql.Questions {
			return s.Value, true
		}
	}
	return 0, false
}
