package accesslog

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/routes"
)

// A Row is what the requests of one key add up to. Method and Route are empty
// when they are no part of the key.
type Row struct {
	kasoku.Endpoint
	Key   []string // the values of Options.By
	Waits Waits    // whether the endpoint seems to wait by design
}

// settled is what a table comes to when all its records are there.
type settled struct {
	by     *grouping
	rows   []*row
	routes map[string]string // what became of routes at places with many values
	chosen map[string]bool   // routes with the value of a dispatcher; nil: they may have any
	step   time.Duration
	start  int64  // ns since 1970 of offset 0, when there is no clock
	folded uint64 // requests in the row of others

	bySecond bool // the request times of all seconds are there
}

// settle decides what the rows are.
func (t *Table) settle() *settled {
	if t.final != nil {
		return t.final
	}
	t.refold()
	s := &settled{by: t.by, step: t.rows.step, bySecond: t.opts.Seconds && t.counts.seconds <= mostBySecond}
	s.collapse(&t.rows, t.opts.Limits, t.opts.Routes.Chooses())
	groups := map[string][]*row{}
	t.rows.each(func(w *row) {
		if w.count == 0 { // frequent until its row was there
			return
		}
		key := s.finalKey(w.plainKey())
		groups[key] = append(groups[key], w)
	})
	for key, group := range groups {
		s.rows = append(s.rows, s.sum(key, group))
	}
	slices.SortFunc(s.rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.key, b.key))
	})
	s.bound(t.opts.MaxRoutes)
	s.alignSteps(t.rows.most)
	s.findStart(t.opts.Clock != nil)
	t.final = s
	return s
}

// collapse finds the final names of the routes that get another one because of what the whole log
// says.
func (s *settled) collapse(rows *seriesRows, limits routes.Limits, chooses bool) {
	if s.by.route < 0 {
		return
	}
	index := map[string]int{}
	var seen []routes.Seen
	rows.each(func(w *row) {
		key := w.plainKey()
		from, to, ok := s.by.automatic([]byte(key))
		if !ok || w.count == 0 {
			return
		}
		w.see(seenOf(&seen, index, key[from:to]))
	})
	s.routes = map[string]string{}
	names := routes.Collapse(seen, limits)
	if chooses {
		s.chosen = map[string]bool{}
		names = s.choose(seen, names, limits)
	}
	for i, name := range names {
		if name != seen[i].Route {
			s.routes[seen[i].Route] = name
		}
	}
}

// seenOf returns that of a route, which is made if need be.
func seenOf(seen *[]routes.Seen, index map[string]int, route string) *routes.Seen {
	i, known := index[route]
	if !known {
		i = len(*seen)
		index[route] = i
		*seen = append(*seen, routes.Seen{Route: route, MinBytes: math.MaxUint64})
	}
	return &(*seen)[i]
}

// see adds a row to what is known of its route.
func (w *row) see(s *routes.Seen) {
	s.Count += w.count
	s.Bytes += w.bytes
	for _, c := range w.codes {
		if c.code < 400 || c.code > 499 {
			s.Found += c.count
		}
	}
	s.MinBytes, s.MaxBytes = min(s.MinBytes, w.minBytes), max(s.MaxBytes, w.maxBytes)
	s.Timed += w.timed
	s.Seconds += w.seconds()
	s.Squares += w.squares.seconds()
}

// choose decides which values of dispatchers are endpoints of their own, by the names that routes have
// by their paths, and returns the final ones.
func (s *settled) choose(seen []routes.Seen, names []string, limits routes.Limits) []string {
	index := map[string]int{}
	var sums []routes.Seen
	for i := range seen {
		addSeen(seenOf(&sums, index, names[i]), &seen[i])
	}
	final := routes.Choose(sums, limits)
	for _, name := range final {
		if _, choice := routes.CutChoice(name); choice != "" {
			s.chosen[name] = true
		}
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = final[index[name]]
	}
	return out
}

func addSeen(s, o *routes.Seen) {
	s.Count += o.Count
	s.Found += o.Found
	s.Bytes += o.Bytes
	s.MinBytes, s.MaxBytes = min(s.MinBytes, o.MinBytes), max(s.MaxBytes, o.MaxBytes)
	s.Timed += o.Timed
	s.Seconds += o.Seconds
	s.Squares += o.Squares
}

// finalName returns the final name of a route, which the table may not have.
func (s *settled) finalName(route string) string {
	if name, ok := s.routes[route]; ok {
		return name
	}
	if s.chosen == nil || s.chosen[route] {
		return route
	}
	path, _, _ := strings.Cut(route, "?")
	if name, ok := s.routes[path]; ok {
		return name
	}
	return path
}

// finalKey returns the key with the final name of its route.
func (s *settled) finalKey(key string) string {
	from, to, ok := s.by.automatic([]byte(key))
	if !ok {
		return key
	}
	route := key[from:to]
	name := s.finalName(route)
	if name == route {
		return key
	}
	return key[:from] + name + key[to:]
}

// finalRoute returns the final name of a route as it is in keys.
func (s *settled) finalRoute(route []byte, reg *registry) string {
	if len(route) > 0 && route[0] <= otherMark {
		return string(route[1:])
	}
	return s.finalName(reg.folded(route))
}

// sum adds up the rows of one key, which stay as they are.
func (s *settled) sum(key string, group []*row) *row {
	if len(group) == 1 && group[0].key == key {
		return group[0]
	}
	w := newRow(key, 0)
	for _, o := range group {
		w.merge(o)
	}
	return w
}

// bound puts the rows beyond the most frequent ones into the row of others.
func (s *settled) bound(most int) {
	i := slices.IndexFunc(s.rows, func(w *row) bool { return w.key == otherKey })
	var rest []*row
	if i >= 0 {
		rest = append(rest, s.rows[i])
		s.rows = slices.Delete(s.rows, i, i+1)
	}
	if len(s.rows) > most {
		rest = append(rest, s.rows[most:]...)
		s.rows = s.rows[:most:most]
	}
	if len(rest) > 0 {
		w := s.sum(otherKey, rest)
		s.rows, s.folded = append(s.rows, w), w.count
	}
}

// alignSteps makes all series short enough again, after rows were added up.
func (s *settled) alignSteps(most int) {
	for {
		long := slices.ContainsFunc(s.rows, func(w *row) bool { return len(w.series.buckets) > most })
		next := longerStep(s.step)
		if !long || next == s.step {
			return
		}
		for i, w := range s.rows {
			c := *w
			c.series.buckets = slices.Clone(w.series.buckets)
			c.series.coarsen(s.step, next)
			s.rows[i] = &c
		}
		s.step = next
	}
}

// findStart finds the offset 0 of a log that has no clock: the beginning of the
// step in which the first request was logged.
func (s *settled) findStart(clock bool) {
	if clock {
		return
	}
	first := int64(math.MaxInt64)
	for _, w := range s.rows {
		first = min(first, w.first)
	}
	if first < math.MaxInt64 {
		s.start = floorDiv(first, int64(s.step)) * int64(s.step)
	}
}

// maxShown is how many bytes of a value of a key are shown.
const maxShown = 2 * routes.MaxRoute

func shownValue(value string) string { return string(logs.AppendSafe(nil, []byte(value), maxShown)) }

// row returns a row as others see it. It shares nothing with the table.
func (s *settled) row(w *row) Row {
	e := kasoku.Endpoint{
		Count: w.count, Codes: make(map[int]uint64, len(w.codes)), Bytes: w.bytes,
		Latency: w.histogram(), Squares: w.squares.seconds(), Seconds: w.series.seconds(s.step, s.start),
		MinBytes: w.minBytes, MaxBytes: w.maxBytes, RequestBytes: w.requestBytes,
		Upstream: time.Duration(min(w.upstream, math.MaxInt64)), UpstreamCount: w.upstreams, Bots: w.bots,
	}
	w.detail.fill(&e)
	if s.bySecond {
		e.BySecond = w.series.bySecond.Clone()
	}
	e.Total = e.Latency.Sum()
	if w.first <= w.last {
		e.First, e.Last = time.Duration(w.first-s.start), time.Duration(w.last-s.start)
	}
	for _, c := range w.codes {
		e.Codes[c.code] = c.count
	}
	out := Row{Endpoint: e, Key: s.by.values(w.key), Waits: waitsOf(w)}
	for i, v := range out.Key {
		out.Key[i] = shownValue(v)
	}
	if s.by.method >= 0 {
		out.Method = out.Key[s.by.method]
	}
	if s.by.route >= 0 {
		out.Route = out.Key[s.by.route]
	}
	return out
}

// Rows returns the rows, the one that took the most time first. They share
// nothing with the table.
func (t *Table) Rows() []Row {
	s := t.settle()
	out := make([]Row, 0, len(s.rows))
	for _, w := range s.rows {
		out = append(out, s.row(w))
	}
	slices.SortFunc(out, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Route, b.Route), cmp.Compare(a.Method, b.Method), slices.Compare(a.Key, b.Key))
	})
	return out
}

// Endpoints returns the rows as a run keeps them, in the order of [Table.Rows].
func (t *Table) Endpoints() []kasoku.Endpoint {
	rows := t.Rows()
	out := make([]kasoku.Endpoint, len(rows))
	for i := range rows {
		out[i] = rows[i].Endpoint
	}
	return out
}

// Slowest returns the slowest requests, the slowest first, of equal ones those
// that come first in the logs.
func (t *Table) Slowest() []kasoku.SlowRequest {
	s := t.settle()
	var out []kasoku.SlowRequest
	for _, r := range t.slow.sorted() {
		q := kasoku.SlowRequest{
			Method: shownValue(string(r.method)), Route: shownValue(s.finalRoute(r.route, t.reg)),
			URI: string(logs.AppendSafe(nil, r.uri, maxSlowURI)), Status: r.status,
			Latency: r.latency, Upstream: r.upstream, Bytes: r.bytes,
		}
		if r.stamped {
			q.At = time.Duration(r.at - s.start)
		}
		out = append(out, q)
	}
	return out
}

// Started returns the wall time of offset 0 of a table without a clock; the zero
// time when no record has a time, or there is a clock.
func (t *Table) Started() time.Time {
	if start := t.settle().start; start != 0 {
		return time.Unix(0, start)
	}
	return time.Time{}
}

// Step returns how long the steps of the rows' Seconds are: a second, or more
// when that would be too many.
func (t *Table) Step() time.Duration { return t.settle().step }

// Exact returns the unit to which the quantiles of all rows are exact, 0 when
// some are not and lie within 0.4 % instead.
func (t *Table) Exact() time.Duration {
	for _, w := range t.settle().rows {
		if w.latency != nil {
			if _, ok := w.latency.Exact(); !ok {
				return 0
			}
		} else if _, ok := w.histogram().Exact(); !ok {
			return 0
		}
	}
	return time.Millisecond
}

// By returns what the values of a row's key are.
func (t *Table) By() []string { return slices.Clone(t.by.names) }

// Records returns how many requests were added up.
func (t *Table) Records() uint64 { return t.counts.records }

// Folded returns how many requests are in the row [Other].
func (t *Table) Folded() uint64 { return t.settle().folded }

// Notes describes what a reader of the table has to know.
func (t *Table) Notes() []string {
	var out []string
	add := func(n uint64, one, more string) {
		switch {
		case n == 1:
			out = append(out, "1 "+one)
		case n > 1:
			out = append(out, unit.Count(n)+" "+more)
		}
	}
	where := "outside the run"
	if t.onlyRecent {
		where = "outside the time that was asked for"
	}
	add(t.counts.outside, "entry "+where+" was left out", "entries "+where+" were left out")
	add(t.counts.unwanted, "request was filtered out", "requests were filtered out")
	add(t.counts.untimed, "request has no request time", "requests have no request time")
	add(t.counts.unstamped, "request has no time", "requests have no time")
	other := t.by.other()
	add(t.Folded(), "request was folded into "+other, "requests were folded into "+other)
	if step := t.Step(); step > time.Second {
		out = append(out, fmt.Sprintf("the series are in steps of %s, since the log is long",
			strings.TrimSuffix(step.String(), "0s")))
	}
	for i, name := range t.by.extra {
		if !t.withExtra[i] && t.counts.records > 0 {
			out = append(out, fmt.Sprintf("no line has the key %q", name))
		}
	}
	return out
}
