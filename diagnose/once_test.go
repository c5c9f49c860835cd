package diagnose_test

import (
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

func TestOnce(t *testing.T) {
	made := 0
	work := func() int { made++; return made }
	c := diagnose.NewCase(&kasoku.Recording{}, nil)
	whole := *c // rules look at a part of the run in copies
	if a, b := diagnose.Once(c, "x", work), diagnose.Once(&whole, "x", work); a != 1 || b != 1 {
		t.Errorf("made %d and %d for one recording", a, b)
	}
	if got := diagnose.Once(c, "y", work); got != 2 {
		t.Errorf("another name got %d", got)
	}
	whole.Recording = &kasoku.Recording{}
	if got := diagnose.Once(&whole, "x", work); got != 3 {
		t.Errorf("another recording got %d", got)
	}
	if a, b := diagnose.Once(&diagnose.Case{}, "x", work), diagnose.Once(&diagnose.Case{}, "x", work); a == b {
		t.Error("a case without memory remembers")
	}
}
