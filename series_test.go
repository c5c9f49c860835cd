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

// TestWithin: the first moment is in, the last is not, and an interval that ends before it
// begins has nothing.
func TestWithin(t *testing.T) {
	s := &Series{}
	for i := range 5 {
		s.Points = append(s.Points, Point{At: time.Duration(i) * time.Second})
	}
	for _, x := range []struct {
		from, to time.Duration
		want     int
	}{{0, 4 * time.Second, 4}, {time.Second, 2 * time.Second, 1}, {3 * time.Second, time.Second, 0}, {time.Hour, 0, 0}} {
		if got := s.Within(Interval{From: x.from, To: x.to}); len(got) != x.want {
			t.Errorf("%v to %v: %d points, want %d", x.from, x.to, len(got), x.want)
		}
	}
}
