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
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

// A Form says what becomes of counters.
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

// A Selection says which series are exported: those that match one of its patterns.
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

// Unmatched returns the patterns that take no series of a run.
func (s Selection) Unmatched(rec *kasoku.Recording) (out []string) {
	if len(s) == 0 {
		return nil
	}
	all := SeriesOf(rec)
	for _, p := range s {
		only := Selection{p}
		if !slices.ContainsFunc(all, func(x kasoku.Series) bool { return only.Takes(x.Key.Source, x.Key.Name) }) {
			out = append(out, p)
		}
	}
	return out
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
