package export

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

// An OTLP sends runs to a server that takes OpenTelemetry's metrics by HTTP, as JSON: a collector, Prometheus 3,
// Mimir, and services that take OTLP.
//
// Source: OpenTelemetry Protocol Specification 1.9, OTLP/HTTP, JSON Protobuf Encoding: names in lowerCamelCase,
// integers of 64 bits as text, enumerations as numbers; opentelemetry/proto/metrics/v1/metrics.proto.
type OTLP struct{ to *receiver }

// NewOTLP returns a sender to a URL with its path, whose user and password are those of basic authentication.
func NewOTLP(address string) (*OTLP, error) {
	to, err := newReceiver(address, "http://127.0.0.1:4318/v1/metrics", "a collector takes metrics at /v1/metrics of "+
		"port 4318, Prometheus 3 at /api/v1/otlp/v1/metrics with --web.enable-otlp-receiver")
	if err != nil {
		return nil, err
	}
	return &OTLP{to}, nil
}

// The messages of OTLP, as far as a run has something to say.
type (
	otlpRequest struct {
		ResourceMetrics []otlpResourceMetrics `json:"resourceMetrics"`
	}
	otlpResourceMetrics struct {
		Resource     otlpResource       `json:"resource"`
		ScopeMetrics []otlpScopeMetrics `json:"scopeMetrics"`
	}
	otlpResource struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScopeMetrics struct {
		Scope   otlpScope     `json:"scope"`
		Metrics []*otlpMetric `json:"metrics"`
	}
	otlpScope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		String string `json:"stringValue"`
	}
	otlpMetric struct {
		Name        string    `json:"name"`
		Description string    `json:"description,omitempty"`
		Unit        string    `json:"unit,omitempty"`
		Gauge       *otlpData `json:"gauge,omitempty"`
		Sum         *otlpData `json:"sum,omitempty"`
	}
	// otlpData is a Gauge, which has points alone, or a Sum.
	otlpData struct {
		DataPoints  []otlpPoint `json:"dataPoints"`
		Temporality int         `json:"aggregationTemporality,omitempty"`
		IsMonotonic bool        `json:"isMonotonic,omitempty"`
	}
	otlpPoint struct {
		Attributes []otlpAttribute `json:"attributes,omitempty"`
		Time       string          `json:"timeUnixNano"`
		Value      float64         `json:"asDouble"`
	}
)

// otlpCumulative is AGGREGATION_TEMPORALITY_CUMULATIVE.
const otlpCumulative = 2

// Run sends a run: each host is a resource with the run's project as service.name, its id and its label. Counters
// are cumulative sums as they were read: since when they count is not known, so no start is said. It
// returns how many values were taken.
func (o *OTLP) Run(ctx context.Context, rec *kasoku.Recording, only Selection) (sent int, err error) {
	b := newOTLPBatch(&rec.Run)
	add := func(values []Value) int {
		b.add(values)
		return b.points
	}
	return inRequests(rec, only, add, func() error {
		body, err := json.Marshal(otlpRequest{b.resources()})
		if err != nil {
			return err
		}
		b = newOTLPBatch(&rec.Run)
		answer, err := o.to.post(ctx, body, http.Header{"Content-Type": {"application/json"}})
		if err != nil {
			return err
		}
		return partly(answer)
	})
}

// partly returns what a server says that took a part of the values alone: an answer of 200 that rejects some is one.
func partly(answer []byte) error {
	var said struct {
		PartialSuccess struct {
			Rejected json.Number `json:"rejectedDataPoints"`
			Text     string      `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return nil //nolint:nilerr // an answer that is no JSON says nothing of the kind
	}
	if n := said.PartialSuccess.Rejected; n != "" && n != "0" {
		line, _, _ := strings.Cut(said.PartialSuccess.Text, "\n")
		return fmt.Errorf("the server rejects %s values of a request: %s", n, line)
	}
	return nil
}

// An otlpBatch gathers what one request holds.
type otlpBatch struct {
	run     *kasoku.Run
	points  int
	hosts   []string
	byHost  map[string][]*otlpMetric
	metrics map[otlpMetricKey]*otlpMetric
}

// otlpMetricKey is what one metric of a resource is known by.
type otlpMetricKey struct {
	host, name, unit string
	kind             kasoku.Kind
}

func newOTLPBatch(run *kasoku.Run) *otlpBatch {
	return &otlpBatch{run: run, byHost: map[string][]*otlpMetric{}, metrics: map[otlpMetricKey]*otlpMetric{}}
}

// add adds values of one series, oldest first. What is no number is left out: JSON has no form for it.
func (b *otlpBatch) add(values []Value) {
	if len(values) == 0 {
		return
	}
	v := values[0]
	data := b.data(&v)
	var attributes []otlpAttribute
	if v.Key.Instance != "" {
		attributes = []otlpAttribute{otlpText("entity", v.Key.Instance)}
	}
	scale := 1.0
	if v.Unit == "ms" { // as MySQL counts
		scale = 1e-3
	}
	for i := range values {
		if x := values[i].Value * scale; !math.IsNaN(x) && !math.IsInf(x, 0) {
			data.DataPoints = append(data.DataPoints, otlpPoint{Attributes: attributes,
				Time: nano(wall(b.run.Started, values[i].At)), Value: x})
			b.points++
		}
	}
}

// data returns where the points of a value's metric go.
func (b *otlpBatch) data(v *Value) *otlpData {
	k := otlpMetricKey{v.Key.Host, "kasoku." + v.Key.Source + "." + v.Key.Name, otlpUnit(v.Unit), v.Kind}
	m := b.metrics[k]
	if m == nil {
		m = &otlpMetric{Name: k.name, Description: helpOf(v), Unit: k.unit}
		if v.Kind == kasoku.Counter {
			m.Sum = &otlpData{Temporality: otlpCumulative, IsMonotonic: true}
		} else {
			m.Gauge = &otlpData{}
		}
		if b.byHost[k.host] == nil {
			b.hosts = append(b.hosts, k.host)
		}
		b.byHost[k.host] = append(b.byHost[k.host], m)
		b.metrics[k] = m
	}
	if m.Sum != nil {
		return m.Sum
	}
	return m.Gauge
}

// resources returns what was gathered, a resource for each host.
func (b *otlpBatch) resources() []otlpResourceMetrics {
	out := make([]otlpResourceMetrics, len(b.hosts))
	for i, host := range b.hosts {
		about := []otlpAttribute{otlpText("host.name", host), otlpText("kasoku.run.id", b.run.ID)}
		for _, a := range []otlpAttribute{otlpText("service.name", b.run.Project), otlpText("kasoku.run.label", b.run.Label),
			otlpText("vcs.ref.head.revision", b.run.Revision)} {
			if a.Value.String != "" {
				about = append(about, a)
			}
		}
		out[i] = otlpResourceMetrics{otlpResource{about}, []otlpScopeMetrics{
			{otlpScope{"kasoku", b.run.Version}, slices.DeleteFunc(b.byHost[host], (*otlpMetric).empty)}}}
	}
	return out
}

// empty reports whether a metric has no point.
func (m *otlpMetric) empty() bool {
	return (m.Sum == nil || len(m.Sum.DataPoints) == 0) && (m.Gauge == nil || len(m.Gauge.DataPoints) == 0)
}

func otlpText(key, value string) otlpAttribute { return otlpAttribute{key, otlpValue{value}} }

// nano is a time as OTLP has it: nanoseconds since 1970, as text.
func nano(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// otlpUnit is a unit in UCUM's case sensitive form, which OTLP asks for; what UCUM does not know stands in braces.
func otlpUnit(unit string) string {
	switch unit {
	case "":
		return ""
	case "s", "s/s", "1":
		return unit
	case "ms":
		return "s"
	case "ratio":
		return "1"
	case "bytes":
		return "By"
	case "bytes/s":
		return "By/s"
	case "count/s":
		return "{count}/s"
	}
	return fmt.Sprintf("{%s}", unit)
}
