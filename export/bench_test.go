package export

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/wire/graphite"
)

// BenchmarkLive is one frame of 1,000 samples, half of them counters, on its way to an
// output.
func BenchmarkLive(b *testing.B) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	carbon := func() Output {
		c, err := NewCarbon(CarbonOptions{Options: graphite.Options{Address: server.LocalAddr().String(), Protocol: graphite.UDP}, Start: started, Drop: true})
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	for _, bench := range []struct {
		name string
		out  Output
		only Selection
	}{
		{"to=carbon", carbon(), nil},
		{"to=carbon/only=8", carbon(), Selection{"host.cpu.*", "mysql.Threads_*", "a", "b", "c.*", "d.*", "e.*", "process.*"}},
		{"to=page", NewPage("web1", time.Now(), time.Minute, nil), nil},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			live := NewLive(LiveOptions{Output: bench.out, Only: bench.only})
			f := &kasoku.Frame{Host: "web1", Source: "process"}
			for i := range 500 {
				f.Counter("cpu.user", fmt.Sprint(i, " app"), "s", float64(i))
				f.Gauge("rss", fmt.Sprint(i, " app"), "bytes", float64(i))
			}
			for b.Loop() {
				f.At += time.Second
				if err := live.Frame(f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
