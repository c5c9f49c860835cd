//go:build extract

package rules

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
)

// TestConstructWeb makes the cases just under a threshold that depend on all that
// goes on on a host, from recorded ones:
//
//	go test -tags extract ./diagnose/rules -run TestConstructWeb
func TestConstructWeb(t *testing.T) {
	f := func(rule, from, how string, change func(rec, baseline *kasoku.Recording)) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("testdata", rule, "fires", from+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		rec, baseline, err := extract.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		change(rec, baseline)
		keepExtract(t, rec, baseline, rule, "under/"+from, "constructed: from fires/"+from+".txtar by "+how+", with TestConstructWeb")
	}
	grown := func(rec *kasoku.Recording, source, name string, to float64) {
		for _, s := range rec.FindAll(source, name) {
			first, last := s.Points[0].Value, s.Points[len(s.Points)-1].Value
			for i := range s.Points {
				s.Points[i].Value = first + (s.Points[i].Value-first)*to/(last-first)
			}
		}
	}
	end := func(rec *kasoku.Recording, source, name string) float64 {
		p := rec.FindAll(source, name)[0].Points
		return p[len(p)-1].Value - p[0].Value
	}
	for _, server := range []string{"mariadb", "mysql"} {
		f("NGX-01", server+"-bare", "counting 0.8 connections a request", func(rec, _ *kasoku.Recording) {
			s := rec.FindAll("host", "tcp.active_opens")[0]
			seconds := (s.Points[len(s.Points)-1].At - s.Points[0].At).Seconds()
			grown(rec, "host", "tcp.active_opens", 0.8*200*min(seconds, 6))
		})
		f("NGX-08", server+"-narrow", "taking the log's lines away and scaling active connections to 33 of 40", func(rec, _ *kasoku.Recording) {
			rec.Messages = nil
			for _, s := range rec.FindAll("nginx", "active") {
				most := 1.0
				for _, p := range s.Points {
					most = max(most, p.Value)
				}
				for i := range s.Points {
					s.Points[i].Value = s.Points[i].Value * 33 / most
				}
			}
		})
		f("NGX-09", server+"-gzip", "scaling its latencies to 11.5 % less than those of the baseline", func(rec, baseline *kasoku.Recording) {
			by := 0.885 * baseline.Tally(0).Latency.Mean().Seconds() / rec.Tally(0).Latency.Mean().Seconds()
			for i := range rec.Seconds {
				rec.Seconds[i].Latency = scaled(rec.Seconds[i].Latency, by)
			}
		})
		f("CCH-02", server+"-passing", "passing 85 % of the requests", func(rec, _ *kasoku.Recording) {
			grown(rec, "varnish", "MAIN.s_pass", 0.85*end(rec, "varnish", "MAIN.client_req"))
		})
		f("APP-03", server+"-self", "making the calls faster until they are 1.9 % of what was traced", func(rec, _ *kasoku.Recording) {
			tr := &rec.Traces[0]
			var all time.Duration
			for _, e := range tr.Endpoints {
				all += e.Time
			}
			for i := range tr.Externals {
				tr.Externals[i].Time = all * 19 / 1000
			}
		})
		f("APP-04", server+"-events-drop", "counting 47 lines of the log", func(rec, _ *kasoku.Recording) {
			for i := range rec.Messages {
				rec.Messages[i].Count = min(rec.Messages[i].Count, 47)
			}
		})
		f("APP-10", server+"-papers-hold", "letting it be 28 % of what is allocated", func(rec, _ *kasoku.Recording) {
			for i := range rec.Profiles {
				p := &rec.Profiles[i]
				for _, x := range p.Functions {
					if x.Name == "io.ReadAll" {
						p.Total = x.Cum * 100 / 28
					}
				}
			}
		})
		f("CCH-06", server+"-passed-memory", "holding 15 MiB at most", func(rec, _ *kasoku.Recording) {
			for i := range rec.Series {
				if s := &rec.Series[i]; s.Key.Name == "SMA.Transient.g_bytes" {
					for k := range s.Points {
						s.Points[k].Value = min(s.Points[k].Value, 15<<20)
					}
				}
			}
		})
		const first = "leaving the requests of its first second"
		f("CCH-05", server+"-kept-over-initialize", first, func(rec, _ *kasoku.Recording) {
			for i := range rec.Endpoints {
				for s := range rec.Endpoints[i].Seconds {
					if s > 0 && rec.Endpoints[i].Method == "GET" {
						delete(rec.Endpoints[i].Seconds, s)
					}
				}
			}
		})
		const less = "making the calls faster until rows stay locked for 1.9 ms each"
		f("LCK-05", server+"-held", less, func(rec, _ *kasoku.Recording) {
			for i := range rec.Traces[0].Externals {
				x := &rec.Traces[0].Externals[i]
				x.LockedTime = time.Duration(x.Locked) * 1900 * time.Microsecond
			}
		})
		f("APP-02", server+"-bare", "starting 9 programs a second", func(rec, _ *kasoku.Recording) {
			grown(rec, "host", "forks", 9*6)
		})
	}
}
