package load

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkRecorder counts in the batches that engines report, with a look at the
// totals four times a second, at 20,000 a second.
func BenchmarkRecorder(b *testing.B) {
	for _, c := range []struct{ targets, batch int }{{1, 64}, {1, 1}, {16, 64}} {
		b.Run(fmt.Sprintf("targets=%d/batch=%d", c.targets, c.batch), func(b *testing.B) {
			var p Plan
			for i := range c.targets {
				p.Targets = append(p.Targets, Target{Method: "GET", URL: fmt.Sprintf("http://a/%d", i)})
			}
			r := NewRecorder(p, 0)
			hits := make([]Hit, c.batch)
			var n uint64
			b.ReportAllocs()
			for b.Loop() {
				for i := range hits {
					h := &hits[i]
					h.N, h.Step, h.Target, h.Code = n, 1, int(n)%c.targets, 200
					h.Due = time.Duration(n) * 50 * time.Microsecond
					h.Sent = h.Due + 10*time.Microsecond
					h.Done = h.Due + h.Due%7919*100
					n++
				}
				r.Hits(hits)
				if n%5000 < uint64(c.batch) {
					r.Live(hits[0].Due)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/hit")
		})
	}
}
