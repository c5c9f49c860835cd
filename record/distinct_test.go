package record

import (
	"errors"
	"fmt"
	"testing"
)

func TestDistinct(t *testing.T) {
	full, gone := errors.New("disk full"), errors.New("server gone")
	f := func(want string, errs ...error) {
		t.Helper()
		got := ""
		if err := distinctErrors(errs...); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("")
	f("", nil, nil)
	f("", errors.Join(), nil)
	f("write tick: disk full", fmt.Errorf("write tick: %w", full), nil, fmt.Errorf("finish: %w", full))
	f("disk full\nserver gone", errors.Join(full, errors.Join(gone, full)), gone)
	f("tick: disk full", fmt.Errorf("tick: %w", full), fmt.Errorf("finish: %w", errors.Join(full, gone)))
	if !errors.Is(distinctErrors(errors.Join(full, gone)), gone) {
		t.Error("the chain is cut")
	}
}
