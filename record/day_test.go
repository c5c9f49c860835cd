package record

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/store"
)

// TestDay makes a load of 5,000 requests a second in compressed time, a day of it
// with KASOKU_LONG=1: through schedule, recorder and run file as a run does, with
// an engine that sends nothing. Every count must be exact, and the memory that it
// takes must not depend on its length.
func TestDay(t *testing.T) {
	turn.Wait(t)
	const perSec = 5000
	length := 10 * time.Minute
	if os.Getenv("KASOKU_LONG") != "" {
		length = 24 * time.Hour
	} else if testing.Short() {
		length = time.Minute
	}
	schedule, err := load.Constant(perSec, length)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "day.kasoku")
	w, err := store.Create(path, kasoku.Run{Started: time.Now(), Hosts: []kasoku.Host{{Name: "lab"}}})
	if err != nil {
		t.Fatal(err)
	}
	s := newLoads(&recorder{store: w}, nil)
	plan := load.Plan{Schedule: schedule, Targets: []load.Target{{Method: "GET", URL: "http://127.0.0.1/"}}}
	recorder := load.NewRecorder(plan, 0)
	recorder.KeepSeconds()
	began, most := time.Now(), memory()
	e := &compressed{want: kasoku.NewTally(), second: func() {
		s.keepSeconds(numbered(recorder.Take(), 1))
	}, minute: func() { most = max(most, memory()) }}
	if _, err := e.Run(t.Context(), plan, time.Now(), recorder); err != nil {
		t.Fatal(err)
	}
	s.keepSeconds(numbered(recorder.Take(), 1))
	made := time.Since(began)
	s.steps, s.summary = schedule.Steps(), &kasoku.LoadSummary{}
	if err := s.save(); err != nil || len(s.warnings) > 0 || len(s.unkept) > 0 {
		t.Fatal(err, s.warnings, len(s.unkept))
	}
	if err := w.Finish(kasoku.Run{State: kasoku.Finished, Length: length}); err != nil {
		t.Fatal(err)
	}

	requests := uint64(length/time.Second) * perSec
	if want := length - time.Second/perSec; e.want.Asked != requests || e.due != want {
		t.Errorf("%d requests, the last due at %s; want %d, %s", e.want.Asked, e.due, requests, want)
	}
	sameTally(t, "recorder", recorder.Tally(0), e.want)
	opened := checkFile(t, path, requests, perSec, e.want)
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	seconds := uint64(length / time.Second)
	t.Logf("%s requests in %s; %s at most; file %s, %d bytes a second, %s a day; opened, %d bytes a second", unit.Count(requests), made.Round(time.Millisecond),
		unit.Bytes(most), unit.Bytes(uint64(st.Size())), uint64(st.Size())/seconds, unit.Bytes(uint64(st.Size())/seconds*86400), opened/seconds)
	if limit := uint64(64 << 20); most > limit {
		t.Errorf("takes %s of memory, %s are allowed", unit.Bytes(most), unit.Bytes(limit))
	}
	if n := uint64(st.Size()) / seconds; n > 4096 && length > time.Minute {
		t.Errorf("a second takes %d bytes of file", n)
	}
	if n := opened / seconds; n > 8192 && length > time.Minute {
		t.Errorf("a second takes %d bytes of memory when the file is opened", n)
	}
}

// checkFile compares what the file has with what there was to count, and returns
// how much memory its recording takes.
func checkFile(t *testing.T, path string, requests uint64, perSec int, want *kasoku.Tally) (opened uint64) {
	t.Helper()
	runtime.GC()
	before := memory()
	rec, err := store.Open(path)
	if err != nil || rec.Damage != nil {
		t.Fatal(err, rec.Damage)
	}
	runtime.GC()
	opened = memory() - min(before, memory())
	sameTally(t, "file", rec.Tally(0), want)
	if n := uint64(len(rec.Seconds)); n != requests/uint64(perSec) {
		t.Errorf("%d seconds", n)
	}
	for i := range rec.Seconds {
		if sec := &rec.Seconds[i]; sec.Second != i || sec.Asked != uint64(perSec) || sec.Latency.Count() != sec.Asked {
			t.Fatalf("second %d is %d with %d requests", i, sec.Second, sec.Asked)
		}
	}
	return opened
}

// sameTally compares all that two tallies count.
func sameTally(t *testing.T, what string, got, want *kasoku.Tally) {
	t.Helper()
	for _, h := range []struct {
		name      string
		got, want *histogram.Histogram
	}{{"latency", got.Latency, want.Latency}, {"send delay", got.SendDelay, want.SendDelay}, {"service", got.Service, want.Service}} {
		a, errA := h.got.AppendBinary(nil)
		b, errB := h.want.AppendBinary(nil)
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s: %s differs: %d durations, want %d", what, h.name, h.got.Count(), h.want.Count())
		}
	}
	x, y := *got, *want
	x.Latency, x.SendDelay, x.Service, y.Latency, y.SendDelay, y.Service = nil, nil, nil, nil, nil, nil
	if !reflect.DeepEqual(x, y) {
		t.Errorf("%s: %+v, want %+v", what, x, y)
	}
}

func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A compressed engine answers each request by itself, on a clock that jumps from
// one due time to the next. One in 1,000 answers comes 40 s late.
type compressed struct {
	want           *kasoku.Tally // of all hits, counted one by one
	due            time.Duration // of the last request
	second, minute func()        // called as often
	late           []load.Hit
}

// Run implements [load.Engine].
func (e *compressed) Run(_ context.Context, p load.Plan, _ time.Time, sink load.Sink) (kasoku.LoadSummary, error) {
	batch := make([]load.Hit, 0, 64)
	give := func(h load.Hit) {
		if batch = append(batch, h); len(batch) == cap(batch) {
			sink.Hits(batch)
			batch = batch[:0]
		}
	}
	arrivals := p.Schedule.Arrivals()
	random := uint64(1)
	for n := uint64(0); ; n++ {
		due, step, ok := arrivals.Next()
		if !ok {
			break
		}
		if due/time.Second != e.due/time.Second {
			e.second()
		}
		if due/time.Minute != e.due/time.Minute {
			e.minute()
		}
		e.due = due
		for len(e.late) > 0 && e.late[0].Done <= due {
			give(e.late[0])
			e.late = e.late[1:]
		}
		random = random*6364136223846793005 + 1442695040888963407
		h := e.hit(n, random)
		h.Step, h.Due, h.Sent, h.Done = step, due, h.Sent+due, h.Done+due
		e.add(&h)
		if n%1000 == 7 {
			e.late = append(e.late, h)
			continue
		}
		give(h)
	}
	for _, h := range e.late {
		give(h)
	}
	sink.Hits(batch)
	return kasoku.LoadSummary{}, nil
}

// hit makes up what came of request n, its times from the due time: 1 ms in the
// middle, a long tail, and a send delay of some 20 µs.
func (e *compressed) hit(n, random uint64) load.Hit {
	h := load.Hit{N: n, Code: 200, BytesIn: 1024 + random>>54, BytesOut: 61}
	h.Sent = time.Duration(5000 + random>>48&0x7fff)
	// Four throws of a die are near enough to a normal distribution.
	sum := random>>8&0xff + random>>16&0xff + random>>24&0xff + random>>32&0xff
	h.Done = h.Sent + time.Duration(float64(time.Millisecond)*math.Exp2(float64(sum)/128-4))
	switch {
	case n%1000 == 7:
		h.Done = 40*time.Second + h.Sent
	case n%100 == 3:
		h.Code, h.Err = 503, "503 Service Unavailable"
	case n%500 == 4:
		h.Code, h.Err, h.BytesIn = 0, `Get "http://127.0.0.1/": EOF`, 0
	case n%10_000 == 5:
		h.BytesIn, h.BytesOut = 5<<32, 3<<32
	}
	return h
}

// add counts a hit by itself.
func (e *compressed) add(h *load.Hit) {
	w := e.want
	w.Asked++
	w.Codes[h.Code]++
	if h.Code != 0 {
		w.Answered++
	}
	if h.Code == 200 {
		w.Success++
	} else {
		w.Errors[h.Err]++
	}
	w.BytesIn += h.BytesIn
	w.BytesOut += h.BytesOut
	w.Latency.Record(h.Latency())
	w.SendDelay.Record(h.SendDelay())
	w.Service.Record(h.Service())
}
