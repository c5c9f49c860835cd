package median

import (
	"slices"
	"testing"
	"time"
)

func TestMedians(t *testing.T) {
	f := func(values []float64, mean, high float64) {
		t.Helper()
		before := slices.Clone(values)
		if got := Of(values); got != mean {
			t.Errorf("Of(%v) = %v, want %v", values, got, mean)
		}
		if got := High(values); got != high {
			t.Errorf("High(%v) = %v, want %v", values, got, high)
		}
		if !slices.Equal(values, before) {
			t.Errorf("%v was put in order", before)
		}
	}
	f(nil, 0, 0)
	f([]float64{7}, 7, 7)
	f([]float64{9, 1, 2}, 2, 2)
	f([]float64{4, 1, 9, 2}, 3, 4)
	if got := High([]time.Duration{9 * time.Hour, 0}); got != 9*time.Hour { // no zone is at 4:30
		t.Errorf("High = %v", got)
	}
}
