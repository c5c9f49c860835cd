package unit

import (
	"fmt"
	"strings"
)

// A Least is how much of something is to stay free: a part of it, so many bytes,
// or the smaller of both. The zero value is nothing.
type Least struct {
	Ratio float64 // 0..1; 0: none is said
	Bytes uint64  // 0: none is said
}

// Of returns the bytes that are to stay free of a total.
func (l Least) Of(total uint64) uint64 {
	part := uint64(l.Ratio * float64(total))
	if l.Ratio == 0 || l.Bytes > 0 && l.Bytes < part {
		return l.Bytes
	}
	return part
}

// ParseLeast reads 5%, 500 MB, or 0 for nothing.
func ParseLeast(s string) (Least, error) {
	if number, ok := strings.CutSuffix(strings.TrimSpace(s), "%"); ok {
		percent, ok := parseNumber(strings.TrimSpace(number))
		if !ok || percent > 100 {
			return Least{}, fmt.Errorf("%q: want a part such as 5%%, or a size such as 500 MB", s)
		}
		return Least{Ratio: percent / 100}, nil
	}
	n, err := ParseSize(s)
	if err != nil {
		return Least{}, fmt.Errorf("%q: want a part such as 5%%, or a size such as 500 MB", s)
	}
	return Least{Bytes: n}, nil
}
