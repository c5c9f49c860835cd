package lazyregexp

import "testing"

func TestNew(t *testing.T) {
	digits := New(`\d+`)
	if got := digits().FindString("a 12 b"); got != "12" {
		t.Errorf("found %q, want 12", got)
	}
	if first, second := digits(), digits(); first != second {
		t.Error("compiled twice")
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was taken")
		}
	}()
	New(`(`)
}
