package record

import (
	"errors"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/phases"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/store"
)

// savePhases stores what the run's stretches were for, and marks where each
// begins, and what else a load reported of its course. A load in steps reports its
// phases itself; so does one that hands them over, but for its initialize.
func (l *loads) savePhases(logs *logbook) error {
	var found []kasoku.Phase
	if len(l.steps) == 0 || len(l.phases) > 0 {
		found = phases.Find(phases.OfLog(logs.endpoints), l.run.Length, l.o.On, phases.OpenOf(logs.slow)...)
	}
	if len(l.phases) > 0 {
		found = withInitialize(l.phases, found)
	}
	errs := []error{store.Save(l.store, found)}
	for _, p := range found {
		errs = append(errs, l.store.Event(kasoku.Event{At: p.Interval.From, Host: l.host(), Kind: "phase", Text: string(p.Kind) + ": " + p.Why}))
	}
	for _, e := range l.events {
		e.Host, e.Text = l.host(), mask.Text(e.Text)
		errs = append(errs, l.store.Event(e))
	}
	return errors.Join(errs...)
}

// withInitialize returns phases that a load reported, which are in order, with the
// initializes of the traffic: a load reports only that it prepares. The phase that such
// a request begins in goes on after it.
func withInitialize(reported, found []kasoku.Phase) []kasoku.Phase {
	var out []kasoku.Phase
	for _, p := range reported {
		for _, init := range found {
			iv := kasoku.Interval{From: max(init.Interval.From, p.Interval.From), To: min(init.Interval.To, p.Interval.To)}
			if init.Kind != kasoku.PhaseInitialize || p.Kind == kasoku.PhaseLoad || iv.Empty() {
				continue
			}
			if before := (kasoku.Interval{From: p.Interval.From, To: iv.From}); before.Len() >= time.Second {
				out = append(out, kasoku.Phase{Kind: p.Kind, Interval: before, Why: p.Why})
			} else {
				iv.From = p.Interval.From
			}
			out = append(out, kasoku.Phase{Kind: init.Kind, Interval: iv, Why: init.Why})
			p.Interval.From = iv.To
		}
		if !p.Interval.Empty() {
			out = append(out, p)
		}
	}
	return out
}
