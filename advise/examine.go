package advise

import "github.com/kasoku/kasoku"

// A Result is what all checks said.
type Result struct {
	Advice []kasoku.Advice
	Unseen []Unseen
	Quiet  []Quiet
}

// A Quiet is a check that found nothing to do.
type Quiet struct {
	ID        string
	Title     string
	Formula   string
	Measured  string
	Threshold string
}

// Examine runs all checks and keeps also what is well.
func Examine(in Input) Result {
	return Result{}
}
