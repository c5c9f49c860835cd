package vegeta

import (
	"sync"
	"time"

	"github.com/kasoku/kasoku/load"
)

// A backlog holds the hits that a [Writer] has not written yet, at most so many bytes
// of them.
type backlog struct {
	most int           // bytes
	full chan struct{} // a chunk waits

	mu      sync.Mutex
	room    sync.Cond // on mu: bytes has fallen
	current chunk     // hits are added here
	waiting []chunk   // to be written before current
	spare   [][]hit
	bytes   int // of all hits not written
	blocked int // calls of Hits that wait for room
	since   time.Time
	held    time.Duration
	over    bool // no one takes the results any more
}

func (b *backlog) init(most int) {
	b.most, b.full = most, make(chan struct{}, 1)
	b.room.L = &b.mu
}

// add adds a hit of a request to the target. mu is held.
func (b *backlog) add(h *load.Hit, t *load.Target) {
	size := hitSize + len(h.Err)
	if h.Own != nil {
		size += len(t.Method) + len(t.URL)
	}
	if h.Answer != nil {
		size += answerSize(h.Answer)
	}
	c := &b.current
	if c.hits == nil {
		c.hits = b.empty()
	}
	c.hits = append(c.hits, hit{
		seq: h.N, due: h.Due, latency: h.Latency(),
		bytesIn: h.BytesIn, bytesOut: h.BytesOut,
		method: t.Method, url: t.URL, err: h.Err, code: uint16(h.Code), answer: h.Answer,
	})
	c.bytes += size
	b.bytes += size
	if len(c.hits) == cap(c.hits) {
		b.waiting = append(b.waiting, *c)
		*c = chunk{}
		b.wake()
	}
}

// answerSize returns about how much memory an answer takes.
func answerSize(a *load.Answer) int {
	size := cap(a.Body)
	for name, values := range a.Header {
		size += 64 + len(name)
		for _, v := range values {
			size += 16 + len(v)
		}
	}
	return size
}

func (b *backlog) wake() {
	select {
	case b.full <- struct{}{}:
	default: // it was woken already
	}
}

func (b *backlog) empty() []hit {
	if n := len(b.spare); n > 0 {
		hits := b.spare[n-1]
		b.spare = b.spare[:n-1]
		return hits
	}
	return make([]hit, 0, chunkHits)
}

func (b *backlog) waitForRoom() {
	if b.blocked == 0 {
		b.since = time.Now()
	}
	b.blocked++
	b.wake()
	for b.bytes >= b.most && !b.over {
		b.room.Wait()
	}
	b.blocked--
	if b.blocked == 0 {
		b.held += time.Since(b.since)
	}
}

// take appends the chunks to write: those that are full, or all.
func (b *backlog) take(chunks []chunk, all bool) []chunk {
	b.mu.Lock()
	defer b.mu.Unlock()
	chunks = append(chunks, b.waiting...)
	clear(b.waiting)
	b.waiting = b.waiting[:0]
	if (all || b.blocked > 0) && len(b.current.hits) > 0 {
		chunks = append(chunks, b.current)
		b.current = chunk{}
	}
	return chunks
}

// release gives the memory of a written chunk back.
func (b *backlog) release(c chunk) {
	const keep = 8 // more are only needed after a stall
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes -= c.bytes
	if len(b.spare) < keep {
		clear(c.hits)
		b.spare = append(b.spare, c.hits[:0])
	}
	if b.blocked > 0 {
		b.room.Broadcast()
	}
}
