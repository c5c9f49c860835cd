package carbon

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/wire/graphite"
)

// BenchmarkEncode is what a point costs before it is written.
func BenchmarkEncode(b *testing.B) {
	for _, p := range []graphite.Protocol{graphite.Line, graphite.Pickle} {
		b.Run("protocol="+string(p), func(b *testing.B) {
			e := encoder{name: Template("haggar.agent.{agent}.metrics.{metric}").ofAgent(7), random: 1}
			buf := make([]byte, 0, 2*mostBuffer)
			const n = 10_000
			b.ReportAllocs()
			for b.Loop() {
				for e.begin(0, n, 1_795_163_619, 1); e.left > 0; {
					buf, _ = e.appendPoints(buf[:0], p, mostBuffer)
				}
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds()/1e6, "Mmetrics/s")
		})
	}
}

// BenchmarkRun is a load over loopback, as fast as a sink in this process takes it: CPU is
// that of both.
func BenchmarkRun(b *testing.B) {
	for _, p := range []graphite.Protocol{graphite.Line, graphite.Pickle} {
		b.Run("protocol="+string(p), func(b *testing.B) {
			s := newSink(b, func(conn net.Conn) {
				_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{conn}, make([]byte, 1<<18))
			})
			o := Options{Address: s.addr(), Protocol: p, Names: "haggar.agent.{agent}.metrics.{metric}", Agents: 1,
				Metrics:  40_000_000,
				Interval: time.Second, Duration: time.Second}
			var sent uint64
			began := load.CPUTime()
			for b.Loop() {
				r, err := Run(b.Context(), o)
				if err != nil {
					b.Fatal(err)
				}
				sent += r.Total.Sent
			}
			b.ReportMetric(float64(sent)/(load.CPUTime()-began).Seconds()/1e6, "Mmetrics/cpu-s")
		})
	}
}
