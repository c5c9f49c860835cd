package graphite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/observe/observetest"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/wire/whisper"
)

func values(f *kasoku.Frame) map[string]float64 {
	out := map[string]float64{}
	for _, s := range f.Samples {
		out[s.Instance+" "+s.Name] = s.Value
	}
	return out
}

// TestCollect_Carbon: a real carbon-cache reports about itself, through its cache,
// through its files and through a real graphite-web.
func TestCollect_Carbon(t *testing.T) {
	turn.Wait(t)
	server := sandboxtest.Carbon(t, sandbox.CarbonOptions{MetricInterval: time.Second})
	web := sandboxtest.GraphiteWeb(t, server)
	agent := "agents." + server.Host
	for name, o := range map[string]Options{
		"cache":  {Query: server.QueryAddr()},
		"files":  {Storage: filepath.Join(server.StorageDir, "whisper"), Agents: []string{agent}},
		"render": {Render: web.URL() + "/render"},
	} {
		t.Run(name, func(t *testing.T) {
			if m := collectAll(t, o, agent+" memUsage")[agent+" memUsage"]; m < 1<<20 || m > 1<<31 {
				t.Errorf("memory %v", m)
			}
		})
	}
}

// TestCollect_GoCarbon: so does a real go-carbon, which has a render API as well.
func TestCollect_GoCarbon(t *testing.T) {
	server := sandboxtest.GoCarbon(t, sandbox.CarbonOptions{MetricInterval: time.Second})
	agent := "agents." + server.Host
	var names []string
	for _, n := range own {
		if n != "persister.throttledCreates" && strings.Contains(n, ".") && !slices.Contains(carbonOnly, n) {
			names = append(names, agent+" "+n)
		}
	}
	for name, o := range map[string]Options{
		"cache":  {Query: server.QueryAddr()},
		"files":  {Storage: filepath.Join(server.StorageDir, "whisper")},
		"render": {Render: strings.TrimSuffix(server.RenderURL(), "/")},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "cache" { // the one that is asked for may be there alone
				names := []string{agent + " cache.maxSize"}
				if got := collectAll(t, o, names...); got[names[0]] != 1_000_000 {
					t.Error(got)
				}
				return
			}
			got := collectAll(t, o, names...)
			if v := got[agent+" carbonserver.alloc"]; v < 1<<20 || v > 1<<30 {
				t.Errorf("memory %v", v)
			}
			if v := got[agent+" cache.maxSize"]; v != 1_000_000 {
				t.Errorf("room for %v", v)
			}
		})
	}
}

// carbonOnly are names with a point that go-carbon does not have.
var carbonOnly = []string{"cache.queues", "cache.bulk_queries"}

// collectAll collects until all names had a value, and returns the last of each.
func collectAll(t *testing.T, o Options, want ...string) map[string]float64 {
	t.Helper()
	seen, _ := collected(t, o, want...)
	return seen
}

// collected collects until all names had a value; it returns the last of each, and all.
func collected(t *testing.T, o Options, want ...string) (seen map[string]float64, all []kasoku.Sample) {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	seen = map[string]float64{}
	missing := func(name string) bool { _, ok := seen[name]; return !ok }
	var f kasoku.Frame
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for slices.ContainsFunc(want, missing) {
		f.Reset()
		s.ticks = 0 // files are looked for each time
		s.nextAsk = time.Time{}
		err := s.Collect(t.Context(), &f) // fails while the first file is in the making, or nothing can be rendered yet
		maps.Copy(seen, values(&f))
		all = append(all, f.Samples...)
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("no %v: %v, %v", slices.DeleteFunc(want, func(n string) bool { return !missing(n) }), seen, err)
		}
	}
	if len(s.Warnings()) != 0 {
		t.Error(s.Warnings())
	}
	return seen, all
}

// TestSampled: carbon-cache and go-carbon report what is declared between them. Each is
// sent a point, so that it has something to write.
func TestSampled(t *testing.T) {
	carbon := sandboxtest.Carbon(t, sandbox.CarbonOptions{MetricInterval: time.Second})
	goCarbon := sandboxtest.GoCarbon(t, sandbox.CarbonOptions{MetricInterval: time.Second})
	absent := observetest.Absent{PersisterThrottledCreates: "go-carbon with a limit of files in a second"}
	for _, key := range []string{ToSent, ToAttempted, ToQueuedConnected, ToQueuedReady, ToFullQueueDrops,
		ToMaxQueueLength} {
		absent[key] = "a relay: TestCollect_Files has one"
	}
	for _, key := range []string{SlotsLooked, SlotsApart, SlotsPeriod, SlotsStep, SlotsNumber} {
		absent[key] = "files of series with some points: TestSlots has them"
	}
	var classic, modern []string
	for _, x := range Declared.Signals {
		switch {
		case absent[x.Key] != "":
		case !strings.Contains(x.Key, ".") || slices.Contains(carbonOnly, x.Key):
			classic = append(classic, "agents."+carbon.Host+" "+x.Key)
		default:
			modern = append(modern, "agents."+goCarbon.Host+" "+x.Key)
		}
	}
	_, all := collected(t, Options{Query: carbon.QueryAddr()}, classic...)
	_, more := collected(t, Options{Storage: filepath.Join(goCarbon.StorageDir, "whisper")}, modern...)
	observetest.Sampled(t, &Declared, append(all, more...), absent)
}

// script answers requests of the cache with what a metric holds.
func script(t *testing.T, answer func(metric string) []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			for {
				var head [4]byte
				if _, err := conn.Read(head[:]); err != nil {
					break
				}
				b := make([]byte, binary.BigEndian.Uint32(head[:]))
				if _, err := conn.Read(b); err != nil {
					break
				}
				metric := string(b[slices.Index(b, 'm')+6+5 : len(b)-2])
				a := answer(metric)
				_, _ = conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(a))), a...)) // the reader may have had enough
			}
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// goCarbon packs points as go-carbon does.
func goCarbon(points ...whisper.Point) []byte {
	b := []byte("\x80\x02}U\ndatapoints]")
	if len(points) > 1 {
		b = append(b, '(')
	}
	for _, p := range points {
		b = binary.LittleEndian.AppendUint32(append(b, 'J'), uint32(p.Time))
		b = binary.BigEndian.AppendUint64(append(b, 'G'), math.Float64bits(p.Value))
		b = append(b, 0x86)
	}
	return append(b, []string{"s.", "as.", "es."}[min(len(points), 2)]...)
}

// TestCollect_Relay: a relay reports nothing about a cache.
func TestCollect_Relay(t *testing.T) {
	at := int64(1000)
	addr := script(t, func(metric string) []byte {
		switch strings.TrimPrefix(metric, "carbon.relays.web1-a.") {
		case "metricsReceived", "cpuUsage":
			return goCarbon(whisper.Point{Time: at, Value: 7})
		}
		return goCarbon()
	})
	s, err := New(Options{Query: addr, Agents: []string{"relays.web1-a"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, want := range []string{"map[]", "map[relays.web1-a cpuUsage:0.07 relays.web1-a metricsReceived:7]"} {
		var f kasoku.Frame
		if err := s.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(values(&f)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		at += 60
	}
}

// TestCollect_Cache: what was there before is not reported, each value is reported
// once, and the other metrics are asked for only when the first is new.
func TestCollect_Cache(t *testing.T) {
	at, asked := int64(1000), 0
	addr := script(t, func(metric string) []byte {
		asked++
		switch strings.TrimPrefix(metric, "carbon.agents.web1.") {
		case "cache.size":
			return goCarbon(whisper.Point{Time: at - 60, Value: 9}, whisper.Point{Time: at, Value: 7})
		case "persister.committedPoints":
			return goCarbon(whisper.Point{Time: at, Value: 1234})
		}
		return goCarbon()
	})
	s, err := New(Options{Query: addr, Agents: []string{"agents.web1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, want := range []string{"map[]", "map[]", "map[agents.web1 cache.size:7 agents.web1 persister.committedPoints:1234]", "map[]"} {
		if i == 2 {
			at += 60
		}
		var f kasoku.Frame
		if err := s.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(values(&f)); got != want {
			t.Errorf("tick %d: %s, want %s", i, got, want)
		}
	}
	if want := 4 + 2*len(own); asked != want {
		t.Errorf("%d questions, want %d", asked, want)
	}
}

// TestUnitOf: of each name that is no count.
func TestUnitOf(t *testing.T) {
	for name, want := range map[string]string{
		"cpuUsage": "ratio 0.01", "memUsage": "bytes 1", "carbonserver.alloc": "bytes 1",
		"carbonserver.fetch_size_bytes": "bytes 1",
		"avgUpdateTime":                 "s 1", "cache.queueWriteoutTime": "s 1", "cache.queueBuildTimeMs": "s 0.001",
		"carbonserver.pause_ns": "s 1e-09",
		"cache.size":            "count 1",
	} {
		unit, scale := unitOf(name)
		if got := fmt.Sprint(unit, " ", scale); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestCollect_Refused(t *testing.T) {
	addr := script(t, func(string) []byte { return []byte("\x80\x02}q\x00U\x05errorq\x01U\x06no\x1b[1mq\x02s.") })
	s, err := New(Options{Query: addr})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Collect(t.Context(), &kasoku.Frame{}); err == nil || !strings.Contains(err.Error(), `it answers "no\x1b[1m"`) {
		t.Error(err)
	}
	if len(s.Warnings()) != 0 { // the gap says it
		t.Error(s.Warnings())
	}
}

// TestCollect_Files: files of several servers, one that is new, one that changes.
func TestCollect_Files(t *testing.T) {
	dir := t.TempDir()
	now := time.Unix(1_763_700_000, 0)
	write := func(metric string, p whisper.Point, changed int) {
		t.Helper()
		b := []byte("\x00\x00\x00\x01\x00\x00\x00\x3c\x3f\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x1c\x00\x00\x00\x0a\x00\x00\x00\x01")
		b = binary.BigEndian.AppendUint32(b, uint32(p.Time))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(p.Value))
		path := filepath.Join(dir, whisper.Path(metric))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.Add(time.Duration(changed) * time.Second)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(Options{Storage: dir})
	if err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return now }
	collect := func() string {
		t.Helper()
		var f kasoku.Frame
		s.ticks = 0
		if err := s.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(values(&f))
	}
	if got := collect(); got != "map[]" { // a server that has reported nothing yet
		t.Error(got)
	}
	write("carbon.agents.a-a.cpuUsage", whisper.Point{Time: now.Unix(), Value: 50}, 0)
	write("carbon.relays.a.destinations.127_0_0_1:2004:a.sent", whisper.Point{Time: now.Unix(), Value: 3}, 0)
	write("carbon.agents.a-a.\x1b", whisper.Point{Time: now.Unix(), Value: 3}, 0)
	both := "map[agents.a-a cpuUsage:0.5 relays.a to 127_0_0_1:2004:a destinations.sent:3]"
	if got, want := collect(), both; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	write("carbon.agents.a-a.cpuUsage", whisper.Point{Time: now.Unix(), Value: 70}, 1) // the same moment
	if got := collect(); got != "map[]" {
		t.Error(got)
	}
	now = now.Add(10 * time.Second)
	write("carbon.agents.a-a.cpuUsage", whisper.Point{Time: now.Unix(), Value: 80}, 0)
	if got := collect(); got != "map[agents.a-a cpuUsage:0.8]" {
		t.Error(got)
	}
	s.o.Storage = filepath.Join(dir, "none")
	s.ticks = 0
	if err := s.Collect(t.Context(), &kasoku.Frame{}); err == nil {
		t.Error("a directory that is not there is none")
	}
}

// TestCollect_NoFiles: what cannot be looked at is a gap until the next look.
func TestCollect_NoFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	s, err := New(Options{Storage: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range lookTicks + 1 {
		err := s.Collect(t.Context(), &kasoku.Frame{})
		if gap := i < lookTicks; (err != nil) != gap {
			t.Fatalf("tick %d: %v", i, err)
		}
		if i == 0 {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestWithin: a place that hangs takes nothing of the next one's time.
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 2 {
			began := time.Now()
			err := within(t.Context(), nil, func(ctx context.Context, _ *kasoku.Frame) error {
				<-ctx.Done()
				return ctx.Err()
			})
			if took := time.Since(began); took != answerLimit || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v after %s", err, took)
			}
		}
	})
}

// TestCollect_Place: a place that cannot be looked at is reported when another can.
func TestCollect_Place(t *testing.T) {
	s, err := New(Options{Storage: t.TempDir(), Render: "http://127.0.0.1:1/render"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		if err := s.Collect(t.Context(), &kasoku.Frame{}); err != nil {
			t.Fatal(err)
		}
	}
	w := s.Warnings()
	if len(w) != 2 || w[0].Code != "graphite-place" || !strings.Contains(w[0].Text, "refused") || w[1].Code != "graphite-silent" {
		t.Errorf("%+v", w)
	}
}

func TestCollect_Render(t *testing.T) {
	at, value, asked := 1000, "1.5", 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.FormValue("format") != "json" || !slices.Contains(r.Form["target"], "carbon.agents.*.*") || r.FormValue("until") == "" {
			t.Errorf("%v", r.Form)
		}
		fmt.Fprintf(w, `[{"target": "carbon.agents.h-a.updateOperations", "datapoints": [[1, 900], [%s, %d], [null, 1060]]}, {"target": "x", "datapoints": []}]`, value, at)
	}))
	defer web.Close()
	s, err := New(Options{Render: web.URL + "/render"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(2000, 0)
	s.now = func() time.Time { return now }
	for i, want := range []string{"map[]", "map[]", "map[agents.h-a updateOperations:2.5]"} {
		if i == 2 {
			now, at, value = now.Add(time.Minute), 1030, "2.5"
		}
		var f kasoku.Frame
		if err := s.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(values(&f)); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

func TestCheck(t *testing.T) {
	for _, bad := range []Options{
		{}, {Query: "localhost"}, {Render: "127.0.0.1:8080"}, {Storage: "/x", Agents: []string{"web1"}},
		{Storage: "/x", Agents: []string{"carbon.agents.web1"}}, {Storage: "/x", Agents: []string{"agents..web1"}},
		{Storage: "/x", Agents: []string{"agents.a\nb"}},
	} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestParseAnswer(t *testing.T) {
	// What Python's pickle makes of {'datapoints': [(1763700000.5, 1), (1763700060, 70000.25), (1, -3)]}, protocol 2.
	python := "\x80\x02}q\x00X\n\x00\x00\x00datapointsq\x01]q\x02(GA\xdaG\xfbH \x00\x00K\x01\x86q\x03J\\\xed\x1fi" +
		"G@\xf1\x17\x04\x00\x00\x00\x00\x86q\x04K\x01J\xfd\xff\xff\xff\x86q\x05es."
	got, err := ParseAnswer([]byte(python))
	if err != nil || len(got) != 3 || got[0] != (whisper.Point{Time: 1763700000, Value: 1}) || got[1] != (whisper.Point{Time: 1763700060, Value: 70000.25}) || got[2] != (whisper.Point{Time: 1, Value: -3}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{
		"", ".", "\x80\x03}.", "}.", "].", "cos\nsystem\n(S'ls'\ntR.", "\x80\x02}U\ndatapoints]K\x01as.", "\x80\x02}U\ndatapoints](K\x01K\x02K\x03tas.",
		"\x80\x02}U\ndatapoints]N", strings.Repeat("]", 17), "h\x01.", "q\x00.", "a.", "s.", "\x80\x02}U\ndatapointsX\xff\xff\xff\xff", "(", "e.",
	} {
		if got, err := ParseAnswer([]byte(bad)); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func FuzzParseAnswer(f *testing.F) {
	f.Add(goCarbon())
	f.Add(goCarbon(whisper.Point{Time: 1, Value: 2}))
	f.Add(goCarbon(whisper.Point{Time: 1, Value: 2}, whisper.Point{Time: 3, Value: 4}))
	f.Add([]byte("\x80\x02}q\x00X\n\x00\x00\x00datapointsq\x01]q\x02(K\x01\x8a\x01\x07\x86q\x03h\x03M\x01\x02N\x88es."))
	f.Fuzz(func(t *testing.T, b []byte) {
		points, err := ParseAnswer(b)
		if err == nil && len(points) > len(b) {
			t.Errorf("%d points of %d bytes", len(points), len(b))
		}
	})
}
