package host

import "testing"

// TestMinute: in a long run the minute around the peak is reported, not the whole.
func TestMinute(t *testing.T) {
	k := course{values: make([]float64, 600), least: 1}
	for i := range k.values {
		k.values[i] = float64(1 + i/300)
	}
	k.values[400] = 62
	if got := k.minute(); got != 3 {
		t.Errorf("minute %v, want (59 × 2 + 62) / 60", got)
	}
}
