//go:build extract

package rules

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/graphite"
)

// TestConstructCarbon makes the cases of carbon just under a threshold that no load reaches
// alike each time:
//
//	go test -tags extract ./diagnose/rules -run TestConstructCarbon
func TestConstructCarbon(t *testing.T) {
	f := func(rule, from, how string, change func(*kasoku.Recording)) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("testdata", rule, filepath.FromSlash(from)+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		rec, baseline, err := extract.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		change(rec)
		keepExtract(t, rec, baseline, rule, "under/"+filepath.Base(from),
			"constructed: from "+from+".txtar by "+how+", with TestConstructCarbon")
	}
	f("TS-03", "fires/carbon-core", "taking 3 % of the server's CPU away", func(rec *kasoku.Recording) {
		for _, s := range rec.FindAll(graphite.Name, graphite.CpuUsage) {
			for i := range s.Points {
				s.Points[i].Value = min(s.Points[i].Value, 0.97) * 0.97
			}
		}
	})
	f("TS-04", "fires/carbon-shared", "taking a quarter of the time of writes away", func(rec *kasoku.Recording) {
		for _, s := range rec.FindAll(graphite.Name, graphite.AvgUpdateTime) {
			for i := range s.Points {
				s.Points[i].Value *= 0.75
			}
		}
	})
	f("TS-07", "fires/carbon-fine", "letting 45 of 100 files have empty slots", func(rec *kasoku.Recording) {
		for _, s := range rec.FindAll(graphite.Name, graphite.SlotsApart) {
			for i := range s.Points {
				s.Points[i].Value *= 0.45
			}
		}
	})
	f("TS-05", "silent/carbon-off", "letting the load grow by 1.8 % a minute for 80 s", func(rec *kasoku.Recording) {
		const rate, slope = 10_000, 0.018 / 60
		for _, s := range rec.FindAll(expvar.Name, expvar.Due) {
			s.Points = s.Points[:0]
			for i := range 80 {
				at := float64(i)
				s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second,
					Value: rate * (at + slope*at*at/2)})
			}
		}
	})
}
