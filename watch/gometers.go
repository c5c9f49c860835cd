package watch

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/expvar"
)

// goMeters are of what programs in Go publish. Of several names for one thing the
// first that any of them has is taken. No one waits for a pool as a rule, and then
// there is no line for it.
func (d *Data) goMeters(s span) []meter {
	var out []meter
	add := func(m meter, how func([]*kasoku.Series, int, int) []float64, by float64, names ...string) {
		for _, n := range names {
			if all := d.all(expvar.Name, n); len(all) > 0 {
				if m.v = scale(how(all, s.from, s.to), by); !m.bad || m.top() > 0 {
					out = append(out, m)
				}
				return
			}
		}
	}
	add(meter{name: "pool in use", rank: 6}, d.sum, 1, expvar.InUse)
	// The time that was waited in a second is how many waited, on average.
	add(meter{name: "pool waiting", rank: 6, bad: true}, d.sum, 1, expvar.WaitDuration)
	add(meter{name: "go heap", rank: 7, unit: "MiB"}, d.sum, 1.0/(1<<20), expvar.HeapAlloc,
		expvar.RuntimeHeapObjects)
	add(meter{name: "goroutines", rank: 7}, d.sum, 1, expvar.Goroutines, expvar.RuntimeGoroutines)
	add(meter{name: "thread wait p99", rank: 7, unit: "ms", log: true}, d.most, 1e3, expvar.RuntimeLatencyP99)
	add(meter{name: "GC pause", rank: 8, unit: "ms"}, d.most, 1e3, expvar.PauseMax, expvar.RuntimePauseMax,
		expvar.RuntimeOldPauseMax)
	return out
}
