package load

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

func TestWarnings(t *testing.T) {
	tally := func(delay, latency time.Duration, errs ...string) *kasoku.Tally {
		t := kasoku.NewTally()
		for range 100 {
			t.SendDelay.Record(delay)
			t.Latency.Record(latency)
		}
		for _, e := range errs {
			t.Errors[e]++
		}
		return t
	}
	f := func(s kasoku.LoadSummary, tally *kasoku.Tally, want ...string) {
		t.Helper()
		s.Cores = 2
		if s.Wall == 0 {
			s.Wall = 10 * time.Second
		}
		var got []string
		for _, w := range Warnings(s, tally) {
			got = append(got, w.Code+": "+w.Text)
			if w.Hint == "" && w.Code != StoppedEarly {
				t.Errorf("%s has no hint", w.Code)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(kasoku.LoadSummary{}, kasoku.NewTally())
	f(kasoku.LoadSummary{MaxInFlight: 10, PeakInFlight: 9, CPU: 2 * time.Second}, tally(100*time.Microsecond, 300*time.Microsecond))
	f(kasoku.LoadSummary{MaxInFlight: 10, PeakInFlight: 10}, tally(900*time.Microsecond, 20*ms))
	f(kasoku.LoadSummary{MaxInFlight: 10, PeakInFlight: 9}, tally(3*ms, 20*ms),
		"late-generator: the generator was late: send delay p99 3.00 ms, max 3.00 ms, of a latency p99 of 20.0 ms")
	f(kasoku.LoadSummary{}, tally(3*ms, 40*ms)) // late, but a small part of the latency
	f(kasoku.LoadSummary{}, tally(500*time.Microsecond, time.Millisecond),
		"late-generator: the generator was late for latencies so short: send delay p50 0.50 ms, of a latency p50 of 1.00 ms")
	f(kasoku.LoadSummary{MaxInFlight: 10, PeakInFlight: 10}, tally(2*time.Second, 3*time.Second),
		"in-flight-cap: requests in flight reached their cap of 10; later ones waited, which their latency includes: send delay p99 2,000 ms, max 2,000 ms")
	f(kasoku.LoadSummary{Model: ModelClosed, MaxInFlight: 10, PeakInFlight: 10}, tally(0, 3*time.Second))
	f(kasoku.LoadSummary{MaxInFlight: MaxInFlight(), PeakInFlight: MaxInFlight() - 1}, tally(0, 3*time.Second))
	economical := kasoku.LoadSummary{Pacing: string(Economical)}
	f(economical, tally(500*time.Microsecond, 20*ms))
	f(economical, tally(500*time.Microsecond, ms),
		"economical-pacing: economical pacing sends up to 1 ms late, which shows in latencies so short: send delay p50 0.50 ms, of a latency p50 of 1.00 ms")
	f(economical, tally(1900*time.Microsecond, 2*ms),
		"late-generator: the generator was late for latencies so short: send delay p50 1.90 ms, of a latency p50 of 2.00 ms")
	f(economical, tally(4*ms, 20*ms),
		"late-generator: the generator was late: send delay p99 4.00 ms, max 4.00 ms, of a latency p99 of 20.0 ms")
	tail := tally(100*time.Microsecond, 16800*time.Microsecond)
	for range 3 {
		tail.SendDelay.Record(1880 * time.Microsecond)
	}
	f(kasoku.LoadSummary{}, tail) // as on any busy host
	dead := tally(3*ms, 4*ms)
	dead.Asked = 1
	f(kasoku.LoadSummary{}, dead)                                                                  // nothing was answered, so no latency is of the server
	f(kasoku.LoadSummary{CPU: 9800 * time.Millisecond, Shards: 1}, tally(20*time.Microsecond, ms)) // in time all the same
	f(kasoku.LoadSummary{CPU: 9800 * time.Millisecond, Shards: 1}, tally(ms, 50*ms), "busy-generator: the generator was out of CPU: it used 0.98 cores, and sends with 1 thread")
	f(kasoku.LoadSummary{CPU: 9 * time.Second, PeakCores: 0.97, Shards: 1, Model: ModelClosed}, tally(0, ms),
		"busy-generator: the generator was out of CPU: it used 0.97 cores in its busiest second, and sends with 1 thread")
	f(kasoku.LoadSummary{CPU: 2 * ms, Wall: 2 * ms, PeakCores: 1, Shards: 1}, tally(ms, 50*ms)) // a single request
	f(kasoku.LoadSummary{CPU: 11 * time.Second, Shards: 2, Model: ModelClosed}, tally(0, ms))
	f(kasoku.LoadSummary{CPU: 19 * time.Second}, tally(0, ms), "busy-generator: the generator was out of CPU: it used 1.90 of 2 cores")
	f(kasoku.LoadSummary{CPU: 9 * time.Second, PeakCores: 1.85}, tally(0, ms),
		"busy-generator: the generator was out of CPU: it used 1.85 of 2 cores in its busiest second")
	f(kasoku.LoadSummary{}, tally(0, ms, "dial tcp: socket: too many open files", "dial tcp: connect: cannot assign requested address"),
		"no-descriptors: the generator ran out of file descriptors: 1 request failed with \"too many open files\"",
		"no-local-ports: the generator ran out of local ports: 1 request failed with \"cannot assign requested address\"")
	f(kasoku.LoadSummary{Stopped: "interrupt", StoppedAt: 3 * time.Second, Wall: 5 * time.Second}, tally(0, ms), "stopped-early: the load was stopped early, by interrupt, after 3.00 s")
}

func TestResultsWarning(t *testing.T) {
	if w := ResultsWarning(0); w != nil {
		t.Errorf("%v", w)
	}
	w := ResultsWarning(1500 * ms)
	if len(w) != 1 || w[0].Code != SlowResults || w[0].Text != "results were written more slowly than they came: the load was held up for 1,500 ms, which latency includes" || w[0].Hint == "" {
		t.Errorf("%+v", w)
	}
}

// TestCapText: a cap that follows from the limit of open files says so.
func TestCapText(t *testing.T) {
	code, text, hint := capText(MaxInFlight())
	if limited := MaxInFlight() < DefaultMaxInFlight; (code == NoDescriptors) != limited || strings.Contains(text, "open files") != limited || strings.Contains(hint, "ulimit") != limited {
		t.Errorf("%s: %q, %q", code, text, hint)
	}
	if code, text, hint := capText(DefaultMaxInFlight + 1); code != InFlightCap || text != "requests in flight reached their cap of 10,001" || strings.Contains(hint, "ulimit") {
		t.Errorf("%s: %q, %q", code, text, hint)
	}
}
