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
	found := phases.Find(phases.OfLog(s.endpoints), s.run.Length, s.o.On)
	errs := []error{s.store.SavePhases(found)}
	for _, p := range found {
		errs = append(errs, s.store.Event(kasoku.Event{At: p.Interval.From, Host: s.host(), Kind: "phase", Text: string(p.Kind) + ": " + p.Why}))
	}
	return errors.Join(errs...)
}
