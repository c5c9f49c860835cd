package observe

import (
	"sync"
	"time"

	"github.com/kasoku/kasoku"
)

// An item is what a worker or the ticker passes to the sink: a frame, or that
// there is none, or events alone.
type item struct {
	w      *worker       // nil for an event of the ticker
	frame  *kasoku.Frame // nil for a miss
	due    time.Duration // of a miss: the tick that has no frame
	at     time.Duration // when it was known
	reason string        // of a miss
	events []kasoku.Event
}

// A queue hands items to one reader and never blocks who adds: the ticker must
// not wait for a disk. While the reader stalls it grows by at most one miss for
// each worker a tick, because a worker has only two frames.
type queue struct {
	ready chan struct{} // holds one token when items may be there

	mu    sync.Mutex // guards the following field
	items []item
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

func (q *queue) add(it item) {
	q.mu.Lock()
	q.items = append(q.items, it)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take returns all items, in the order in which they were added, and keeps the
// memory of spare, the slice that it returned the time before last.
func (q *queue) take(spare []item) []item {
	clear(spare[:cap(spare)])
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items = spare[:0]
	return items
}
