package rules

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/cache"
	"github.com/kasoku/kasoku/internal/histogram"
)

// TestKeptOverInitialize_Ends: a benchmark that ends at its check right after initialize has asked twice, within a
// second that does not say in which order; the log's own first and last times do.
func TestKeptOverInitialize_Ends(t *testing.T) {
	const vcl = "vcl 4.1;\nbackend app { .host = \"127.0.0.1\"; }\n" +
		"sub vcl_backend_response { set beresp.ttl = 0.7s; set beresp.grace = 0s; }\n"
	const ms = time.Millisecond
	for _, x := range []struct {
		name        string
		first, last time.Duration
		fires       bool
	}{
		{"before and after", 2300 * ms, 2450 * ms, true},
		{"in the millisecond in which it began", 2410 * ms, 2440 * ms, true},
		{"in the millisecond of its end", 2300 * ms, 2440 * ms, true},
		{"both after it", 2445 * ms, 2450 * ms, false},
		{"while it ran", 2411 * ms, 2450 * ms, false},
		{"both before it", 2300 * ms, 2310 * ms, false},
		{"longer apart than it is kept", 1700 * ms, 2450 * ms, false},
	} {
		seconds := func(at ...time.Duration) map[int]kasoku.EndpointSecond {
			out := map[int]kasoku.EndpointSecond{}
			for _, d := range at {
				out[int(d/time.Second)] = kasoku.EndpointSecond{Count: out[int(d/time.Second)].Count + 1}
			}
			return out
		}
		took := histogram.New()
		took.Record(90 * ms)
		took.Record(30 * ms) // the second one
		rec := &kasoku.Recording{Run: kasoku.Run{Length: 10 * time.Second}, Endpoints: []kasoku.Endpoint{
			{Method: "GET", Route: "/board", Count: 2, First: x.first, Last: x.last, Seconds: seconds(x.first, x.last)},
			{Method: "POST", Route: "/initialize", Count: 2, First: 100 * ms, Last: 2440 * ms, Latency: took,
				Seconds: seconds(100*ms, 2440*ms)},
		}, Slowest: []kasoku.SlowRequest{{Method: "POST", Route: "/initialize", At: 100 * ms, Latency: 90 * ms},
			{Method: "POST", Route: "/initialize", At: 2440 * ms, Latency: 30 * ms}},
			Configs: []kasoku.Config{{Kind: capture.KindVCL, Name: "/etc/varnish/default.vcl", Text: vcl}},
			Phases: []kasoku.Phase{{Kind: kasoku.PhaseInitialize, Why: "POST /initialize, 1 request, 90ms",
				Interval: kasoku.Interval{From: 1910 * ms, To: 3 * time.Second}}}}
		grows(rec, "varnish", "MAIN.client_req", 2)
		grows(rec, "varnish", "MAIN.cache_hit", 1)
		grows(rec, "varnish", "MAIN.cache_miss", 1)
		grows(rec, "varnish", "MAIN.s_pass", 0)
		found, silent := (cache.KeptOverInitialize{}).Check(diagnose.NewCase(rec, nil))
		if (len(found) == 1) != x.fires {
			t.Errorf("%s: %+v %+v", x.name, found, silent)
		}
	}
}
