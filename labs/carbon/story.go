package carbon

import (
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/labs/writeup"
	"github.com/kasoku/kasoku/observe/graphite"
)

// Story is the write-up: one hour a step there, with 3.6 million points a minute offered on four
// cores and a disk of 5,000 operations a second. Its rates are another machine's; what of the
// points that were received was written is not.
func Story() *writeup.Story {
	none := writeup.Missing
	return &writeup.Story{
		Lab: Name, About: "a server that throws away nearly all, on an idle host",
		Figures: []writeup.Figure{
			{Key: "written_percent", Name: "written of received", Unit: "%"},
			{Key: "series_created", Name: "series created"},
			{Key: "received_per_s", Name: "received", Unit: "/s"},
		},
		Steps: []writeup.Step{
			{Name: Initial, Did: "carbon.conf as it is shipped", Author: []float64{0.5, none, 33_300}},
			{Name: LimitsOff, Saw: "one of four cores in use and 10 to 60 operations of the disk a second: a setting limits",
				Did:     "MAX_UPDATES_PER_SECOND = inf, MAX_CREATES_PER_MINUTE = inf",
				Against: []string{Initial}, Author: []float64{100}},
			{Name: Caches, Saw: "some iowait, 2,000 to 3,000 operations of the disk a second",
				Did:     "four caches after a relay that hashes, two here (control; no gain: the disk was at its limit)",
				Against: []string{LimitsOff}, Author: []float64{100}},
			{Name: GoCarbon, Did: "go-carbon in its place (not of the write-up)", Against: []string{LimitsOff},
				Expect: writeup.Same},
		},
	}
}

// Figures are those of the story, of a recorded run: of its second half what was written of what
// was received, since at its beginning files are made; of all of it the series that were created.
// What a cache holds is written until the run ends, which goes on after its load ([Settle]); what it held when the half
// began is up to a second of what came, so that some percent more is no gain.
func Figures(r *kasoku.Recording) []float64 {
	half := (r.Run.Length - Settle) / 2
	in, intervals := countOf(r, half, graphite.MetricsReceived, graphite.TCPMetricsReceived,
		graphite.UDPMetricsReceived, graphite.PickleMetricsReceived)
	out, _ := countOf(r, half, graphite.CommittedPoints, graphite.PersisterCommittedPoints)
	if in <= 0 {
		return []float64{writeup.Missing, writeup.Missing, writeup.Missing}
	}
	created, _ := countOf(r, 0, graphite.Creates, graphite.PersisterCreated)
	return []float64{100 * out / in, created, in / intervals / ReportEvery.Seconds()}
}

// countOf is what all caches counted from then on, and in how many intervals, those after the load left out.
func countOf(r *kasoku.Recording, from time.Duration, names ...string) (sum, intervals float64) {
	byServer := map[string]float64{}
	for _, name := range names {
		for _, s := range r.FindAll(graphite.Name, name) {
			if !strings.HasPrefix(s.Key.Instance, "agents.") {
				continue // a relay passes on what a cache counts
			}
			most := 0.0
			for _, p := range s.Points {
				most = max(most, p.Value)
			}
			n := 0.0
			for _, p := range s.Points {
				switch {
				case p.At < from:
					continue
				case p.Value > most/2:
					n++
				case p.Value > 0 && most > 0:
					n += p.Value / most // the load began or ended in it
				}
				sum += p.Value
			}
			byServer[s.Key.Instance] = max(byServer[s.Key.Instance], n)
		}
	}
	for _, n := range byServer {
		intervals = max(intervals, n)
	}
	return sum, max(intervals, 1)
}
