package score

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku"
)

// TestFailures: what a benchmark prints of requests that failed comes with its score.
func TestFailures(t *testing.T) {
	f := func(output string, requests, failures uint64, outcome kasoku.Outcome) {
		t.Helper()
		s := Recognize([]byte(output))
		if s == nil || s.Requests != requests || s.Failures != failures || s.Outcome != outcome {
			t.Errorf("%.80q: %+v, want %d of %d failed, %q", output, s, failures, requests, outcome)
		}
	}
	file := func(name string) string {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	f(file("ab-2.3.txt"), 2000, 0, "")
	f(file("wrk-4.1.0.txt"), 99035, 0, "")
	f(file("hey-0.1.4.txt"), 500, 0, "")
	f(file("sysbench-1.0.20-oltp.txt"), 2486, 0, "")
	f(file("sysbench-1.0.20-cpu.txt"), 0, 0, "")
	f(file("vegeta-12.txt"), 100, 0, "")

	f(file("wrk-4.1.0-failed.txt"), 46, 46, kasoku.Failed)
	f(file("ab-2.3-failed.txt"), 20, 20, kasoku.Failed)
	const sockets = "  100 requests in 1.00s, 1.00KB read\n  Socket errors: connect 1, read 2, write 3, timeout 4\n" +
		"  Non-2xx or 3xx responses: 5\nRequests/sec:  100.00\n"
	f(sockets, 110, 15, "")
	f(sockets+sockets, 220, 30, "") // a script may run it twice
	f("  0 requests in 1.00s, 0.00B read\n  Socket errors: connect 2, read 0, write 0, timeout 0\nRequests/sec:  0.00\n", 2, 2, kasoku.Failed)
	f("Complete requests:      100\nFailed requests:        30\n   (Connect: 1, Receive: 2, Length: 25, Exceptions: 2)\n"+
		"Non-2xx responses:      7\nRequests per second:    10.00 [#/sec] (mean)\n", 100, 12, "")
	const hey = "  Requests/sec:\t10.0\n\nStatus code distribution:\n  [200]\t90 responses\n  [302]\t2 responses\n  [503]\t5 responses\n\n" +
		"Error distribution:\n  [3]\tGet \"http://127.0.0.1/\": EOF\n"
	f(hey, 100, 8, "")
	f("  Success rate:\t100.00%\n"+hey+"  [50] aborted due to deadline\n", 100, 8, "") // oha
	f("  Requests/sec:\t0.0\n\nError distribution:\n  [20]\tconnection refused\n", 20, 20, kasoku.Failed)
	f("    transactions:                        10   (1.00 per sec.)\n    ignored errors:                      3      (0.30 per sec.)\n", 13, 3, "")
	f("Requests      [total, rate, throughput]         10, 10.00, 0.00\nStatus Codes  [code:count]                      0:3  503:7  \n",
		10, 10, kasoku.Failed)
	f("     http_req_failed................: 20.00% ✓ 2        ✗ 8  \n     http_reqs......................: 10     9.8/s\n", 10, 2, "")
	f("    http_req_failed................: 100.00% 10 out of 10\n    http_reqs......................: 10     9.8/s\n", 10, 10, kasoku.Failed)
	f(`{"pass":true,"score":1710,"success":1434,"fail":3,"messages":[]}`, 1437, 3, kasoku.Passed)
	f(`{"pass":true,"score":1710}`, 0, 0, kasoku.Passed)
	f("  99999999999999999999 requests in 1s\nRequests/sec:  1.00\n", 1<<63-1, 0, "")
}

// TestFailures_Pattern: they come also with a score that is sought elsewhere, and a
// benchmark that judges itself is believed.
func TestFailures_Pattern(t *testing.T) {
	const output = "points: 7\n  4 requests in 1.00s, 1.00KB read\n  Non-2xx or 3xx responses: 4\nRequests/sec:  4.00\n"
	s, err := Read([]byte(output), Pattern{Regexp: `points: (\d+)`}, Pattern{})
	if err != nil || *s != (kasoku.Score{Value: 7, Outcome: kasoku.Failed, Source: `output, /points: (\d+)/`, Requests: 4, Failures: 4}) {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = Read([]byte(output), Pattern{}, Pattern{Regexp: "points"})
	if err != nil || s.Outcome != kasoku.Passed || s.Failures != 4 {
		t.Errorf("%+v, %v", s, err)
	}
}
