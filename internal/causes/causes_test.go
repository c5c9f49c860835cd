package causes

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestCauses(t *testing.T) {
	full, gone := errors.New("disk full"), errors.New("server gone")
	step := fmt.Errorf("tick: %w", full)
	if got := Flatten([]error{step, nil, errors.Join(gone, errors.Join(full))}); !slices.Equal(got, []error{step, gone, full}) {
		t.Errorf("%v", got)
	}
	if got := Innermost(fmt.Errorf("finish: %w", errors.Join(step, gone))); got != full {
		t.Errorf("%v", got)
	}
}

func TestDistinct(t *testing.T) {
	full, other, gone := errors.New("disk full"), errors.New("no space left"), errors.New("server gone")
	same := func(err error) bool { return errors.Is(err, full) || errors.Is(err, other) }
	f := func(want string, errs ...error) {
		t.Helper()
		got := ""
		if err := Distinct(same, errs...); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("")
	f("", nil, nil)
	f("", errors.Join(), nil)
	f("write tick: disk full", fmt.Errorf("write tick: %w", full), nil, fmt.Errorf("finish: %w", other))
	f("disk full\nserver gone", errors.Join(full, errors.Join(gone, full)), gone)
	f("server gone\ntick: server lost", gone, fmt.Errorf("finish: %w", gone), fmt.Errorf("tick: %w",
		errors.New("server lost")))
	if !errors.Is(Distinct(same, errors.Join(full, gone)), gone) {
		t.Error("the chain is cut")
	}
}
