package demo

import (
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// printRate prints an asked rate, such as 1,000/s.
func printRate(perSec float64) string { return unit.Count(uint64(perSec)) + "/s" }

func printRates(all []float64) string {
	s := make([]string, len(all))
	for i, r := range all {
		s[i] = unit.Count(uint64(r))
	}
	return strings.Join(s, " → ") + " requests/s"
}

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
