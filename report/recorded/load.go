package recorded

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
)

// Scored reports whether the load was a benchmark that reported its phases itself: other
// loads in steps have none.
func (r View) Scored() bool { return len(r.Steps) == 1 && len(r.Phases) > 0 }

// LoadTally is what was counted of the load. What a benchmark asks for before and
// after it is not load: some of that is to be refused.
func (r View) LoadTally() *kasoku.Tally {
	if r.Scored() {
		return r.Tally(r.Steps[0].Number)
	}
	return r.Tally(0)
}

// Rises are the moments at which levels of a benchmark began.
func (r View) Rises() []kasoku.Event {
	var out []kasoku.Event
	for _, e := range r.Events {
		if e.Kind == kasoku.EventLevel {
			out = append(out, e)
		}
	}
	return out
}

// Raised are the warnings that make the figures those of the generator: one of each
// code, that of the step that broke when there are several.
func (r View) Raised() []kasoku.Warning {
	var out []kasoku.Warning
	step := fmt.Sprintf("step %d:", r.BrokenStep())
	for _, w := range r.Warnings {
		if !compare.LateGenerator(w) {
			continue
		}
		i := slices.IndexFunc(out, func(o kasoku.Warning) bool { return o.Code == w.Code })
		switch {
		case i < 0:
			out = append(out, w)
		case strings.HasPrefix(w.Text, step):
			out[i] = w
		}
	}
	return out
}

// BrokenStep returns the number of the step that broke, 0 when none did.
func (r View) BrokenStep() int {
	ratios := make([]float64, len(r.Steps))
	for i, s := range r.Steps {
		ratios[i] = 1
		if !s.Partial() {
			ratios[i] = r.Tally(s.Number).SuccessRatio()
		}
	}
	if i := kasoku.FirstBroken(ratios); i >= 0 {
		return r.Steps[i].Number
	}
	return 0
}

// Code returns the revision of the code that ran, and whether it had local changes;
// empty when the revision is not known.
func (r View) Code() string {
	switch {
	case r.Run.Revision == "":
		return ""
	case r.Run.Dirty:
		return r.Run.Revision + ", with local changes"
	}
	return r.Run.Revision + ", clean"
}

// Windows returns the log windows of a kind.
func (r View) Windows(kind string) []kasoku.LogWindow {
	var out []kasoku.LogWindow
	for _, w := range r.Logs {
		if w.Kind == kind {
			out = append(out, w)
		}
	}
	return out
}

// LinesRead describes how much of a log was read and how well.
func LinesRead(ws []kasoku.LogWindow) string {
	var lines, bad uint64
	var notes []string
	for _, w := range ws {
		lines += w.Lines
		bad += w.Dropped
		if w.Note != "" {
			notes = append(notes, w.Note)
		}
	}
	s := unit.Counted(lines, "line", "lines") + ", " + unit.Count(bad) + " bad"
	if len(notes) > 0 {
		s += "; " + strings.Join(notes, "; ")
	}
	return s
}
