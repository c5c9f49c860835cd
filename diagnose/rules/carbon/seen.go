package carbon

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/graphite"
)

// fewReports is how many reports of a server say something of a rate.
const fewReports = 3

// mostSlack is how much later than others a report's values may be seen.
const mostSlack = 30 * time.Second

// mostServers bounds how many are looked at: names are what servers call themselves.
const mostServers = 100

// errNone is said where there is no such server.
var errNone = errors.New("no carbon reports of itself")

// A count is what a server counts, under carbon's name or go-carbon's.
type count []string

var (
	received = count{graphite.MetricsReceived, graphite.TCPMetricsReceived, graphite.UDPMetricsReceived,
		graphite.PickleMetricsReceived}
	committed = count{graphite.CommittedPoints, graphite.PersisterCommittedPoints}
	writeTime = count{graphite.AvgUpdateTime}
	updates   = count{graphite.UpdateOperations, graphite.PersisterUpdateOperations}
	created   = count{graphite.Creates, graphite.PersisterCreated}
	dropped   = count{graphite.DroppedCreates, graphite.PersisterThrottledCreates}
	cached    = count{graphite.CacheSize}
	waiting   = count{graphite.CacheQueues, graphite.CacheMetrics}
	overflow  = count{graphite.CacheOverflow}
	cpu       = count{graphite.CpuUsage}
	memory    = count{graphite.MemUsage}
)

// A server is one carbon-cache or go-carbon as it reports of itself: a value each interval,
// of the interval before it.
type server struct {
	c        *diagnose.Case
	host     string // whose recording has it
	name     string // agents.web1-a
	ofGo     bool
	interval time.Duration // between two of its reports
	// loaded is from the first report of the load to the last one; the report that the load
	// begins in is left out, where there are more.
	loaded kasoku.Interval
}

// serversOf returns those that received points, the one with the most first; it fails where no
// server reported of itself at least so often.
func serversOf(c *diagnose.Case, least int) ([]server, error) {
	var out []server
	known := 0
	for _, name := range received {
		for _, s := range c.FindAll(graphite.Name, name) {
			if !strings.HasPrefix(s.Key.Instance, "agents.") || // relays pass on what a cache counts again
				slices.ContainsFunc(out, func(x server) bool {
					return x.host == s.Key.Host && x.name == s.Key.Instance
				}) {
				continue
			}
			known++
			if x, ok := serverOf(c, s, least); ok && len(out) < mostServers {
				out = append(out, x)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b server) int { return cmp.Compare(b.sum(received), a.sum(received)) })
	switch {
	case known == 0:
		return nil, errNone
	case len(out) == 0:
		return nil, fmt.Errorf("carbon reported of itself fewer than %s while it received points",
			wording.Times(uint64(least)))
	}
	return out, nil
}

// serverOf reads the times of a server's reports from one of its series.
func serverOf(c *diagnose.Case, of *kasoku.Series, least int) (s server, ok bool) {
	s = server{c: c, host: of.Key.Host, name: of.Key.Instance, ofGo: of.Key.Name != graphite.MetricsReceived}
	most := 0.0
	for _, p := range of.Points {
		most = max(most, p.Value)
	}
	first := slices.IndexFunc(of.Points, func(p kasoku.Point) bool { return p.Value >= most/2 && p.Value > 0 })
	if first < 0 {
		return s, false
	}
	points := of.Points[first:]
	if len(points) > fewReports {
		points = points[1:]
	}
	points = loadedReports(points, most)
	if len(points) < least {
		return s, false
	}
	s.interval = max(apart(points), time.Second) // of one report no rule asks for a rate
	s.loaded = kasoku.Interval{From: points[0].At, To: points[len(points)-1].At}
	return s, true
}

// loadedReports leaves out what a server reports after the load: of intervals in which it received next to nothing,
// and of the one in which the load ended.
func loadedReports(points []kasoku.Point, most float64) []kasoku.Point {
	n := len(points)
	for n > 0 && points[n-1].Value < idleShare*most {
		n--
	}
	if n > fewReports && points[n-1].Value < most/2 {
		n--
	}
	return points[:n]
}

// idleShare is how much of the most that it received in an interval a server may receive in one without load.
const idleShare = 0.01

// apart is the median time between two reports, in whole seconds; 0 of fewer than two.
func apart(points []kasoku.Point) time.Duration {
	var all []time.Duration
	for i := 1; i < len(points); i++ {
		all = append(all, points[i].At-points[i-1].At)
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2].Round(time.Second)
}

// until is the server with its reports up to then, as it is when that is not before its first.
func (s *server) until(end time.Duration) *server {
	if end < s.loaded.From || end >= s.loaded.To {
		return s
	}
	out := *s
	out.loaded.To = s.loaded.From + (end-s.loaded.From)/s.interval*s.interval
	return &out
}

// values are those of a count while the load ran. What is counted under several names is added up by the time of
// the report: one of them may be missing in some, and what is read from files comes some ticks after what is in the
// cache.
func (s *server) values(of count) (out []float64) {
	slack := min(s.interval/2, mostSlack)
	var times []time.Duration
	for _, name := range of {
		for _, x := range s.c.FindAll(graphite.Name, name) {
			if x.Key.Host != s.host || x.Key.Instance != s.name {
				continue
			}
			from := 0 // two values of one name are of two reports
			for _, p := range x.Points {
				if p.At < s.loaded.From-slack || p.At > s.loaded.To+slack || math.IsNaN(p.Value) {
					continue
				}
				i := from
				for i < len(times) && times[i] < p.At-slack {
					i++
				}
				if i == len(times) || times[i] > p.At+slack {
					times, out = slices.Insert(times, i, p.At), slices.Insert(out, i, 0)
				}
				out[i] += p.Value
				from = i + 1
			}
		}
	}
	return out
}

// mean is the mean of a count's values; 0 of none.
func (s *server) mean(of count) float64 {
	v := s.values(of)
	return s.sum(of) / float64(max(len(v), 1))
}

func (s *server) sum(of count) (sum float64) {
	for _, v := range s.values(of) {
		sum += v
	}
	return sum
}

func (s *server) most(of count) (most float64) {
	for _, v := range s.values(of) {
		most = max(most, v)
	}
	return most
}

// last is the last value of a count; 0 of none.
func (s *server) last(of count) float64 {
	v := s.values(of)
	if len(v) == 0 {
		return 0
	}
	return v[len(v)-1]
}

// perSec is the rate of a count.
func (s *server) perSec(of count) float64 { return s.mean(of) / s.interval.Seconds() }

// file is what the server is configured by.
func (s *server) file() string {
	if s.ofGo {
		return "go-carbon.conf"
	}
	return "carbon.conf"
}

// object is the server.
func (s *server) object() kasoku.Object {
	return kasoku.Object{Kind: "server", Name: wording.Cut(s.name, 60)}
}

// quote is evidence of what the server reported.
func (s *server) quote(of count, text, value string, number float64) kasoku.Evidence {
	e := kasoku.Evidence{Source: graphite.Name, Text: text, Value: value, Number: number, Strong: true,
		Interval: s.loaded}
	for _, name := range of {
		k := kasoku.Key{Host: s.host, Source: graphite.Name, Name: name, Instance: s.name}
		if s.c.Find(k) != nil {
			e.Series = append(e.Series, k)
		}
	}
	return e
}

// idleSignal is whether the server's one process had CPU left.
func (s *server) idleSignal() diagnose.Signal {
	if len(s.values(cpu)) == 0 {
		return diagnose.Signal{Blind: "the server does not report its CPU"}
	}
	used := s.mean(cpu)
	return diagnose.Signal{Holds: used < busyCore,
		Lacks: fmt.Sprintf("the server used %s of a core", unit.Percent(used))}
}

// busyCore is how much of a core a carbon may use until that may be its limit: it is one process
// of Python, which has no more than one.
const busyCore = 0.9

// flat reports whether a count is the same in each interval, within a tenth. Nothing at all is no limit: a disk that
// is full or a writer that hangs writes nothing in each interval, too.
func (s *server) flat(of count) bool {
	v := s.values(of)
	if len(v) < fewReports {
		return false
	}
	mean := s.mean(of)
	return mean > 0 && slices.Max(v)-slices.Min(v) <= flatness*mean
}

const flatness = 0.1

// silentFor is the silence of a rule that has no server to look at.
func silentFor(id string, err error) []kasoku.Silence {
	if errors.Is(err, errNone) {
		return diagnose.Blind(id, err)
	}
	return diagnose.Quiet(id, 0, "%s", err.Error())
}

// check applies a rule to each server that reported of itself at least so often; of those that it
// is silent of it returns the nearest.
func check(c *diagnose.Case, id string, least int, look func(*server) (*kasoku.Finding, kasoku.Silence)) (
	found []kasoku.Finding, silent []kasoku.Silence) {
	all, err := serversOf(c, least)
	if err != nil {
		return nil, silentFor(id, err)
	}
	for i := range all {
		f, quiet := look(&all[i])
		if f != nil {
			found = append(found, *f)
		} else if len(silent) == 0 || quiet.Near > silent[0].Near {
			silent = []kasoku.Silence{quiet}
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, silent
}

// quiet is a silence.
func quiet(id string, near float64, format string, args ...any) kasoku.Silence {
	return diagnose.Quiet(id, near, format, args...)[0]
}
