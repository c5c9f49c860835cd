package observe

import (
	"errors"
	"time"

	"github.com/kasoku/kasoku"
)

// A gapTracker merges the misses of one source into gaps. A gap begins at the
// first tick that has no frame and ends with the next frame; another reason
// begins another gap.
type gapTracker struct {
	open   bool
	from   time.Duration
	reason string
	due    time.Duration // the tick that the last frame answers
	last   time.Duration // when that frame was there
	any    bool          // there was one
}

// frame takes note of the frame that answers the tick of due, and returns the gap that it
// ends.
func (g *gapTracker) frame(due, at time.Duration) (gap kasoku.Gap, ended bool) {
	gap, ended = g.end(at)
	g.due, g.last, g.any = due, at, true
	return gap, ended
}

// miss takes note that the tick of due has no frame, as is known since at, and
// returns the gap that ends because its reason was another one.
func (g *gapTracker) miss(due, at time.Duration, reason string) (gap kasoku.Gap, ended bool) {
	if g.any && (due <= g.due || due < g.last) {
		return kasoku.Gap{}, false // the frame came while the miss was being reported
	}
	if g.open && g.reason == reason {
		return kasoku.Gap{}, false
	}
	from := due
	if gap, ended = g.end(at); ended {
		from = gap.Interval.To
	}
	g.open, g.from, g.reason = true, from, reason
	return gap, ended
}

// end closes the open gap.
func (g *gapTracker) end(at time.Duration) (gap kasoku.Gap, ended bool) {
	gap, ended = g.soFar(at)
	g.open = false
	return gap, ended
}

// soFar returns the open gap as it is. A gap is never empty, so that none is lost.
func (g *gapTracker) soFar(at time.Duration) (gap kasoku.Gap, open bool) {
	if !g.open {
		return kasoku.Gap{}, false
	}
	return kasoku.Gap{Interval: kasoku.Interval{From: g.from, To: max(at, g.from+1)}, Reason: g.reason}, true
}

// reasonOf puts an error, and the hint that goes with it, into one line.
func reasonOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		return err.Error() + "; hint: " + h.Hint()
	}
	return err.Error()
}
