package lines

import (
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	var o Order[int]
	var got []int
	apply := func(v int) { got = append(got, v) }
	for _, seq := range []int{2, 0, 3, 1, 4, 9, 7} {
		o.Add(seq, seq*10, apply)
	}
	if want := []int{0, 10, 20, 30, 40}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	o.Flush(apply)
	if want := []int{0, 10, 20, 30, 40, 70, 90}; !slices.Equal(got, want) {
		t.Errorf("flushed %v, want %v", got, want)
	}
}
