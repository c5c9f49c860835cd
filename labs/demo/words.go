package demo

import (
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// rate prints an asked rate, such as 1,000/s.
func rate(perSec float64) string { return unit.Count(uint64(perSec)) + "/s" }

func rates(all []float64) string {
	s := make([]string, len(all))
	for i, r := range all {
		s[i] = unit.Count(uint64(r))
	}
	return strings.Join(s, " → ") + " requests/s"
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
