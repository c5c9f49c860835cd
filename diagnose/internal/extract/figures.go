package extract

import (
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// nearEdge is how far from the ends of a step samples are kept: whoever reads a
// counter at an end looks for one within a tick and a half.
const nearEdge = 1500 * time.Millisecond

// figures cuts a recording to what figures of whole steps are made of.
func figures(rec *kasoku.Recording) *kasoku.Recording {
	out := *rec
	out.Endpoints, out.Logs, out.Events, out.Gaps = nil, nil, nil, nil
	out.Seconds = addedUp(rec.Seconds)
	out.Series = slices.Clone(rec.Series)
	for i := range out.Series {
		s := &out.Series[i]
		s.Points = slices.DeleteFunc(slices.Clone(s.Points), func(p kasoku.Point) bool {
			return !slices.ContainsFunc(rec.Steps, func(st kasoku.Step) bool {
				return near(p.At, st.Interval.From) || near(p.At, st.Interval.To)
			})
		})
	}
	return &out
}

func near(a, b time.Duration) bool { return a-b <= nearEdge && b-a <= nearEdge }

// addedUp merges the seconds of each step and target into the first of them.
func addedUp(in []kasoku.LoadSecond) []kasoku.LoadSecond {
	type part struct {
		step   int
		target string
	}
	at := map[part]int{}
	tallies := map[part]*kasoku.Tally{}
	var out []kasoku.LoadSecond
	for i := range in {
		p := part{in[i].Step, in[i].Target}
		if _, ok := at[p]; !ok {
			at[p], tallies[p] = len(out), kasoku.NewTally()
			out = append(out, in[i])
		}
		tallies[p].Add(&in[i])
	}
	for p, i := range at {
		t := tallies[p]
		s := kasoku.LoadSecond{Second: out[i].Second, Step: p.step, Target: p.target, Asked: t.Asked, Codes: t.Codes,
			Errors:  t.Errors,
			BytesIn: t.BytesIn, BytesOut: t.BytesOut, Latency: t.Latency, SendDelay: histogram.New(),
			Service: histogram.New()}
		out[i] = s
	}
	return out
}
