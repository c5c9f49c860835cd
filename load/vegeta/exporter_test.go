package vegeta

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/load"
)

func exported(hits ...load.Hit) *Exporter {
	e := NewExporter()
	e.Begin(load.Plan{Targets: []load.Target{
		{Method: "GET", URL: "http://h/a"}, {Method: "POST", URL: "http://h/b?x=\"{{int 1 9}}\""}, {Method: "GET", URL: "http://h/a"}}})
	e.Hits(hits)
	return e
}

func scrape(e http.Handler, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w
}

func TestExporter(t *testing.T) {
	const ms = time.Millisecond
	e := exported(
		load.Hit{Target: 0, Due: ms, Sent: 2 * ms, Done: 6 * ms, Code: 200, BytesIn: 10},
		load.Hit{Target: 2, Due: ms, Sent: 2 * ms, Done: 7 * ms, Code: 200, BytesIn: 5},
		load.Hit{Target: 1, Due: 0, Sent: 0, Done: 11 * time.Second, Code: 503, BytesOut: 7, Err: "503 Service Unavailable"},
		load.Hit{Target: 1, Due: 0, Sent: 0, Done: 30 * ms, Err: "read tcp 127.0.0.1:40312->127.0.0.1:80: read: connection reset by peer"},
		load.Hit{Target: 1, Due: 0, Sent: 0, Done: 30 * ms, Err: "read tcp 127.0.0.1:40313->127.0.0.1:80: read: connection reset by peer"},
	)
	w := scrape(e, "*/*")
	golden.Check(t, filepath.Join("testdata", "exporter.golden"), w.Body.Bytes())
	if got := w.Header().Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	w = scrape(e, "application/openmetrics-text; version=1.0.0")
	if text := w.Body.String(); !strings.HasSuffix(text, "\n# EOF\n") || !strings.Contains(text, `request_fail_count_total{method="POST"`) || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/openmetrics-text") {
		t.Errorf("%s\n%s", w.Header(), text)
	}
}

// TestExporterShowsNoPassword: whoever can connect can read the metrics.
func TestExporterShowsNoPassword(t *testing.T) {
	target := load.Target{Method: "GET", URL: "http://me:secret@h/a"}
	e := NewExporter()
	e.Begin(load.Plan{Targets: []load.Target{target}})
	e.Hits([]load.Hit{{Code: 200}, {Own: &target, Code: 201}})
	if text := scrape(e, "").Body.String(); strings.Contains(text, "secret") || strings.Count(text, `_count{method="GET",url="http://me:***@h/a"`) != 2 {
		t.Error(text)
	}
}

func TestExporterIsBounded(t *testing.T) {
	e := NewExporter()
	for i := range 3000 {
		e.Hits([]load.Hit{{Own: &load.Target{Method: "GET", URL: "http://h/" + strings.Repeat("x", i)}, Err: strings.Repeat("y", i%290)}})
	}
	if n := len(e.own); n > maxExportedURLs+1 {
		t.Errorf("%d URLs are kept", n)
	}
	for range 5 {
		for i := range 200 {
			e.Hits([]load.Hit{{Own: &load.Target{Method: "GET", URL: "http://h/"}, Err: strings.Repeat("y", i)}})
		}
	}
	if n := len(e.own[exportedKey{"GET", "http://h/"}].codes[0].failures); n > maxExportedMessages+1 {
		t.Errorf("%d messages are kept", n)
	}
	if text := scrape(e, "").Body.String(); !strings.Contains(text, `url="other URLs"`) || !strings.Contains(text, `message="other errors"`) {
		t.Error("what is beyond the limits is not counted")
	}
}

func TestExporterServer(t *testing.T) {
	e := exported(load.Hit{Code: 200})
	s, err := ServeExporter("127.0.0.1:0", e)
	if err != nil {
		t.Fatal(err)
	}
	s.Last(t.Context()) // no scrape has come: nothing to wait for
	var wg sync.WaitGroup
	get := func() {
		res, err := http.Get("http://" + s.Addr().String() + "/metrics")
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		if b, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(b), `request_seconds_count{method="GET",url="http://h/a",status="200"} 1`) {
			t.Errorf("%v\n%s", err, b)
		}
	}
	get()
	if !s.Scraped() {
		t.Error("a scrape is not noticed")
	}
	wg.Go(get)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s.Last(ctx)
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := ServeExporter("127.0.0.1:x", e); err == nil || !strings.HasPrefix(err.Error(), "prometheus exporter: ") {
		t.Errorf("error is %v", err)
	}
}

// TestLastScrape: the wait ends by itself, and with ctx.
func TestLastScrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &ExporterServer{exporter: exported()}
		began := time.Now()
		s.Last(t.Context())
		if time.Since(began) != 0 {
			t.Error("it waits although no one has come")
		}
		scrape(s.exporter, "")
		s.Last(t.Context())
		if d := time.Since(began); d != LastScrape {
			t.Errorf("it waits %s", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.Last(ctx)
		if d := time.Since(began); d != LastScrape+time.Second {
			t.Errorf("it ends after %s", d)
		}
		time.AfterFunc(3*time.Second, func() { scrape(s.exporter, "") })
		s.Last(t.Context())
		if d := time.Since(began); d != LastScrape+4*time.Second {
			t.Errorf("the scrape ends it after %s", d)
		}
	})
}

func TestExporterHitsDoNotAllocate(t *testing.T) {
	e := exported()
	hits := make([]load.Hit, 64)
	for i := range hits {
		hits[i] = load.Hit{Target: i % 2, Code: 200 + i%3, Done: time.Duration(i) * 50 * time.Millisecond}
	}
	e.Hits(hits)
	if n := testing.AllocsPerRun(100, func() { e.Hits(hits) }); n > 0 {
		t.Errorf("%v allocations for a batch", n)
	}
}

func BenchmarkExporterHits(b *testing.B) {
	e := exported()
	hits := make([]load.Hit, 64)
	for i := range hits {
		hits[i] = load.Hit{Target: i % 2, Code: 200, Done: time.Duration(i%8) * time.Millisecond}
	}
	b.ReportAllocs()
	for b.Loop() {
		e.Hits(hits)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/hit")
}
