package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// TestGoMeters: what programs in Go publish has lines of its own, in units that people
// read; a pool without waiters has none for that.
func TestGoMeters(t *testing.T) {
	series := func(kind kasoku.Kind, name, instance string, vs ...float64) kasoku.Series {
		s := kasoku.Series{Key: kasoku.Key{Source: "expvar", Name: name, Instance: instance}, Kind: kind}
		for i, v := range vs {
			s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: v})
		}
		return s
	}
	f := func(want string, list ...kasoku.Series) {
		t.Helper()
		d := &Data{seconds: seconds{Rec: &kasoku.Recording{Series: list}}}
		var got []string
		for _, m := range d.goMeters(span{1, 2}) {
			got = append(got, strings.TrimSpace(fmt.Sprint(m.name, " ", m.v[1], " ", m.unit)))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got %s, want %s", s, want)
		}
	}
	f("")
	f("pool in use 5, pool waiting 1.5, go heap 3 MiB, goroutines 9, thread wait p99 4 ms, GC pause 2 ms",
		series(kasoku.Gauge, "InUse", "a:1 db", 1, 1, 2), series(kasoku.Gauge, "InUse", "b:1 db", 1, 1, 3), series(kasoku.Counter, "WaitDuration", "a:1 db", 0, 1, 2.5),
		series(kasoku.Gauge, "HeapAlloc", "a:1 memstats", 0, 0, 3<<20), series(kasoku.Gauge, "/memory/classes/heap/objects:bytes", "a:1 go", 0, 0, 9<<20),
		series(kasoku.Gauge, "/sched/goroutines:goroutines", "a:1 go", 7, 7, 9), series(kasoku.Gauge, "/sched/latencies:seconds.p99", "a:1 go", 0, 0, 0.004),
		series(kasoku.Gauge, "/sched/latencies:seconds.p99", "b:1 go", 0, 0, 0.001), series(kasoku.Gauge, "PauseMax", "a:1 memstats", 0, 0, 0.002))
	f("pool in use 0", series(kasoku.Gauge, "InUse", "db", 0, 0, 0), series(kasoku.Counter, "WaitDuration", "db", 3, 3, 3))
}
