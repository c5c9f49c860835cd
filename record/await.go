package record

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/record/trigger"
)

const (
	// lead is how long before the awaited request the run begins; blindLead where
	// the log has no request times, so that it is not known when the request began.
	// An initialize takes up to half a minute.
	lead      = 3 * time.Second
	blindLead = 30 * time.Second
)

// await watches until the request of On shows in an access log, and moves the
// run's beginning to a moment before it. The sources are on by then: hold keeps
// what they gave, marks where the logs ended meanwhile.
func (s *session) await(ctx context.Context) error {
	s.start = time.Now()
	if err := s.changes.switchOn(ctx); err != nil {
		return err
	}
	if err := s.logs.mark(); err != nil {
		return err
	}
	s.joins.begin(ctx)
	s.sampling.early = &trigger.Hold{Window: trigger.Longest}
	if err := s.sampling.begin(s.sampling.early); err != nil {
		return err
	}
	watch := s.logs.watch(s.o.After)
	marks := []marked{s.logs.marksNow(0)}
	tick := time.NewTicker(trigger.LookEvery)
	defer tick.Stop()
	for {
		s.progress(Progress{Phase: PhaseWait, Elapsed: time.Since(s.start), Text: s.o.On.String()})
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		for _, w := range watch {
			found, err := w.Look(s.o.On.Matches)
			if err != nil {
				return err
			}
			if found != nil {
				s.begin(*found, marks)
				return nil
			}
		}
		now := time.Since(s.start)
		if now-marks[len(marks)-1].at < time.Second {
			continue
		}
		if err := s.logs.markAgain(); err != nil {
			return err
		}
		marks = append(marks, s.logs.marksNow(now))
		if len(marks) > int(trigger.Longest/time.Second) {
			marks = slices.Delete(marks, 0, 1)
		}
	}
}

// marked is where each log ended at a moment.
type marked struct {
	at    time.Duration
	marks []lines.Mark
}

func (b *logbook) marksNow(at time.Duration) marked {
	m := marked{at: at}
	for _, l := range b.files {
		m.marks = append(m.marks, l.mark)
	}
	return m
}

// markAgain remembers where each log ends now.
func (b *logbook) markAgain() error {
	for _, l := range b.files {
		var err error
		if l.mark, err = lines.MarkEnd(l.path); err != nil {
			return fmt.Errorf("%s: %w", l.kind, err)
		}
	}
	return nil
}

// begin moves the run's beginning to a moment before the request, on a tick, and
// the marks of the logs with it.
func (s *session) begin(r trigger.Seen, marks []marked) {
	before := lead
	if r.Blind {
		before = blindLead
	}
	at := r.Began.Sub(s.start)
	cut := max(at-before, time.Since(s.start)-trigger.Longest, 0) / s.o.Interval * s.o.Interval
	for _, m := range marks {
		if m.at > cut && m.at > marks[0].at {
			break
		}
		for i, l := range s.logs.files {
			l.mark = m.marks[i]
		}
	}
	now := time.Now() // the wall clock may have been set while waiting
	s.start, s.cut = now.Add(-now.Sub(s.start.Add(cut))), cut
	text := fmt.Sprintf("%s in %s", s.o.On, r.Path)
	if late := cut - at; late > 0 {
		s.warn(kasoku.Warning{Code: "late-begin",
			Text: fmt.Sprintf("the run began %s after %s: what came in between is "+
				"not in it", late.Round(10*time.Millisecond), s.o.On),
			Hint: fmt.Sprintf("kasoku was not watching yet, or the request took longer than the %s that are kept; start "+
				"it earlier, or leave more time between two benchmarks", unit.Exact(trigger.Longest))})
		text += ", before the run began"
	}
	s.trigger = &kasoku.Event{At: max(at-cut, 0), Host: s.host(), Kind: "trigger", Text: text}
}

// watch watches the access logs from the run before on, else from now on.
func (b *logbook) watch(after *Result) []*trigger.Watch {
	var out []*trigger.Watch
	for _, l := range b.files {
		if l.kind != "accesslog" {
			continue
		}
		from := l.mark
		if after != nil {
			for _, end := range after.ends {
				if end.Path == l.path {
					from = end
				}
			}
		}
		out = append(out, trigger.NewWatch(from))
	}
	return out
}

// ends returns where the access logs end now, for the next run's On.
func (b *logbook) ends() []lines.Mark {
	var out []lines.Mark
	for _, path := range b.o.accessLogs() {
		if m, err := lines.MarkEnd(path); err == nil { // else the next run begins to look later
			out = append(out, m)
		}
	}
	return out
}
