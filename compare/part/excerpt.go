package part

import (
	"sort"
	"time"

	"github.com/kasoku/kasoku"
)

// excerpt returns the load of an interval of a run, and what happened, as a run whose clock begins with it.
func excerpt(rec *kasoku.Recording, iv kasoku.Interval) *kasoku.Recording {
	out := &kasoku.Recording{
		Run: rec.Run, Load: rec.Load, Settings: rec.Settings, Service: rec.Service,
		Warnings: rec.Warnings, Damage: rec.Damage,
	}
	out.Run.Started, out.Run.Length = rec.Run.Started.Add(iv.From), iv.Len()
	out.Run.Score, out.Run.Command = nil, nil // they are of the whole
	out.Run.State, out.Run.StopReason = kasoku.Finished, ""
	first, end := int(iv.From/time.Second), int(iv.To/time.Second)
	for i := range rec.Seconds {
		if s := rec.Seconds[i]; s.Second >= first && s.Second < end {
			s.Second -= first
			out.Seconds = append(out.Seconds, s)
		}
	}
	out.Steps = clipped(rec.Steps, iv, func(s *kasoku.Step) *kasoku.Interval { return &s.Interval })
	out.Phases = clipped(rec.Phases, iv, func(p *kasoku.Phase) *kasoku.Interval { return &p.Interval })
	out.Gaps = clipped(rec.Gaps, iv, func(g *kasoku.Gap) *kasoku.Interval { return &g.Interval })
	for _, e := range rec.Events {
		if iv.Contains(e.At) {
			e.At -= iv.From
			out.Events = append(out.Events, e)
		}
	}
	return out
}

// charted completes an excerpt by what was sampled, and the counts of endpoints.
func charted(out, rec *kasoku.Recording, iv kasoku.Interval) *kasoku.Recording {
	out.Series = seriesIn(rec.Series, iv)
	for i := range rec.Endpoints {
		e := countsIn(&rec.Endpoints[i], int(iv.From/time.Second), int(iv.To/time.Second))
		if len(e.Seconds) > 0 {
			out.Endpoints = append(out.Endpoints, e)
		}
	}
	return out
}

// countsIn returns an endpoint with nothing but its counts by the second, for charts.
func countsIn(e *kasoku.Endpoint, first, end int) kasoku.Endpoint {
	out := kasoku.Endpoint{Host: e.Host, Method: e.Method, Route: e.Route, Seconds: map[int]kasoku.EndpointSecond{}}
	eachIn(e.Seconds, first, end, func(s int, n kasoku.EndpointSecond) { out.Seconds[s-first] = n })
	return out
}

// clipped returns what of things that last lies in an interval, on its clock.
func clipped[T any](all []T, iv kasoku.Interval, of func(*T) *kasoku.Interval) (out []T) {
	for _, x := range all {
		at := of(&x)
		*at = kasoku.Interval{From: max(at.From, iv.From) - iv.From, To: min(at.To, iv.To) - iv.From}
		if !at.Empty() {
			out = append(out, x)
		}
	}
	return out
}

// seriesIn returns the points of an interval. A counter keeps the last point before it and the first one after it,
// too, with offsets outside of it: what it grew in the seconds at both ends lies between these.
func seriesIn(all []kasoku.Series, iv kasoku.Interval) (out []kasoku.Series) {
	for _, s := range all {
		first := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].At >= iv.From })
		end := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].At > iv.To })
		if first == end {
			continue
		}
		if s.Kind == kasoku.Counter {
			first, end = max(0, first-1), min(len(s.Points), end+1)
		}
		points := s.Points[first:end]
		s.Points = make([]kasoku.Point, len(points))
		for i, p := range points {
			s.Points[i] = kasoku.Point{At: p.At - iv.From, Value: p.Value}
		}
		out = append(out, s)
	}
	return out
}
