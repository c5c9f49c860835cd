package record

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/record/trigger"
)

// await watches until the request of On shows in an access log, and moves the
// run's beginning to a moment before it. The sources are on by then: hold keeps
// what they gave, marks where the logs ended meanwhile.
func (s *session) await(ctx context.Context) error {
	var err error
	if s.start, err = s.o.begin(ctx); err != nil {
		return err
	}
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
	watch, shared := s.logs.watch(s.o.After), s.o.Shared
	if shared != nil && shared.Watching != nil {
		shared.Watching(len(watch))
	}
	var marks trigger.Marks
	marks.Add(0, s.logs.marksNow())
	tick := time.NewTicker(trigger.LookEvery)
	defer tick.Stop()
	for {
		s.progress(Progress{Phase: PhaseWait, Elapsed: time.Since(s.start), Text: s.o.On.String()})
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		start, err := s.look(watch)
		if err != nil {
			return err
		}
		if start != nil {
			s.begin(start, &marks)
			return nil
		}
		if now := time.Since(s.start); marks.Due(now) {
			if err := s.logs.markAgain(); err != nil {
				return err
			}
			marks.Add(now, s.logs.marksNow())
		}
	}
}

// look looks for the request, and returns the run's beginning once that is known.
func (s *session) look(watch []*trigger.Watch) (*trigger.Start, error) {
	found, err := trigger.First(watch, s.o.On.Matches)
	switch {
	case err == nil && s.o.Shared != nil:
		return s.o.Shared.Look(found)
	case found == nil:
		return nil, err
	}
	start := trigger.Decide(*found, s.start, time.Now(), s.o.Interval)
	return &start, nil
}

func (b *logbook) marksNow() (marks []lines.Mark) {
	for _, l := range b.files {
		marks = append(marks, l.mark)
	}
	return marks
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
func (s *session) begin(start *trigger.Start, marks *trigger.Marks) {
	now := time.Now() // the wall clock may have been set while waiting
	cut := start.Cut(s.start, now, s.o.Interval)
	for i, m := range marks.At(cut) {
		s.logs.files[i].mark = m
	}
	began := s.start
	s.start, s.cut = now.Add(-now.Sub(s.start.Add(cut))), cut
	if s.o.Shared != nil && s.o.Shared.Begun != nil {
		s.o.Shared.Begun(s.start)
	}
	r := start.Seen
	if r == nil {
		return
	}
	at := r.Began.Sub(began)
	text := fmt.Sprintf("%s in %s", s.o.On, r.Path)
	if late := cut - at; late > 0 {
		s.warn(trigger.Late(late, s.o.On.String()))
		text += ", before the run began"
	}
	s.trigger = &kasoku.Event{At: max(at-cut, 0), Host: cmp.Or(start.Host, s.host()), Kind: "trigger", Text: text}
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
