package vegeta

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
)

// benchResults returns results as Vegeta's attack on an nginx leaves them, 1.23
// KB each in gob.
func benchResults(n int) []Result {
	start := time.Date(2026, 11, 20, 9, 27, 44, 779296533, time.UTC)
	body := bytes.Repeat([]byte("<p>a line of a page</p>\n"), 38)
	out := make([]Result, n)
	for i := range out {
		at := start.Add(time.Duration(i) * 50 * time.Microsecond)
		out[i] = Result{
			Attack: "bench", Seq: uint64(i), Code: 200, Timestamp: at,
			Latency: time.Duration(100_000 + i*7919%3_000_000), BytesIn: uint64(len(body)), Body: body,
			Method: "GET", URL: "http://127.0.0.1:8080/items/4711?page=2",
			Headers: http.Header{
				"Server":         {"nginx/1.22.1"},
				"Date":           {at.Format(http.TimeFormat)},
				"Content-Type":   {"text/html; charset=utf-8"},
				"Content-Length": {fmt.Sprint(len(body))},
				"Last-Modified":  {"Thu, 19 Nov 2026 08:00:00 GMT"},
				"Connection":     {"keep-alive"},
				"Etag":           {`"6745a3f0-348"`},
				"Accept-Ranges":  {"bytes"},
			},
		}
		if i%50 == 0 {
			out[i].Code, out[i].Error = 503, "503 Service Temporarily Unavailable"
		}
	}
	return out
}

const benchSize = 20_000

func BenchmarkReport(b *testing.B) {
	results := benchResults(benchSize)
	for _, from := range []Encoding{Gob, JSON, CSV} {
		data := encode(b, from, results)
		for _, kind := range []string{"text", "json", "hist[0,1ms,2ms,5ms]", "hdrplot"} {
			if from != Gob && kind != "text" {
				continue
			}
			b.Run(fmt.Sprintf("of=%s/type=%.4s", from, kind), func(b *testing.B) {
				b.SetBytes(int64(len(data) / benchSize))
				b.ReportAllocs()
				for i := 0; i < b.N; i += benchSize {
					o := ReportOptions{Type: kind, Stdin: bytes.NewReader(data), Stdout: io.Discard}
					if err := Report(b.Context(), o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	results := benchResults(benchSize)
	for _, from := range []Encoding{Gob, JSON, CSV} {
		data := encode(b, from, results)
		for _, to := range []Encoding{Gob, JSON, CSV} {
			b.Run(fmt.Sprintf("of=%s/to=%s", from, to), func(b *testing.B) {
				b.SetBytes(int64(len(data) / benchSize))
				b.ReportAllocs()
				for i := 0; i < b.N; i += benchSize {
					o := EncodeOptions{To: to, Stdin: bytes.NewReader(data), Stdout: io.Discard}
					if err := Encode(b.Context(), o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkWriter measures what a hit costs the engine and the writer together.
func BenchmarkWriter(b *testing.B) {
	plan := load.Plan{Targets: []load.Target{{Method: "GET", URL: "http://127.0.0.1:8080/items/4711?page=2"}}}
	for _, e := range []Encoding{Gob, JSON, CSV} {
		b.Run(fmt.Sprintf("to=%s", e), func(b *testing.B) {
			b.ReportAllocs()
			w, err := NewWriter(io.Discard, WriterOptions{Encoding: e, Attack: "bench", Start: time.Now(), Plan: plan})
			if err != nil {
				b.Fatal(err)
			}
			hits := make([]load.Hit, 64)
			n := uint64(0)
			for range b.N / len(hits) {
				for i := range hits {
					due := time.Duration(n) * 20 * time.Microsecond
					hits[i] = load.Hit{N: n, Due: due, Sent: due, Done: due + time.Duration(n*7919%3_000_000), Code: 200, BytesIn: 1024}
					n++
				}
				w.Hits(hits)
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkMetrics(b *testing.B) {
	results := benchResults(benchSize)
	b.ReportAllocs()
	var m Metrics
	for i := range b.N {
		m.Add(&results[i%benchSize])
	}
}
