package window

import (
	"errors"
	"testing"
)

// TestRefusal: two causes at once are two clauses, not one sentence that makes no sense.
func TestRefusal(t *testing.T) {
	two := errors.Join(errors.New("not this host's processes"), errors.New("operation not permitted"))
	for _, c := range []struct {
		r    Refusal
		want string
	}{
		{Refusal{Cause: two, Else: "on the host"}, "not this host's processes; operation not permitted; on the host"},
		{Refusal{Cause: errors.New("operation not permitted"), Grant: "setcap x"}, "operation not permitted; as root, or after: sudo setcap x"},
	} {
		if got := c.r.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
