package main

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

func TestSummarize(t *testing.T) {
	upTo := func(n int, step float64) (out []float64) {
		for i := n; i >= 1; i-- {
			out = append(out, float64(i)*step)
		}
		return out
	}
	for _, tt := range []struct {
		values []float64
		want   summary
	}{
		{upTo(10, 10), summary{Max: 100, Min: 10, Mean: 55, P90: 90, P75: 80}},
		{upTo(2, 1), summary{Max: 2, Min: 1, Mean: 1.5, P90: 2, P75: 2}},
		{upTo(3, 1), summary{Max: 3, Min: 1, Mean: 2, P90: 3, P75: 2}},
		{upTo(60, 1), summary{Max: 60, Min: 1, Mean: 30.5, P90: 54, P75: 45}},
		{upTo(1, 7), summary{Max: 7, Min: 7, Mean: 7, P90: 7, P75: 7}},
	} {
		if got := summarize(tt.values); got != tt.want {
			t.Errorf("%d values: %+v, want %+v", len(tt.values), got, tt.want)
		}
	}
}

// at is second n of the test's clock.
func at(n int) time.Time { return time.Unix(1_800_000_000+int64(n), 0) }

// load makes counters out of the use of CPUs in percent, second by second.
type load struct{ c counters }

func (l *load) second(use ...uint64) counters {
	for len(l.c.CPUs) < len(use) {
		l.c.CPUs = append(l.c.CPUs, ticks{})
	}
	l.c.CPUs = slices.Clone(l.c.CPUs)
	for i, u := range use {
		l.c.CPUs[i][user] += u
		l.c.CPUs[i][idle] += 100 - u
		l.c.All[user] += u
		l.c.All[idle] += 100 - u
	}
	return l.c
}

// filled is a ring with one sample a second of what use returns.
func filled(seconds int, use func(n int) []uint64) (*ring, *load) {
	l := &load{}
	r := newRing(l.second(use(0)...), at(0))
	for n := 1; n <= seconds; n++ {
		r.add(l.second(use(n)...), at(n))
	}
	return r, l
}

func TestAsk(t *testing.T) {
	// Two CPUs; the first is as busy in percent as the second's number.
	r, _ := filled(50, func(n int) []uint64 { return []uint64{uint64(n), 10} })
	a := r.ask("agent", time.Second, at(50))
	if a.Error != "" || a.All.Max != 30 || a.All.Min != 5.5 || a.Busiest.Max != 50 || a.Busiest.Min != 10 || !slices.Equal(a.PerCPU, []float64{50, 10}) {
		t.Errorf("got %+v", a)
	}
	if b := r.ask("agent", time.Second, at(50)); fmt.Sprint(b) != fmt.Sprint(a) {
		t.Errorf("asked at once again: %+v, want the same %+v", b, a)
	}
}

// TestClock: a clock that is set forward adds no seconds above 90 %, one that is set back
// takes the samples of its future away.
func TestClock(t *testing.T) {
	r, l := filled(50, func(int) []uint64 { return []uint64{95, 95} })
	for n := range 3 {
		r.add(l.second(95, 95), at(3600+n))
	}
	if a := r.ask("agent", time.Second, at(3602)); a.AllAbove != 3*time.Second || a.BusiestAbove != 3*time.Second {
		t.Errorf("an hour later: above for %s and %s", a.AllAbove, a.BusiestAbove)
	}
	for n := range 3 {
		r.add(l.second(95, 95), at(60+n))
	}
	if a := r.ask("agent", time.Second, at(62)); a.Error != "" || len(r.Samples) != 3 || a.AllAbove != 2*time.Second {
		t.Errorf("an hour earlier: %d samples, %+v", len(r.Samples), a)
	}
}

// TestAskers: an asker gets all since it asked, the last minute at least, whoever
// else asks.
func TestAskers(t *testing.T) {
	r, l := filled(1, func(int) []uint64 { return []uint64{50} })
	if a := r.ask("agent", time.Second, at(1)); a.Error == "" {
		t.Error("one sample is an answer")
	}
	// second n has a use of n % 100
	until := func(from, to int) {
		for n := from; n <= to; n++ {
			r.add(l.second(uint64(n%100)), at(n))
		}
	}
	check := func(asker string, n int, minimum, maximum float64) {
		t.Helper()
		if a := r.ask(asker, time.Second, at(n)); a.Error != "" || a.All.Min != minimum || a.All.Max != maximum {
			t.Errorf("%s at %d: %+v, want %v to %v", asker, n, a, minimum, maximum)
		}
	}
	until(2, 90)
	check("agent", 90, 2, 90) // since second 1, in which it asked
	until(91, 95)
	check("hand", 95, 36, 95)  // the last minute
	check("agent", 95, 36, 95) // the last minute, though it asked 5 s ago
	until(96, 99)
	check("hand", 99, 40, 99)
	until(100, 199)
	check("hand", 199, 0, 99)
	check("agent", 199, 0, 99) // since 95
	until(200, 560)
	check("agent", 560, 0, 99)
	if n := len(r.Samples); n != 360 {
		t.Errorf("%d samples are kept, want 360", n)
	}
	for i := range maxAskers + 5 {
		r.ask(fmt.Sprint(i), time.Second, at(600+i))
	}
	if len(r.Askers) > maxAskers {
		t.Errorf("%d askers are kept", len(r.Askers))
	}
	if _, known := r.Askers["agent"]; known {
		t.Error("the asker of the longest time ago is kept")
	}
}

func TestAbove(t *testing.T) {
	r, _ := filled(10, func(n int) []uint64 { return []uint64{95, uint64(80 + n)} })
	a := r.ask("", time.Second, at(10))
	if a.BusiestAbove != 10*time.Second || a.AllAbove != 5*time.Second { // (95+86)/2 is 90.5
		t.Errorf("busiest %s, all %s", a.BusiestAbove, a.AllAbove)
	}
}

// TestAdd: readings that are special.
func TestAdd(t *testing.T) {
	l := &load{}
	r := newRing(l.second(10), at(0))
	r.add(l.c, at(1)) // no time has passed for the CPUs
	if len(r.Samples) != 0 {
		t.Errorf("a sample of no time: %v", r.Samples)
	}
	r.add(l.second(20), at(2))
	if s := r.Samples[0]; s.All != 20 || s.For != 2e9 {
		t.Errorf("the reading before took its time away: %+v", s)
	}
	r.add(l.second(30, 90), at(3)) // a CPU is switched on
	if s := r.Samples[1]; s.CPUs[0] != 30 || s.CPUs[1] != -1 {
		t.Errorf("a new CPU: %+v", s)
	}
	r.add(l.second(30, 90), at(4))
	if s := r.Samples[2]; s.CPUs[1] != 90 {
		t.Errorf("a new CPU, in its second sample: %+v", s)
	}
	r.add(l.second(30, 90), at(-100)) // the clock was set back
	if len(r.Samples) != 1 || r.Samples[0].For != 0 {
		t.Errorf("the clock was set back: %+v", r.Samples)
	}
}

func TestUsage(t *testing.T) {
	before := ticks{1, 1, 1, 1000, 9, 1, 1, 1}
	for _, tt := range []struct {
		now  ticks
		want float64
	}{
		{ticks{11, 11, 11, 1060, 9, 1, 1, 1}, 100 * 20.0 / 90}, // nice is no use
		{ticks{2, 1, 2, 1000, 10, 2, 2, 2}, 100 * 5.0 / 6},     // irq is none either
		{ticks{11, 1, 1, 1010, 3, 1, 1, 1}, 50},                // iowait goes back
		{ticks{1, 1, 1, 1001, 9, 1, 1, 1}, 0},                  // idle
		{ticks{101, 1, 1, 1000, 9, 1, 1, 1}, 100},              // busy
		{before, math.NaN()},                                   // no time
		{ticks{0, 0, 0, 0, 0, 0, 0, 0}, math.NaN()},            // another machine
	} {
		got, ok := tt.now.usage(before)
		if ok == math.IsNaN(tt.want) || ok && math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%v: %v, %v, want %v", tt.now, got, ok, tt.want)
		}
	}
}

func TestParseStat(t *testing.T) {
	const text = "cpu  10 20 30 40 50 60 70 80 7 7\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu2 9 8 7 6\nintr 5\nctxt 9\n"
	c, err := parseStat([]byte(text))
	if err != nil || c.All != (ticks{10, 20, 30, 40, 50, 60, 70, 80}) || len(c.CPUs) != 3 ||
		c.CPUs[0] != (ticks{1, 2, 3, 4, 5, 6, 7, 8}) || c.CPUs[1] != (ticks{}) || c.CPUs[2] != (ticks{9, 8, 7, 6}) {
		t.Errorf("got %+v, %v", c, err)
	}
	for _, bad := range []string{"", "intr 1\n", "cpu 1 2 3\n", "cpu0 1 2 3 4\n", "cpux 1 2 3 4\ncpu 1 2 3 4\n", "cpu99999999 1 2 3 4\n"} {
		if c, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, c)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("cpu  10 20 30 40 50 60 70 80 7 7\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n"))
	f.Add([]byte("cpu0 1 2 3"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseStat(text)
		if len(c.CPUs) > maxCPUs || err != nil && c.CPUs != nil {
			t.Errorf("%d CPUs, %v", len(c.CPUs), err)
		}
		if v, ok := c.All.usage(ticks{}); ok && (v < 0 || v > 100 || math.IsNaN(v)) {
			t.Errorf("usage %v of %v", v, c.All)
		}
	})
}
