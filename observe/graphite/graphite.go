// Package graphite is the source "graphite": what carbon and go-carbon report about
// themselves: points received and written, the queue between them, creates that were dropped,
// CPU and memory.
//
// The one idea: they report it once a minute, as series of their own. Nothing is asked of them
// but those series, wherever they can be had: in the cache before they are written ([Conn],
// one question a tick), in the whisper files afterwards (a look at their times), or by a
// render API. Each value is kept once, at the tick that sees it first.
//
// A cache that keeps up holds a value for less than a second, go-carbon's for a tenth of one:
// the cache alone shows one value in two of carbon, one in ten of go-carbon; the files have
// all. Ticks without a new value are no gap. Values that were there before the run are not of
// the run; a run that is shorter than the servers' interval (CARBON_METRIC_INTERVAL,
// metric-interval) may see none, which is a warning.
//
// # Units and clock
//
// The instance is the server as it names itself, agents.HOST-a or relays.HOST-a; the name is
// its own: updateOperations, cache.size, persister.committedPoints; what a relay counts of one of
// those that it passes points on to is of "relays.HOST-a to 127_0_0_1:2004:a". All are gauges: each is
// what the server counted since the value before. cpuUsage is a ratio of one core, memory and
// sizes are bytes, times seconds, all else counts.
//
// Sources: carbon/instrumentation.py and carbon/protocols.py of carbon 1.1; go-carbon 0.18.0:
// carbon/collector.go, cache, persister, carbonserver; Graphite, "The Render URL API".
package graphite

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/onehost"
	"github.com/kasoku/kasoku/wire/whisper"
)

// Name is the name of the source.
const Name = "graphite"

const (
	answerLimit = 2 * time.Second
	mostSeries  = 500
	longestName = 200
	prefix      = "carbon."
)

// Options configure where the values are. At least one of Query, Storage and Render is set.
type Options struct {
	Query   string // host:port of the cache, of several of them with commas; empty: not asked
	Storage string // directory of whisper files; empty: not read
	Render  string // URL of the render API, http://127.0.0.1:8080/render; empty: not asked
	// Agents are servers as they name themselves, agents.web1-a; empty: all, for the cache those that
	// this host's name makes.
	Agents []string
}

// Check reports what is wrong with the options, nil when nothing is.
func (o Options) Check() error {
	if o.Query == "" && o.Storage == "" && o.Render == "" {
		return errors.New("want query, storage or render")
	}
	for _, at := range Caches(o.Query) {
		if _, port, err := net.SplitHostPort(at); err != nil || port == "" {
			return fmt.Errorf("query: %q: want host:port", at)
		}
	}
	if o.Render != "" {
		if err := checkURL(o.Render); err != nil {
			return fmt.Errorf("render: %w", err)
		}
	}
	for _, a := range o.Agents {
		if !plain(a) || !strings.Contains(a, ".") || strings.HasPrefix(a, prefix) ||
			slices.Contains(strings.Split(a, "."), "") {
			return fmt.Errorf("agents: %q: want a name such as agents.web1-a", a)
		}
	}
	return nil
}

// Caches are the addresses of a list with commas.
func Caches(query string) (out []string) {
	if query == "" {
		return nil
	}
	for at := range strings.SplitSeq(query, ",") {
		out = append(out, strings.TrimSpace(at))
	}
	return out
}

// A Source reads the servers. It is not safe for concurrent use.
type Source struct {
	o      Options
	agents []string         // that the cache is asked for
	seen   map[string]int64 // time of the last value by metric, those before the run too
	// reported are the times of values that were last read from a cache.
	reported map[string]int64
	begun    place            // those that were looked at: what is new there is of the run
	values   int              // that were kept
	failed   map[place]error  // the last error of each place that had one
	conns    map[string]*Conn // by their addresses
	files    map[string]*file
	noFiles  error // why the last look for files found none
	sampled  sampler
	ticks    int
	looks    int // at what files there are: one in so many ticks
	client   *http.Client
	nextAsk  time.Time // of the render API
	now      func() time.Time
}

// New returns a source. Nothing is asked or read before the first Collect.
func New(o Options) (*Source, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("graphite: %w", err)
	}
	s := &Source{o: o, agents: o.Agents, sampled: sampler{root: o.Storage}, seen: map[string]int64{},
		conns: map[string]*Conn{}, reported: map[string]int64{}, failed: map[place]error{},
		files: map[string]*file{}, looks: lookTicks, now: time.Now}
	if len(s.agents) == 0 {
		name, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("graphite: %w", err)
		}
		name = strings.ReplaceAll(name, ".", "_")
		s.agents = []string{"agents." + name + "-a", "agents." + name}
	}
	s.client = onehost.NewClient(&http.Transport{MaxIdleConnsPerHost: 1}, 0)
	return s, nil
}

// Name returns "graphite".
func (s *Source) Name() string { return Name }

// Collect looks wherever values may be. It fails when none of the places could be
// looked at.
func (s *Source) Collect(ctx context.Context, f *kasoku.Frame) error {
	var errs []error
	looked := 0
	for _, p := range []struct {
		place place
		on    bool
		look  func(context.Context, *kasoku.Frame) error
	}{{inCache, s.o.Query != "", s.cache}, {inFiles, s.o.Storage != "", s.storage},
		{inRender, s.o.Render != "", s.render}} {
		if !p.on {
			continue
		}
		looked++
		if err := within(ctx, f, p.look); err != nil {
			errs = append(errs, err)
			s.failed[p.place] = err
		} else {
			s.begun |= p.place
		}
	}
	s.ticks++
	if len(errs) == looked {
		return errors.Join(errs...)
	}
	return nil
}

// within gives a look the time that each place has, whatever the others took.
func within(ctx context.Context, f *kasoku.Frame, look func(context.Context, *kasoku.Frame) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	return look(ctx, f)
}

// A place is where values are found; several are a sum.
type place int

const (
	inCache place = 1 << iota
	inFiles
	inRender
)

// keep appends a value that is newer than the last of its metric, unless this is the
// first look at a place.
func (s *Source) keep(f *kasoku.Frame, from place, metric string, p whisper.Point) {
	last, known := s.seen[metric]
	if known && p.Time <= last || !known && len(s.seen) >= mostSeries {
		return
	}
	s.seen[metric] = p.Time
	if from == inCache {
		s.reported[metric] = p.Time
	} else {
		delete(s.reported, metric)
	}
	if s.begun&from == 0 || !(p.Value >= 0 && p.Value < 1e300) {
		return
	}
	instance, name, ok := split(metric)
	if !ok {
		return
	}
	instance, name = passedTo(instance, name)
	s.values++
	unit, scale := unitOf(name)
	f.Gauge(name, instance, unit, p.Value*scale)
}

// reportedAt is when the server reported the newest value of a metric, to the second, where the cache had it: the
// time of a slot of a file is up to a step earlier.
func (s *Source) reportedAt(instance, name string) (time.Time, bool) {
	at, ok := s.reported[prefix+instance+"."+name]
	return time.Unix(at, 0), ok
}

// unitOf returns the unit of a metric, and by what the metric is multiplied for that.
func unitOf(name string) (unit string, scale float64) {
	switch last := name[strings.LastIndexByte(name, '.')+1:]; {
	case last == "cpuUsage":
		return "ratio", 0.01
	case last == "memUsage", last == "alloc", last == "total_alloc", strings.HasSuffix(last, "_bytes"):
		return "bytes", 1
	case last == "avgUpdateTime", last == "queueWriteoutTime":
		return "s", 1
	case last == "queueBuildTimeMs":
		return "s", 1e-3
	case strings.HasSuffix(last, "_ns"):
		return "s", 1e-9
	}
	return "count", 1
}

// split takes the name of a metric apart: carbon.agents.HOST-a.cache.size is
// cache.size of agents.HOST-a.
func split(metric string) (instance, name string, ok bool) {
	rest, ok := strings.CutPrefix(metric, prefix)
	if !ok || len(metric) > longestName || !plain(metric) {
		return "", "", false
	}
	kind, rest, _ := strings.Cut(rest, ".")
	host, name, ok := strings.Cut(rest, ".")
	if !ok || kind == "" || host == "" || name == "" {
		return "", "", false
	}
	return kind + "." + host, name, true
}

// passedTo takes what a relay counts of one of those that it passes points on to apart:
// destinations.127_0_0_1:2004:a.sent of relays.HOST-a is destinations.sent of
// "relays.HOST-a to 127_0_0_1:2004:a".
func passedTo(instance, name string) (ofWhich, what string) {
	const destinations = "destinations."
	rest, ok := strings.CutPrefix(name, destinations)
	to, what, found := strings.Cut(rest, ".")
	if !ok || !found || to == "" || what == "" {
		return instance, name
	}
	return instance + " to " + to, destinations + what
}

// plain reports whether a name may be shown as it is.
func plain(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// The metric whose arrival in the cache says that the others of a server are there: one
// that carbon-cache and go-carbon both have, and one of carbon's relays and aggregators.
const (
	markMetric  = "cache.size"
	relayMetric = "cpuUsage"
)

// markOf returns the name of that metric.
func markOf(agent string) string {
	if strings.HasPrefix(agent, "agents.") {
		return prefix + agent + "." + markMetric
	}
	return prefix + agent + "." + relayMetric
}

// own are the names that carbon gives its metrics, and go-carbon.
var own = []string{
	markMetric, "cache.queues", "cache.queries", "cache.bulk_queries", "cache.overflow", "updateOperations",
	"committedPoints", "pointsPerUpdate",
	"avgUpdateTime", "creates", "droppedCreates", "errors", "activeConnections", "metricsReceived", "blacklistMatches",
	"whitelistRejects",
	relayMetric, "memUsage",
	"cache.metrics", "cache.maxSize", "cache.notConfirmed", "cache.queueBuildCount", "cache.queueBuildTimeMs",
	"cache.queueWriteoutTime",
	"cache.droppedRealtimeIndex", "cache.tagsNormalizeErrors",
	"persister.updateOperations", "persister.committedPoints", "persister.pointsPerUpdate", "persister.created",
	"persister.extended",
	"persister.oooDiscardedPoints", "persister.throttledCreates", "persister.maxUpdatesPerSecond", "persister.workers",
	"carbonserver.render_requests", "carbonserver.find_requests", "carbonserver.notfound",
	"carbonserver.query_cache_hit", "carbonserver.query_cache_miss",
	"carbonserver.disk_requests", "carbonserver.disk_wait_time_ns", "carbonserver.points_returned",
	"carbonserver.metrics_known",
	"carbonserver.throttled_creates", "carbonserver.alloc", "carbonserver.pause_ns",
	"carbonserver.rejected_too_many_requests",
	"tcp.metricsReceived", "tcp.errors", "tcp.active", "udp.metricsReceived", "udp.errors", "pickle.metricsReceived",
	"pickle.errors", "pickle.active",
	"runtime.GOMAXPROCS", "runtime.NumGoroutine",
}

// cache asks each cache.
func (s *Source) cache(ctx context.Context, f *kasoku.Frame) error {
	var errs []error
	for _, at := range Caches(s.o.Query) {
		errs = append(errs, s.askCache(ctx, f, at))
	}
	return errors.Join(errs...)
}

// askCache asks the cache for one metric of each server, and for all others when that
// one is new.
func (s *Source) askCache(ctx context.Context, f *kasoku.Frame, at string) (err error) {
	conn := s.conns[at]
	if conn == nil {
		if conn, err = Dial(ctx, at); err != nil {
			return err
		}
		s.conns[at] = conn
	}
	defer func() {
		if err != nil {
			_ = conn.Close() // it may be in the middle of an answer
			delete(s.conns, at)
		}
	}()
	marks := make([]string, len(s.agents))
	for i, a := range s.agents {
		marks[i] = markOf(a)
	}
	found, err := conn.Query(ctx, marks...)
	if err != nil {
		return err
	}
	for i, points := range found {
		p, ok := newest(points)
		if !ok || p.Time <= s.seen[marks[i]] {
			continue
		}
		names := make([]string, len(own))
		for j, n := range own {
			names[j] = prefix + s.agents[i] + "." + n
		}
		all, err := conn.Query(ctx, names...)
		if err != nil {
			return err
		}
		s.keep(f, inCache, marks[i], p) // it may have been written in the meantime
		for j, points := range all {
			if p, ok := newest(points); ok {
				s.keep(f, inCache, names[j], p)
			}
		}
	}
	return nil
}

func newest(points []whisper.Point) (p whisper.Point, ok bool) {
	for _, x := range points {
		if !ok || x.Time > p.Time {
			p, ok = x, true
		}
	}
	return p, ok
}

// Warnings describes which places could never be looked at although others could, and when
// nothing new was seen.
func (s *Source) Warnings() (out []kasoku.Warning) {
	if s.begun == 0 {
		return nil // a gap says it
	}
	for _, p := range []place{inCache, inFiles, inRender} {
		if err := s.failed[p]; err != nil && s.begun&p == 0 {
			out = append(out, kasoku.Warning{Code: "graphite-place",
				Text: "carbon's own series are not read from everywhere: " + err.Error()})
		}
	}
	if s.values > 0 || s.ticks < 2 {
		return out
	}
	return append(out, kasoku.Warning{
		Code: "graphite-silent", Text: "carbon reported nothing new about itself during the run",
		Hint: "it does so once a minute (CARBON_METRIC_INTERVAL); [graphite] agents names servers that are not " +
			"called after this host, storage the files",
	})
}

// Close gives the connections up.
func (s *Source) Close() error {
	s.client.CloseIdleConnections()
	var errs []error
	for at, conn := range s.conns {
		errs = append(errs, conn.Close())
		delete(s.conns, at)
	}
	return errors.Join(errs...)
}
