package kasoku_test

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// TestTally_Refused: of a load's answers 503 those are no failures that nginx's log has as
// bots which it refused itself. Where the log has others too, its seconds decide.
func TestTally_Refused(t *testing.T) {
	second := func(n int) kasoku.Interval {
		return kasoku.Interval{From: time.Duration(n) * time.Second, To: time.Duration(n+1) * time.Second}
	}
	refusing := kasoku.Config{Kind: "nginx", Text: "if ($from_bot) { return 503; }"}
	bots := kasoku.Endpoint{Route: "/", Codes: map[int]uint64{200: 80, 503: 30}, Bots: 30, UpstreamCount: 80,
		Seconds: map[int]kasoku.EndpointSecond{0: {Count: 50, Failed: 10}, 1: {Count: 60, Failed: 20}}}
	broken := kasoku.Endpoint{Route: "/broken", Codes: map[int]uint64{503: 5}, UpstreamCount: 5,
		Seconds: map[int]kasoku.EndpointSecond{1: {Count: 5, Failed: 5}}}
	f := func(configs []kasoku.Config, endpoints []kasoku.Endpoint, first, second503, want1, want2 uint64) {
		t.Helper()
		rec := &kasoku.Recording{Configs: configs, Endpoints: endpoints,
			Steps: []kasoku.Step{{Number: 1, Interval: second(0)}, {Number: 2, Interval: second(1)}}}
		for i, n := range []uint64{first, second503} {
			rec.Seconds = append(rec.Seconds, kasoku.LoadSecond{Second: i, Step: i + 1, Asked: 50, Codes: map[int]uint64{200: 50 - n, 503: n},
				Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New()})
		}
		for i, want := range []uint64{want1, want2} {
			tally, n := rec.Tally(i+1), []uint64{first, second503}[i]
			if tally.Refused != want || tally.Failed() != n-want || tally.SuccessRatio() != float64(50-n+want)/50 {
				t.Errorf("step %d: %d refused, %d failed, %v succeed; want %d refused of %d",
					i+1, tally.Refused, tally.Failed(), tally.SuccessRatio(), want, n)
			}
		}
	}
	configs := []kasoku.Config{refusing}
	f(configs, []kasoku.Endpoint{bots}, 10, 20, 10, 20)
	f(configs, []kasoku.Endpoint{bots}, 12, 18, 12, 18)         // a second of the log is not one of the load
	f(configs, []kasoku.Endpoint{bots, broken}, 10, 25, 10, 20) // five are the application's
	f(configs, []kasoku.Endpoint{bots}, 10, 40, 10, 20)         // some never came to this nginx
	f(configs, []kasoku.Endpoint{broken}, 0, 5, 0, 0)
	f(nil, []kasoku.Endpoint{bots}, 10, 20, 0, 0)
	f([]kasoku.Config{{Kind: "nginx", Text: "# return 503;"}}, []kasoku.Endpoint{bots}, 10, 20, 0, 0)
}
