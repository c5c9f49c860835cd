package load

import "fmt"

// A Pacing is how an engine keeps due times.
type Pacing string

// The ways to keep due times.
const (
	// Precise wakes up for each request: to the tens of microseconds, at the
	// price of a wake-up each, here and at the server.
	Precise Pacing = "precise"
	// Economical wakes up each millisecond and sends what is due by then. Requests
	// are up to a millisecond late, which their latency includes.
	Economical Pacing = "economical"
)

// ParsePacing reads the name of a pacing; empty is Precise.
func ParsePacing(s string) (Pacing, error) {
	switch p := Pacing(s); p {
	case "":
		return Precise, nil
	case Precise, Economical:
		return p, nil
	}
	return "", fmt.Errorf("bad pacing %q: want %s or %s", s, Precise, Economical)
}
