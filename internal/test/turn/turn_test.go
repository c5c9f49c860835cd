package turn

import (
	"fmt"
	"strconv"
	"testing"
)

// TestTaken: each case has one turn, turns have alike many, and without one all are run.
func TestTaken(t *testing.T) {
	var cases [turns]int
	for i := range 400 {
		name, met := fmt.Sprintf("TestTable/%d", i), 0
		for turn := range turns {
			if taken(name, strconv.Itoa(turn), turns) {
				cases[turn]++
				met++
			}
		}
		if met != 1 {
			t.Errorf("%s is met in %d turns", name, met)
		}
		for _, none := range []string{"", "all", "-1", "4"} {
			if !taken(name, none, turns) {
				t.Errorf("%s is not met in turn %q", name, none)
			}
		}
	}
	for turn, n := range cases {
		if n < 75 || n > 125 {
			t.Errorf("turn %d has %d of 400 cases", turn, n)
		}
	}
}

// TestFirst: each server has every second turn, and without one both are met.
func TestFirst(t *testing.T) {
	for _, name := range []string{"TestGuardKill", "TestLeft"} {
		firsts := 0
		for turn := range turns {
			t.Setenv("KASOKU_TURN", strconv.Itoa(turn))
			first, both := First(name)
			t.Setenv("KASOKU_TURN", strconv.Itoa((turn+1)%turns))
			if next, _ := First(name); next == first || both {
				t.Errorf("%s in turn %d: first %t, then %t; both %t", name, turn, first, next, both)
			}
			if first {
				firsts++
			}
		}
		if firsts != turns/2 {
			t.Errorf("%s: the first in %d turns", name, firsts)
		}
		for _, none := range []string{"", "all", "-1", "4"} {
			t.Setenv("KASOKU_TURN", none)
			if first, both := First(name); !first || !both {
				t.Errorf("%s in turn %q", name, none)
			}
		}
	}
}
