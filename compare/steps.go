package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// A MismatchError reports why two runs cannot be compared.
type MismatchError struct {
	What string // before and after differ in load: ladder 10,100,1000 and 10,100
	Help string // what to do
}

// Error returns what differs.
func (e *MismatchError) Error() string { return e.What }

// Hint returns how to narrow the comparison.
func (e *MismatchError) Hint() string { return e.Help }

// A pair is a step that all runs climbed, once for each run of both sides.
type pair struct{ before, after []kasoku.Step }

// matchSteps pairs the steps of all runs: all of them, which then must have the
// same rates in the same order, or the one with the rate asked for.
func matchSteps(before, after []*kasoku.Recording, perSec float64) ([]pair, error) {
	var pairs []pair
	for i, run := range slices.Concat(before, after) {
		steps, err := stepsLike(before[0], run, perSec)
		if err != nil {
			return nil, err
		}
		if pairs == nil {
			pairs = make([]pair, len(steps))
		}
		for k, s := range steps {
			if i < len(before) {
				pairs[k].before = append(pairs[k].before, s)
			} else {
				pairs[k].after = append(pairs[k].after, s)
			}
		}
	}
	return pairs, nil
}

// stepsLike returns the steps of a run that was loaded like the first one.
func stepsLike(first, run *kasoku.Recording, perSec float64) ([]kasoku.Step, error) {
	if err := sameTargets(first, run); err != nil {
		return nil, err
	}
	if perSec > 0 {
		i := slices.IndexFunc(run.Steps, func(s kasoku.Step) bool { return sameRate(s.PerSec, perSec) })
		if i < 0 {
			return nil, &MismatchError{
				What: fmt.Sprintf("run %q has no step at %s", name(run), unit.PerSec(perSec)),
				Help: stepsHint(run),
			}
		}
		return run.Steps[i : i+1], nil
	}
	steps := withOwnNumbers(run.Steps)
	alike := func(x, y kasoku.Step) bool { return sameRate(x.PerSec, y.PerSec) }
	if !slices.EqualFunc(withOwnNumbers(first.Steps), steps, alike) {
		return nil, differs(first, run)
	}
	return steps, nil
}

// withOwnNumbers leaves out steps with the number of an earlier one, which a run has only
// when its file was made up: the seconds of a step are known by its number, and each of
// those steps would have all of them.
func withOwnNumbers(steps []kasoku.Step) []kasoku.Step {
	seen := make(map[int]bool, len(steps))
	return slices.DeleteFunc(slices.Clone(steps), func(s kasoku.Step) bool {
		repeated := seen[s.Number]
		seen[s.Number] = true
		return repeated
	})
}

// sameRate takes rates as the same that differ by rounding only.
func sameRate(a, b float64) bool {
	return a == b || a > 0 && b > 0 && max(a, b)/min(a, b) < 1.0001
}

func differs(b, a *kasoku.Recording) error {
	e := &MismatchError{
		What: fmt.Sprintf("%s and %s differ in load: ladder %s and %s", name(b), name(a), ladder(b), ladder(a)),
		Help: "compare runs of the same ladder",
	}
	for i := len(b.Steps) - 1; i >= 0; i-- {
		common := b.Steps[i].PerSec
		if common > 0 && slices.ContainsFunc(a.Steps, func(s kasoku.Step) bool { return sameRate(s.PerSec, common) }) {
			e.Help = "--step " + rate(common) + " compares a step that both have"
			break
		}
	}
	return e
}

func sameTargets(b, a *kasoku.Recording) error {
	if b.Load == nil || a.Load == nil {
		return nil
	}
	x, y := slices.Clone(b.Load.Targets), slices.Clone(a.Load.Targets)
	slices.Sort(x)
	slices.Sort(y)
	if slices.Equal(x, y) {
		return nil
	}
	return &MismatchError{
		What: fmt.Sprintf("%s and %s differ in load: %s and %s", name(b), name(a), strings.Join(x, ", "),
			strings.Join(y, ", ")),
		Help: "compare runs that ask for the same targets",
	}
}

// name is what people call a run.
func name(r *kasoku.Recording) string {
	if r.Run.Label != "" {
		return r.Run.Label
	}
	return r.Run.ID
}

// stepsHint lists the steps of a run.
func stepsHint(r *kasoku.Recording) string {
	if len(r.Steps) == 0 {
		return "its load was not made by kasoku, so it has no steps"
	}
	return "its steps are " + ladder(r) + " req/s"
}

func ladder(r *kasoku.Recording) string {
	var rates []string
	for _, s := range r.Steps {
		rates = append(rates, rate(s.PerSec))
	}
	if len(rates) == 0 {
		return "none"
	}
	return strings.Join(rates, ",")
}

// rate writes a rate as a flag takes it: 1000.
func rate(perSec float64) string { return strings.ReplaceAll(unit.Plain(perSec), ",", "") }
