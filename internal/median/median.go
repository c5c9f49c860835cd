// Package median finds the middle of some values. The values stay in their order.
package median

import "slices"

// Of returns the median of values, of an even number the mean of the two in the middle;
// 0 of none.
func Of(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(n-1)/2] + v[n/2]) / 2
}

// High returns the median of values, of an even number the greater of the two in the
// middle: one of the values, where the mean of two would be none. It is 0 of none.
func High[T ~int64 | ~float64](values []T) T {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return v[len(v)/2]
}
