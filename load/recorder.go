package load

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/histogram"
)

// Limits that keep a recording small when targets or error messages are many.
// What is beyond them is counted under one name.
const (
	maxTargets = 100 // names of targets
	maxErrors  = 50  // messages in one second of one target

	otherTargets = "other targets"
	otherErrors  = "other errors"
)

// A Recorder is a [Sink] that counts hits by second, step and target. It is
// safe for concurrent use, also while the load runs.
//
// A hit belongs to the second in which it was due, so a second can change as
// long as one of its requests is under way.
type Recorder struct {
	offset time.Duration // of the load's start in the run
	names  []string      // by Hit.Target, bounded

	mu      sync.Mutex
	cells   map[cellKey]*cell
	last    *cell // the cell of the newest hit, which most hits share
	lastKey cellKey
	total   uint64
	failed  uint64
}

type cellKey struct {
	second, step int
	target       string
}

type cell struct {
	kasoku.LoadSecond
	changed bool // since the last Changed
}

var _ Sink = (*Recorder)(nil)

// NewRecorder returns a recorder for a load that starts at offset on the run's
// clock.
func NewRecorder(p Plan, offset time.Duration) *Recorder {
	r := &Recorder{offset: offset, names: p.Names(), cells: map[cellKey]*cell{}}
	seen := map[string]bool{}
	for i, n := range r.names {
		if !seen[n] && len(seen) == maxTargets {
			r.names[i] = otherTargets
			continue
		}
		seen[n] = true
	}
	return r
}

// Hits implements [Sink].
func (r *Recorder) Hits(hits []Hit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range hits {
		r.count(&hits[i])
	}
}

func (r *Recorder) count(h *Hit) {
	c := r.cell(cellKey{int((r.offset + h.Due) / time.Second), h.Step, r.names[h.Target]})
	c.changed = true
	c.Asked++
	c.Codes[h.Code]++
	c.BytesIn += h.BytesIn
	c.BytesOut += h.BytesOut
	c.Latency.Record(h.Latency())
	c.SendDelay.Record(h.SendDelay())
	c.Service.Record(h.Service())
	if h.Err != "" {
		c.countError(h.Err)
	}
	r.total++
	if !success(h.Code) {
		r.failed++
	}
}

func success(code int) bool { return code >= 200 && code < 400 }

func (c *cell) countError(msg string) {
	msg = ErrorClass(msg)
	if _, known := c.Errors[msg]; !known && len(c.Errors) >= maxErrors {
		msg = otherErrors
	}
	c.Errors[msg]++
}

func (r *Recorder) cell(k cellKey) *cell {
	if r.last != nil && k == r.lastKey {
		return r.last
	}
	c := r.cells[k]
	if c == nil {
		c = &cell{LoadSecond: kasoku.LoadSecond{
			Second: k.second, Step: k.step, Target: k.target,
			Codes: map[int]uint64{}, Errors: map[string]uint64{},
			Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New(),
		}}
		r.cells[k] = c
	}
	r.last, r.lastKey = c, k
	return c
}

// Seconds returns a copy of all seconds, sorted by second, step and target.
func (r *Recorder) Seconds() []kasoku.LoadSecond {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.collect(func(*cell) bool { return true })
}

// Changed returns a copy of the seconds that changed since Changed was called
// last, in the order of Seconds. A second is whole each time, so the newer copy
// replaces the older.
func (r *Recorder) Changed() []kasoku.LoadSecond {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.collect(func(c *cell) bool {
		changed := c.changed
		c.changed = false
		return changed
	})
}

func (r *Recorder) collect(want func(*cell) bool) []kasoku.LoadSecond {
	var out []kasoku.LoadSecond
	for _, c := range r.cells {
		if !want(c) {
			continue
		}
		s := c.LoadSecond
		s.Codes, s.Errors = maps.Clone(s.Codes), maps.Clone(s.Errors)
		s.Latency, s.SendDelay, s.Service = s.Latency.Clone(), s.SendDelay.Clone(), s.Service.Clone()
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b kasoku.LoadSecond) int {
		return cmp.Or(cmp.Compare(a.Second, b.Second), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Target, b.Target))
	})
	return out
}

// Tally returns the sum over one step; step 0 means all steps.
func (r *Recorder) Tally(step int) *kasoku.Tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := kasoku.NewTally()
	for k, c := range r.cells {
		if step == 0 || k.step == step {
			t.Add(&c.LoadSecond)
		}
	}
	return t
}

// Live is where a load stands, for showing progress.
type Live struct {
	Total, Failed uint64        // hits so far
	Second        int           // of the run's clock: the last second that is over and has hits
	LastSecond    *kasoku.Tally // of that second, all targets; more may be answered yet
	Step          int           // of the newest hits, 0 before the first
	InStep        *kasoku.Tally // of that step so far
}

// Live returns where the load stands at now, an offset on the run's clock.
func (r *Recorder) Live(now time.Duration) Live {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := Live{Total: r.total, Failed: r.failed, Second: -1, LastSecond: kasoku.NewTally(), InStep: kasoku.NewTally()}
	for k := range r.cells {
		l.Step = max(l.Step, k.step)
		if k.second < int(now/time.Second) {
			l.Second = max(l.Second, k.second)
		}
	}
	for k, c := range r.cells {
		if k.step == l.Step {
			l.InStep.Add(&c.LoadSecond)
		}
		if k.second == l.Second {
			l.LastSecond.Add(&c.LoadSecond)
		}
	}
	return l
}
