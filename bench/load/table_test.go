package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestGoal(t *testing.T) {
	f := func(g goal, met bool, verdict string) {
		t.Helper()
		if g.met() != met || g.verdict() != verdict {
			t.Errorf("%+v: %v, %q; want %v, %q", g, g.met(), g.verdict(), met, verdict)
		}
	}
	f(goal{got: 0.95, must: 0.9, aim: 0.8}, false, "NO")
	f(goal{got: 0.90, must: 0.9, aim: 0.8}, true, "yes, not the aim")
	f(goal{got: 0.80, must: 0.9, aim: 0.8}, true, "yes, and the aim")
	f(goal{got: 1.1, must: 1.12, aim: 1.25, atLeast: true}, false, "NO")
	f(goal{got: 1.3, must: 1.12, aim: 1.25, atLeast: true}, true, "yes, and the aim")
	f(goal{got: 1, must: 2, aim: none}, true, "yes")
	f(goal{got: 3, must: none, aim: 1}, true, "not the aim")
	f(goal{got: none, must: 2, aim: none}, false, "NOT MEASURED")
	f(goal{got: none, must: 2, aim: none, why: "oha is not here"}, true, "not measured: oha is not here")
}

func TestWriteTable(t *testing.T) {
	var b strings.Builder
	writeTable(&b, []string{"", "µs", "× wrk"}, [][]string{{"kasoku", "5.61", "0.80 (0.79–0.83)"}, {"wrk", "7", ""}})
	want := "            µs             × wrk\n" +
		"  kasoku  5.61  0.80 (0.79–0.83)\n" +
		"  wrk        7\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// Figures come back by round, with holes where a round has none.
func TestBook(t *testing.T) {
	var b book
	at := place{row: "closed"}
	b.add(at, "wrk", 2, "cpu_us", 7)
	b.add(at, "wrk", 0, "cpu_us", 5)
	b.add(at, "oha", 0, "cpu_us", 9)
	b.add(at, "wrk", 0, "per_s", 1e5)
	got := b.get(at, "wrk", "cpu_us")
	if len(got) != 3 || got[0] != 5 || !math.IsNaN(got[1]) || got[2] != 7 {
		t.Errorf("got %v", got)
	}
	var tsv strings.Builder
	if err := b.tsv(&tsv); err != nil || !strings.Contains(tsv.String(), "closed\t\twrk\t3\tcpu_us\t7\n") {
		t.Errorf("%v:\n%s", err, tsv.String())
	}
}

func TestChoose(t *testing.T) {
	all, err := chooseRows(nil)
	if err != nil || len(all) != len(allRows()) {
		t.Errorf("none named: %v, %v", rowNames(all), err)
	}
	some, err := chooseRows([]string{"report", "closed"})
	if got := strings.Join(rowNames(some), " "); err != nil || got != "closed report" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := chooseRows([]string{"close"}); err == nil {
		t.Error("an unknown row is taken")
	}
}

func TestParsers(t *testing.T) {
	if n, err := stubStatus("Active connections: 1 \nserver accepts handled requests\n 12 12 340 \nReading: 0 Writing: 1 Waiting: 0 \n"); n != 340 || err != nil {
		t.Errorf("stub_status: %d, %v", n, err)
	}
	if _, err := stubStatus("404"); err == nil {
		t.Error("what is no stub_status is taken")
	}
	ms := time.Millisecond
	f := func(what string, got seen, err error, want seen) {
		t.Helper()
		if got != want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, want)
		}
	}
	got, err := parseWrk(wrkSaid)
	f("wrk", got, err, seen{140_254, 366 * time.Microsecond, 957370 * time.Microsecond, time.Second})
	got, err = parseWrk(wrk2Said)
	f("wrk2", got, err, seen{19_972, 1050 * time.Microsecond, 899 * ms, time.Second})
	got, err = parseAB(abSaid)
	f("ab", got, err, seen{128_466, 0, 6 * ms, 1011 * ms})
	for _, text := range []string{"", "unable to connect"} {
		_, err1 := parseWrk(text)
		_, err2 := parseAB(text)
		if err1 == nil || err2 == nil {
			t.Errorf("%q is taken: %v, %v", text, err1, err2)
		}
	}
	if _, err := parseLoadReport([]byte(`{"steps": []}`)); err == nil {
		t.Error("a load without steps is taken")
	}
}

// What Debian's wrk 4.1.0 said of a sink that stood still for a second.
const wrkSaid = `Running 3s test @ http://127.0.0.1:38277/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   117.98ms  248.42ms   1.00s    85.90%
    Req/Sec    72.39k    37.69k  119.80k    73.68%
  Latency Distribution
     50%  366.00us
     75%   51.06ms
     90%  551.85ms
     99%  957.37ms
  140254 requests in 3.15s, 169.07MB read
Requests/sec:  44505.61
Transfer/sec:     53.65MB
`

// The same in the form of wrk2, which prints a longer table of quantiles.
const wrk2Said = `Running 10s test @ http://127.0.0.1:41000/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    51.06ms  173.13ms   1.00s    92.34%
    Req/Sec     2.11k     1.02k    6.60k    78.95%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.05ms
 75.000%    1.43ms
 90.000%  101.12ms
 99.000%  899.00ms
 99.900%  991.23ms
100.000%    1.00s
  19972 requests in 10.00s, 24.57MB read
Requests/sec:   1997.02
`

// What Debian's ab 2.3 said of the same sink, the head left out.
const abSaid = `Concurrency Level:      64
Time taken for tests:   3.001 seconds
Complete requests:      128466
Failed requests:        0
Keep-Alive requests:    128466

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.1      0       5
Processing:     0    1  23.1      0    1011
Waiting:        0    1  23.1      0    1011
Total:          0    1  23.1      0    1011

Percentage of the requests served within a certain time (ms)
  50%      0
  66%      0
  75%      1
  80%      1
  90%      2
  95%      3
  98%      5
  99%      6
 100%   1011 (longest request)
`
