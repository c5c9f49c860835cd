package export

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/kasoku/kasoku"
)

// otlpReceiver is a server that reads metrics with OpenTelemetry's own definition of them, and refuses what it
// does not know.
func otlpReceiver(t *testing.T) (address string, got *[]*metrics.ResourceMetrics) {
	t.Helper()
	got = &[]*metrics.ResourceMetrics{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var data metrics.MetricsData
		if err := protojson.Unmarshal(body, &data); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v, %s: %.300s", err, r.Header.Get("Content-Type"), body)
			http.Error(w, "no metrics", http.StatusBadRequest)
			return
		}
		*got = append(*got, data.ResourceMetrics...)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func TestOTLP(t *testing.T) {
	address, got := otlpReceiver(t)
	rec := recording()
	rec.Run.Project, rec.Run.Label, rec.Run.Version = "shop", "before", "1.2.3"
	lockTime := kasoku.Key{Host: "web2", Source: "mysql", Name: "lock_ms"}
	rec.Series = append(rec.Series, kasoku.Series{Key: lockTime, Unit: "ms",
		Points: []kasoku.Point{{At: time.Second, Value: 1500}, {At: 2 * time.Second, Value: math.Inf(1)}}})
	o, err := NewOTLP(address + "/v1/metrics")
	if err != nil {
		t.Fatal(err)
	}
	sent, err := o.Run(t.Context(), rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	points, lines := 0, map[string]bool{}
	for _, r := range *got {
		about := map[string]string{}
		for _, a := range r.Resource.Attributes {
			about[a.Key] = a.Value.GetStringValue()
		}
		if about["service.name"] != "shop" || about["kasoku.run.label"] != "before" || about["kasoku.run.id"] != rec.Run.ID {
			t.Errorf("resource: %v", about)
		}
		scope := r.ScopeMetrics[0]
		if scope.Scope.Name != "kasoku" || scope.Scope.Version != "1.2.3" {
			t.Errorf("scope: %v", scope.Scope)
		}
		for _, m := range scope.Metrics {
			line, data := about["host.name"]+" "+m.Name+" "+m.Unit, m.GetGauge().GetDataPoints()
			if s := m.GetSum(); s != nil {
				line, data = line+" sum", s.DataPoints
				if !s.IsMonotonic || s.AggregationTemporality != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
					t.Errorf("%s is no cumulative sum", m.Name)
				}
			}
			for _, p := range data {
				points++
				entity := ""
				for _, a := range p.Attributes {
					entity = a.Value.GetStringValue()
				}
				at := time.Unix(0, int64(p.TimeUnixNano)).Sub(rec.Run.Started)
				lines[line+" "+entity+" "+at.String()+" "+strconv.FormatFloat(p.GetAsDouble(), 'g', -1, 64)] = true
			}
		}
	}
	if points != sent || sent == 0 {
		t.Errorf("%d values are said to be sent, %d came", sent, points)
	}
	for _, want := range []string{
		"web1 kasoku.host.cpu.user s sum  2.003s 12",
		"web1 kasoku.host.disk.reads {count} sum vda 2.003s 20",
		"web1 kasoku.mysql.Threads_connected {count}  1.003s 151",
		"web1 kasoku.process.rss By 12 a\"b,c =1+1 3ms 1.073741824e+09",
		"web2 kasoku.mysql.lock_ms s  1s 1.5",
	} {
		if !lines[want] {
			t.Errorf("no %q in %v", want, lines)
		}
	}
	for line := range lines {
		if strings.Contains(line, "Inf") {
			t.Errorf("%s", line)
		}
	}
}

// TestOTLP_Requests: what is more than one request holds comes in several, each value once.
func TestOTLP_Requests(t *testing.T) {
	address, got := otlpReceiver(t)
	rec := &kasoku.Recording{Run: kasoku.Run{Started: started, Hosts: []kasoku.Host{{Name: "web1"}}}}
	s := kasoku.Series{Key: kasoku.Key{Host: "web1", Source: "host", Name: "load"}, Unit: "count"}
	for i := range 2*mostPoints + 7 {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: float64(i)})
	}
	rec.Series = []kasoku.Series{s}
	o, err := NewOTLP(address)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := o.Run(t.Context(), rec, nil)
	next := 0
	for _, r := range *got {
		for _, p := range r.ScopeMetrics[0].Metrics[0].GetGauge().DataPoints {
			if p.GetAsDouble() != float64(next) {
				t.Fatalf("%v at %d", p, next)
			}
			next++
		}
	}
	if err != nil || len(*got) != 3 || next != len(s.Points) || sent != next {
		t.Errorf("%d requests, %d values, %d sent, %v", len(*got), next, sent, err)
	}
}

// TestOTLP_Partly: values that a server rejects in an answer of 200 are an error, and no error has the address's query.
func TestOTLP_Partly(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"partialSuccess": {"rejectedDataPoints": "3", "errorMessage": "too old"}}`)
	}))
	o, err := NewOTLP(server.URL + "?api_key=hidden")
	if err != nil {
		t.Fatal(err)
	}
	sent, err := o.Run(t.Context(), recording(), nil)
	if err == nil || !strings.Contains(err.Error(), "rejects 3 values of a request: too old") || sent != 0 {
		t.Errorf("%d sent, %v", sent, err)
	}
	server.Close()
	if _, err := o.Run(t.Context(), recording(), nil); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("gone: %v", err)
	}
}
