package writeup

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Figure is what is measured at each step. The first of a story is its main one.
type Figure struct {
	Key  string // for machines, with its unit: mean_latency_ms
	Name string // mean latency
	Unit string // ms; empty of a score
	Less bool   // less is better
}

// A Step is one state of the system in a write-up.
type Step struct {
	Name string
	Saw  string // what the author saw before it
	Did  string // what the author changed then
	// Against are the earlier steps whose figures its own are held against.
	Against []string
	// Author are the published figures, in the order of the story's; [Missing] where
	// nothing was published, and nothing at all when no figure was.
	Author []float64
	// Gain is how many times as good the main figure became, where that was published
	// of another machine than the figures of the steps; 0: it was not.
	Gain float64
	// Expect is what the author said of the main figure's effect where nothing was
	// published of its size.
	Expect Direction
	// Differs says why the effect may be another one here, which is known before it is run:
	// the machine decides it, or the published figure holds more than the lab's step; empty:
	// it may not.
	Differs string
	// Kept says why the author kept the change although the main figure did not gain.
	Kept string
}

// A Story is a write-up.
type Story struct {
	Lab, About string
	Figures    []Figure
	Steps      []Step
}

// Missing is a figure that was not published, or not measured.
var Missing = math.NaN()

// Of returns the published figure k, [Missing] when there is none.
func (s *Step) Of(k int) float64 {
	if k >= len(s.Author) {
		return Missing
	}
	return s.Author[k]
}

// Check refuses a table that says less than it has to: names twice, a step against one
// that does not come before it, an effect of which nothing is known, too many figures.
func (s *Story) Check() error {
	if len(s.Figures) == 0 {
		return errors.New("a story without a figure")
	}
	var before []string
	for i := range s.Steps {
		st := &s.Steps[i]
		switch {
		case slices.Contains(before, st.Name):
			return fmt.Errorf("step %s: twice", st.Name)
		case len(st.Author) > len(s.Figures):
			return fmt.Errorf("step %s: %d figures of %d", st.Name, len(st.Author), len(s.Figures))
		case i > 0 && len(st.Against) == 0:
			return fmt.Errorf("step %s: held against nothing", st.Name)
		}
		for _, name := range st.Against {
			if !slices.Contains(before, name) {
				return fmt.Errorf("step %s: no step %s before it", st.Name, name)
			}
		}
		before = append(before, st.Name)
	}
	return nil
}

// Step returns the step of that name, nil of none.
func (s *Story) Step(name string) *Step {
	if i := slices.IndexFunc(s.Steps, func(st Step) bool { return st.Name == name }); i >= 0 {
		return &s.Steps[i]
	}
	return nil
}

// A Measured is what a step gave here.
type Measured struct {
	Figures []float64 // in the order of the story's; [Missing] where there is none
	File    string    // of the run
	Finding string    // the first one of the run: "DRV-01  …"; empty: none
}

// Of returns figure k, [Missing] when there is none. It may be called of nil.
func (m *Measured) Of(k int) float64 {
	if m == nil || k >= len(m.Figures) {
		return Missing
	}
	return m.Figures[k]
}
