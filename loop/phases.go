package loop

import (
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/analyze/phases"
)

// savePhases stores what the run's stretches were for, and marks where each
// begins. A load in steps tells that better itself.
func (s *session) savePhases() error {
	if len(s.steps) > 0 {
		return nil
	}
	traffic := phases.OfLog(s.endpoints)
	if len(traffic) == 0 {
		traffic = phases.OfLoad(s.seconds)
	}
	found := phases.Find(traffic, s.run.Length, s.o.On)
	errs := []error{s.store.SavePhases(found)}
	for _, p := range found {
		errs = append(errs, s.store.Event(kasoku.Event{At: p.Interval.From, Host: s.host(), Kind: "phase", Text: string(p.Kind) + ": " + p.Why}))
	}
	return errors.Join(errs...)
}
