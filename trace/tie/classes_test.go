package tie

import (
	"fmt"
	"testing"

	"github.com/kasoku/kasoku/trace"
)

// TestCutClass: a statement that is cut has no id of a class, but where only its first row counts.
func TestCutClass(t *testing.T) {
	s := newStory()
	s.add(thread(1), trace.Asked, 91, packet("\x03SELECT a FROM t WHERE b = 1 AND c"), 100_000)
	s.add(thread(1), trace.Asked, 91, packet("\x03SELECT a FROM t WHERE b = 1 AND c"))
	s.add(thread(1), trace.Asked, 91, packet("\x03INSERT INTO t VALUES (1), (2), (3"), 100_000)
	var ids []bool
	for _, c := range s.tier.Result().Classes {
		ids = append(ids, c.ID != "")
	}
	if got := fmt.Sprint(ids); got != "[false true true]" {
		t.Error(got)
	}
}
