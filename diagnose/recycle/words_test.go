package recycle

import (
	"strings"
	"testing"
)

// TestAttempt_Hint: what was asked for already is not proposed again.
func TestAttempt_Hint(t *testing.T) {
	const proposal = "--recycle-connections"
	for _, tt := range []struct {
		a    Attempt
		want string
	}{
		{Attempt{}, proposal},
		{Attempt{Asked: true, Err: &RefusedError{"the driver is not known", Confirm}}, "the driver is not known; " + Confirm},
		{Attempt{Asked: true, Ended: 2}, "never idle"},
		{Attempt{Asked: true}, "no idle session was found"},
	} {
		got := tt.a.Hint()
		if !strings.Contains(got, tt.want) || strings.Contains(got, proposal) == tt.a.Asked {
			t.Errorf("%+v: %s, want %q", tt.a, got, tt.want)
		}
	}
}
