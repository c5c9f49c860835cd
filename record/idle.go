package record

import (
	"errors"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
)

// An idleWatch says when the requests have ended: when the access logs gained
// nothing for a while, after they had gained something.
type idleWatch struct {
	quiet time.Duration // that ends it
	logs  []*lines.Growth
	bytes int64
	any   bool      // a request was seen
	last  time.Time // when the logs grew, or when the watch began
}

// watchIdle begins to watch the access logs from the run's beginning on. Nil
// without UntilIdle.
func (s *session) watchIdle() *idleWatch {
	if s.o.UntilIdle <= 0 {
		return nil
	}
	w := &idleWatch{quiet: s.o.UntilIdle, last: time.Now()}
	for _, l := range s.logs {
		if l.kind == "accesslog" {
			w.logs = append(w.logs, lines.Follow(l.mark))
		}
	}
	return w
}

// over reports whether it is the end. A log that is truncated has changed, too.
func (w *idleWatch) over(now time.Time) (bool, error) {
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

// close closes the logs, which were only read.
func (w *idleWatch) close() {
	for _, g := range w.logs {
		g.Close()
	}
}
