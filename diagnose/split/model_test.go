package split

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, slack float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > slack*math.Abs(want) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// TestClosed holds mean value analysis to what is known of closed networks by other means.
func TestClosed(t *testing.T) {
	one := []station{{1, 0.1}}
	near(t, "one client", closed(one, 0, 1), 10, 1e-9)
	near(t, "many clients", closed(one, 0, 50), 10, 1e-9)
	near(t, "one client who pauses", closed(one, 0.9, 1), 1, 1e-9)
	// Balanced hosts: X = n / (D (n + k - 1)).
	near(t, "two balanced", closed([]station{{1, 0.1}, {1, 0.1}}, 0, 6), 6/(0.1*7), 1e-9)
	near(t, "three balanced", closed([]station{{1, 0.1}, {1, 0.1}, {1, 0.1}}, 0, 6), 6/(0.1*8), 1e-9)
	// The machine repairman, M/M/1//3 with Z = 1 and S = 0.5: by its states, p0 = 1/(1+3r+6r²+6r³), r = S/Z.
	p0 := 1 / (1 + 1.5 + 1.5 + 0.75)
	near(t, "repairman", closed([]station{{1, 0.5}}, 1, 3), (1-p0)/0.5, 1e-9)
	near(t, "0.4 of a core", closed([]station{{0.4, 0.1}}, 0, 20), 4, 1e-9)
	near(t, "two cores, one client", closed([]station{{2, 0.1}}, 0, 1), 10, 1e-9)
	near(t, "two cores, all busy", closed([]station{{2, 0.1}}, 0, 500), 20, 0.01)
	near(t, "half a client more", closed(one, 0.9, 1.5), (closed(one, 0.9, 1)+closed(one, 0.9, 2))/2, 1e-9)
	near(t, "without end", closed([]station{{1, 0.1}, {1, 0.02}}, 5, 1e6), 10, 1e-9)
	near(t, "no CPU", closed([]station{{1, 0}}, 0.5, 4), 8, 1e-9)
	for n := 1.0; n < 60; n++ { // more clients never have less, and no host has more than it can
		stations := []station{{1, 0.1}, {0.4, 0.03}, {2, 0.05}}
		x, most := closed(stations, 0.2, n), 0.0
		most, _ = limit(stations)
		if more := closed(stations, 0.2, n+1); more < x || x > most {
			t.Errorf("%g clients: %g, one more %g, limit %g", n, x, more, most)
		}
	}
}

func TestOpen(t *testing.T) {
	s, ok := open([]station{{1, 0.05}}, 0, 10)
	near(t, "half busy", s, 0.1, 1e-9)
	if !ok {
		t.Error("half busy: does not keep up")
	}
	if _, ok := open([]station{{1, 0.05}, {0.4, 0.05}}, 0, 10); ok {
		t.Error("it keeps up with more than it can do")
	}
	most, at := limit([]station{{1, 0.05}, {0.4, 0.05}, {1, 0}})
	near(t, "limit", most, 8, 1e-9)
	if at != 1 {
		t.Errorf("the limit is at %d", at)
	}
}

func TestCalibrate(t *testing.T) {
	stations := []station{{1, 0.1}, {1, 0.02}}
	for _, delay := range []float64{0, 0.5, 2, 20} {
		x := closed(stations, delay, 12)
		got := calibrate(stations, 0, 12, x)
		near(t, "throughput with the delay that was found", closed(stations, got, 12), x, 0.06)
		if delay >= 2 {
			near(t, "delay", got, delay, 0.01)
		}
	}
	if got := calibrate(stations, 0, 12, 40); got != 0 { // more than the hosts can
		t.Errorf("a delay of %g", got)
	}
	if got := calibrate(stations, 0, 12, 9.8); got != 0 { // a host is as good as full
		t.Errorf("of a full host: a delay of %g", got)
	}
	if got := calibrate(stations, 3, 12, 9.8); got != 3 {
		t.Errorf("clients pause 3 s: a delay of %g", got)
	}
}
