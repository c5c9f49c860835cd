package export

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
)

// Sources that a run has beside those that were sampled.
const (
	SourceLoad   = "load"   // what the generator counted, by the second in which a request was due
	SourceAccess = "access" // what access logs hold, by route
	SourceScore  = "score"  // what the benchmark said, at the end of the run
)

// ofService reports whether a source is about the service rather than of a host.
func ofService(source string) bool {
	return source == SourceLoad || source == SourceAccess || source == SourceScore
}

// Recording hands a whole run to an output, sorted by host, source, metric and entity,
// each series oldest first. It does not close the output.
func Recording(ctx context.Context, rec *kasoku.Recording, form Form, only Selection, out Output) error {
	var buf []Value
	for _, s := range SeriesOf(rec) {
		if !only.Takes(s.Key.Source, s.Key.Name) {
			continue
		}
		err := contain.Do(seriesPart, func() error {
			if buf = appendSeries(buf[:0], &s, form); len(buf) == 0 {
				return nil
			}
			return out.Write(ctx, buf)
		})
		if bug := new(contain.Bug); err != nil && !errors.As(err, &bug) { // the command reports bugs
			return err
		}
	}
	return nil
}

// seriesPart names a series on its way to an output: the others come through.
var seriesPart = contain.Part{Kind: contain.Output, Name: "series"}

// SeriesOf returns all series of a run, those of load and access logs among them,
// sorted. Points are shared with the recording.
func SeriesOf(rec *kasoku.Recording) []kasoku.Series {
	host := ""
	if len(rec.Run.Hosts) > 0 {
		host = rec.Run.Hosts[0].Name
	}
	out := slices.Clone(rec.Series)
	for i := range out {
		if out[i].Key.Host == "" {
			out[i].Key.Host = host
		}
	}
	for _, x := range []struct {
		source string
		make   func(*kasoku.Recording, string) []kasoku.Series
	}{{SourceLoad, loadSeries}, {SourceAccess, accessSeries}} {
		_ = contain.Run(contain.Part{Kind: contain.Output, Name: "series of " + x.source}, func() { out = append(out, x.make(rec, host)...) })
	}
	if sc := rec.Run.Score; sc != nil {
		out = append(out, kasoku.Series{
			Key:    kasoku.Key{Host: host, Source: SourceScore, Name: "score"},
			Points: []kasoku.Point{{At: rec.Run.Length, Value: sc.Value}},
		})
	}
	for i := range out {
		out[i].Key, out[i].Unit = printableKey(out[i].Key), logs.Printable(out[i].Unit)
	}
	sort.SliceStable(out, func(i, j int) bool { return compareKeys(out[i].Key, out[j].Key) < 0 })
	return out
}

// printableKey returns a key without what acts on a terminal: its texts are those of
// processes and servers, and of a file that anybody may have damaged.
func printableKey(k kasoku.Key) kasoku.Key {
	return kasoku.Key{
		Host: logs.Printable(k.Host), Source: logs.Printable(k.Source),
		Name: logs.Printable(k.Name), Instance: logs.Printable(k.Instance),
	}
}

// A collector makes series of values that come in any order of keys.
type collector map[kasoku.Key]*kasoku.Series

func (c collector) add(k kasoku.Key, unit string, at time.Duration, v float64) {
	s := c[k]
	if s == nil {
		s = &kasoku.Series{Key: k, Unit: unit}
		c[k] = s
	}
	s.Points = append(s.Points, kasoku.Point{At: at, Value: v})
}

func (c collector) series() []kasoku.Series {
	out := make([]kasoku.Series, 0, len(c))
	for _, s := range c {
		out = append(out, *s)
	}
	return out
}

// endOf is the time of a second's value: its end, as for rates.
func endOf(second int) time.Duration { return time.Duration(second+1) * time.Second }

// loadSeries are the seconds of the load: of all targets without an entity, and of
// each when there are several.
func loadSeries(rec *kasoku.Recording, host string) []kasoku.Series {
	all := map[int]*kasoku.LoadSecond{}
	targets := map[string]map[int]*kasoku.LoadSecond{}
	add := func(to map[int]*kasoku.LoadSecond, s *kasoku.LoadSecond) {
		if to[s.Second] == nil {
			to[s.Second] = &kasoku.LoadSecond{}
		}
		to[s.Second].Add(s)
	}
	for i := range rec.Seconds {
		s := &rec.Seconds[i]
		add(all, s)
		if targets[s.Target] == nil {
			targets[s.Target] = map[int]*kasoku.LoadSecond{}
		}
		add(targets[s.Target], s)
	}
	c := collector{}
	c.addLoad(host, "", all)
	if len(targets) > 1 {
		for name, seconds := range targets {
			c.addLoad(host, name, seconds)
		}
	}
	return c.series()
}

func (c collector) addLoad(host, entity string, seconds map[int]*kasoku.LoadSecond) {
	for _, n := range slices.Sorted(maps.Keys(seconds)) {
		valuesOfLoad(seconds[n], func(name, unit string, v float64) {
			c.add(kasoku.Key{Host: host, Source: SourceLoad, Name: name, Instance: entity}, unit, endOf(n), v)
		})
	}
}

// accessSeries are the requests of access logs a second: of all routes, and of each.
// From the first to the last request of a route a second without one is a zero,
// since a log is about all.
func accessSeries(rec *kasoku.Recording, first string) []kasoku.Series {
	type count struct{ requests, failed float64 }
	sums := map[kasoku.Key]map[int]count{}
	add := func(host, entity string, e *kasoku.Endpoint) {
		if host == "" {
			host = first
		}
		k := kasoku.Key{Host: host, Source: SourceAccess, Instance: entity}
		if sums[k] == nil {
			sums[k] = map[int]count{}
		}
		for n, s := range e.Seconds {
			now := sums[k][n]
			sums[k][n] = count{now.requests + float64(s.Count), now.failed + float64(s.Failed)}
		}
	}
	for i := range rec.Endpoints {
		e := &rec.Endpoints[i]
		add(e.Host, "", e)
		add(e.Host, e.Method+" "+e.Route, e)
	}
	c := collector{}
	for k, seconds := range sums {
		from, to := math.MaxInt, math.MinInt
		for n := range seconds {
			from, to = min(from, n), max(to, n)
		}
		for n := from; n <= to && len(seconds) > 0; n++ {
			k.Name = "requests"
			c.add(k, "count/s", endOf(n), seconds[n].requests)
			k.Name = "failed"
			c.add(k, "count/s", endOf(n), seconds[n].failed)
		}
	}
	return c.series()
}
