package check_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/wire/mackerel/check"
)

func TestExit(t *testing.T) {
	for _, tt := range []struct {
		status check.Status
		want   string
		code   int
	}{
		{check.OK, "check-x OK: 3 of 4\n", 0},
		{check.Warning, "check-x WARNING: 3 of 4\n", 1},
		{check.Critical, "check-x CRITICAL: 3 of 4\n", 2},
		{check.Unknown, "check-x UNKNOWN: 3 of 4\n", 3},
		{check.Status(9), "check-x UNKNOWN: 3 of 4\n", 3},
		{check.Status(-1), "check-x UNKNOWN: 3 of 4\n", 3},
	} {
		var b strings.Builder
		code := check.Exit(&b, check.New("check-x", tt.status, "%d of %d", 3, 4))
		if b.String() != tt.want || code != tt.code {
			t.Errorf("%d: %q, exit %d, want %q, %d", tt.status, b.String(), code, tt.want, tt.code)
		}
	}
}

// TestHostile: what a server or a log says does not steer a terminal.
func TestHostile(t *testing.T) {
	got := check.New("check-x", check.OK, "%s", "a\x1b[2Jb\rc\nd\xff\n\n").String()
	if want := "check-x OK: a [2Jb c\nd\uFFFD"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestExitUnwritten(t *testing.T) {
	if code := check.Exit(full{}, check.New("check-x", check.OK, "fine")); code != 3 {
		t.Errorf("exit %d for an answer that no one got, want 3", code)
	}
}
