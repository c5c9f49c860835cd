package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/test/golden"
)

var started = time.Date(2026, 11, 20, 14, 2, 11, 592e6, time.UTC)

// recording is a run of ten seconds with all that is exported: a reset, a gap, an
// entity with odd characters, load, access log, score.
func recording() *kasoku.Recording {
	h := histogram.New()
	h.Record(20 * time.Millisecond)
	h.Record(30 * time.Millisecond)
	at := func(values ...float64) (pts []kasoku.Point) {
		for i, v := range values {
			if !math.IsNaN(v) {
				pts = append(pts, kasoku.Point{At: time.Duration(i)*time.Second + 3*time.Millisecond, Value: v})
			}
		}
		return pts
	}
	gap := math.NaN()
	return &kasoku.Recording{
		Run: kasoku.Run{ID: "20261120-140211-before", Started: started, Length: 4 * time.Second,
			Hosts: []kasoku.Host{{Name: "web1"}}, Score: &kasoku.Score{Value: 1234}},
		Series: []kasoku.Series{
			{Key: kasoku.Key{Host: "web1", Source: "host", Name: "cpu.user"},
				Kind: kasoku.Counter, Unit: "s", Points: at(10, 10.5, 12, gap, 13)},
			{Key: kasoku.Key{Host: "web1", Source: "host", Name: "disk.reads", Instance: "vda"},
				Kind: kasoku.Counter, Unit: "count", Points: at(100, 150, 20)},
			{Key: kasoku.Key{Host: "web1", Source: "mysql", Name: "Threads_connected"},
				Unit: "count", Points: at(3, 151)},
			{Key: kasoku.Key{Host: "web1", Source: "process", Name: "rss", Instance: "12 a\"b,c\n=1+1"},
				Unit: "bytes", Points: at(1 << 30)},
		},
		Seconds: []kasoku.LoadSecond{
			{Second: 0, Step: 1, Target: "POST /users", Asked: 2, Codes: map[int]uint64{201: 2}, Latency: h},
			{Second: 1, Step: 1, Target: "POST /users", Asked: 3, Codes: map[int]uint64{500: 1}},
		},
		Endpoints: []kasoku.Endpoint{{Method: "POST", Route: "/users", Seconds: map[int]kasoku.EndpointSecond{0: {Count: 2}, 2: {Count: 1, Failed: 1}}}},
		Phases:    []kasoku.Phase{{Kind: kasoku.PhaseLoad, Interval: kasoku.Interval{From: time.Second, To: 4 * time.Second}, Why: "3 requests"}},
		Diagnosis: &kasoku.Diagnosis{Verdict: "The pool is too small.", Findings: []kasoku.Finding{
			{ID: "POOL-01", Title: "the pool is too small", Severity: kasoku.Problem, Cause: "each request opens a connection", Fixes: []kasoku.Fix{{Text: "Set max_idle."}}},
			{ID: "INF-01", Title: "a remark", Severity: kasoku.Info},
		}},
	}
}

// ship exports as the command does.
func ship(t *testing.T, form Form, only Selection, out Output) {
	t.Helper()
	if err := Recording(t.Context(), recording(), form, only, out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestTables(t *testing.T) {
	for _, form := range []Form{Rates, Raw} {
		name := map[Form]string{Rates: "rates", Raw: "raw"}[form]
		var csv, json bytes.Buffer
		ship(t, form, nil, NewCSV(&csv, started))
		ship(t, form, nil, NewJSON(&json, started))
		golden.Check(t, filepath.Join("testdata", name+".csv.golden"), csv.Bytes())
		golden.Check(t, filepath.Join("testdata", name+".json.golden"), json.Bytes())
	}
	var empty bytes.Buffer
	ship(t, Rates, Selection{"missing"}, NewCSV(&empty, started))
	if empty.String() != strings.Join(csvHeader, ",")+"\n" {
		t.Errorf("without rows: %q", &empty)
	}
}

func TestOpenMetrics(t *testing.T) {
	var b bytes.Buffer
	if err := OpenMetrics(&b, recording(), nil); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join("testdata", "openmetrics.golden"), b.Bytes())
}

func TestAnnotations(t *testing.T) {
	var b strings.Builder
	for _, a := range Annotations(recording(), "shop", []string{"app"}) {
		fmt.Fprintf(&b, "%d–%d %s %v\n%s\n%s\n\n", a.From, a.To, a.Service, a.Roles, a.Title, a.Description)
	}
	golden.CheckString(t, filepath.Join("testdata", "annotations.golden"), b.String())
}

// keep is an output that keeps.
type keep struct {
	values []Value
	err    error
	gate   chan struct{} // when not nil, Write waits for it or the context
	closed bool
}

func (k *keep) Write(ctx context.Context, values []Value) error {
	if k.gate != nil {
		select {
		case <-k.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	k.values = append(k.values, values...)
	return k.err
}

func (k *keep) Close(context.Context) error {
	k.closed = true
	return nil
}

// TestLiveIsRecording: frames of the same samples give the same values as the run
// file that would hold them.
func TestLiveIsRecording(t *testing.T) {
	for _, form := range []Form{Rates, Raw} {
		rec := recording()
		rec.Seconds, rec.Endpoints, rec.Run.Score = nil, nil, nil
		var want, got keep
		if err := Recording(t.Context(), rec, form, nil, &want); err != nil {
			t.Fatal(err)
		}
		live := NewLive(LiveOptions{Output: &got, Form: form})
		for i := range 5 {
			at := time.Duration(i)*time.Second + 3*time.Millisecond
			for _, source := range []string{"host", "mysql", "process"} {
				f := &kasoku.Frame{Host: "web1", Source: source, At: at}
				for _, s := range rec.Series {
					for _, p := range s.Points {
						if s.Key.Source == source && p.At == at {
							f.Samples = append(f.Samples, kasoku.Sample{Name: s.Key.Name, Instance: s.Key.Instance, Unit: s.Unit, Kind: s.Kind, Value: p.Value})
						}
					}
				}
				if err := live.Frame(f); err != nil {
					t.Fatal(err)
				}
			}
		}
		byKey := func(values []Value) map[kasoku.Key][]Value {
			m := map[kasoku.Key][]Value{}
			for _, v := range values {
				m[v.Key] = append(m[v.Key], v)
			}
			return m
		}
		if !reflect.DeepEqual(byKey(got.values), byKey(want.values)) {
			t.Errorf("form %d: live gives\n%v, the run\n%v", form, got.values, want.values)
		}
	}
}

// TestForgets: series that are gone do not stay in memory.
func TestForgets(t *testing.T) {
	r := &rater{}
	f := &kasoku.Frame{Source: "process"}
	for i := range 5 * forgetAfter {
		f.Reset()
		f.At = time.Duration(i) * time.Second
		f.Counter("cpu.user", fmt.Sprint(i), "s", 1)
		r.append(nil, f, Rates, nil)
	}
	if len(r.last) > 2*forgetAfter {
		t.Errorf("%d series are remembered", len(r.last))
	}
}

func TestSelection(t *testing.T) {
	f := func(s Selection, source, metric string, want bool) {
		t.Helper()
		if got := s.Takes(source, metric); got != want {
			t.Errorf("%q takes %s.%s: %v", s, source, metric, got)
		}
	}
	f(nil, "host", "cpu.user", true)
	f(Selection{"host"}, "host", "cpu.user", true)
	f(Selection{"host"}, "hosts", "cpu.user", false)
	f(Selection{"nginx", "host.cpu.*"}, "host", "cpu.user", true)
	f(Selection{"host.cpu.*"}, "host", "mem.free", false)
	f(Selection{"*.rss"}, "process", "rss", true)
	f(Selection{"expvar.*"}, "expvar", "a/b", true)
	if (Selection{"a["}).Validate() == nil || (Selection{"a*"}).Validate() != nil {
		t.Error("wrong patterns are not distinguished from right ones")
	}
}

// TestSecond: readings of ticks, some ms late, are one a second whatever the start.
func TestSecond(t *testing.T) {
	for _, frac := range []time.Duration{0, 400 * time.Millisecond, 499 * time.Millisecond, 998 * time.Millisecond} {
		start := time.Unix(1795163619, int64(frac))
		before := second(start, 0)
		for i := 1; i < 100; i++ {
			now := second(start, time.Duration(i)*time.Second+time.Duration(i%7)*time.Millisecond)
			if now != before+1 {
				t.Fatalf("from %s, tick %d: second %d after %d", frac, i, now, before)
			}
			before = now
		}
	}
}

func TestNames(t *testing.T) {
	n := newNamer(func(v *Value) string { return graphitePath("kasoku", v) })
	f := func(entity, want string) {
		t.Helper()
		v := &Value{Key: kasoku.Key{Host: "web1.example.com", Source: "host", Name: "net.rx_bytes", Instance: entity}, Kind: kasoku.Counter}
		for range 2 {
			if got := n.of(v); got != want {
				t.Errorf("%q is %q, want %q", entity, got, want)
			}
		}
	}
	f("", "kasoku.web1_example_com.host.net.rx_bytes_total")
	f("a b", "kasoku.web1_example_com.host.net.rx_bytes_total.a_b")
	f("a_b", "kasoku.web1_example_com.host.net.rx_bytes_total.a_b_25dc8001")
	f("../../etc", "kasoku.web1_example_com.host.net.rx_bytes_total.______etc")
}

// FuzzNames: whatever a series is called, its names are well formed everywhere.
func FuzzNames(f *testing.F) {
	f.Add("web1", "host", "cpu.user", "cpu0", "s")
	f.Add("", "", "", "", "")
	f.Add("a\x00b", "..", "a..b.", "日本 \n", "1/s")
	f.Fuzz(func(t *testing.T, host, source, metric, entity, unit string) {
		v := Value{Key: kasoku.Key{Host: host, Source: source, Name: metric, Instance: entity}, Unit: unit, Kind: kasoku.Counter}
		if p := graphitePath("kasoku", &v); strings.Contains(p, "..") || strings.HasSuffix(p, ".") || strings.ContainsAny(p, " \n\t/;") {
			t.Fatalf("the path is %q", p)
		}
		for _, name := range []string{mackerelName("custom.kasoku", &v), familyName(&v)} {
			for _, r := range name {
				if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r)) {
					t.Fatalf("the name is %q", name)
				}
			}
		}
		var csv, json bytes.Buffer
		for _, out := range []Output{NewCSV(&csv, started), NewJSON(&json, started)} {
			if err := errors.Join(out.Write(t.Context(), []Value{v}), out.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Count(json.String(), "\n") != 1 {
			t.Fatalf("%q is no single line", &json)
		}
	})
}

func TestAsync(t *testing.T) {
	k := &keep{gate: make(chan struct{})}
	a := NewAsync(k, 2)
	for i := range 100 { // they are not taken, and nothing waits
		if err := a.Write(t.Context(), []Value{{Value: float64(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	close(k.gate)
	err := a.Close(t.Context())
	if err == nil || uint64(len(k.values))+a.Dropped() != 100 || a.Dropped() < 97 || !k.closed {
		t.Errorf("%d values, %d dropped, %v", len(k.values), a.Dropped(), err)
	}
	if a.Write(t.Context(), nil) == nil {
		t.Error("a closed output takes values")
	}

	k = &keep{err: errors.New("disk full")}
	a = NewAsync(k, 10)
	a.Write(t.Context(), []Value{{}})
	a.Write(t.Context(), []Value{{}})
	if err := a.Close(t.Context()); err == nil || err.Error() != "disk full (and 1 more errors)" {
		t.Errorf("%v", err)
	}

	k = &keep{gate: make(chan struct{})} // never opens
	a = NewAsync(k, 10)
	a.Write(t.Context(), []Value{{}})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Close(ended); err == nil {
		t.Error("the end is not reported")
	}
	<-a.done
}

// TestMissingIsReportedOnce: a source that is down is named while it is, once a reason.
func TestMissingIsReportedOnce(t *testing.T) {
	var reported []string
	l := NewLive(LiveOptions{OnMissing: func(g kasoku.Gap) { reported = append(reported, g.Source+" "+g.Reason) }})
	for _, reason := range []string{"refused", "refused", "timeout", "refused"} {
		l.Missing(kasoku.Gap{Source: "mysql", Reason: reason})
	}
	if got := strings.Join(reported, ", "); got != "mysql refused, mysql timeout" {
		t.Errorf("reported %s", got)
	}
}
