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
			if taken(name, strconv.Itoa(turn)) {
				cases[turn]++
				met++
			}
		}
		if met != 1 {
			t.Errorf("%s is met in %d turns", name, met)
		}
		for _, none := range []string{"", "all", "-1", "4"} {
			if !taken(name, none) {
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
