package export

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// kept is an output that keeps all values as text.
type kept struct {
	values []string
	seen   []string
}

func (k *kept) Write(_ context.Context, values []Value) error {
	for _, v := range values {
		if v.Key.Source == SourceLoad {
			k.values = append(k.values, fmt.Sprintf("%s %s/%s %v %v %s", v.Key.Host, v.Key.Name, v.Key.Instance, v.At, v.Value, v.Unit))
		}
	}
	return nil
}

func (k *kept) Close(context.Context) error { return nil }

func (k *kept) Seen(source string, at time.Duration) {
	k.seen = append(k.seen, fmt.Sprint(source, at))
}

// TestLive_Loads: a second of a load is reported once, when its parts have come; of each
// target too as soon as there are two; what is left at the end; what is late is
// counted.
func TestLive_Loads(t *testing.T) {
	var counted []kasoku.LoadSecond
	second := func(n int, target string, asked uint64, took time.Duration) {
		h := histogram.New()
		h.Record(took)
		counted = append(counted, kasoku.LoadSecond{Second: n, Target: target, Asked: asked, Codes: map[int]uint64{200: asked}, Latency: h})
	}
	out := &kept{}
	live := NewLive(LiveOptions{Output: out, Only: Selection{"host", "load.requests", "load.latency.max"}, Loads: func() []kasoku.LoadSecond {
		defer func() { counted = nil }()
		return counted
	}})
	at := func(now time.Duration, want ...string) {
		t.Helper()
		out.values, out.seen = nil, nil
		f := &kasoku.Frame{Host: "web1", Source: "host", At: now}
		f.Gauge("load.1", "", "count", 1)
		if err := live.Frame(f); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.values, want) {
			t.Errorf("at %s: %q, want %q", now, out.values, want)
		}
		if reported := slices.Contains(out.seen, fmt.Sprint(SourceLoad, now)); reported != (len(want) > 0) {
			t.Errorf("at %s: seen %q", now, out.seen)
		}
	}
	second(-1, "GET /", 9, time.Second)
	second(0, "GET /", 2, 10*time.Millisecond)
	at(time.Second)
	second(0, "GET /", 1, 20*time.Millisecond)
	second(1, "GET /", 5, 30*time.Millisecond)
	at(3900 * time.Millisecond)
	at(4900*time.Millisecond, "web1 requests/ 1s 3 count/s", "web1 latency.max/ 1s 0.02 s")
	second(2, "POST /a", 1, 40*time.Millisecond)
	second(0, "GET /", 7, 5*time.Second)
	at(5 * time.Second) // less than a second after the last look
	at(6*time.Second, "web1 requests/ 2s 5 count/s", "web1 latency.max/ 2s 0.03 s",
		"web1 requests/GET / 2s 5 count/s", "web1 latency.max/GET / 2s 0.03 s",
		"web1 requests/ 3s 1 count/s", "web1 latency.max/ 3s 0.04 s",
		"web1 requests/POST /a 3s 1 count/s", "web1 latency.max/POST /a 3s 0.04 s")
	second(9, "GET /", 4, 50*time.Millisecond)
	out.values = nil
	late, err := live.Finish()
	if want := []string{"web1 requests/ 10s 4 count/s", "web1 latency.max/ 10s 0.05 s"}; err != nil || late != 7 || len(out.values) != 4 || !slices.Equal(out.values[:2], want) {
		t.Errorf("%q, %d late: %v", out.values, late, err)
	}
}

// TestLive_Await: a pattern that takes nothing of a source that names its series when it is
// read is refused at a frame of that source, with that source's series, whatever else is
// read; one that takes something is not.
func TestLive_Await(t *testing.T) {
	var refused []string
	var seen []kasoku.Key
	live := NewLive(LiveOptions{Output: &kept{}, Await: Selection{"self.hots", "mysql.Threads_*"}, Open: []string{"mysql", "self"},
		OnUnmatched: func(patterns []string, keys []kasoku.Key) { refused, seen = patterns, keys }})
	frame := func(source, name string, at int) {
		t.Helper()
		f := &kasoku.Frame{Host: "web1", Source: source, At: time.Duration(at) * time.Second}
		f.Gauge(name, "", "count", 1)
		if err := live.Frame(f); err != nil {
			t.Fatal(err)
		}
	}
	for i := range matchedBy - 1 {
		frame("self", "host", i)
		frame("mysql", "Threads_running", i)
	}
	if refused != nil {
		t.Fatalf("%q are refused before all was read", refused)
	}
	frame("mysql", "Threads_running", matchedBy)
	frame("self", "host", matchedBy)
	frame("mysql", "Threads_running", matchedBy+1)
	if !slices.Equal(refused, []string{"self.hots"}) || len(seen) != 1 || seen[0].Source != "self" {
		t.Errorf("%q refused, seen %+v", refused, seen)
	}
}
