package advise

import "github.com/kasoku/kasoku"

// An Unseen is a check that could not look.
type Unseen struct {
	ID    string
	Title string // what it would have checked
	Why   string
	Grant string // what would show it, to be pasted; may be empty
}

// Check runs all checks and returns what is to be done, worst first, and what
// could not be looked at.
func Check(in Input) ([]kasoku.Advice, []Unseen) {
	r := Examine(in)
	return r.Advice, r.Unseen
}
