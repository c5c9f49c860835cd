package diagnose

import (
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
)

// ErrNoBaseline means that there is nothing to compare a run with.
var ErrNoBaseline = errors.New("there is no baseline to compare with")

// Runs returns the run with those of its group that were observed alike.
func (c *Case) Runs() []*kasoku.Recording { return observedAlike(c.Recording, c.Repeats) }

// BaselineRuns returns the baseline with those of its group that were observed
// alike, nothing without a baseline.
func (c *Case) BaselineRuns() []*kasoku.Recording {
	if c.Baseline == nil {
		return nil
	}
	return observedAlike(c.Baseline, c.Baselines)
}

func observedAlike(first *kasoku.Recording, rest []*kasoku.Recording) []*kasoku.Recording {
	out := []*kasoku.Recording{first}
	for _, r := range rest {
		if r.Run.Observers == first.Run.Observers {
			out = append(out, r)
		}
	}
	return out
}

// resamples is the number of bootstrap resamples of a comparison for a rule, which needs the
// bounds of 95 % intervals only roughly.
const resamples = 400

// Compared puts the runs of the baseline and of the case side by side. It fails
// with [ErrNoBaseline], or when they were not loaded alike.
func (c *Case) Compared() (*compare.Comparison, error) {
	if c.Baseline == nil {
		return nil, ErrNoBaseline
	}
	return compare.Compare(c.BaselineRuns(), c.Runs(), compare.Options{Resamples: resamples})
}
