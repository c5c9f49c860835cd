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
// A cache that keeps up holds up to a second of what came, now more and now less, so some percent
// of either sign are no loss.
func Figures(r *kasoku.Recording) []float64 {
	half := r.Run.Length / 2
	in := rateOf(r, half, graphite.MetricsReceived, graphite.TCPMetricsReceived, graphite.UDPMetricsReceived,
		graphite.PickleMetricsReceived)
	out := rateOf(r, half, graphite.CommittedPoints, graphite.PersisterCommittedPoints)
	if in <= 0 {
		return []float64{writeup.Missing, writeup.Missing, writeup.Missing}
	}
	created := 0.0
	for _, name := range []string{graphite.Creates, graphite.PersisterCreated} {
		for _, s := range r.FindAll(graphite.Name, name) {
			for _, p := range s.Points {
				created += p.Value
			}
		}
	}
	return []float64{100 * out / in, created, in}
}

// rateOf is what all caches count each second from then on.
func rateOf(r *kasoku.Recording, from time.Duration, names ...string) (rate float64) {
	for _, name := range names {
		for _, s := range r.FindAll(graphite.Name, name) {
			if !strings.HasPrefix(s.Key.Instance, "agents.") {
				continue // a relay passes on what a cache counts
			}
			sum, n := 0.0, 0
			for _, p := range s.Points {
				if p.At >= from {
					sum, n = sum+p.Value, n+1
				}
			}
			rate += sum / float64(max(n, 1)) / ReportEvery.Seconds()
		}
	}
	return rate
}
