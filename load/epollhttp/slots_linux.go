//go:build amd64 || arm64

package epollhttp

import "sync/atomic"

// slots are the cap on requests in flight, shared by the shards. A shard takes
// several at a time, so that they rarely meet.
type slots struct {
	free  atomic.Int64
	batch int64
}

// newSlots makes n slots for some shards. What shards hold without using it stays
// below an eighth of all; a single shard takes all at once.
func newSlots(n, shards int) *slots {
	s := &slots{batch: int64(n)}
	if shards > 1 {
		s.batch = int64(min(max(n/(16*shards), 1), 64))
	}
	s.free.Store(int64(n))
	return s
}

// take returns how many slots it got, up to a batch.
func (s *slots) take() int64 {
	for {
		free := s.free.Load()
		n := min(free, s.batch)
		if n <= 0 {
			return 0
		}
		if s.free.CompareAndSwap(free, free-n) {
			return n
		}
	}
}

func (s *slots) give(n int64) { s.free.Add(n) }

// heldSlots are those of a shard.
type heldSlots struct {
	shared *slots
	unused int64
	flying int64
	peak   int64 // of flying
}

// take returns false when the cap is reached.
func (h *heldSlots) take() bool {
	if h.unused == 0 {
		if h.unused = h.shared.take(); h.unused == 0 {
			return false
		}
	}
	h.unused--
	h.flying++
	h.peak = max(h.peak, h.flying)
	return true
}

func (h *heldSlots) give() {
	h.flying--
	h.unused++
	if batch := h.shared.batch; h.unused >= 2*batch {
		h.shared.give(batch)
		h.unused -= batch
	}
}
