package merge

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
)

// moved returns a copy of a recording with all its times later by d. Counts of
// whole seconds move by the nearest number of seconds.
func moved(r *kasoku.Recording, d time.Duration) *kasoku.Recording {
	out := *r
	whole := int(math.Round(d.Seconds()))
	out.Steps = each(r.Steps, func(s *kasoku.Step) { s.Interval = later(s.Interval, d) })
	out.Phases = each(r.Phases, func(p *kasoku.Phase) { p.Interval = later(p.Interval, d) })
	out.Seconds = each(r.Seconds, func(s *kasoku.LoadSecond) { s.Second += whole })
	out.Gaps = each(r.Gaps, func(g *kasoku.Gap) { g.Interval = later(g.Interval, d) })
	out.Events = each(r.Events, func(e *kasoku.Event) { e.At += d })
	out.Series = each(r.Series, func(s *kasoku.Series) {
		s.Points = each(s.Points, func(p *kasoku.Point) { p.At += d })
	})
	out.Endpoints = each(r.Endpoints, func(e *kasoku.Endpoint) {
		e.First, e.Last, e.Seconds = e.First+d, e.Last+d, laterSeconds(e.Seconds, whole)
	})
	out.Queries = each(r.Queries, func(q *kasoku.Query) { q.First, q.Last = q.First+d, q.Last+d })
	out.Messages = each(r.Messages, func(m *kasoku.Message) {
		m.First, m.Last, m.Seconds = m.First+d, m.Last+d, laterSeconds(m.Seconds, whole)
	})
	return &out
}

// each returns a copy of the values, changed.
func each[T any](values []T, change func(*T)) []T {
	out := slices.Clone(values)
	for i := range out {
		change(&out[i])
	}
	return out
}

func later(iv kasoku.Interval, d time.Duration) kasoku.Interval {
	return kasoku.Interval{From: iv.From + d, To: iv.To + d}
}

func laterSeconds[V any](m map[int]V, by int) map[int]V {
	if by == 0 || m == nil {
		return maps.Clone(m)
	}
	out := make(map[int]V, len(m))
	for sec, v := range m {
		out[sec+by] = v
	}
	return out
}

// renamed gives all that a host said another name, in place.
func renamed(r *kasoku.Recording, from, to string) {
	host := func(h *string) {
		if *h == from || *h == "" {
			*h = to
		}
	}
	for i := range r.Run.Hosts {
		host(&r.Run.Hosts[i].Name)
	}
	for i := range r.Series {
		host(&r.Series[i].Key.Host)
	}
	for i := range r.Gaps {
		host(&r.Gaps[i].Host)
	}
	for i := range r.Events {
		host(&r.Events[i].Host)
	}
	for i := range r.Changes {
		host(&r.Changes[i].Host)
	}
	for i := range r.Settings {
		host(&r.Settings[i].Host)
	}
	for i := range r.Configs {
		host(&r.Configs[i].Host)
	}
	for i := range r.Logs {
		host(&r.Logs[i].Host)
	}
	for i := range r.Endpoints {
		host(&r.Endpoints[i].Host)
	}
	for i := range r.Queries {
		host(&r.Queries[i].Host)
	}
	for i := range r.Saves {
		host(&r.Saves[i].Host)
	}
	for i := range r.Messages {
		host(&r.Messages[i].Host)
	}
	for i := range r.RowChecks {
		host(&r.RowChecks[i].Host)
	}
}
