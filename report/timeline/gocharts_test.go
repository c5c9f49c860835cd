package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// described are the charts with their series and peaks.
func described(charts []report.Chart) string {
	var out []string
	for _, c := range charts {
		line := c.ID + ": " + c.Title + "; " + c.Unit
		for _, s := range c.Series {
			line += "; " + s.Name + " " + s.Peak
		}
		for _, l := range c.Limits {
			line += "; " + l.Name
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestGoCharts(t *testing.T) {
	grows := func(name, instance string, vs ...float64) kasoku.Series {
		s := gaugeOf("expvar", name, instance, vs...)
		s.Kind = kasoku.Counter
		return s
	}
	f := func(want string, series ...kasoku.Series) {
		t.Helper()
		r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: series}}
		d := newDrawing(r)
		d.addGoCharts()
		if got := described(d.timeline.Charts); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	f("")
	f("", gaugeOf("expvar", "MaxOpenConnections", "db", 8, 8), gaugeOf("expvar", "InUse", "db", 0, 0)) // unused
	f("go-heap: Go heap; MiB in use; in use 2.00 MiB; collected at 4.00 MiB\n"+
		"go-waits: Go pauses; longest of each second; longest pause 0.50 ms\n"+
		"goroutines: Goroutines; ; goroutines 9\n"+
		"pool: Connection pool db; connections; in use 3.00; requests waiting 1.50; limit 3",
		gaugeOf("expvar", "HeapAlloc", "memstats", 1<<20, 2<<20, 1<<20), gaugeOf("expvar", "NextGC", "memstats", 4<<20, 4<<20, 4<<20),
		gaugeOf("expvar", "PauseMax", "memstats", 0, 0.0005, 0), gaugeOf("expvar", "goroutines", "", 7, 9, 7),
		gaugeOf("expvar", "InUse", "db", 1, 3, 2), gaugeOf("expvar", "MaxOpenConnections", "db", 3, 3, 3), grows("WaitDuration", "db", 0, 1.5, 1.5))
	// What memstats reports goes before what runtime/metrics does; of several programs the
	// one with the largest heap comes first. A limit far beyond is no line.
	f("go-heap: Go heap, b:2; MiB in use; in use 8.00 MiB\n"+
		"go-waits: Go pauses, b:2; and waits for a thread, each second; wait p99 4.00 ms; longest pause 1.00 ms\n"+
		"pool: Connection pool x y, b:2; connections, limit 1,000, beyond the axis; in use 2.00\n"+
		"go-heap-2: Go heap, a:1; MiB in use; in use 1.00 MiB",
		gaugeOf("expvar", "HeapAlloc", "a:1 memstats", 1<<20), gaugeOf("expvar", "/memory/classes/heap/objects:bytes", "b:2 go", 8<<20, 2<<20),
		gaugeOf("expvar", "/sched/latencies:seconds.p99", "b:2 go", 0.004), gaugeOf("expvar", "/sched/pauses/total/gc:seconds.max", "b:2 go", 0.001),
		gaugeOf("expvar", "InUse", "b:2 x y", 2), gaugeOf("expvar", "MaxOpenConnections", "b:2 x y", 1000))
}

// Waits that are over within a hundredth of a millisecond do not stretch the axis.
func TestGoWaitsAxis(t *testing.T) {
	f := func(bottom float64, waits ...float64) {
		t.Helper()
		r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: []kasoku.Series{gaugeOf("expvar", "/sched/latencies:seconds.p99", "go", waits...)}}}
		p := r.GoSeries()
		if c := (goCharts{newDrawing(r)}).goWaitsChart(&p[0]); fmt.Sprintf("%.5g", c.Axis.Bottom) != fmt.Sprintf("%.5g", bottom) || len(c.Axis.Ticks) == 0 {
			t.Errorf("%v: %+v", waits, c.Axis)
		}
	}
	f(0.006, 64e-9, 0.02)
	f(0.6, 0.001, 0.02)
	f(0.6*64e-6, 64e-9, 64e-9) // nothing else
}

// Carbon reports once a minute; what it reported holds until it reports again, and that of
// several servers is added up.
func TestCarbonCharts(t *testing.T) {
	at := func(instance, name string, points ...kasoku.Point) kasoku.Series {
		return kasoku.Series{Key: kasoku.Key{Source: "graphite", Name: name, Instance: instance}, Points: points}
	}
	r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 130 * time.Second}, Series: []kasoku.Series{
		at("agents.a", "metricsReceived", kasoku.Point{At: 5 * time.Second, Value: 600}, kasoku.Point{At: 65 * time.Second, Value: 900}),
		at("agents.b", "tcp.metricsReceived", kasoku.Point{At: 35 * time.Second, Value: 50}),
		at("agents.a", "committedPoints", kasoku.Point{At: 5 * time.Second, Value: 590}),
		at("agents.a", "droppedCreates", kasoku.Point{At: 5 * time.Second, Value: 0}),
		at("agents.a", "cache.size", kasoku.Point{At: 65 * time.Second, Value: 310}),
	}}}
	charts := func() serverCharts { return serverCharts{newDrawing(r)} }
	c := charts().carbonChart()
	if got := described([]report.Chart{c.Chart}); got != "carbon: Carbon; points of the interval that it reported last; received 950; written 590" {
		t.Error(got)
	}
	for second, want := range map[int]string{4: "NaN", 5: "600", 36: "650", 65: "950", 129: "950"} {
		if got := fmt.Sprint(c.Series[0].Values[second]); got != want {
			t.Errorf("second %d: %s, want %s", second, got, want)
		}
	}
	if got := described([]report.Chart{charts().carbonCacheChart().Chart}); got != "carbon-cache: Carbon's cache; points to be written, as last reported; in the cache 310" {
		t.Error(got)
	}
	relayed := r.Series // what a relay passes on counts once, in the cache that gets it
	r.Series = append([]kasoku.Series{at("relays.a", "metricsReceived", kasoku.Point{At: 5 * time.Second, Value: 650})}, relayed...)
	if got := described([]report.Chart{charts().carbonChart().Chart}); got != "carbon: Carbon; points of the interval that it reported last; received 950; written 590" {
		t.Errorf("with a relay: %s", got)
	}
	r.Series = r.Series[:1]
	if got := described([]report.Chart{charts().carbonChart().Chart}); got != "carbon: Carbon; points of the interval that it reported last; received 650" {
		t.Errorf("of a relay alone: %s", got)
	}
	r.Series = relayed[3:4]
	if charts().carbonChart() != nil || charts().carbonCacheChart() != nil || charts().carbonCreatesChart() != nil {
		t.Error("a chart of nothing")
	}
	r.Series = []kasoku.Series{at("agents.a", "creates", kasoku.Point{At: 5 * time.Second, Value: 7})}
	if got := described([]report.Chart{charts().carbonCreatesChart().Chart}); got != "carbon-creates: Carbon's new series; files created in the interval that it reported; created 7" {
		t.Error(got)
	}
}

// TestCarbonDiskChart: the operations of all disks, beside a carbon alone.
func TestCarbonDiskChart(t *testing.T) {
	at := func(source, instance, name string, of ...float64) kasoku.Series {
		s := kasoku.Series{Key: kasoku.Key{Source: source, Name: name, Instance: instance}, Kind: kasoku.Counter}
		for i, v := range of {
			s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: v})
		}
		return s
	}
	r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: []kasoku.Series{
		at("host", "vda", "disk.writes", 0, 300, 600, 1000), at("host", "vdb", "disk.writes", 0, 10, 20, 30),
		at("host", "vda", "disk.reads", 5, 5, 7, 7), at("graphite", "agents.a", "cache.size", 1)}}}
	got := described([]report.Chart{serverCharts{newDrawing(r)}.carbonDiskChart().Chart})
	if want := "carbon-disk: Disk operations; per second, of all disks; writes 410; reads 2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Series = r.Series[:3]
	if c := (serverCharts{newDrawing(r)}).carbonDiskChart(); c != nil {
		t.Error("without a carbon")
	}
}

// TestSenderChart: what was due, sent and acknowledged of who publishes what is outstanding; a
// client's requests are another thing.
func TestSenderChart(t *testing.T) {
	at := func(instance, name string, of ...float64) kasoku.Series {
		s := kasoku.Series{Key: kasoku.Key{Source: "expvar", Name: name, Instance: instance}, Kind: kasoku.Counter}
		for i, v := range of {
			s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: v})
		}
		return s
	}
	r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: []kasoku.Series{
		at("client", "Sent", 0, 900, 1800, 2700), at("sender", "Sent", 0, 100, 190, 280), at("sender", "Due", 0, 100, 200, 300),
		at("sender", "Outstanding", 0, 0, 10, 20)}}}
	got := described([]report.Chart{serverCharts{newDrawing(r)}.senderChart().Chart})
	if want := "sender: Sent; per second; due 100; sent 100"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Series = r.Series[:1]
	if (serverCharts{newDrawing(r)}).senderChart() != nil {
		t.Error("a chart of a client's requests")
	}
}
