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
