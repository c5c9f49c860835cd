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

// takeSlot returns false when the cap is reached.
func (s *shard) takeSlot() bool {
	if s.slots == 0 {
		if s.slots = s.run.slots.take(); s.slots == 0 {
			return false
		}
	}
	s.slots--
	s.flying++
	s.peak = max(s.peak, s.flying)
	return true
}

func (s *shard) giveSlot() {
	s.flying--
	s.slots++
	if batch := s.run.slots.batch; s.slots >= 2*batch {
		s.run.slots.give(batch)
		s.slots -= batch
	}
}
