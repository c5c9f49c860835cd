package export

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/wire/prometheus"
)

// familyName is kasoku_SOURCE_METRIC_UNIT; a counter's samples have _total after it. A
// gauge does not end in what Prometheus keeps for other kinds.
func familyName(v *Value) string {
	reserved := []string{"_total", "_count", "_sum", "_bucket", "_info", "_created"}
	name := prometheus.Name("kasoku_" + v.Key.Source + "_" + v.Key.Name)
	unit, rate := strings.CutSuffix(v.Unit, "/s")
	switch unit {
	case "", "count", "1":
		unit = ""
	case "s":
		unit = "seconds"
		for _, part := range []string{"_ms", "_us", "_ns"} { // what the server called it
			name = strings.TrimSuffix(name, part)
		}
	default:
		unit = prometheus.Name(unit)
	}
	if unit != "" && !strings.HasSuffix(name, "_"+unit) {
		name += "_" + unit
	}
	if rate {
		name += "_per_second"
	}
	if v.Kind == kasoku.Counter {
		return strings.TrimSuffix(name, rawSuffix)
	}
	if slices.ContainsFunc(reserved, func(end string) bool { return strings.HasSuffix(name, end) }) {
		name += "_value"
	}
	return name
}

// A family is what one name holds: series of one metric of one source.
type family struct {
	name   string
	kind   kasoku.Kind
	help   string
	values []Value
}

// familyKey is what makes a family; its name follows from it.
type familyKey struct {
	source, metric, unit string
	kind                 kasoku.Kind
}

// families puts values into families. Where two would have one name, the later one
// ends in a digest.
type families struct {
	names *namer
	of    map[familyKey]*family
	order []*family
}

func newFamilies() *families {
	return &families{names: newNamer(familyName), of: map[familyKey]*family{}}
}

func (fs *families) add(v Value) *family {
	if v.Unit == "ms" { // as MySQL counts
		v.Unit, v.Value = "s", v.Value/1000
	}
	k := familyKey{v.Key.Source, v.Key.Name, v.Unit, v.Kind}
	f := fs.of[k]
	if f == nil {
		// The unit stands for the entity here: what shares all of the key is one family.
		whole := Value{Key: kasoku.Key{Source: k.source, Name: k.metric, Instance: k.unit}, Kind: k.kind, Unit: k.unit}
		f = &family{name: fs.names.of(&whole), kind: k.kind, help: helpOf(&v)}
		fs.of[k] = f
		fs.order = append(fs.order, f)
	}
	f.values = append(f.values, v)
	return f
}

// helpOf describes what a family is, in one line.
func helpOf(v *Value) string {
	what := "Value"
	if v.Kind == kasoku.Counter {
		what = "Counter"
	}
	return fmt.Sprintf("%s %s of kasoku's source %s, unit %s.", what, v.Key.Name, v.Key.Source, v.Unit)
}

// write writes a family; with a start, each value with its time.
func (f *family) write(e *prometheus.Encoder, start time.Time) {
	if f.kind == kasoku.Counter {
		e.Counter(f.name+rawSuffix, f.help)
	} else {
		e.Gauge(f.name, f.help)
	}
	for i := range f.values {
		v := &f.values[i]
		labels := append(make([]prometheus.Label, 0, 2), prometheus.Label{Name: "host", Value: v.Key.Host})
		if v.Key.Instance != "" {
			labels = append(labels, prometheus.Label{Name: "entity", Value: v.Key.Instance})
		}
		var at time.Time
		if !start.IsZero() {
			at = wall(start, v.At)
		}
		e.Value(labels, v.Value, at)
	}
}

// OpenMetrics writes a run as OpenMetrics text, each value with its time: what
// `promtool tsdb create-blocks-from openmetrics` reads. Counters are as they were read.
func OpenMetrics(w io.Writer, rec *kasoku.Recording, only Selection) error {
	series := SeriesOf(rec)
	// A family holds the series of all hosts, so hosts come last in the order.
	slices.SortStableFunc(series, func(a, b kasoku.Series) int {
		ka, kb := a.Key, b.Key
		ka.Host, kb.Host = "", ""
		return compareKeys(ka, kb)
	})
	fs, e := newFamilies(), prometheus.NewEncoder(prometheus.OpenMetrics)
	for i := 0; i < len(series); {
		from := len(fs.order)
		first := series[i].Key
		for ; i < len(series) && series[i].Key.Source == first.Source && series[i].Key.Name == first.Name; i++ {
			if only.Takes(first.Source, first.Name) {
				for _, v := range appendSeries(nil, &series[i], Raw) {
					fs.add(v)
				}
			}
		}
		for _, f := range fs.order[from:] {
			_ = contain.Run(seriesPart, func() { f.write(e, rec.Run.Started) }) // the command reports what is lost
			f.values = nil
		}
		if err := e.Flush(w); err != nil {
			return err
		}
	}
	_, err := w.Write(e.Bytes())
	return err
}

// A Page is an output that keeps the last values of each source and shows them to
// Prometheus. A source that has given nothing for a while shows nothing but
// kasoku_source_up 0. Its methods may be called from several goroutines.
type Page struct {
	host  string
	stale time.Duration
	now   func() time.Duration // on the run's clock

	mu      sync.Mutex // guards the following fields
	sources map[string][]Value
	at      map[string]time.Duration
	scrapes uint64
}

// NewPage returns an output. Values older than stale are not shown; start is offset 0,
// with a monotonic reading, and sources are those that are expected.
func NewPage(host string, start time.Time, stale time.Duration, sources []string) *Page {
	p := &Page{host: host, stale: stale, sources: map[string][]Value{}, at: map[string]time.Duration{}, now: func() time.Duration { return time.Since(start) }}
	for _, s := range sources {
		p.sources[s] = nil
	}
	return p
}

// Seen reports that a source has answered. What it said before is no longer shown.
func (p *Page) Seen(source string, at time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sources[source], p.at[source] = p.sources[source][:0], at
}

// Write implements [Output]: the values are of the source that was seen last.
func (p *Page) Write(_ context.Context, values []Value) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, v := range values {
		p.sources[v.Key.Source] = append(p.sources[v.Key.Source], v)
	}
	return nil
}

// Close implements [Output].
func (p *Page) Close(context.Context) error { return nil }

// Scrapes returns how often the page was asked for.
func (p *Page) Scrapes() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.scrapes
}

// ServeHTTP answers with the last values.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	format := prometheus.Negotiate(r.Header.Get("Accept"))
	text := p.text(format)
	w.Header().Set("Content-Type", format.ContentType())
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // a scraper that has gone away is its own matter
	}
}

func (p *Page) text(format prometheus.Format) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scrapes++
	now := p.now()
	names := make([]string, 0, len(p.sources))
	for s := range p.sources {
		names = append(names, s)
	}
	slices.Sort(names)
	e := prometheus.NewEncoder(format)
	e.Gauge("kasoku_source_up", "Whether the source has given values lately.")
	fs := newFamilies()
	for _, s := range names {
		at, any := p.at[s]
		up := 0.0
		if any && now-at <= p.stale {
			up = 1
			for _, v := range p.sources[s] {
				fs.add(v)
			}
		}
		e.Value([]prometheus.Label{{Name: "host", Value: p.host}, {Name: "source", Value: s}}, up, time.Time{})
	}
	for _, f := range fs.order {
		f.write(e, time.Time{})
	}
	return e.Bytes()
}
