package vegeta

import (
	"bufio"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/kasoku/kasoku/load"
)

// flushEvery is the most that a killed generator loses of its results.
const flushEvery = 500 * time.Millisecond

// WriterOptions say what is written of a load.
type WriterOptions struct {
	Encoding Encoding  // empty means Gob
	Attack   string    // name
	Start    time.Time // of the load
	Plan     load.Plan

	// Metrics, when not nil, gets every result too. It is guarded by the writer
	// until Close has returned.
	Metrics *Metrics

	// Failed, when not nil, is called once, with the first error of writing.
	Failed func(error)
}

// A Writer is a [load.Sink] that writes each hit as a result: without body and
// headers, which would make the file grow with what the server sends. It is
// safe for concurrent use.
type Writer struct {
	o WriterOptions

	mu      sync.Mutex
	buf     *bufio.Writer
	enc     Encoder
	flushed time.Time
	err     error
}

var _ load.Sink = (*Writer)(nil)

// NewWriter returns a writer to w. Close it to flush the last results.
func NewWriter(w io.Writer, o WriterOptions) (*Writer, error) {
	buf := bufio.NewWriterSize(w, 64<<10)
	enc, err := NewEncoder(buf, o.Encoding)
	if err != nil {
		return nil, err
	}
	return &Writer{o: o, buf: buf, enc: enc, flushed: time.Now()}, nil
}

// Hits implements [load.Sink]. After an error it writes nothing more.
func (w *Writer) Hits(hits []load.Hit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range hits {
		r := w.result(&hits[i])
		if w.o.Metrics != nil {
			w.o.Metrics.Add(r)
		}
		if w.err == nil {
			w.fail(w.enc.Encode(r))
		}
	}
	if now := time.Now(); w.err == nil && now.Sub(w.flushed) >= flushEvery {
		w.flushed = now
		w.fail(w.buf.Flush())
	}
}

func (w *Writer) result(h *load.Hit) *Result {
	t := &w.o.Plan.Targets[h.Target]
	return &Result{
		Attack: w.o.Attack, Seq: h.N, Code: uint16(h.Code),
		Timestamp: w.o.Start.Add(h.Due), Latency: h.Latency(),
		BytesOut: h.BytesOut, BytesIn: h.BytesIn, Error: h.Err,
		Method: t.Method, URL: t.URL,
	}
}

func (w *Writer) fail(err error) {
	if err == nil || w.err != nil {
		return
	}
	w.err = fmt.Errorf("write results: %w", err)
	if w.o.Failed != nil {
		w.o.Failed(w.err)
	}
}

// Close writes what is left and returns the first error. It does not close
// what the writer writes to.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.fail(w.buf.Flush())
	}
	return w.err
}
