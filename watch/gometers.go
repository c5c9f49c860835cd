package watch

import "github.com/kasoku/kasoku"

// goMeters are of what programs in Go publish. Of several names for one thing the
// first that any of them has is taken. No one waits for a pool as a rule, and then
// there is no line for it.
func (d *Data) goMeters(s span) []meter {
	var out []meter
	add := func(m meter, how func([]*kasoku.Series, int, int) []float64, by float64, names ...string) {
		for _, n := range names {
			if all := d.all("expvar", n); len(all) > 0 {
				if m.v = scale(how(all, s.from, s.to), by); !m.bad || m.top() > 0 {
					out = append(out, m)
				}
				return
			}
		}
	}
	add(meter{name: "pool in use", rank: 6}, d.sum, 1, "InUse")
	// The time that was waited in a second is how many waited, on average.
	add(meter{name: "pool waiting", rank: 6, bad: true}, d.sum, 1, "WaitDuration")
	add(meter{name: "go heap", rank: 7, unit: "MiB"}, d.sum, 1.0/(1<<20), "HeapAlloc",
		"/memory/classes/heap/objects:bytes")
	add(meter{name: "goroutines", rank: 7}, d.sum, 1, "goroutines", "/sched/goroutines:goroutines")
	add(meter{name: "thread wait p99", rank: 7, unit: "ms", log: true}, d.most, 1e3, "/sched/latencies:seconds.p99")
	add(meter{name: "GC pause", rank: 8, unit: "ms"}, d.most, 1e3, "PauseMax", "/sched/pauses/total/gc:seconds.max",
		"/gc/pauses:seconds.max")
	return out
}
