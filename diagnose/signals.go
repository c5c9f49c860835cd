package diagnose

import (
	"fmt"
	"math"
	"strings"

	"github.com/kasoku/kasoku"
)

// A Signal is one thing that is true of a run when a rule is right.
type Signal struct {
	Holds bool
	// Blind says why the signal could not be looked at, empty when it could.
	Blind string
	// Lacks says what was not seen when the signal does not hold: "no waits".
	Lacks string
}

// When a confidence is high or medium.
const (
	// highShare of the signals must hold, and all must have been looked at.
	highShare = 0.8
	// mediumShare of the signals must hold.
	mediumShare = 0.5
)

// Confidence weighs the signals of a finding. It is never high when one of them
// could not be looked at, and the note says which and why.
func Confidence(signals ...Signal) kasoku.Confidence {
	c := kasoku.Confidence{Of: len(signals)}
	var notes []string
	blind := 0
	for _, s := range signals {
		switch {
		case s.Blind != "":
			blind++
			notes = append(notes, s.Blind)
		case s.Holds:
			c.Holds++
		case s.Lacks != "":
			notes = append(notes, s.Lacks)
		}
	}
	c.Note = strings.Join(withoutRepeats(notes), "; ")
	share := 0.0
	if c.Of > 0 {
		share = float64(c.Holds) / float64(c.Of)
	}
	switch {
	case share >= highShare && blind == 0:
		c.Level = kasoku.High
	case share >= mediumShare:
		c.Level = kasoku.Medium
	default:
		c.Level = kasoku.Low
	}
	return c
}

func withoutRepeats(in []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// Quiet returns the silence of a rule that looked and found nothing. near is
// the measured value over its threshold.
func Quiet(id string, near float64, format string, args ...any) []kasoku.Silence {
	return []kasoku.Silence{{ID: id, Reason: fmt.Sprintf(format, args...), Near: unitInterval(near)}}
}

// Blind returns the silence of a rule that could not look, and why.
func Blind(id string, why error) []kasoku.Silence {
	return []kasoku.Silence{{ID: id, Reason: why.Error(), Blind: true}}
}

// unitInterval cuts v to 0..1; what is not a number is 0.
func unitInterval(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, 0), 1)
}
