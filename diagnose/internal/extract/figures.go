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
func figures(rec *kasoku.Recording, messages bool) *kasoku.Recording {
	out := *rec
	out.Endpoints, out.Events, out.Gaps = nil, nil, nil
	out.Logs = slices.DeleteFunc(slices.Clone(rec.Logs), func(w kasoku.LogWindow) bool {
		return !messages || w.Kind != "errorlog"
	})
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

// addedUp merges the seconds of each step into the first of them.
func addedUp(in []kasoku.LoadSecond) []kasoku.LoadSecond {
	at := map[int]int{}
	tallies := map[int]*kasoku.Tally{}
	var out []kasoku.LoadSecond
	for i := range in {
		step := in[i].Step
		if _, ok := at[step]; !ok {
			at[step], tallies[step] = len(out), kasoku.NewTally()
			out = append(out, in[i])
		}
		tallies[step].Add(&in[i])
	}
	for step, i := range at {
		t := tallies[step]
		s := kasoku.LoadSecond{Second: out[i].Second, Step: step, Target: out[i].Target, Asked: t.Asked, Codes: t.Codes,
			Expected: t.Expected, Errors: t.Errors, BytesIn: t.BytesIn, BytesOut: t.BytesOut, Latency: t.Latency, SendDelay: histogram.New(),
			Service: histogram.New()}
		out[i] = s
	}
	return out
}
