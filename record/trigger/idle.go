package trigger

import (
	"errors"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
)

// An Idle detects the end of all requests: the access logs have grown, and then not for a
// while.
type Idle struct {
	quiet time.Duration // that ends it; 0: nothing does
	run   *Shared       // nil: of this host alone
	logs  []*lines.Growth
	bytes int64
	any   bool      // a request was seen
	last  time.Time // when the logs grew, or when the watch began
}

// WatchIdle watches access logs from the marks on. The requests have ended after quiet
// without growth; 0: never. Of a run that is shared they have when they have everywhere. seen: a
// request came already, and its host may say no more.
func WatchIdle(quiet time.Duration, marks []lines.Mark, run *Shared, seen bool) *Idle {
	w := &Idle{quiet: quiet, run: run, any: seen, last: time.Now()}
	for _, m := range marks {
		w.logs = append(w.logs, lines.Follow(m))
	}
	return w
}

// Any reports whether a request was seen.
func (w *Idle) Any() bool { return w.any }

// Over reports whether the requests have ended as of now. A log that was truncated counts
// as changed.
func (w *Idle) Over(now time.Time) (bool, error) {
	var sum int64
	var errs []error
	for _, g := range w.logs {
		n, err := g.Bytes()
		sum += n
		errs = append(errs, err)
	}
	known := true
	if w.run != nil && w.run.Grown != nil {
		sum, known = w.run.Grown(sum)
	}
	if known && sum != w.bytes {
		w.bytes, w.any, w.last = sum, true, now
	}
	if !known { // they may go on
		w.last = now
	}
	return w.any && w.quiet > 0 && now.Sub(w.last) >= w.quiet, errors.Join(errs...)
}

// Close closes the logs, which were only read.
func (w *Idle) Close() {
	for _, g := range w.logs {
		g.Close()
	}
}
