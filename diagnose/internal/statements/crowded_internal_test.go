package statements

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestIsOneForEach: a page that reads its one row six times may be no loop over rows; one that looks
// up rows by keys is.
func TestIsOneForEach(t *testing.T) {
	f := func(name string, distinct uint64, want bool, callers ...kasoku.Caller) {
		t.Helper()
		if got := isOneForEach(&kasoku.Query{Distinct: distinct}, callers); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	exact := func(per, calls float64) kasoku.Caller {
		return kasoku.Caller{Class: kasoku.CallerConfirmed, PerRequest: per, Calls: calls, Requests: 3}
	}
	// A run of Trac: 16 tickets, each read anew for each comment that might be edited.
	f("one ticket a page", 16, true, exact(5.67, 77.8), exact(1, 9.2))
	f("one page's links to one ticket, by the one page that was seen", 6, true, exact(5, 91))
	f("a list of 20 on each of 14 pages", 280, false, exact(20, 280))
	f("two on each of 14 pages", 28, false, exact(2, 28))
	f("not known whose", 16, false, exact(5.67, 77.8), kasoku.Caller{Class: kasoku.CallerHigh, PerRequest: 1, Calls: 9})
	f("texts were not counted", 0, false, exact(5, 91))
	f("no callers", 16, false)
}
