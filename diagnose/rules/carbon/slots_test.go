package carbon

import (
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/observe/graphite"
)

// lookedAt adds what the slots of files of a retention have at the last look.
func lookedAt(r *kasoku.Recording, retention string, files, apart, period, step, number float64) {
	for name, v := range map[string]float64{graphite.SlotsLooked: files, graphite.SlotsApart: apart,
		graphite.SlotsPeriod: period, graphite.SlotsStep: step, graphite.SlotsNumber: number} {
		r.Series = append(r.Series, kasoku.Series{Key: kasoku.Key{Host: "h", Source: graphite.Name, Name: name,
			Instance: retention}, Points: []kasoku.Point{{At: 9 * time.Second}, {At: 29 * time.Second, Value: v}}})
	}
}

func TestFineSlots(t *testing.T) {
	f := func(name string, make func(*kasoku.Recording), want ...string) {
		t.Helper()
		r := &kasoku.Recording{}
		make(r)
		var got []string
		found, silent := FineSlots{}.Check(diagnose.NewCase(r, nil))
		for _, x := range found {
			got = append(got, x.Object.Name+" "+x.Fixes[0].Code)
		}
		if !slices.Equal(got, want) || len(found)+len(silent) == 0 {
			t.Errorf("%s: %q, want %q; %v", name, got, want, silent)
		}
	}
	f("ten times", func(r *kasoku.Recording) { lookedAt(r, "1s:1h", 100, 100, 10, 1, 3600) },
		"1s:1h retentions = 10s:1h")
	f("each of two retentions", func(r *kasoku.Recording) {
		lookedAt(r, "1s:1h", 40, 40, 10, 1, 3600)
		lookedAt(r, "10s:1d,1m:7d", 60, 50, 60, 10, 8640)
		lookedAt(r, "10s:1h", 60, 0, 0, 10, 360)
	}, "10s:1d,1m:7d retentions = 1m:1w", "1s:1h retentions = 10s:1h")
	f("a file that holds less than a point", func(r *kasoku.Recording) { lookedAt(r, "1s:5s", 10, 10, 7, 1, 5) },
		"1s:5s retentions = 7s:7s")
	f("coarser ones that stay", func(r *kasoku.Recording) { lookedAt(r, "1s:1h,10s:6h,1m:7d", 10, 10, 10, 1, 3600) },
		"1s:1h,10s:6h,1m:7d retentions = 10s:6h,1m:7d")
	f("coarser ones that are no multiples", func(r *kasoku.Recording) {
		lookedAt(r, "1s:1h,1m:7d", 10, 10, 7, 1,
			3600)
	},
		"1s:1h,1m:7d retentions = 7s:3598s")
	f("points are lost", func(r *kasoku.Recording) {
		lookedAt(r, "1s:1h", 100, 100, 10, 1, 3600)
		healthy(r, "agents.h-a")
		reported(r, "agents.h-a", graphite.CacheOverflow, 0, 7, 0, 0, 0)
	})
	f("most in each slot", func(r *kasoku.Recording) { lookedAt(r, "1s:1h", 100, 49, 10, 1, 3600) })
	f("few files", func(r *kasoku.Recording) { lookedAt(r, "1s:1h", 9, 9, 10, 1, 3600) })
	f("less than two slots", func(r *kasoku.Recording) { lookedAt(r, "10s:1h", 100, 60, 15, 10, 360) })
	f("none", func(*kasoku.Recording) {})
	f("no step", func(r *kasoku.Recording) { lookedAt(r, "?", 100, 60, 15, 0, 360) })
}

// TestReported: what go-carbon counts by protocol is added up by report, and reports after the load are not of it.
func TestReported(t *testing.T) {
	r := &kasoku.Recording{}
	reported(r, "agents.h", graphite.TCPMetricsReceived, 100, 500, 500, 500, 500, 200, 0, 0)
	reported(r, "agents.h", graphite.UDPMetricsReceived, 1, 2, 3, 4, 5, 6, 0, 0)
	udp := &r.Series[1]
	udp.Points = slices.Delete(udp.Points, 3, 4) // that report was not seen of it
	for i := range udp.Points {
		udp.Points[i].At += time.Second
	}
	all, err := serversOf(diagnose.NewCase(r, nil), fewReports)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if got, want := all[0].values(received), []float64{503, 500, 505}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if s := all[0].loaded; s.From != 15*time.Second || s.To != 25*time.Second {
		t.Errorf("loaded %v", s)
	}
}
