package diagnose

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

func TestGrown_Success(t *testing.T) {
	// The focus is 10–20 s, with the last answers to 21 s.
	f := func(first int, values []float64, by float64, from, to int) {
		t.Helper()
		rec := run(at{10, 0, 7, 1, time.Millisecond}, at{100, 10, 20, 0, time.Millisecond}, at{1000, 23, 33, 0, time.Millisecond})
		series(rec, MySQL, "X", first, values...)
		g, err := NewCase(rec, nil).Counters().Status("X")
		if want := (kasoku.Interval{From: sec(from), To: sec(to)}); err != nil || g.By != by || g.Interval != want {
			t.Errorf("got %v over %v, %v; want %v over %v", g.By, g.Interval, err, by, want)
		}
	}
	count := func(n int) []float64 {
		var v []float64
		for i := range n {
			v = append(v, float64(i))
		}
		return v
	}
	f(0, count(40), 11, 10, 21)
}

func nan(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.NaN()
	}
	return v
}

func TestGrownOverGaps(t *testing.T) {
	f := func(by float64, from, to float64, points ...kasoku.Point) {
		t.Helper()
		rec := run(at{10, 0, 7, 1, time.Millisecond}, at{100, 10, 20, 0, time.Millisecond}, at{1000, 23, 33, 0, time.Millisecond})
		rec.Series = []kasoku.Series{{Key: kasoku.Key{Source: MySQL, Name: "X"}, Points: points}}
		g, err := NewCase(rec, nil).Counters().Status("X")
		if err != nil || g.By != by || g.Interval.From.Seconds() != from || g.Interval.To.Seconds() != to {
			t.Errorf("got %v over %v, %v; want %v over %v–%v", g.By, g.Interval, err, by, from, to)
		}
	}
	p := func(at, v float64) kasoku.Point {
		return kasoku.Point{At: time.Duration(at * float64(time.Second)), Value: v}
	}
	// Samples beside the focus, in the pauses.
	f(100, 9.4, 21.4, p(8.4, 0), p(9.4, 0), p(15, 40), p(20.4, 100), p(21.4, 100), p(22.4, 100))
	// The sample before lies in another step: stay inside.
	f(60, 11, 21.5, p(6, 0), p(11, 40), p(21.5, 100))
	// The sample after lies in another step: stay inside.
	f(70, 9.5, 19, p(9.5, 0), p(19, 70), p(25, 900))
}

func TestGrown_Failure(t *testing.T) {
	f := func(want string, change func(rec *kasoku.Recording)) {
		t.Helper()
		rec := run(at{100, 10, 20, 0, time.Millisecond})
		change(rec)
		g, err := NewCase(rec, nil).Counters().Status("X")
		if err == nil || !strings.Contains(err.Error(), want) || g != (Grown{}) {
			t.Errorf("got %+v, %v; want %q", g, err, want)
		}
	}
	version := kasoku.Setting{Scope: "mysql", Name: "version", Value: "9.7.0"}
	f("the database was not recorded", func(*kasoku.Recording) {})
	f("MySQL was not recorded: access denied", func(rec *kasoku.Recording) {
		rec.Settings = []kasoku.Setting{version}
		rec.Gaps = []kasoku.Gap{{Source: MySQL, Reason: "access denied"}}
	})
	f("X was not recorded", func(rec *kasoku.Recording) { series(rec, MySQL, "Y", 0, 1, 2, 3) })
	f("too few samples at 100 req/s", func(rec *kasoku.Recording) { series(rec, MySQL, "X", 0, 1, 2, 3) })
	f("too few samples at 100 req/s: timeout", func(rec *kasoku.Recording) {
		series(rec, MySQL, "X", 0, 1, 2, 3)
		rec.Gaps = []kasoku.Gap{{Source: MySQL, Interval: kasoku.Interval{From: sec(4), To: sec(30)}, Reason: "timeout"}}
	})
	// Less than half of the focus.
	f("too few samples", func(rec *kasoku.Recording) { series(rec, MySQL, "X", 9, 1, 2, 3, 4) })
	// Restarted: the counter fell, or only the uptime did.
	f("restarted at 14:00:15", func(rec *kasoku.Recording) { series(rec, MySQL, "X", 9, 5, 6, 7, 8, 9, 10, 0, 1, 2, 3, 4, 5, 6, 7) })
	f("restarted at 14:00:15", func(rec *kasoku.Recording) {
		series(rec, MySQL, "X", 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		series(rec, MySQL, "Uptime", 9, 5, 6, 7, 8, 9, 10, 0, 1, 2, 3, 4, 5, 6, 7)
	})
	f("too few samples", func(rec *kasoku.Recording) { series(rec, MySQL, "X", 9, nan(14)...) })
}

func TestRequests(t *testing.T) {
	rec := run(at{100, 0, 10, 0.9, time.Millisecond})
	c := NewCase(rec, nil)
	f := func(iv kasoku.Interval, want Requests) {
		t.Helper()
		if got, err := c.Requests(iv); got != want || err != nil {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	whole := kasoku.Interval{To: sec(20)}
	f(whole, Requests{1000, 100, "load"})
	f(kasoku.Interval{From: 500 * time.Millisecond, To: sec(2)}, Requests{150, 15, "load"})
	// The access log goes first.
	rec.Endpoints = []kasoku.Endpoint{{Method: "GET", Route: "/a", Seconds: map[int]kasoku.EndpointSecond{3: {Count: 900, Failed: 7}}}}
	f(whole, Requests{900, 7, "access log"})
	// Unless it is of something else.
	rec.Endpoints[0].Seconds[3] = kasoku.EndpointSecond{Count: 100}
	f(whole, Requests{1000, 100, "load"})
	rec.Endpoints[0].Seconds[3] = kasoku.EndpointSecond{Count: 2100}
	f(whole, Requests{1000, 100, "load"})
	if _, err := NewCase(nil, nil).Requests(whole); err == nil {
		t.Error("no error without requests")
	}
}

func TestServer(t *testing.T) {
	f := func(want string, settings ...string) {
		t.Helper()
		rec := &kasoku.Recording{}
		for i := 0; i < len(settings); i += 2 {
			rec.Settings = append(rec.Settings, kasoku.Setting{Scope: "mysql", Name: settings[i], Value: settings[i+1]})
		}
		if got := NewCase(rec, nil).Server(); got != want {
			t.Errorf("%v: %q, want %q", settings, got, want)
		}
	}
	f("the database")
	f("MariaDB", "version", "10.11.19-MariaDB-0+deb12u1", "version_comment", "Debian 12")
	f("MariaDB", "version", "11.4.2", "version_comment", "mariadb.org binary distribution")
	f("MySQL", "version", "9.7.0", "version_comment", "(Debian)")
}
