//go:build extract

package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/observe/expvar"
)

// TestConstructClients makes the cases of clients just under a threshold from those that fire:
//
//	go test -tags extract ./diagnose/rules -run TestConstructClients
func TestConstructClients(t *testing.T) {
	f := func(rule, from, how string, change func(*kasoku.Recording)) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("testdata", rule, "fires", from+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		rec, baseline, err := extract.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		change(rec)
		keepExtract(t, rec, baseline, rule, "under/"+from,
			"constructed: from fires/"+from+".txtar by "+how+", with TestConstructClients")
	}
	f("CLI-04", "goldrush-free-dig-by-dig", "scaling the time in which work waits for permits in use to four fifths",
		func(rec *kasoku.Recording) { scaleExpvar(rec, "client", expvar.UseWait, 0.8) })
	f("CLI-05", "goldrush-foot-of-step", "asking for 22, 10 and 5 columns in place of 16, 8 and 4", func(rec *kasoku.Recording) {
		for _, c := range []struct{ from, to int }{{16, 22}, {8, 10}, {4, 5}} {
			place := fmt.Sprintf("operations.explore %d", c.from)
			scaleExpvar(rec, place, expvar.Size, float64(c.to)/float64(c.from))
			for i := range rec.Series {
				if k := &rec.Series[i].Key; k.Source == evidence.SourceExpvar && k.Instance == place {
					k.Instance = fmt.Sprintf("operations.explore %d", c.to)
				}
			}
		}
	})
	f("CLI-09", "goldrush-own", "scaling its CPU to 33 % of a core", func(rec *kasoku.Recording) {
		rec.Run.Command.User, rec.Run.Command.System = rec.Run.Command.Wall*33/100, 0
	})
	f("CLI-13", "goldrush-cash-all", "letting treasures of depth 1 pay 2.3 times as much", func(rec *kasoku.Recording) {
		scaleExpvar(rec, "operations.cash of depth 1", expvar.Gained, 2.3)
	})
}

// scaleExpvar scales what a program published at a place.
func scaleExpvar(rec *kasoku.Recording, place, name string, by float64) {
	for i := range rec.Series {
		s := &rec.Series[i]
		if s.Key.Source != evidence.SourceExpvar || s.Key.Name != name || s.Key.Instance != place {
			continue
		}
		for k := range s.Points {
			s.Points[k].Value *= by
		}
	}
}
