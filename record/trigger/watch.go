// Package trigger watches access logs while they are written: for the request that begins
// a run, and for the end of all requests. What the sources gave before that request is held
// for a while.
package trigger

import (
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

const (
	// LookEvery is how often a log is to be looked at for what came.
	LookEvery = 100 * time.Millisecond
	// Longest is how long what was sampled is kept while waiting: longer than any
	// benchmark lets an initialize take.
	Longest = 2 * time.Minute
	// unreadable is how many lines that are not understood make a log useless.
	unreadable = 10
)

// Seen is the awaited request: when it began, and which log has it.
type Seen struct {
	Began time.Time
	Path  string
	Blind bool // the log does not say how long it took, so it began earlier
}

// A Watch reads the lines that are appended to an access log.
type Watch struct {
	mark  lines.Mark // up to which it was read
	known bool       // a line was understood
	bad   uint64     // lines that were not
}

// NewWatch returns a watch of a log from the mark on.
func NewWatch(mark lines.Mark) *Watch { return &Watch{mark: mark} }

// Look reads the lines that were appended since the last call, and returns the first
// request that matches. A line that is still being written is read the next time.
func (w *Watch) Look(matches func(method, path string) bool) (found *Seen, err error) {
	end, err := lines.MarkEnd(w.mark.Path)
	if err != nil || end == w.mark {
		return nil, err
	}
	src, err := lines.Since(w.mark)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	w.mark = end
	r := accessformat.NewReader(src, nil)
	for r.Scan() {
		w.known = true
		if rec := r.Record(); matches(string(rec.Method), string(rec.Path)) {
			return &Seen{Began: began(rec, time.Now()), Path: end.Path, Blind: !rec.Timed()}, nil
		}
	}
	var unknown *accessformat.UnknownFormatError
	if err := r.Err(); err != nil && !errors.As(err, &unknown) {
		return nil, err
	}
	if w.bad += r.Account().Dropped; unknown != nil && !w.known && w.bad >= unreadable {
		return nil, unknown
	}
	return nil, nil
}

// First looks at several logs, and returns a request of the first that has one.
func First(all []*Watch, matches func(method, path string) bool) (found *Seen, err error) {
	for _, w := range all {
		seen, err := w.Look(matches)
		if err != nil {
			return nil, err
		}
		if found == nil {
			found = seen
		}
	}
	return found, nil
}

// Late is the warning that a run began so long after its request.
func Late(by time.Duration, request string) kasoku.Warning {
	return kasoku.Warning{Code: "late-begin",
		Text: fmt.Sprintf("the run began %s after %s: what came in between is not in it",
			by.Round(10*time.Millisecond), request),
		Hint: fmt.Sprintf("kasoku was not watching yet, or the request took longer than the %s that are kept; start "+
			"it earlier, or leave more time between two benchmarks", unit.Exact(Longest))}
}

// began returns when a request began that is in the log now. A line can be late: a
// server keeps some back. A time that is far off is of another time zone, or of
// another host's clock, and says nothing.
func began(rec *accessformat.Record, now time.Time) time.Time {
	late := now.Sub(rec.Time())
	if !rec.Stamped() || late < 0 || late > Longest {
		late = 0
	}
	return now.Add(-late - rec.Latency)
}
