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
		e.BySecond = e.BySecond.Shifted(int64(whole))
	})
	out.Queries = each(r.Queries, func(q *kasoku.Query) {
		q.First, q.Last, q.Seconds = q.First+d, q.Last+d, laterSeconds(q.Seconds, whole)
		q.BySecond = q.BySecond.Shifted(int64(whole))
	})
	out.Slowest = each(r.Slowest, func(s *kasoku.SlowRequest) { s.At += d })
	out.Messages = each(r.Messages, func(m *kasoku.Message) {
		m.First, m.Last, m.Seconds = m.First+d, m.Last+d, laterSeconds(m.Seconds, whole)
	})
	out.Joins = each(r.Joins, func(j *kasoku.Join) { j.Interval = later(j.Interval, d) })
	out.LockWaits = each(r.LockWaits, func(l *kasoku.LockWait) { l.First, l.Last = l.First+d, l.Last+d })
	out.Deadlocks = each(r.Deadlocks, func(x *kasoku.Deadlock) { x.At += d })
	out.Profiles = each(r.Profiles, func(p *kasoku.Profile) { p.Interval = later(p.Interval, d) })
	out.Traces = each(r.Traces, func(t *kasoku.Trace) { t.Interval = later(t.Interval, d) })
	out.Service = laterService(r.Service, d)
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

// Claim makes a recording that came from another host one of that host, under a name: it is of no
// other host, whatever it says, and holds no load, which would be whoever's says so.
func Claim(r *kasoku.Recording, name string) {
	if len(r.Run.Hosts) == 0 {
		r.Run.Hosts = []kasoku.Host{{}}
	}
	r.Run.Hosts = r.Run.Hosts[:1]
	r.Run.Command, r.Run.Score = nil, nil
	r.Load, r.Steps, r.Seconds, r.Phases = nil, nil, nil, nil
	renaming{to: name, all: true}.apply(r)
}

// renamed gives all that a host said another name, in place.
func renamed(r *kasoku.Recording, from, to string) { renaming{from: from, to: to}.apply(r) }

func (n renaming) apply(r *kasoku.Recording) {
	rename(n, r.Run.Hosts, func(v *kasoku.Host) *string { return &v.Name })
	rename(n, r.Series, func(v *kasoku.Series) *string { return &v.Key.Host })
	rename(n, r.Gaps, func(v *kasoku.Gap) *string { return &v.Host })
	rename(n, r.Events, func(v *kasoku.Event) *string { return &v.Host })
	rename(n, r.Changes, func(v *kasoku.Change) *string { return &v.Host })
	rename(n, r.Settings, func(v *kasoku.Setting) *string { return &v.Host })
	rename(n, r.Configs, func(v *kasoku.Config) *string { return &v.Host })
	rename(n, r.Logs, func(v *kasoku.LogWindow) *string { return &v.Host })
	rename(n, r.Endpoints, func(v *kasoku.Endpoint) *string { return &v.Host })
	rename(n, r.Queries, func(v *kasoku.Query) *string { return &v.Host })
	rename(n, r.Saves, func(v *kasoku.SaveShape) *string { return &v.Host })
	rename(n, r.Messages, func(v *kasoku.Message) *string { return &v.Host })
	rename(n, r.Slowest, func(v *kasoku.SlowRequest) *string { return &v.Host })
	rename(n, r.Transactions, func(v *kasoku.Transaction) *string { return &v.Host })
	rename(n, r.Plans, func(v *kasoku.Plan) *string { return &v.Host })
	rename(n, r.Tables, func(v *kasoku.TableDef) *string { return &v.Host })
	rename(n, r.Advice, func(v *kasoku.Advice) *string { return &v.Host })
	rename(n, r.Callers, func(v *kasoku.Caller) *string { return &v.Host })
	rename(n, r.Joins, func(v *kasoku.Join) *string { return &v.Host })
	rename(n, r.LockWaits, func(v *kasoku.LockWait) *string { return &v.Host })
	rename(n, r.Deadlocks, func(v *kasoku.Deadlock) *string { return &v.Host })
	rename(n, r.Profiles, func(v *kasoku.Profile) *string { return &v.Host })
	rename(n, r.Traces, func(v *kasoku.Trace) *string { return &v.Host })
	if r.Service != nil {
		rename(n, r.Service.Members, func(v *kasoku.Member) *string { return &v.Host })
	}
	rename(n, r.RowChecks, func(v *kasoku.RowCheck) *string { return &v.Host })
}

type renaming struct {
	from, to string
	all      bool // from any host
}

// rename changes the host of those values that have the old one, or none.
func rename[T any](n renaming, values []T, host func(*T) *string) {
	for i := range values {
		if h := host(&values[i]); n.all || *h == n.from || *h == "" {
			*h = n.to
		}
	}
}
