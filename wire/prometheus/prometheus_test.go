package prometheus

import (
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/golden"
)

func sample(f Format) []byte {
	e := NewEncoder(f)
	e.Histogram("request_seconds", "Latency in s, of all requests.")
	labels := []Label{{"method", "GET"}, {"url", `http://h/?a="b"\`}, {"status", "200"}}
	e.Buckets(labels, []float64{0.005, 0.25, 10}, []uint64{1, 0, 2, 4}, 123.5)
	e.Buckets([]Label{{"method", "PUT"}}, []float64{1}, []uint64{0, 0}, 0)
	e.Counter("request_fail_count", "Failures \"quoted\"\nby \\ message.")
	e.Count([]Label{{"message", "two\nlines, é"}}, 3)
	e.Count(nil, 18446744073709551615)
	at := time.UnixMilli(1795163619045)
	e.Gauge("rss_bytes", "Resident memory.")
	e.Value([]Label{{"host", "web1"}}, 1<<40, time.Time{})
	e.Counter("cpu_seconds_total", "CPU time.")
	e.Value([]Label{{"mode", "user"}}, 12, at)
	e.Value([]Label{{"mode", "user"}}, 12.25, at.Add(time.Second))
	e.Gauge("odd", "No numbers.")
	e.Value(nil, math.NaN(), at)
	e.Value(nil, math.Inf(-1), at.Add(time.Second))
	return e.Bytes()
}

func TestGolden(t *testing.T) {
	golden.Check(t, filepath.Join("testdata", "text.golden"), sample(Text))
	golden.Check(t, filepath.Join("testdata", "openmetrics.golden"), sample(OpenMetrics))
}

func TestNegotiate(t *testing.T) {
	f := func(accept string, want Format) {
		t.Helper()
		if got := Negotiate(accept); got != want {
			t.Errorf("%q gives %d, want %d", accept, got, want)
		}
	}
	f("", Text)
	f("*/*", Text)
	f("text/plain", Text)
	f("application/openmetrics-text", OpenMetrics)
	// Prometheus 2.x and 3.x.
	f("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", OpenMetrics)
	f("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2", OpenMetrics)
	f("text/plain;q=0.9, application/openmetrics-text;q=0.1", Text)
	f("application/openmetrics-text; version=2.0.0", Text)
	f("application/openmetrics-text;q=0", Text)
	f("application/openmetrics-text;q=x", OpenMetrics)
	f(";;q=;,=,", Text)
}

func TestName(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := Name(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	f("kasoku_host_cpu.user", "kasoku_host_cpu_user")
	f("Threads_connected", "threads_connected")
	f("5xx", "_5xx")
	f("é-\xff", "___")
	f("", "_")
}
