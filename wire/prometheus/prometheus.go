// Package prometheus writes metrics in the two text forms that Prometheus scrapes:
// its own exposition format 0.0.4, and OpenMetrics 1.0.
//
// The one idea is an [Encoder] that writes families one after the other, each with
// its samples; it keeps no counters itself. Names are those of the text format; in
// OpenMetrics the samples of a counter end in _total, as that demands. Durations
// are in seconds, as Prometheus wants them.
//
// Sources: prometheus.io/docs/instrumenting/exposition_formats and
// prometheus.io/docs/specs/om/open_metrics_spec, version 1.0.
package prometheus

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Format is a form of the text.
type Format int

// The formats.
const (
	Text        Format = iota // 0.0.4
	OpenMetrics               // 1.0
)

// ContentType returns the value of the header.
func (f Format) ContentType() string {
	if f == OpenMetrics {
		return "application/openmetrics-text; version=1.0.0; charset=utf-8"
	}
	return "text/plain; version=0.0.4; charset=utf-8"
}

// Negotiate returns the format that an Accept header prefers: OpenMetrics when its
// quality value is at least that of text, else [Text], which everybody reads.
func Negotiate(accept string) Format {
	var open, text float64
	for part := range strings.SplitSeq(accept, ",") {
		kind, params, _ := strings.Cut(part, ";")
		q, version := 1.0, ""
		for param := range strings.SplitSeq(params, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
			switch strings.ToLower(name) {
			case "q":
				if v, err := strconv.ParseFloat(value, 64); err == nil {
					q = v
				}
			case "version":
				version = value
			}
		}
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/openmetrics-text":
			if version == "" || version == "1.0.0" || version == "0.0.1" {
				open = max(open, q)
			}
		case "text/plain", "text/*", "*/*":
			text = max(text, q)
		}
	}
	if open > 0 && open >= text {
		return OpenMetrics
	}
	return Text
}

// A Label is a name and its value. The name must be one of Prometheus's: a letter
// or an underscore, then those and digits. The value is any text.
type Label struct{ Name, Value string }

// An Encoder writes families of metrics. Begin each with [Encoder.Counter],
// [Encoder.Gauge] or [Encoder.Histogram]; its samples follow.
type Encoder struct {
	format Format
	name   string // of the family
	suffix string // of its samples
	b      bytes.Buffer
}

// NewEncoder returns an encoder without a family.
func NewEncoder(f Format) *Encoder { return &Encoder{format: f} }

// Counter begins a family of counters. A name that ends in _total, as Prometheus
// recommends, has that once in either format.
func (e *Encoder) Counter(name, help string) {
	if e.format == OpenMetrics {
		name = strings.TrimSuffix(name, "_total")
	}
	e.family(name, "counter", help)
	if e.format == OpenMetrics {
		e.suffix = "_total"
	}
}

// Gauge begins a family of values that go up and down.
func (e *Encoder) Gauge(name, help string) { e.family(name, "gauge", help) }

// Histogram begins a family of histograms.
func (e *Encoder) Histogram(name, help string) { e.family(name, "histogram", help) }

func (e *Encoder) family(name, kind, help string) {
	e.name, e.suffix = name, ""
	e.b.WriteString("# HELP " + name + " ")
	e.escape(help, e.format == OpenMetrics)
	e.b.WriteString("\n# TYPE " + name + " " + kind + "\n")
}

// Count writes a sample of a counter.
func (e *Encoder) Count(labels []Label, v uint64) {
	e.sample(e.suffix, labels, nil, strconv.FormatUint(v, 10))
}

// Value writes a sample of a counter or gauge as it was at a moment; with the zero
// time it is that of the scrape. The samples of the same labels are to follow one
// another, oldest first.
func (e *Encoder) Value(labels []Label, v float64, at time.Time) {
	value := e.float(v)
	switch {
	case at.IsZero():
	case e.format == OpenMetrics:
		value += " " + strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)
	default:
		value += " " + strconv.FormatInt(at.UnixMilli(), 10)
	}
	e.sample(e.suffix, labels, nil, value)
}

// Buckets writes the samples of a histogram: counts[i] values are at most bounds[i]
// and above the bound before it; one more count is that of all above the last
// bound. sum is that of the values.
func (e *Encoder) Buckets(labels []Label, bounds []float64, counts []uint64, sum float64) {
	var n uint64
	for i, c := range counts {
		n += c
		le := math.Inf(1)
		if i < len(bounds) {
			le = bounds[i]
		}
		e.sample("_bucket", labels, &Label{"le", e.float(le)}, strconv.FormatUint(n, 10))
	}
	e.sample("_sum", labels, nil, e.float(sum))
	e.sample("_count", labels, nil, strconv.FormatUint(n, 10))
}

func (e *Encoder) sample(suffix string, labels []Label, last *Label, value string) {
	e.b.WriteString(e.name + suffix)
	sep := byte('{')
	write := func(l Label) {
		e.b.WriteByte(sep)
		sep = ','
		e.b.WriteString(l.Name + `="`)
		e.escape(l.Value, true)
		e.b.WriteByte('"')
	}
	for _, l := range labels {
		write(l)
	}
	if last != nil {
		write(*last)
	}
	if sep == ',' {
		e.b.WriteByte('}')
	}
	e.b.WriteString(" " + value + "\n")
}

// float prints a number; OpenMetrics wants a point in those that are whole.
func (e *Encoder) float(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case math.IsNaN(v):
		return "NaN"
	}
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if e.format == OpenMetrics && !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// escape writes text with backslashes and line ends escaped, and quotes too where
// it stands in them. What is no UTF-8 becomes U+FFFD.
func (e *Encoder) escape(s string, quotes bool) {
	for _, r := range s {
		switch {
		case r == '\\':
			e.b.WriteString(`\\`)
		case r == '\n':
			e.b.WriteString(`\n`)
		case r == '"' && quotes:
			e.b.WriteString(`\"`)
		default:
			e.b.WriteRune(r)
		}
	}
}

// Bytes returns all that was written, with the end that OpenMetrics wants.
func (e *Encoder) Bytes() []byte {
	if e.format == OpenMetrics {
		return append(e.b.Bytes(), "# EOF\n"...)
	}
	return e.b.Bytes()
}

// Flush hands on what was written so far and forgets it, without the end that
// [Encoder.Bytes] adds.
func (e *Encoder) Flush(w io.Writer) error {
	_, err := e.b.WriteTo(w)
	return err
}

// Name makes any text a name of a metric: lower-case letters, digits and underscores,
// with no digit in front. It is never empty.
func Name(s string) string {
	var b strings.Builder
	for i, r := range strings.ToLower(s) {
		switch {
		case 'a' <= r && r <= 'z', r == '_':
			b.WriteRune(r)
		case '0' <= r && r <= '9':
			if i == 0 {
				b.WriteByte('_')
			}
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}
