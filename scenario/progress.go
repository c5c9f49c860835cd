package scenario

import (
	"time"

	"github.com/kasoku/kasoku"
)

// A Phase is one of the three parts of a benchmark.
type Phase string

// The phases, in order.
const (
	Prepare  Phase = "prepare"
	Load     Phase = "load"
	Validate Phase = "validate"
)

// Number returns 1, 2 or 3: [kasoku.LoadSecond.Step] of the requests of a phase.
func (p Phase) Number() int {
	switch p {
	case Prepare:
		return 1
	case Load:
		return 2
	}
	return 3
}

// A Span is a phase and when it was.
type Span struct {
	Phase    Phase
	Interval kasoku.Interval // since the run's start; To is now while it goes on
}

// A Rise is the beginning of a level.
type Rise struct {
	Level int
	At    time.Duration // since the run's start
	Score int64         // the points that it took
}

// Progress is where a run stands.
type Progress struct {
	Phase    Phase
	Elapsed  time.Duration // since the phase began
	Planned  time.Duration // how long it goes on, at most
	Level    int
	Score    int64   // points less deductions
	PerSec   float64 // requests in the last whole second
	Requests uint64  // of the phase
	Errors   uint64  // counted by Fail, over the run
	Over     bool    // the phase has ended
}

// A Report is what a run tells of itself once a second. Seconds holds what was
// counted since the report before; all else replaces what was told before.
type Report struct {
	Start   time.Time           // of the run, with a monotonic reading
	Seconds []kasoku.LoadSecond // Second counts from Start, Step is [Phase.Number]; the receiver's own
	Phases  []Span
	Levels  []Rise
	Summary kasoku.LoadSummary // of the load; its CPU and Wall are there when the load is over
	Result  *Result            // of the whole run, in the last report; nil before
}

// A Sink takes reports. It is called by one goroutine at a time, and while it does
// its work no progress is shown; the load goes on.
type Sink func(*Report)
