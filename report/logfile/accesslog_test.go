package logfile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/report"
	"pgregory.net/rapid"
)

// accessRow is a row of requests that took so long, one a second.
func accessRow(method, route string, status int, took ...time.Duration) accesslog.Row {
	r := accesslog.Row{Key: []string{method, route}}
	r.Endpoint = kasoku.Endpoint{
		Method: method, Route: route, Count: uint64(len(took)), Codes: map[int]uint64{status: uint64(len(took))}, Bytes: 100 * uint64(len(took)),
		Latency: histogram.NewExact(time.Millisecond), Last: time.Duration(max(len(took)-1, 0)) * time.Second, Seconds: map[int]kasoku.EndpointSecond{},
	}
	for i, d := range took {
		s := kasoku.EndpointSecond{Count: 1}
		if status >= 500 {
			s.Failed = 1
		}
		r.Seconds[i] = s
		if d >= 0 {
			r.Latency.Record(d)
			r.Total += d
			r.Squares += d.Seconds() * d.Seconds()
		}
	}
	return r
}

func accessSample() *AccessLog {
	ms := time.Millisecond
	rows := []accesslog.Row{
		accessRow("GET", "/a", 200, 10*ms, 20*ms, 30*ms),
		accessRow("POST", "/b", 503, 100*ms, 300*ms),
		accessRow("GET", "/c", 304, -1, -1, -1, -1),
	}
	return &AccessLog{
		Rows: rows, By: []string{"method", "route"}, Started: time.Date(2026, 11, 20, 14, 2, 11, 0, time.UTC), Exact: ms,
		Logs: []kasoku.LogWindow{{Path: "logs/a.log", Format: "ltsv", Lines: 12, Records: 10, Blank: 1, Dropped: 1, BadSample: []kasoku.BadLine{{Line: 7, Text: "x", Why: "short"}}}},
	}
}

func access(t *testing.T, a *AccessLog, o AccessOptions) *report.Document {
	t.Helper()
	d, err := Access(a, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// column returns the printed cells of a column.
func columnOf(t *testing.T, table *report.Table, head string) (out []string) {
	t.Helper()
	i := slices.IndexFunc(table.Columns, func(c report.Column) bool { return c.Head == head })
	if i < 0 {
		t.Fatalf("no column %q", head)
	}
	for _, r := range table.Rows {
		out = append(out, r.Cells[i].Text)
	}
	return out
}

func heads(table *report.Table) string {
	var out []string
	for _, c := range table.Columns {
		out = append(out, c.Head)
	}
	return strings.Join(out, " ")
}

func endpointsOf(d *report.Document) *report.Table {
	return d.Section(report.SectionEndpoints).Blocks[0].(*report.Table)
}

func TestAccess(t *testing.T) {
	d := access(t, accessSample(), AccessOptions{})
	if want := "POST /b takes 87.0 % of the request time: 2 requests, mean 200 ms, p99 300 ms."; d.Verdict != want {
		t.Errorf("verdict %q, want %q", d.Verdict, want)
	}
	if want := "a.log|ltsv|20 Nov 2026, 14:02:11 – 14:02:14 UTC, 4 s|12 lines = 9 requests + 1 left out + 1 blank + 1 dropped"; strings.Join(d.Head, "|") != want {
		t.Errorf("head %q, want %q", d.Head, want)
	}
	if len(d.Alerts) != 1 || d.Alerts[0].Text != "8.3 % of the lines were not understood." {
		t.Errorf("alerts %v", d.Alerts)
	}
	table := endpointsOf(d)
	if want := "method route requests total share mean stddev min p50 p90 p95 p99 max 2xx 3xx 5xx bytes over time"; heads(table) != want {
		t.Errorf("columns %q, want %q", heads(table), want)
	}
	for head, want := range map[string]string{
		"route": "/b /a /c", "total": "400 60.0 –", "share": "87.0 13.0 0", "stddev": "100 8.16 –", "min": "100 10.0 –",
		"p50": "100 20.0 –", "max": "300 30.0 –", "5xx": "2 0 0", "bytes": "200 300 400",
	} {
		if got := strings.Join(columnOf(t, table, head), " "); got != want {
			t.Errorf("%s is %q, want %q", head, got, want)
		}
	}
	notes := d.Section(SectionNotes).Blocks[0].(*report.Notes)
	if len(notes.List) != 1 || notes.List[0].Label != "a.log:7" || notes.List[0].Text != "dropped, short: x" {
		t.Errorf("notes %+v", notes)
	}
}

func TestAccess_Verdict(t *testing.T) {
	f := func(change func(*AccessLog), want string) {
		t.Helper()
		a := accessSample()
		change(a)
		if got := access(t, a, AccessOptions{}).Verdict; got != want {
			t.Errorf("verdict %q, want %q", got, want)
		}
	}
	f(func(a *AccessLog) { a.Rows = nil }, "No request in a.log.")
	f(func(a *AccessLog) { a.Rows = a.Rows[2:] }, "GET /c is 100 % of 4 requests. The log reports no request times.")
	f(func(a *AccessLog) { a.By = []string{"host", "status"}; a.Rows[1].Key = []string{"", "503"} },
		"host (none) status 503 takes 87.0 % of the request time: 2 requests, mean 200 ms, p99 300 ms.")
	f(func(a *AccessLog) { a.Rows, a.Logs = nil, append(a.Logs, a.Logs[0]) }, "No request in 2 access logs.")
	f(func(a *AccessLog) { a.Rows, a.Logs[0].Path = nil, "-" }, "No request in standard input.")
}

func TestAccess_Columns(t *testing.T) {
	f := func(o AccessOptions, wantHeads, column, want string) {
		t.Helper()
		table := endpointsOf(access(t, accessSample(), o))
		if heads(table) != wantHeads {
			t.Errorf("columns %q, want %q", heads(table), wantHeads)
		}
		if got := strings.Join(columnOf(t, table, column), " "); got != want {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
	}
	f(AccessOptions{Columns: []string{"uri", "count", "P99.9"}, Sort: "count"}, "route requests p99.9", "route", "/c /a /b")
	f(AccessOptions{Columns: []string{"route"}, Sort: "route"}, "route", "route", "/a /b /c")
	f(AccessOptions{Columns: []string{"route"}, Sort: "route", Reverse: true}, "route", "route", "/c /b /a")
	f(AccessOptions{Columns: []string{"route"}, Sort: "p99"}, "route", "route", "/b /a /c")                // what is not known stands last
	f(AccessOptions{Columns: []string{"route"}, Sort: "p99", Reverse: true}, "route", "route", "/a /b /c") // whichever way
	f(AccessOptions{Columns: []string{"route", "rate"}, Limit: 1}, "route rate", "rate", "0.50")
	f(AccessOptions{Columns: []string{"first", "last"}}, "first last", "last", "14:02:12 14:02:13 14:02:14")
	f(AccessOptions{Percentiles: []float64{0, 33.3, 100}, Columns: nil}, "method route requests total share mean stddev min p0 p33.3 p100 max 2xx 3xx 5xx bytes over time", "p0", "100 10.0 –")

	for _, bad := range []AccessOptions{
		{Columns: []string{"rout"}}, {Sort: "size"}, {Columns: []string{"p101"}}, {Columns: []string{"p"}}, {Percentiles: []float64{-1}}, {Percentiles: []float64{math.NaN()}},
	} {
		err := CheckAccess([]string{"method", "route"}, bad)
		if err == nil {
			t.Errorf("%+v: no error", bad)
		}
		var unknown *UnknownColumnError
		if errors.As(err, &unknown) && !strings.Contains(unknown.Hint(), "requests, total, share") {
			t.Errorf("hint %q", unknown.Hint())
		}
	}
}

// A log of many days has steps longer than a second; what is drawn is still
// requests a second.
func TestAccess_LongStep(t *testing.T) {
	a := accessSample()
	a.Step = time.Minute
	for i := range a.Rows {
		a.Rows[i].Last = 3 * time.Minute
		a.Rows[i].Seconds = map[int]kasoku.EndpointSecond{0: {Count: 120}, 180: {Count: 60, Failed: 30}}
	}
	line := access(t, a, AccessOptions{}).Section(report.SectionTimeline).Blocks[0].(*report.Timeline)
	if line.Column != 60 || line.Note != "Each column is the mean of 1 min." {
		t.Errorf("column %d, note %q", line.Column, line.Note)
	}
	good, failed := line.Charts[0].Series[0].Values, line.Charts[0].Series[1].Values
	if !slices.Equal(good, []float64{6, 0, 0, 1.5}) || !slices.Equal(failed, []float64{0, 0, 0, 1.5}) {
		t.Errorf("answered %v, failed %v", good, failed)
	}
	strip := endpointsOf(access(t, a, AccessOptions{Columns: []string{"seconds"}})).Rows[0].Cells[0]
	if !slices.Equal(strip.Strip, []float64{2, 0, 0, 1}) || strip.Text != "max 2" {
		t.Errorf("strip %v %q", strip.Strip, strip.Text)
	}
}

func TestAccessSeconds(t *testing.T) {
	d, err := AccessSeconds(accessSample(), AccessOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	table := d.Sections[0].Blocks[0].(*report.Table)
	if got := strings.Join(columnOf(t, table, "at"), " "); got != "2026-11-20T14:02:11Z 2026-11-20T14:02:12Z" {
		t.Errorf("seconds %q", got)
	}
	if got := strings.Join(columnOf(t, table, "5xx"), " "); got != "1 1" {
		t.Errorf("failed %q", got)
	}
}

// The shares of all rows add up, whatever the rows, the order and the limit.
func TestAccess_SharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &AccessLog{By: []string{"method", "route"}, Logs: []kasoku.LogWindow{{Path: "x"}}}
		for i := range rapid.IntRange(1, 8).Draw(t, "rows") {
			took := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
				return time.Duration(rapid.IntRange(-1, 5000).Draw(t, "ms")) * time.Millisecond
			}), 1, 5).Draw(t, "took")
			for k := range took {
				took[k] = max(took[k], -1)
			}
			a.Rows = append(a.Rows, accessRow("GET", "/"+string(rune('a'+i)), 200, took...))
		}
		o := AccessOptions{Sort: rapid.SampledFrom([]string{"", "mean", "route", "max"}).Draw(t, "sort"), Reverse: rapid.Bool().Draw(t, "reverse")}
		selected, err := SelectAccess(a, o)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, r := range selected.Rows {
			sum += selected.Share(r)
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("shares add up to %v", sum)
		}
		if len(selected.Rows) != len(a.Rows) {
			t.Fatalf("%d rows of %d", len(selected.Rows), len(a.Rows))
		}
	})
}

func TestDiffAccess(t *testing.T) {
	before, after := accessSample(), accessSample()
	ms := time.Millisecond
	after.Rows = []accesslog.Row{accessRow("GET", "/a", 200, 10*ms, 40*ms), accessRow("POST", "/b", 200, 10*ms), accessRow("GET", "/new", 200, ms)}
	d := &LogDiff{Before: before, After: after, Names: [2]string{"one", "two"}}
	doc, err := DiffAccess(d, AccessOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Request time 460 → 61.0 ms, ÷7.54; 9 → 4 requests, ÷2.25; mean 92.0 → 15.2 ms, ÷6.03."; doc.Verdict != want {
		t.Errorf("verdict %q, want %q", doc.Verdict, want)
	}
	table := doc.Section(report.SectionMoved).Blocks[0].(*report.Table)
	for head, want := range map[string]string{
		"route": "/b|/a|/new|/c", "total": "400 → 10.0|60.0 → 50.0|– → 1.00|– → –", "requests": "2 → 1|3 → 2|– → 1|4 → –", "5xx": "2 → 0|0 → 0|– → 0|0 → –",
	} {
		if got := strings.Join(columnOf(t, table, head), "|"); got != want {
			t.Errorf("%s is %q, want %q", head, got, want)
		}
	}
	rows, err := d.Moved(AccessOptions{Sort: "count", Reverse: true})
	if err != nil || rows[0].Either().Key[1] != "/a" || rows[3].Either().Key[1] != "/c" {
		t.Errorf("by requests: %v, %v", rows, err)
	}
	if _, err := d.Moved(AccessOptions{Sort: "size"}); err == nil {
		t.Error("sorted by what there is not")
	}
	for names, sides := range map[string][2]*AccessLog{
		"No request on either side.": {{}, {}}, "No request in one.": {{}, after}, "No request in two.": {before, {}},
	} {
		if got := (&LogDiff{Before: sides[0], After: sides[1], Names: d.Names}).verdict(); got != names {
			t.Errorf("verdict %q, want %q", got, names)
		}
	}
}

// TestAccess_NoTimes: a log whose lines have no time has none in what is reported.
func TestAccess_NoTimes(t *testing.T) {
	a := &AccessLog{
		Rows:    []accesslog.Row{{Endpoint: kasoku.Endpoint{Route: "/a", Count: 2}, Key: []string{"/a"}}},
		By:      []string{"route"},
		Slowest: []kasoku.SlowRequest{{Method: "GET", URI: "/a", Latency: time.Second}},
	}
	d, err := Access(a, AccessOptions{Columns: []string{"route", "first", "last", "rate"}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range d.Sections {
		for _, block := range s.Blocks {
			if table, ok := block.(*report.Table); ok {
				for _, r := range table.Rows {
					fmt.Fprintln(&b, s.ID, r.Cells[len(r.Cells)-1].Text, r.Cells[1].Text)
				}
			}
		}
	}
	if want := "endpoints – –\nslowest – /a\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	if facts := fmt.Sprint(d.Facts); strings.Contains(facts, "0001") {
		t.Errorf("facts %s", facts)
	}
}
