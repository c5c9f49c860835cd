package kasoku_test

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestExpected: answers that the load asked for are no failures, whatever their status; a load that
// claims more of them than there are is not believed, and parts add up.
func TestExpected(t *testing.T) {
	f := func(s kasoku.LoadSecond, good, failed, expected uint64) {
		t.Helper()
		half := kasoku.LoadSecond{}
		half.Add(&s)
		half.Add(&kasoku.LoadSecond{Asked: 5, Codes: map[int]uint64{404: 5}, Expected: 5})
		for _, c := range []struct {
			s    *kasoku.LoadSecond
			more uint64
		}{{&s, 0}, {&half, 5}} {
			tally, sum := kasoku.NewTally(), kasoku.NewTally()
			tally.Add(c.s)
			sum.Merge(tally)
			if sum.Success != good+c.more || sum.Failed() != failed || sum.Expected != expected+c.more || c.s.Good() != good+c.more {
				t.Errorf("%+v: %d good (%d), %d failed, %d expected; want %d, %d, %d", c.s, sum.Success, c.s.Good(), sum.Failed(),
					sum.Expected, good+c.more, failed, expected+c.more)
			}
		}
	}
	codes := map[int]uint64{200: 60, 302: 1, 404: 30, 503: 4, 0: 5}
	f(kasoku.LoadSecond{Asked: 100, Codes: codes}, 61, 39, 0)
	f(kasoku.LoadSecond{Asked: 100, Codes: codes, Expected: 30}, 91, 9, 30)
	f(kasoku.LoadSecond{Asked: 100, Codes: codes, Expected: 1 << 60}, 95, 5, 34)
}
