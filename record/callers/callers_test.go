package callers

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/join"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
)

const ms = time.Millisecond

// TestStamps places lines by what was seen of a log's length.
func TestStamps(t *testing.T) {
	f := &tailed{}
	for _, look := range []struct {
		size     int64
		from, to time.Duration
	}{{0, 0, 1 * ms}, {0, 5 * ms, 6 * ms}, {100, 10 * ms, 11 * ms}, {100, 15 * ms, 16 * ms}, {300, 20 * ms, 21 * ms}} {
		f.see(look.size, look.from, look.to)
	}
	s := &stamps{list: f.stamps, moved: 20, shift: time.Second}
	for _, c := range []struct {
		offset   int64
		from, to time.Duration
		ok       bool
	}{{0, 5 * ms, 11 * ms, true}, {79, 5 * ms, 11 * ms, true}, {80, 15 * ms, 21 * ms, true}, {279, 15 * ms, 21 * ms, true}, {280, 0, 0, false}} {
		from, to, ok := s.when(c.offset)
		if ok {
			from, to = from-time.Second, to-time.Second
		}
		if from != c.from || to != c.to || ok != c.ok {
			t.Errorf("byte %d: written from %s to %s, %v; want %s to %s, %v", c.offset, from, to, ok, c.from, c.to, c.ok)
		}
	}
	f.see(40, 25*ms, 26*ms)
	if len(f.stamps) != 0 {
		t.Errorf("%d stamps of a log that was truncated", len(f.stamps))
	}
	for i := range mostStamps + 10 {
		f.see(int64(50+i), 0, time.Duration(i))
	}
	if n := len(f.stamps); n > mostStamps || f.stamps[n-1].at != mostStamps+9 {
		t.Errorf("%d stamps, at most %d; the last at %d", n, mostStamps, f.stamps[n-1].at)
	}
	if _, _, ok := (&stamps{list: f.stamps}).when(0); ok {
		t.Error("a line is placed that is older than what was kept")
	}
}

// TestTailer looks at a log while it is written, and rotated.
func TestTailer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow.log")
	write := func(text string) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	write("before\n")
	mark, err := lines.MarkEnd(path)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	tail := startTailer([]lines.Mark{mark})
	write("first\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write("second\n")
	tail.halt()
	tail.halt()
	s := tail.of(mark, start)
	if s == nil {
		t.Fatal("the log was not looked at")
	}
	for _, offset := range []int64{0, 6, 12} {
		if from, to, ok := s.when(offset); !ok || from > to || to > time.Since(start) {
			t.Errorf("byte %d: from %s to %s, %v", offset, from, to, ok)
		}
	}
	if _, _, ok := s.when(13); ok {
		t.Error("a byte is placed that was not written")
	}
	moved := mark
	moved.Inode++
	if tail.of(moved, start) != nil || (*tailer)(nil).of(mark, start) != nil || startTailer(nil) != nil {
		t.Error("stamps of a log that was not looked at")
	}
}

// TestBusiest looks at the part of a long run in which most endpoints have enough
// requests.
func TestBusiest(t *testing.T) {
	e := func(from, to int, n uint64) kasoku.Endpoint {
		out := kasoku.Endpoint{Seconds: map[int]kasoku.EndpointSecond{}}
		for s := from; s < to; s++ {
			out.Seconds[s] = kasoku.EndpointSecond{Count: n}
		}
		return out
	}
	f := func(endpoints []kasoku.Endpoint, length, from, to time.Duration) {
		t.Helper()
		if got := busiest(endpoints, length*time.Second); got != (kasoku.Interval{From: from * time.Second, To: to * time.Second}) {
			t.Errorf("looks at %v, want %d to %d s", got, from, to)
		}
	}
	f(nil, 12, 0, 12)
	f(nil, 90, 0, 30)
	f([]kasoku.Endpoint{e(0, 40, 100), e(75, 90, 5)}, 90, 0, 30) // never both enough, so most requests
	f([]kasoku.Endpoint{e(0, 90, 100), e(60, 64, 5)}, 90, 34, 64)
}

func entry(sql string, conn uint64) *slowlog.Event {
	return &slowlog.Event{Start: time.Unix(1, 0), Client: slowlog.Client{ThreadID: conn}, Statement: []byte(sql)}
}

// TestTruth counts statements that name their route, and what begins and ends their
// transactions.
func TestTruth(t *testing.T) {
	tr := newTruth()
	table := slowlog.NewTable(slowlog.Options{Each: tr.add, Trailers: true})
	for range 6 {
		for _, s := range []string{
			"/*route='GET%20%2Fusers%2F%3Aid'*/ SELECT * FROM users WHERE id = 7", "SELECT * FROM users WHERE id = 8 /* route:GET /users/:id */",
			"START TRANSACTION", "UPDATE stock SET n = 1 WHERE id = 3 /*db_driver='go',route='POST%20%2Fbuy%2F%7Bitem%7D'*/", "COMMIT", "COMMIT",
			"/* route:/plain */ SELECT 1", "/* route:POST /gone */ DELETE FROM carts", "SELECT * FROM users WHERE id = 9",
		} {
			table.Add(entry(s, 5))
		}
		table.Add(entry("COMMIT", 6))
	}
	classes := table.Classes()
	tr.settle(classes)
	var queries []kasoku.Query
	names := map[string]string{}
	for i := range classes {
		queries = append(queries, classes[i].Query)
		names[classes[i].ID] = classes[i].Fingerprint
	}
	endpoints := []kasoku.Endpoint{
		{Method: "GET", Route: "/users/:id", Count: 12}, {Method: "POST", Route: "/buy/:id", Count: 3}, {Method: "POST", Route: "/buy/:id/now", Count: 3},
		{Method: "GET", Route: "/plain", Count: 6},
	}
	var got []string
	for _, c := range tr.callers(queries, endpoints) {
		got = append(got, fmt.Sprintf("%s: %s ×%g of %d, %.0f %%", c.Endpoint(), names[c.QueryID], c.PerRequest, c.Requests, 100*c.Share))
	}
	want := []string{
		"GET /plain: select ? ×1 of 6, 100 %", "GET /users/:id: select * from users where id = ? ×1 of 12, 67 %",
		"POST /buy/:id: commit ×2 of 3, 33 %", "POST /buy/:id: start transaction ×2 of 3, 100 %", "POST /buy/:id: update stock set n = ? where id = ? ×2 of 3, 100 %",
		"POST /gone: delete from carts ×0 of 0, 100 %",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var overlap []kasoku.Caller
	for id := range names {
		overlap = append(overlap, kasoku.Caller{QueryID: id})
	}
	left := map[string]bool{}
	for _, c := range tr.without(overlap) {
		left[names[c.QueryID]] = true
	}
	if len(left) != 2 || !left["commit"] || !left["select * from users where id = ?"] {
		t.Errorf("overlap in time is asked of %v", left)
	}
}

func TestSurest(t *testing.T) {
	c := func(query string, class kasoku.CallerClass, source string, calls float64) kasoku.Caller {
		return kasoku.Caller{QueryID: query, Method: "GET", Route: "/", Class: class, Source: source, Calls: calls}
	}
	got := Surest([]kasoku.Caller{
		c("possible", kasoku.CallerPossible, kasoku.FromOverlap, 9), c("high", kasoku.CallerHigh, kasoku.FromOverlap, 9),
		c("both", kasoku.CallerHigh, kasoku.FromOverlap, 9), c("both", kasoku.CallerConfirmed, kasoku.FromComments, 5), c("both", kasoku.CallerConfirmed, kasoku.FromProbe, 1),
		c("reported", kasoku.CallerConfirmed, kasoku.FromComments, 7), c("more", kasoku.CallerConfirmed, kasoku.FromComments, 70), c("possible", kasoku.CallerHigh, kasoku.FromOverlap, 10),
	})
	var text []string
	for _, x := range got {
		text = append(text, fmt.Sprint(x.QueryID, " ", x.Class, " ", x.Source))
	}
	const want = "both confirmed probe, more confirmed comments, reported confirmed comments, possible high overlap, high high overlap"
	if s := strings.Join(text, ", "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

// TestJoinChecks holds the preconditions to their limits.
func TestJoinChecks(t *testing.T) {
	f := func(c kasoku.JoinCheck, holds bool, text string) {
		t.Helper()
		if c.Holds != holds || !strings.Contains(c.Text, text) {
			t.Errorf("%s: %v, %q; want %v, %q", c.Name, c.Holds, c.Text, holds, text)
		}
	}
	f(checkLogged(980, 1000), true, "980 of 1,000")
	f(checkLogged(979, 1000), false, "97.9 %")
	f(checkLogged(0, 10), true, "0 of 10")
	f(checkLogged(5, math.NaN()), false, "did not report")
	gave := func(n uint64) []kasoku.Endpoint {
		return []kasoku.Endpoint{{Count: 10_000, Codes: map[int]uint64{499: n}}}
	}
	conf := func(text string) []kasoku.Config { return []kasoku.Config{{Kind: "nginx", Text: text}} }
	f(checkGivenUp(gave(10), nil), true, "10 of 10,000")
	f(checkGivenUp(gave(11), nil), false, "proxy_ignore_client_abort on")
	f(checkGivenUp(gave(11), conf("location / {\n  proxy_ignore_client_abort  on;\n}")), true, "waits for their answers")
	f(checkGivenUp(gave(11), conf("# proxy_ignore_client_abort on;")), false, "run on afterwards")
	f(checkClocks([]time.Duration{-300 * ms}), true, "this host")
	f(checkClocks([]time.Duration{0, -2500 * ms}), false, "-2.5s off")
	j := &kasoku.Join{Requests: 20, Interval: kasoku.Interval{To: 10 * time.Second}}
	f(checkRequests(j, &join.Result{}, make([]join.Request, 20), make([]kasoku.Endpoint, 2)), true, "20 requests of 1 endpoint")
	f(checkRequests(j, &join.Result{}, make([]join.Request, 19), make([]kasoku.Endpoint, 2)), false, "fewer than 20")
	f(checkRequests(j, &join.Result{Long: 1}, make([]join.Request, 20), make([]kasoku.Endpoint, 2)), false, "one after the other")
	f(checkRequests(j, &join.Result{InLine: true}, make([]join.Request, 199), make([]kasoku.Endpoint, 2)), false, "fewer than 200, which")
	j.Interval.To -= ms
	f(checkRequests(j, &join.Result{}, make([]join.Request, 20), make([]kasoku.Endpoint, 2)), false, "at least 10 s")
	f(checkPool(&join.Result{Events: 9, Busy: 3.7, Open: 10}), true, "3.7 of 10.0")
	f(checkPool(&join.Result{Events: 9, Saturated: true}), false, "full")
	f(checkPool(&join.Result{}), false, "no statement")
	f(checkResolution(20*ms), true, "20ms")
	f(checkResolution(21*ms), false, "21ms")
}

// TestRefused describes why times cannot be joined.
func TestRefused(t *testing.T) {
	f := func(x feed, want string) {
		t.Helper()
		if got := x.refused(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("refused %q, want %q", got, want)
		}
	}
	f(feed{seen: 100}, "")
	f(feed{seen: 100, untimed: 51}, "$request_time")
	f(feed{seen: 100, late: 6}, "buffer")
	f(feed{seen: 100, unstamped: 51}, "$msec")
	f(feed{seen: 100, coarse: 10}, "time stamps 1 s")
	f(feed{seen: 100, gaps: []time.Duration{30 * ms}, events: make([]join.Event, 1)}, "time stamps 30ms")
}

// TestWeaken holds what overlap concludes to what it rests on: an endpoint with few
// requests, and a log that lacks statements.
func TestWeaken(t *testing.T) {
	f := func(want string, checks ...kasoku.JoinCheck) {
		t.Helper()
		got := weaken([]kasoku.Caller{
			{Class: kasoku.CallerHigh, Requests: 11}, {Class: kasoku.CallerHigh, Requests: 20}, {Class: kasoku.CallerGroup, Requests: 200},
		}, checks)
		var classes []string
		for i := range got {
			classes = append(classes, string(got[i].Class))
		}
		if s := strings.Join(classes, " "); s != want {
			t.Errorf("%+v: %s, want %s", checks, s, want)
		}
	}
	f("possible high group", checkLogged(8233, 8233), kasoku.JoinCheck{Name: "pool"})
	f("possible possible group", checkLogged(945, 1706)) // Redmine's pool was open before
	f("possible possible group", checkGivenUp([]kasoku.Endpoint{{Count: 100, Codes: map[int]uint64{499: 1}}}, nil))
	f("possible possible group", checkClocks([]time.Duration{3 * time.Second}))
	f("possible possible group", checkResolution(time.Second))
}
