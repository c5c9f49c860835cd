package kasoku

import (
	"testing"
	"time"
)

// TestPerSecond: a counter that grows by two a second does so in every interval,
// also where the samples do not lie at its ends.
func TestPerSecond(t *testing.T) {
	s := &Series{Kind: Counter}
	for i := range 11 {
		s.Points = append(s.Points, Point{At: time.Duration(i) * time.Second, Value: float64(2 * i)})
	}
	for _, iv := range []Interval{
		{From: 0, To: 10 * time.Second}, {From: 1570 * time.Millisecond, To: 6570 * time.Millisecond},
		{From: 3200 * time.Millisecond, To: 3300 * time.Millisecond}, {From: -time.Hour, To: time.Hour},
	} {
		if got, ok := s.PerSecond(iv); !ok || got != 2 {
			t.Errorf("%v: %v, %v", iv, got, ok)
		}
	}
	for name, s := range map[string]*Series{
		"none": {}, "one": {Points: []Point{{At: 1, Value: 1}}}, "both at once": {Points: []Point{{At: 1, Value: 1}, {At: 1, Value: 2}}},
	} {
		if got, ok := s.PerSecond(Interval{To: time.Second}); ok || got != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
