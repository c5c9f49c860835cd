package vegeta

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku/load"
)

// A gate is a writer that takes nothing until it is opened.
type gate struct {
	open chan struct{}
	mu   sync.Mutex
	buf  bytes.Buffer
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.buf.Write(p)
}

func (g *gate) results(t *testing.T) []Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.buf.Len() == 0 {
		return nil
	}
	_, out := readResults(t, g.buf.Bytes())
	return out
}

func newTestWriter(t *testing.T, w io.Writer, o WriterOptions) *Writer {
	t.Helper()
	o.Attack, o.Start = "test", time.Unix(1000, 0)
	o.Plan = load.Plan{Targets: []load.Target{{Method: "GET", URL: "http://h/0"}, {Method: "PUT", URL: "http://h/1"}}}
	wr, err := NewWriter(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return wr
}

// hitsFrom returns n hits numbered from first on.
func hitsFrom(first, n int) []load.Hit {
	hits := make([]load.Hit, n)
	for i := range hits {
		due := time.Duration(first+i) * time.Millisecond
		hits[i] = load.Hit{N: uint64(first + i), Target: (first + i) % 2, Due: due, Sent: due + 1, Done: due + 5, Code: 200, BytesIn: 7, BytesOut: 8}
	}
	return hits
}

func checkOrder(t *testing.T, results []Result, n int) {
	t.Helper()
	if len(results) != n {
		t.Fatalf("%d results, want %d", len(results), n)
	}
	for i, r := range results {
		if r.Seq != uint64(i) {
			t.Fatalf("result %d is number %d", i, r.Seq)
		}
	}
}

func TestWriterWritesHits(t *testing.T) {
	for _, e := range []Encoding{Gob, JSON, CSV} {
		var out bytes.Buffer
		w := newTestWriter(t, &out, WriterOptions{Encoding: e})
		hits := hitsFrom(0, 3)
		hits[1].Err, hits[1].Code = "404 Not Found", 404
		hits[2].Own = &load.Target{Method: "POST", URL: "http://h/own", Body: []byte("body")}
		w.Hits(hits)
		clear(hits)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
		_, got := readResults(t, out.Bytes())
		want := []Result{
			{Seq: 0, Code: 200, Method: "GET", URL: "http://h/0"},
			{Seq: 1, Code: 404, Method: "PUT", URL: "http://h/1", Error: "404 Not Found"},
			{Seq: 2, Code: 200, Method: "POST", URL: "http://h/own"},
		}
		for i := range want {
			r := &want[i]
			r.Attack, r.Timestamp = "test", time.Unix(1000, int64(i)*1e6)
			r.Latency, r.BytesIn, r.BytesOut = 5, 7, 8
			if len(got) != len(want) || !got[i].Equal(r) {
				t.Errorf("%s: result %d of %d is\n%+v\nwant\n%+v", e, i, len(got), got[i], *r)
			}
		}
	}
}

// TestWriterIsInTime checks that what was handed over half a second ago is
// written.
func TestWriterIsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newGate()
		close(out.open)
		w := newTestWriter(t, out, WriterOptions{})
		w.Hits(hitsFrom(0, 10))
		<-time.After(flushEvery)
		synctest.Wait()
		checkOrder(t, out.results(t), 10)
		w.Hits(hitsFrom(10, 10*chunkHits)) // whole chunks need no half second, but for what is below a write
		synctest.Wait()
		if n := len(out.results(t)); n < 9*chunkHits {
			t.Errorf("%d results are written at once", n)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		checkOrder(t, out.results(t), 10+10*chunkHits)
		if w.Held() != 0 {
			t.Errorf("held up for %s", w.Held())
		}
	})
}

// TestWriterHoldsTheLoad checks that hits wait when the file does, that none is
// lost, and that the wait is reported.
func TestWriterHoldsTheLoad(t *testing.T) {
	const room, n = 1000, 5000
	synctest.Test(t, func(t *testing.T) {
		out := newGate()
		w := newTestWriter(t, out, WriterOptions{maxHeld: room * hitSize})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range n {
				w.Hits(hitsFrom(i, 1))
			}
		}()
		<-time.After(3 * time.Second)
		synctest.Wait()
		w.backlog.mu.Lock()
		held, blocked := w.backlog.bytes, w.backlog.blocked
		w.backlog.mu.Unlock()
		if blocked != 1 || held != room*hitSize {
			t.Errorf("%d calls wait with %d bytes held", blocked, held)
		}
		if got := w.Held(); got != 3*time.Second {
			t.Errorf("held up for %s so far, want 3s", got)
		}
		close(out.open)
		<-done
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		checkOrder(t, out.results(t), n)
		if got := w.Held(); got != 3*time.Second {
			t.Errorf("held up for %s, want 3s", got)
		}
		if w.backlog.bytes != 0 {
			t.Errorf("%d bytes are still held", w.backlog.bytes)
		}
	})
}

// TestWriterGivesUp: after EndSoon the writer does not wait for a reader that takes
// nothing, but does wait for one that is slow.
func TestWriterGivesUp(t *testing.T) {
	const n = 3000
	synctest.Test(t, func(t *testing.T) {
		out := newGate()
		w := newTestWriter(t, out, WriterOptions{maxHeld: 1000 * hitSize})
		began := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range n {
				w.Hits(hitsFrom(i, 1))
			}
		}()
		go w.EndSoon(2 * time.Second)
		<-done
		if err := w.Close(); !errors.Is(err, errNotTaken) || time.Since(began) > 4*time.Second {
			t.Errorf("error is %v, after %s", err, time.Since(began))
		}
		close(out.open)
		<-w.done
	})
	synctest.Test(t, func(t *testing.T) {
		out := &slowWriter{each: time.Second}
		w := newTestWriter(t, out, WriterOptions{})
		w.Hits(hitsFrom(0, n))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.EndSoon(2 * time.Second)
		}()
		<-time.After(time.Minute) // idle is not slow
		w.Hits(hitsFrom(n, n))
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		<-ended
		_, got := readResults(t, out.buf.Bytes())
		checkOrder(t, got, 2*n)
	})
}

// A slowWriter takes its time.
type slowWriter struct {
	each time.Duration
	buf  bytes.Buffer
}

func (s *slowWriter) Write(p []byte) (int, error) {
	<-time.After(s.each)
	return s.buf.Write(p)
}

func TestWriterOfSeveralShards(t *testing.T) {
	var out bytes.Buffer
	w := newTestWriter(t, &out, WriterOptions{Encoding: CSV, maxHeld: 100 * hitSize})
	const shards, each = 4, 5000
	var wg sync.WaitGroup
	for s := range shards {
		wg.Go(func() {
			for i := range each / 10 {
				w.Hits(hitsFrom(s*each+i*10, 10))
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, results := readResults(t, out.Bytes())
	slices.SortFunc(results, func(a, b Result) int { return int(a.Seq) - int(b.Seq) })
	checkOrder(t, results, shards*each)
}

type failingWriter struct{ after int }

func (f *failingWriter) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestWriterFails checks that an error is reported once, and that further hits are taken.
func TestWriterFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs []error
		w := newTestWriter(t, &failingWriter{after: 1}, WriterOptions{maxHeld: 100 * hitSize, Failed: func(err error) { errs = append(errs, err) }})
		for range 20 {
			w.Hits(hitsFrom(0, 200))
			<-time.After(flushEvery)
		}
		err := w.Close()
		if !errors.Is(err, io.ErrClosedPipe) || len(errs) != 1 || errs[0] != err {
			t.Errorf("error is %v, reported %v", err, errs)
		}
	})
}
