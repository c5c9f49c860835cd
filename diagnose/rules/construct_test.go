//go:build extract

package rules

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/diagnose/rules/host"
	"github.com/kasoku/kasoku/internal/histogram"
)

// TestConstructCases makes the cases just under a threshold that no run can be
// made to hit, from recorded ones: how late a generator is, and how much faster
// one run happens to be than another, cannot be set.
//
//	go test -tags extract ./diagnose/rules -run TestConstructCases
func TestConstructCases(t *testing.T) {
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
		keepExtract(t, rec, baseline, rule, "under/"+from, "constructed: from fires/"+from+".txtar by "+how+", with TestConstructCases")
	}
	for _, server := range []string{"mariadb", "mysql"} {
		f("HW-05", server+"-one-core", "sending requests in time but for 28 % of their latency", func(rec, _ *kasoku.Recording) {
			for i := range rec.Seconds {
				s := &rec.Seconds[i]
				s.SendDelay, s.Service = scaled(s.Latency, 0.28), scaled(s.Latency, 0.72)
			}
		})
		f("POOL-03", server+"-idle-10000", "scaling its latencies to 11.5 % less than those of the baseline", func(rec, baseline *kasoku.Recording) {
			by := 0.885 * baseline.Tally(0).Latency.Mean().Seconds() / rec.Tally(0).Latency.Mean().Seconds()
			for i := range rec.Seconds {
				rec.Seconds[i].Latency = scaled(rec.Seconds[i].Latency, by)
			}
		})
		f("OPS-02", server+"-slow", "allowing initialize so much that it takes 72 % of it", func(rec, _ *kasoku.Recording) {
			p, _ := evidence.InitializeOf(diagnose.NewCase(rec, nil))
			for i := range rec.Settings {
				if s := &rec.Settings[i]; s.Name == "initialize.limit" {
					s.Value = time.Duration(float64(p.Interval.Len()) / 0.72).Round(time.Millisecond).String()
				}
			}
		})
		f("OPS-11", server+"-few-days", "counting a quarter more requests after the last level",
			func(rec, _ *kasoku.Recording) {
				last := 0
				for _, e := range rec.Events {
					if e.Kind == kasoku.EventLevel {
						last = int(e.At / time.Second)
					}
				}
				for i := range rec.Endpoints {
					for s, n := range rec.Endpoints[i].Seconds {
						if s > last {
							n.Count *= 5
						} else {
							n.Count *= 4
						}
						rec.Endpoints[i].Seconds[s] = n
					}
				}
			})
		f("HW-10", server+"-taken", "scaling the host's memory so that 4.6 % of it is taken", func(rec, _ *kasoku.Recording) {
			found, _ := host.MemoryBeside{}.Check(diagnose.NewCase(rec, nil))
			for _, s := range rec.FindAll("host", "mem.total") {
				for i := range s.Points {
					s.Points[i].Value = math.Floor(found[0].Evidence[1].Number / 0.046)
				}
			}
		})
		f("HW-06", server+"-no-memory", "taking the log's lines away, and scaling the memory that was available so that the least is 5.6 % of the host's", func(rec, _ *kasoku.Recording) {
			rec.Messages = nil
			total, free := rec.FindAll("host", "mem.total")[0], rec.FindAll("host", "mem.available")[0]
			least := total.Points[0].Value
			for _, p := range free.Points {
				least = min(least, p.Value)
			}
			for i := range free.Points {
				free.Points[i].Value = math.Floor(free.Points[i].Value * 0.056 * total.Points[0].Value / least)
			}
		})
	}
}

// scaled returns the histogram with all values times the factor.
func scaled(h *histogram.Histogram, by float64) *histogram.Histogram {
	out := histogram.New()
	h.Each(func(lo, hi time.Duration, n uint64) { out.RecordN(time.Duration(by*float64(lo+hi)/2), n) })
	return out
}
