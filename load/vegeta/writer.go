package vegeta

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
)

const (
	// flushEvery is the most that a killed generator loses of its results.
	flushEvery = 500 * time.Millisecond

	// chunkHits is how many hits wake the writing goroutine, and chunkBytes how
	// much it writes at once. Both take some 30 µs, by which a generator that has
	// to share the core with it can be late.
	chunkHits  = 128
	chunkBytes = 16 << 10

	// hitSize is the size of a hit in memory, texts of its own left out.
	hitSize = 104

	// maxHeld bounds the memory for hits that are not written yet, in bytes. It holds
	// some 12 seconds at 50,000/s.
	maxHeld = 64 << 20
)

// WriterOptions configure what is written of a load.
type WriterOptions struct {
	Encoding Encoding  // empty means Gob
	Attack   string    // name
	Start    time.Time // of the load
	Plan     load.Plan

	// Failed, when not nil, is called once, with the first error of writing.
	Failed func(error)

	maxHeld int // overridable in tests; 0 means maxHeld
}

// A Writer is a [load.Sink] that writes each hit as a result: with the body and
// the headers of the answer only when the engine kept them, as they make the file
// grow with what the server sends.
//
// Hits only copies the hits; a goroutine encodes and writes them, in the order
// in which they came, at most half a second later. No hit is lost: when what
// takes the results is slower than the load for so long that 64 MiB of hits
// wait, Hits blocks until there is room, and [Writer.Held] grows.
type Writer struct {
	o      WriterOptions
	out    io.Writer
	enc    *Encoder
	result Result // that is being encoded
	buf    []byte // encoded, not written
	err    error  // first error of writing; for others than the goroutine once done is closed

	closing chan struct{}
	close   sync.Once
	done    chan struct{}
	gaveUp  chan struct{} // closed when the results are not taken any more
	writes  atomic.Uint64 // begun and ended: odd while one is under way

	backlog backlog
}

var _ load.Sink = (*Writer)(nil)

// A hit is what is written of a load.Hit. It holds the request's method and URL
// instead of its target, which may be the only one to hold a body.
type hit struct {
	seq               uint64
	due, latency      time.Duration
	bytesIn, bytesOut uint64
	method, url, err  string
	code              uint16
	answer            *load.Answer
}

type chunk struct {
	hits  []hit
	bytes int
}

// NewWriter returns a writer to w. Close it to write the last results.
func NewWriter(w io.Writer, o WriterOptions) (*Writer, error) {
	enc, err := NewEncoder(w, o.Encoding)
	if err != nil {
		return nil, err
	}
	if o.maxHeld == 0 {
		o.maxHeld = maxHeld
	}
	wr := &Writer{o: o, out: w, enc: enc,
		closing: make(chan struct{}), done: make(chan struct{}),
		gaveUp: make(chan struct{})}
	wr.backlog.init(o.maxHeld)
	go wr.run()
	return wr, nil
}

// Hits implements [load.Sink]. After an error it writes nothing more. It must
// not be called after Close.
func (w *Writer) Hits(hits []load.Hit) {
	w.backlog.mu.Lock()
	defer w.backlog.mu.Unlock()
	for i := range hits {
		if w.backlog.bytes >= w.backlog.most {
			w.backlog.waitForRoom()
		}
		if w.backlog.over {
			return
		}
		w.backlog.add(&hits[i], w.o.Plan.Target(&hits[i]))
	}
}

// Held returns for how long the load was held up because the results were
// written more slowly than they came.
func (w *Writer) Held() time.Duration {
	w.backlog.mu.Lock()
	defer w.backlog.mu.Unlock()
	if w.backlog.blocked > 0 {
		return w.backlog.held + time.Since(w.backlog.since)
	}
	return w.backlog.held
}

// Close writes what is left and returns the first error. It does not close
// what the writer writes to. It waits for whoever reads the results, but no
// longer than [Writer.EndSoon] allows.
func (w *Writer) Close() error {
	w.close.Do(func() { close(w.closing) })
	select {
	case <-w.done:
		return w.err
	case <-w.gaveUp:
		return errNotTaken
	}
}

var errNotTaken = errors.New("write results: no one takes them; the last ones are lost")

// EndSoon lets the writer give up when one of its writes, of 16 KiB or so, takes longer
// than patience: Hits and Close do not wait any more then. It returns when the writer
// has ended, or given up, and is called once.
func (w *Writer) EndSoon(patience time.Duration) {
	for before := w.writes.Load(); ; {
		select {
		case <-w.done:
			return
		case <-time.After(patience):
		}
		now := w.writes.Load()
		if now == before && now%2 == 1 {
			break
		}
		before = now
	}
	w.backlog.mu.Lock()
	defer w.backlog.mu.Unlock()
	w.backlog.over = true
	close(w.gaveUp)
	w.backlog.room.Broadcast()
}

// writerPart names the writer of results where it fails: what follows is lost, the load
// goes on.
var writerPart = contain.Part{Kind: contain.Engine, Name: "results"}

// run writes the hits until Close.
func (w *Writer) run() {
	defer close(w.done)
	tick := time.NewTicker(flushEvery / 2) // half for a hit to be taken, half for a slow write before it
	defer tick.Stop()
	var chunks []chunk
	for closing := false; !closing; {
		all := true
		select {
		case <-w.backlog.full:
			all = false
		case <-tick.C:
		case <-w.closing:
			closing = true
		}
		chunks = w.backlog.take(chunks[:0], all)
		for i := range chunks {
			if err := contain.Run(writerPart, func() { w.writeChunk(chunks[i]) }); err != nil {
				w.fail(err)
			}
			chunks[i] = chunk{} // its memory is room for others
		}
		if all {
			w.flush()
		}
	}
}

func (w *Writer) writeChunk(c chunk) {
	r := &w.result
	for i := range c.hits {
		if w.err != nil {
			break
		}
		h := &c.hits[i]
		*r = Result{
			Attack: w.o.Attack, Seq: h.seq, Code: h.code,
			Timestamp: w.o.Start.Add(h.due), Latency: h.latency,
			BytesOut: h.bytesOut, BytesIn: h.bytesIn, Error: h.err,
			Method: h.method, URL: h.url,
		}
		if h.answer != nil {
			r.Body, r.Headers = h.answer.Body, h.answer.Header
		}
		var err error
		if w.buf, err = w.enc.AppendResult(w.buf, r); err != nil {
			w.fail(err)
		}
		if len(w.buf) >= chunkBytes {
			w.flush()
		}
	}
	w.backlog.release(c)
}

func (w *Writer) flush() {
	if len(w.buf) > 0 && w.err == nil {
		w.writes.Add(1)
		_, err := w.out.Write(w.buf)
		w.writes.Add(1)
		w.fail(err)
	}
	w.buf = w.buf[:0]
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
