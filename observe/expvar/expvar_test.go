package expvar_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	goexpvar "expvar"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/observetest"
)

var _ observe.WarningSource = (*expvar.Source)(nil)

// nowhere is a driver whose connections are good for nothing else.
type nowhere struct{}

func (nowhere) Connect(context.Context) (driver.Conn, error) { return conn{}, nil }
func (nowhere) Driver() driver.Driver                        { return nil }

type conn struct{}

func (conn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("no statements") }
func (conn) Close() error                        { return nil }
func (conn) Begin() (driver.Tx, error)           { return nil, errors.New("no transactions") }

// A real program's variables, with its command line and memory beside the pool.
func TestCollect(t *testing.T) {
	db := sql.OpenDB(nowhere{})
	defer db.Close()
	db.SetMaxOpenConns(3)
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	goexpvar.Publish("shop", goexpvar.Func(func() any {
		return map[string]any{"pools": map[string]any{"main": db.Stats()}, "num_goroutine": runtime.NumGoroutine(), "metrics": published(),
			"client": map[string]any{"InFlight": 3, "InFlightTime": 2e9, "Sent": 70, "Refused": 1, "Waiting": 5, "Permits": 2, "PermitsMost": 10,
				"PermitsAsked": 9, "PermitsFailed": 4, "PermitWait": 1500 * time.Millisecond, "Gained": 19,
				"UseWait": 2e9, "UsesMost": 3, "QuestionsHash": 11, "AnswersHash": 12},
			"sender": map[string]any{"Due": 80, "Sent": 75, "Acknowledged": 70, "Outstanding": 5, "Lost": 0, "Blocked": time.Second,
				"Connections": 4},
			"operations": map[string]any{"explore 15": map[string]any{"Answers": 12, "AnswerTime": 3e9, "ServiceTime": 1e9, "Size": 15}}}
	}))
	srv := httptest.NewServer(goexpvar.Handler())
	defer srv.Close()
	s := expvar.New(srv.URL + "/debug/vars")
	defer s.Close()
	got := map[string]kasoku.Sample{}
	for range 2 {
		runtime.GC()
		var f kasoku.Frame
		if err := s.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		for _, x := range f.Samples {
			got[x.Instance+" "+x.Name] = x
		}
	}
	observetest.Sampled(t, &expvar.Declared, slices.Collect(maps.Values(got)), observetest.Absent{
		expvar.RuntimeOldPauseMax: "Go before 1.22",
	})
	pools := 0
	for name := range got {
		if strings.HasPrefix(name, "shop.pools.main ") {
			pools++
		}
	}
	if pool := "shop.pools.main "; pools != reflect.TypeFor[sql.DBStats]().NumField() || got[pool+"MaxOpenConnections"].Value != 3 || got[pool+"InUse"].Value != 1 || got[pool+"Idle"].Value != 0 ||
		got[pool+"WaitCount"].Kind != kasoku.Counter || got[pool+"WaitDuration"].Unit != "s" {
		t.Errorf("%+v", got)
	}
	if m := "memstats "; got[m+"HeapAlloc"].Value <= 0 || got[m+"HeapAlloc"].Unit != "bytes" || got[m+"NumGC"].Value < 2 || got[m+"NumGC"].Kind != kasoku.Counter ||
		got[m+"PauseTotal"].Value <= 0 || got[m+"PauseMax"].Value <= 0 || got[m+"PauseMax"].Value > got[m+"PauseTotal"].Value || got[m+"GCCPUFraction"].Unit != "ratio" {
		t.Errorf("%+v", got)
	}
	if got["shop goroutines"].Value < 2 {
		t.Errorf("goroutines: %+v", got["shop goroutines"])
	}
	if wait := got["shop.client PermitWait"]; wait.Value != 1.5 || wait.Unit != "s" || wait.Kind != kasoku.Counter ||
		got["shop.client Permits"].Value != 2 || got["shop.client Permits"].Kind != kasoku.Gauge {
		t.Errorf("%+v, %+v", wait, got["shop.client Permits"])
	}
	if op := "shop.operations.explore 15 "; got[op+"Size"].Value != 15 || got[op+"AnswerTime"].Value != 3 {
		t.Errorf("%+v", got[op+"AnswerTime"])
	}
	gc := got["shop.metrics /cpu/classes/gc/total:cpu-seconds"]
	if heap := got["shop.metrics /memory/classes/heap/objects:bytes"]; gc.Kind != kasoku.Counter || gc.Unit != "s" || heap.Kind != kasoku.Gauge || heap.Unit != "bytes" || heap.Value <= 0 {
		t.Errorf("%+v %+v", gc, heap)
	}
	// Each collection stops the program once or twice: between the ticks there was one.
	pause, most := "shop.metrics /sched/pauses/total/gc:seconds.", got["shop.metrics /sched/pauses/total/gc:seconds.max"]
	if got[pause+"count"].Kind != kasoku.Counter || got[pause+"count"].Value < 2 || most.Unit != "s" || most.Kind != kasoku.Gauge || !(most.Value > 0) ||
		!(got[pause+"p50"].Value > 0) || got[pause+"p50"].Value > most.Value || got[pause+"p99"].Value > most.Value {
		t.Errorf("%+v %+v", got[pause+"p50"], most)
	}
	if w := s.Warnings(); len(w) > 0 {
		t.Error(w)
	}
}

// A histogram as it is cannot be JSON, and package expvar then writes no value at all.
func TestInfiniteEdges(t *testing.T) {
	goexpvar.Publish("broken", goexpvar.Func(func() any { return &metrics.Float64Histogram{Buckets: []float64{math.Inf(-1), 0}} }))
	rec := httptest.NewRecorder()
	goexpvar.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
	_, err := expvar.Parse(rec.Body.Bytes())
	var h interface{ Hint() string }
	if err == nil || err.Error() != `no JSON: its variable "broken" has no value` || !errors.As(err, &h) || !strings.Contains(h.Hint(), "null") {
		t.Error(err)
	}
}

// published are numbers of runtime/metrics as programs publish them.
func published() map[string]any {
	list := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/goal:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/sched/goroutines:goroutines"}, {Name: "/sched/pauses/total/gc:seconds"},
		{Name: "/sched/latencies:seconds"},
	}
	metrics.Read(list)
	out := map[string]any{}
	for _, x := range list {
		switch x.Value.Kind() {
		case metrics.KindUint64:
			out[x.Name] = x.Value.Uint64()
		case metrics.KindFloat64:
			out[x.Name] = x.Value.Float64()
		case metrics.KindFloat64Histogram:
			out[x.Name] = finite(x.Value.Float64Histogram())
		}
	}
	return out
}

// finite is a histogram that can be JSON.
func finite(h *metrics.Float64Histogram) map[string]any {
	edges := make([]any, len(h.Buckets))
	for i, e := range h.Buckets {
		if !math.IsInf(e, 0) {
			edges[i] = e
		}
	}
	return map[string]any{"Counts": h.Counts, "Buckets": edges}
}

// The longest pause is that of the collections since the tick before; the runtime
// keeps the last 256.
func TestPauseMax(t *testing.T) {
	answers := []string{
		`{"m":{"HeapAlloc":1,"Mallocs":1,"PauseTotalNs":9,"NumGC":3,"PauseNs":[9e9,2e9,3e9,0]}}`,
		`{"m":{"HeapAlloc":1,"Mallocs":1,"PauseTotalNs":9,"NumGC":5,"PauseNs":[5e9,2e9,3e9,4e9]}}`, // the 4th and the 5th
		`{"m":{"HeapAlloc":1,"Mallocs":1,"PauseTotalNs":9,"NumGC":5,"PauseNs":[5e9,2e9,3e9,4e9]}}`, // none
		`{"m":{"HeapAlloc":1,"Mallocs":1,"PauseTotalNs":9,"NumGC":1,"PauseNs":[5e9,2e9,3e9,4e9]}}`, // restarted
	}
	at := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answers[at]) }))
	defer srv.Close()
	s := expvar.New(srv.URL)
	defer s.Close()
	for i, want := range []float64{-1, 5, 0, -1} {
		at = i
		var f kasoku.Frame
		if err := s.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		got := -1.0
		for _, x := range f.Samples {
			if x.Name == "PauseMax" {
				got = x.Value
			}
		}
		if got != want {
			t.Errorf("tick %d: %v, want %v", i, got, want)
		}
	}
}

func TestCollectFails(t *testing.T) {
	answer := "[]"
	code := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, answer)
	}))
	defer srv.Close()
	f := func(want string, addresses ...string) *expvar.Source {
		t.Helper()
		s := expvar.New(addresses...)
		defer s.Close()
		err := s.Collect(t.Context(), &kasoku.Frame{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
		return s
	}
	if w := f("", srv.URL).Warnings(); len(w) != 1 || w[0].Code != "no-pools" {
		t.Errorf("%+v", w)
	}
	answer = "oops"
	f("no JSON", srv.URL)
	code = http.StatusNotFound
	f("answered 404", srv.URL)
	code, answer = http.StatusOK, `{"db":{"OpenConnections":1,"InUse":1,"Idle":0,"WaitCount":7}}`
	if w := f("", "http://127.0.0.1:1/", srv.URL).Warnings(); len(w) != 1 || w[0].Hint == "" ||
		!strings.Contains(w[0].Text, "http://127.0.0.1:1/ was not read at 1 of 1 ticks") {
		t.Errorf("%+v", w)
	}
	f("refused", "http://127.0.0.1:1/")
}

// Programs are asked side by side: each of these answers only when both were asked.
func TestCollectSideBySide(t *testing.T) {
	met := make(chan struct{})
	page := func(meet func()) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			meet()
			fmt.Fprint(w, `{"goroutines":7}`)
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	s := expvar.New(page(func() { <-met }), page(func() { close(met) }))
	defer s.Close()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil || len(f.Samples) != 2 {
		t.Error(err, f.Samples)
	}
}

// TestHungProgram: one that never answers does not take the others' seconds: it is asked
// at one tick of ten, and not waited for as long as if it were alone.
func TestHungProgram(t *testing.T) {
	release := make(chan struct{})
	var asked atomic.Int32
	hung := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1); <-release }))
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"goroutines": 7}`) }))
	defer func() { close(release); hung.Close(); good.Close() }()
	s := expvar.New(good.URL, hung.URL)
	defer s.Close()
	for tick := range 11 {
		var f kasoku.Frame
		if err := s.Collect(t.Context(), &f); err != nil || len(f.Samples) != 1 {
			t.Errorf("tick %d: %v, %+v", tick, err, f.Samples)
		}
	}
	if w := s.Warnings(); asked.Load() != 2 || len(w) == 0 || !strings.Contains(w[0].Text, " was not read at 11 of 11 ticks: ") {
		t.Errorf("asked %d times, %+v", asked.Load(), w)
	}
}

func FuzzParse(f *testing.F) {
	stats, err := json.Marshal(map[string]any{"cmdline": []string{"app", "-password=x"}, "db": sql.DBStats{WaitCount: 3}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stats)
	f.Add([]byte(`{"a":{"b":{"OpenConnections":1,"InUse":1,"Idle":0,"WaitCount":-1}}}`))
	f.Add([]byte(`{"\u001b[31m":{"OpenConnections":1,"InUse":1,"Idle":0,"WaitCount":1}}`))
	f.Add([]byte(`{"memstats":{"HeapAlloc":1,"Mallocs":1,"PauseTotalNs":9,"NumGC":1e300,"PauseNs":[1,"x"]},"goroutines":7,"/a\u0000b:bytes":1}`))
	f.Add([]byte(`[1`))
	f.Add([]byte(`{"go":{"/sched/latencies:seconds":{"Counts":[0,1,2],"Buckets":[null,0,1,"+Inf"]}}}`))
	f.Add([]byte(`{"/a:bytes":{"counts":[1e300,-1],"buckets":[1,1,0]},"/b:bytes":{"counts":[1],"buckets":[]}}`))
	f.Add([]byte("{\n\"x\": ,\n\"y\": 1\n}\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		found, err := expvar.Parse(body)
		if err != nil && found != nil {
			t.Error("something with an error")
		}
		for _, x := range found {
			if len(x.Values) == 0 || strings.ContainsAny(x.Place, "\x1b\n\r\x00") {
				t.Errorf("%+v", x)
			}
			for _, v := range x.Values {
				if strings.ContainsAny(v.Name, "\x1b\n\r\x00") || len([]rune(v.Name)) > 90 {
					t.Errorf("%+v", v)
				}
			}
		}
		if len(found) > 64 {
			t.Errorf("%d things", len(found))
		}
	})
}

func BenchmarkParse(b *testing.B) {
	rec := httptest.NewRecorder()
	goexpvar.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
	b.SetBytes(int64(rec.Body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := expvar.Parse(rec.Body.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
