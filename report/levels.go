package report

import (
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// scored reports whether the load was a benchmark that reported its phases itself: other
// loads in steps have none.
func (r rec) scored() bool { return len(r.Steps) == 1 && len(r.Phases) > 0 }

// loadTally is what was counted of the load. What a benchmark asks for before and
// after it is not load: some of that is to be refused.
func (r rec) loadTally() *kasoku.Tally {
	if r.scored() {
		return r.Tally(r.Steps[0].Number)
	}
	return r.Tally(0)
}

// rises are the moments at which levels of a benchmark began.
func (r rec) rises() []kasoku.Event {
	var out []kasoku.Event
	for _, e := range r.Events {
		if e.Kind == kasoku.EventLevel {
			out = append(out, e)
		}
	}
	return out
}

// levelBands shows the levels of a benchmark in place of its one step, and its other
// phases beside them. Levels follow each other without a gap, so every second one is
// shaded.
func (r rec) levelBands(t *Timeline) {
	if !r.scored() {
		return
	}
	t.Phased, t.Steps = true, nil
	for _, p := range r.Phases {
		if p.Kind != kasoku.PhaseLoad {
			t.Steps = append(t.Steps, Band{p.Interval.From.Seconds(), p.Interval.To.Seconds(), string(p.Kind),
				p.Kind != kasoku.PhaseInitialize})
			continue
		}
		t.Levels = t.Levels[:0]
		level := Band{From: p.Interval.From.Seconds(), Label: "level 0"}
		for _, e := range r.rises() {
			level.To = e.At.Seconds()
			t.Levels = append(t.Levels, level)
			name, _, _ := strings.Cut(e.Text, " at ")
			level = Band{From: level.To, Label: name, Open: !level.Open}
		}
		level.To = p.Interval.To.Seconds()
		t.Levels = append(t.Levels, level)
		t.Steps = append(t.Steps, t.Levels...)
	}
	for i := range t.Steps {
		t.Steps[i].To = min(t.Steps[i].To, float64(t.Seconds))
		t.Steps[i].Label = fitted(t.Steps[i], float64(t.Seconds))
	}
}

// fitted returns the label of a band as far as there is room: a word takes a tenth of
// the width, a level's number a thirtieth.
func fitted(b Band, seconds float64) string {
	number, isLevel := strings.CutPrefix(b.Label, "level ")
	switch wide := (b.To - b.From) / seconds; {
	case wide >= 0.1:
		return b.Label
	case isLevel && wide >= 1./30:
		return number
	}
	return ""
}

// scoredVerdict says what a benchmark came to, before what the diagnosis says; empty
// of other loads.
func (r rec) scoredVerdict() string {
	sc := r.Run.Score
	if !r.scored() || sc == nil {
		return ""
	}
	s := "Score " + unit.Plain(sc.Value)
	if n := len(r.rises()); n > 0 {
		name, _, _ := strings.Cut(r.rises()[n-1].Text, " at ")
		s += ", " + name
	}
	switch sc.Outcome {
	case kasoku.Passed:
		s += ", passed"
	case kasoku.Failed:
		s += ", failed"
	}
	return s + ". "
}
