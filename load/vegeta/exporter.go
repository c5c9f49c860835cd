package vegeta

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/wire/prometheus"
)

// Limits of an exporter: what is beyond them is counted under one name.
const (
	maxExportedURLs     = 1000 // of a stream of targets
	maxExportedMessages = 50   // of one method, URL and status

	otherURLs     = "other URLs"
	otherMessages = "other errors"
)

// exportedBounds are those of request_seconds; they are Prometheus's defaults, as
// Vegeta's are.
var exportedBounds = [...]time.Duration{
	5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond,
	500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// An Exporter is a [load.Sink] and an HTTP handler: it counts hits and answers each
// request with the counts, in a form that Prometheus scrapes. Its metrics are
// Vegeta's: request_seconds, request_bytes_in, request_bytes_out and
// request_fail_count, by method, URL and status. It is safe for concurrent use.
type Exporter struct {
	scrapes chan struct{} // holds a value after an answer

	mu      sync.Mutex
	targets []*exportedTarget // of the plan
	own     map[exportedKey]*exportedTarget
	scraped bool // at least once
}

type exportedKey struct{ method, url string }

func (k exportedKey) compare(o exportedKey) int {
	return cmp.Or(strings.Compare(k.url, o.url), strings.Compare(k.method, o.method))
}

// An exportedTarget is the counts of one method and URL.
type exportedTarget struct {
	exportedKey
	codes []*exportedCode // few
}

type exportedCode struct {
	code              int
	buckets           [len(exportedBounds) + 1]uint64
	latency           time.Duration
	bytesIn, bytesOut uint64
	failures          map[string]uint64 // by message
}

var (
	_ load.Sink    = (*Exporter)(nil)
	_ http.Handler = (*Exporter)(nil)
)

// NewExporter returns an exporter that has counted nothing.
func NewExporter() *Exporter {
	return &Exporter{own: map[exportedKey]*exportedTarget{}, scrapes: make(chan struct{}, 1)}
}

// Begin names the plan whose hits come. A target whose URL has places keeps them in
// its label, and no password.
func (e *Exporter) Begin(p load.Plan) {
	e.mu.Lock()
	defer e.mu.Unlock()
	same := map[exportedKey]*exportedTarget{}
	e.targets = nil
	for i := range p.Targets {
		key := exportedKey{p.Targets[i].Method, load.WithoutPassword(p.Targets[i].URL)}
		if same[key] == nil {
			same[key] = &exportedTarget{exportedKey: key}
		}
		e.targets = append(e.targets, same[key])
	}
}

// Hits implements [load.Sink].
func (e *Exporter) Hits(hits []load.Hit) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range hits {
		h := &hits[i]
		e.target(h).count(h)
	}
}

func (e *Exporter) target(h *load.Hit) *exportedTarget {
	if h.Own == nil {
		return e.targets[h.Target]
	}
	key := exportedKey{h.Own.Method, load.WithoutPassword(h.Own.URL)}
	t := e.own[key]
	if t == nil && len(e.own) >= maxExportedURLs {
		key.url = otherURLs
		t = e.own[key]
	}
	if t == nil {
		t = &exportedTarget{exportedKey: key}
		e.own[key] = t
	}
	return t
}

func (t *exportedTarget) count(h *load.Hit) {
	c := t.code(h.Code)
	latency, i := h.Latency(), 0
	for i < len(exportedBounds) && latency > exportedBounds[i] {
		i++
	}
	c.buckets[i]++
	c.latency += latency
	c.bytesIn += h.BytesIn
	c.bytesOut += h.BytesOut
	if h.Err != "" {
		c.fail(h.Err)
	}
}

func (t *exportedTarget) code(code int) *exportedCode {
	for _, c := range t.codes {
		if c.code == code {
			return c
		}
	}
	c := &exportedCode{code: code}
	t.codes = append(t.codes, c)
	return c
}

func (c *exportedCode) fail(message string) {
	if c.failures == nil {
		c.failures = map[string]uint64{}
	}
	message = load.ErrorClass(message)
	if _, known := c.failures[message]; !known && len(c.failures) >= maxExportedMessages {
		message = otherMessages
	}
	c.failures[message]++
}

// ServeHTTP answers with the counts.
func (e *Exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	format := prometheus.Negotiate(r.Header.Get("Accept"))
	text := e.encode(format)
	w.Header().Set("Content-Type", format.ContentType())
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method == http.MethodHead {
		return
	}
	e.mu.Lock()
	e.scraped = true // who has the answer finds it so
	e.mu.Unlock()
	if _, err := w.Write(text); err != nil {
		return
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return
	}
	select {
	case e.scrapes <- struct{}{}:
	default:
	}
}

// An exportedSample is the counts of one method, URL and status.
type exportedSample struct {
	labels []prometheus.Label
	exportedCode
}

// samples returns a copy of the counts, so that hits do not wait for the text.
func (e *Exporter) samples() []exportedSample {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []exportedSample
	seen := map[*exportedTarget]bool{}
	add := func(t *exportedTarget) {
		if seen[t] {
			return
		}
		seen[t] = true
		for _, c := range t.codes {
			s := exportedSample{[]prometheus.Label{{Name: "method", Value: t.method}, {Name: "url", Value: t.url},
				{Name: "status", Value: strconv.Itoa(c.code)}}, *c}
			s.failures = maps.Clone(c.failures)
			out = append(out, s)
		}
	}
	for _, t := range e.targets {
		add(t)
	}
	for _, key := range slices.SortedFunc(maps.Keys(e.own), exportedKey.compare) {
		add(e.own[key])
	}
	return out
}

func (e *Exporter) encode(f prometheus.Format) []byte {
	samples := e.samples()
	enc := prometheus.NewEncoder(f)
	bounds := make([]float64, len(exportedBounds))
	for i, b := range exportedBounds {
		bounds[i] = b.Seconds()
	}
	enc.Histogram("request_seconds", "Latency of requests, from when they were due.")
	for i := range samples {
		s := &samples[i]
		enc.Buckets(s.labels, bounds, s.buckets[:], s.latency.Seconds())
	}
	enc.Counter("request_bytes_in", "Bytes of the bodies of answers.")
	for i := range samples {
		enc.Count(samples[i].labels, samples[i].bytesIn)
	}
	enc.Counter("request_bytes_out", "Bytes of the bodies of requests.")
	for i := range samples {
		enc.Count(samples[i].labels, samples[i].bytesOut)
	}
	enc.Counter("request_fail_count", "Requests that failed, by message.")
	for i := range samples {
		s := &samples[i]
		for _, message := range slices.Sorted(maps.Keys(s.failures)) {
			enc.Count(append(slices.Clone(s.labels), prometheus.Label{Name: "message", Value: message}),
				s.failures[message])
		}
	}
	return enc.Bytes()
}
