package trigger

import (
	"errors"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
)

// An Idle detects the end of all requests: the access logs have grown, and then not for a
// while.
type Idle struct {
	quiet time.Duration // that ends it
	logs  []*lines.Growth
	bytes int64
	any   bool      // a request was seen
	last  time.Time // when the logs grew, or when the watch began
}

// WatchIdle watches access logs from the marks on. The requests have ended after quiet
// without growth.
func WatchIdle(quiet time.Duration, marks []lines.Mark) *Idle {
	w := &Idle{quiet: quiet, last: time.Now()}
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
	if sum != w.bytes {
		w.bytes, w.any, w.last = sum, true, now
	}
	return w.any && now.Sub(w.last) >= w.quiet, errors.Join(errs...)
}

// Close closes the logs, which were only read.
func (w *Idle) Close() {
	for _, g := range w.logs {
		g.Close()
	}
}
