package tie

import (
	"fmt"
	"strings"
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

// TestUnmasked: no value stays of a statement with attributes, nor of a comment that is cut.
func TestUnmasked(t *testing.T) {
	s := newStory()
	s.add(thread(1), trace.Asked, 91, packet("\x03\x01\x01\x00\x01\xfe\x00\x02id\x06secretSELECT 1"))
	s.add(thread(1), trace.Asked, 91, packet("\x03SELECT 1 /* it's 'secret of"), 100_000)
	for _, c := range s.tier.Result().Classes {
		if strings.Contains(c.Fingerprint, "secret") || c.ID != "" {
			t.Errorf("%+v", c)
		}
	}
}
