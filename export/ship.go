// Package export hands what was sampled, of a run file or live, to Graphite, Prometheus,
// Mackerel or a table of text.
//
// The one idea: a run and a live sampler become the same stream of [Value]s, and an
// [Output] takes them. [Recording] reads a run, series by series; [Live] is a sink of
// package observe and hands on each frame at once, as a tick's values. An output that
// may wait is wrapped in an [Async], so that the sampler never does: what it cannot
// take is dropped and counted.
//
// # Names
//
// A value has a host, a source, a metric and, where there are several of its kind, an
// entity: web1, host, disk.read_bytes, vda. A counter is given as its growth a second
// since the reading before, in its unit a second, or with [Raw] as it was read, under
// its name with _total. So the same name never means two things, at one place or
// another. See docs/export.md for each form.
//
// # Clock
//
// A value's time is the run's wall start plus its offset on the run's clock, which is
// monotonic. A rate has the time of its later reading; after a gap it covers the gap.
package export

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/sources"
)

// A Form is what becomes of counters.
type Form int

// The forms.
const (
	Rates Form = iota // growth a second
	Raw               // as they were read
)

// A Value is one value of one series.
type Value struct {
	Key   kasoku.Key
	Kind  kasoku.Kind // Counter only with Raw
	Unit  string      // of the value: bytes, bytes/s
	At    time.Duration
	Value float64
}

// rawSuffix distinguishes a counter as it was read from its rate.
const rawSuffix = "_total"

// Metric returns the name without host, source and entity.
func (v *Value) Metric() string {
	if v.Kind == kasoku.Counter {
		return v.Key.Name + rawSuffix
	}
	return v.Key.Name
}

// An Output takes values. Of each series they come oldest first. The slice is the
// caller's again when Write returns.
type Output interface {
	Write(ctx context.Context, values []Value) error
	// Close hands on what is kept back, until ctx ends.
	Close(ctx context.Context) error
}

// perSecond is the unit of a rate.
func perSecond(unit string) string {
	if unit == "" {
		return "1/s"
	}
	return unit + "/s"
}

// A Selection defines which series are exported: those that match one of its patterns.
// A pattern is a source, or source.metric, with * and ? for parts of either: host,
// mysql.Threads_*, *.cpu.*. The empty selection takes all.
type Selection []string

// Validate refuses patterns that match nothing whatever.
func (s Selection) Validate() error {
	for _, p := range s {
		if _, err := path.Match(p, ""); err != nil {
			return err
		}
	}
	return nil
}

// Takes reports whether a series is exported.
func (s Selection) Takes(source, metric string) bool {
	if len(s) == 0 {
		return true
	}
	for _, p := range s {
		if whole(p, source) || whole(p, source+"."+metric) {
			return true
		}
	}
	return false
}

// Unmatched returns the patterns that take none of these series.
func (s Selection) Unmatched(all []kasoku.Key) (out []string) {
	for _, p := range s {
		only := Selection{p}
		if !slices.ContainsFunc(all, func(k kasoku.Key) bool { return only.Takes(k.Source, k.Name) }) {
			out = append(out, p)
		}
	}
	return out
}

// mostNear bounds how many names are listed that may have been meant.
const mostNear = 5

// Near lists what may have been meant by a pattern that takes none of these series:
// names like it, the nearest first, else those that hold its metric, else the sources.
func Near(pattern string, all []kasoku.Key) []string {
	var names, metrics []string
	for _, k := range all {
		names = append(names, k.Source)
		metrics = append(metrics, k.Source+"."+k.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	slices.Sort(metrics)
	metrics = slices.Compact(metrics)
	near := unit.Nearby(pattern, slices.Concat(names, metrics), mostNear)
	source, metric, _ := strings.Cut(strings.Trim(pattern, "*?"), ".")
	if len(near) == 0 && slices.Contains(names, source) {
		of := slices.DeleteFunc(slices.Clone(metrics), func(m string) bool { return !strings.HasPrefix(m, source+".") })
		return of[:min(mostNear, len(of))]
	}
	if len(near) == 0 {
		if s, ok := unit.Nearest(source, names); ok && metric != "" {
			near = unit.Nearby(s+"."+metric, metrics, mostNear)
		}
	}
	if word := strings.ToLower(strings.Trim(cmp.Or(metric, source), "*?")); len(near) == 0 && word != "" {
		for _, m := range metrics {
			if strings.Contains(strings.ToLower(m), word) && len(near) < mostNear {
				near = append(near, m)
			}
		}
	}
	if len(near) == 0 {
		return names
	}
	return near
}

// KeysOf returns the keys of all series of a run.
func KeysOf(rec *kasoku.Recording) (out []kasoku.Key) {
	for _, s := range SeriesOf(rec) {
		out = append(out, s.Key)
	}
	return out
}

// LiveKeys returns what is known of the series of these sources before they are read,
// those of a load among them, and which of the sources name further ones.
func LiveKeys(names []string) (keys []kasoku.Key, open []string) {
	for _, d := range sources.All() {
		if !slices.Contains(names, d.SourceName()) {
			continue
		}
		for _, s := range d.Signals {
			keys = append(keys, kasoku.Key{Source: d.SourceName(), Name: s.Key})
		}
		if d.Open {
			open = append(open, d.SourceName())
		}
	}
	one := &kasoku.LoadSecond{Latency: histogram.New()}
	one.Latency.Record(time.Millisecond)
	valuesOfLoad(one, func(name, _ string, _ float64) {
		keys = append(keys, kasoku.Key{Source: SourceLoad, Name: name})
	})
	return keys, open
}

// Concerns reports whether a pattern may take series of that source.
func Concerns(pattern, source string) bool {
	first, _, _ := strings.Cut(pattern, ".")
	return whole(first, source)
}

// whole matches slashes as any other character; a metric may have some.
func whole(pattern, s string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x01"), strings.ReplaceAll(s, "/", "\x01"))
	return ok && err == nil
}

// wall is a time of the run's clock by the wall. It has no monotonic reading, so that
// it prints as it was.
func wall(start time.Time, at time.Duration) time.Time { return start.Round(0).Add(at) }

// second is the whole second that a value belongs to, for who keeps one a second.
// Start and offset are rounded apart: so ticks of a second, each read some ms late, do
// not meet in one second and leave out the next.
func second(start time.Time, at time.Duration) int64 {
	return start.Round(time.Second).Unix() + int64(at.Round(time.Second)/time.Second)
}
