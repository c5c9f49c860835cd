package carbon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/wire/graphite"
)

// TestRun_Servers: carbon-cache, go-carbon and a relay before a carbon-cache write each point
// that is acknowledged, by every protocol.
func TestRun_Servers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	turn.Wait(t)
	cache := sandboxtest.Carbon(t, sandbox.CarbonOptions{})
	goCarbon := sandboxtest.GoCarbon(t, sandbox.CarbonOptions{})
	relay := sandboxtest.CarbonRelay(t, sandbox.CarbonRelayOptions{Caches: []*sandbox.CarbonServer{cache}})
	for _, x := range []struct {
		name     string
		server   *sandbox.CarbonServer
		addr     string
		protocol graphite.Protocol
	}{
		{"cache-line", cache, cache.LineAddr(), graphite.Line}, {"cache-pickle", cache, cache.PickleAddr(),
			graphite.Pickle},
		{"cache-udp", cache, cache.UDPAddr(), graphite.UDP},
		{"go-line", goCarbon, goCarbon.LineAddr(), graphite.Line}, {"go-pickle", goCarbon, goCarbon.PickleAddr(),
			graphite.Pickle},
		{"relay-line", cache, relay.LineAddr(), graphite.Line}, {"relay-pickle", cache, relay.PickleAddr(),
			graphite.Pickle},
	} {
		o := options(x.addr)
		o.Protocol, o.Names, o.Metrics, o.Agents = x.protocol, Template(x.name+".{agent}.{metric}"), 60, 2
		o.Interval, o.Duration = time.Second, 2*time.Second
		r, err := Run(t.Context(), o)
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		balanced(t, r)
		if r.Total.Sent != 120 || x.protocol != graphite.UDP && r.Total.Acked != 120 {
			t.Errorf("%s: %+v", x.name, r.Total)
		}
		written := func() (n int) {
			dir := filepath.Join(x.server.StorageDir, "whisper", x.name)
			_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
				if err != nil || !strings.HasSuffix(path, ".wsp") {
					return nil // not there yet
				}
				rel, _ := filepath.Rel(dir, path)
				points, err := x.server.Points(x.name + "." + strings.ReplaceAll(strings.TrimSuffix(rel, ".wsp"),
					"/", "."))
				if err != nil {
					t.Fatal(err)
				}
				n += len(points)
				return nil
			})
			return n
		}
		for deadline := time.Now().Add(20 * time.Second); written() < 120 && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
		}
		if n := written(); n != 120 {
			t.Errorf("%s: %d of 120 points are in its files", x.name, n)
		}
	}
}
