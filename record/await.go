package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/lines"
)

const (
	// lookEvery is how often a log is looked at for what came.
	lookEvery = 100 * time.Millisecond
	// lead is how long before the awaited request the run begins; blindLead where
	// the log has no request times, so that it is not known when the request began.
	// An initialize takes up to half a minute.
	lead      = 3 * time.Second
	blindLead = 30 * time.Second
	// awaited is how long what was sampled is kept while waiting: longer than any
	// benchmark lets an initialize take.
	awaited = 2 * time.Minute
	// unreadable is how many lines that are not understood make a log useless.
	unreadable = 10
)

// await watches until the request of On shows in an access log, and moves the
// run's beginning to a moment before it. The sources are on by then: hold keeps
// what they gave, marks where the logs ended meanwhile.
func (s *session) await(ctx context.Context) error {
	s.start = time.Now()
	if err := s.switchOn(ctx); err != nil {
		return err
	}
	if err := s.markLogs(); err != nil {
		return err
	}
	s.startJoin(ctx)
	s.early = &hold{window: awaited}
	if err := s.startSampler(s.early); err != nil {
		return err
	}
	watch := s.watchLogs()
	marks := []marked{s.marksNow(0)}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		s.progress(Progress{Phase: PhaseWait, Elapsed: time.Since(s.start), Text: s.o.On.String()})
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		for _, w := range watch {
			seen, err := w.look(s.o.On.Matches)
			if err != nil {
				return err
			}
			if seen != nil {
				s.begin(*seen, marks)
				return nil
			}
		}
		now := time.Since(s.start)
		if now-marks[len(marks)-1].at < time.Second {
			continue
		}
		if err := s.markAgain(); err != nil {
			return err
		}
		marks = append(marks, s.marksNow(now))
		if len(marks) > int(awaited/time.Second) {
			marks = slices.Delete(marks, 0, 1)
		}
	}
}

// seen is the awaited request: when it began, and in which log it was.
type seen struct {
	began time.Time
	path  string
	blind bool // the log does not say how long it took, so it began earlier
}

// marked is where each log ended at a moment.
type marked struct {
	at    time.Duration
	marks []lines.Mark
}

func (s *session) marksNow(at time.Duration) marked {
	m := marked{at: at}
	for _, l := range s.logs {
		m.marks = append(m.marks, l.mark)
	}
	return m
}

// markAgain remembers where each log ends now.
func (s *session) markAgain() error {
	for _, l := range s.logs {
		var err error
		if l.mark, err = lines.MarkEnd(l.path); err != nil {
			return fmt.Errorf("%s: %w", l.kind, err)
		}
	}
	return nil
}

// begin moves the run's beginning to a moment before the request, on a tick, and
// the marks of the logs with it.
func (s *session) begin(r seen, marks []marked) {
	before := lead
	if r.blind {
		before = blindLead
	}
	at := r.began.Sub(s.start)
	cut := max(at-before, time.Since(s.start)-awaited, 0) / s.o.Interval * s.o.Interval
	for _, m := range marks {
		if m.at > cut && m.at > marks[0].at {
			break
		}
		for i, l := range s.logs {
			l.mark = m.marks[i]
		}
	}
	now := time.Now() // the wall clock may have been set while waiting
	s.start, s.cut = now.Add(-now.Sub(s.start.Add(cut))), cut
	text := fmt.Sprintf("%s in %s", s.o.On, r.path)
	if late := cut - at; late > 0 {
		s.warn(kasoku.Warning{Code: "late-begin",
			Text: fmt.Sprintf("the run began %s after %s: what came in between is not in it", late.Round(10*time.Millisecond), s.o.On),
			Hint: fmt.Sprintf("kasoku was not watching yet, or the request took longer than the %s that are kept; start it earlier, or leave more time between two benchmarks", unit.Exact(awaited))})
		text += ", before the run began"
	}
	s.trigger = &kasoku.Event{At: max(at-cut, 0), Host: s.host(), Kind: "trigger", Text: text}
}

// A logWatch reads what an access log gains while it is written.
type logWatch struct {
	mark  lines.Mark // up to which it was read
	known bool       // a line was understood
	bad   uint64     // lines that were not
}

// watchLogs watches the access logs from the run before on, else from now on.
func (s *session) watchLogs() []*logWatch {
	var out []*logWatch
	for _, l := range s.logs {
		if l.kind != "accesslog" {
			continue
		}
		w := &logWatch{mark: l.mark}
		if s.o.After != nil {
			for _, end := range s.o.After.ends {
				if end.Path == l.path {
					w.mark = end
				}
			}
		}
		out = append(out, w)
	}
	return out
}

// look reads what came since the last look, and returns the first request that
// matches. A line that is still being written is read the next time.
func (w *logWatch) look(matches func(method, path string) bool) (found *seen, err error) {
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
	r := accesslog.NewReader(src, nil)
	for r.Scan() {
		w.known = true
		if rec := r.Record(); matches(string(rec.Method), string(rec.Path)) {
			return &seen{began: began(rec, time.Now()), path: end.Path, blind: !rec.Timed()}, nil
		}
	}
	var unknown *accesslog.UnknownFormatError
	if err := r.Err(); err != nil && !errors.As(err, &unknown) {
		return nil, err
	}
	if w.bad += r.Account().Dropped; unknown != nil && !w.known && w.bad >= unreadable {
		return nil, unknown
	}
	return nil, nil
}

// began returns when a request began that is in the log now. A line can be late: a
// server keeps some back. A time that is far off is of another time zone, or of
// another host's clock, and says nothing.
func began(rec *accesslog.Record, now time.Time) time.Time {
	late := now.Sub(rec.Time())
	if !rec.Stamped() || late < 0 || late > awaited {
		late = 0
	}
	return now.Add(-late - rec.Latency)
}

// logEnds returns where the access logs end now, for the next run's On.
func (s *session) logEnds() []lines.Mark {
	var out []lines.Mark
	for _, path := range s.o.accessLogs() {
		if m, err := lines.MarkEnd(path); err == nil { // else the next run begins to look later
			out = append(out, m)
		}
	}
	return out
}
