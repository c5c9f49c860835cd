package scenario

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// A board counts successes by tag. Counting takes no lock but for the first success
// of a tag.
type board struct {
	worth map[Tag]int64
	total atomic.Int64 // points

	tags atomic.Pointer[map[Tag]*tagCount] // replaced, never changed
	mu   sync.Mutex                        // of who replaces it
}

type tagCount struct {
	worth int64
	n     atomic.Uint64
}

func newBoard(worth map[Tag]int64) *board {
	b := &board{worth: worth}
	b.tags.Store(&map[Tag]*tagCount{})
	return b
}

// add counts one success and returns all points so far.
func (b *board) add(tag Tag) int64 {
	t := (*b.tags.Load())[tag]
	if t == nil {
		t = b.tag(tag)
	}
	t.n.Add(1)
	return b.total.Add(t.worth)
}

// tag returns the count of a tag, which it adds when there is none.
func (b *board) tag(tag Tag) *tagCount {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := *b.tags.Load()
	if t := old[tag]; t != nil {
		return t
	}
	worth, listed := b.worth[tag]
	if !listed {
		worth = 1
	}
	t := &tagCount{worth: worth}
	all := maps.Clone(old)
	all[tag] = t
	b.tags.Store(&all)
	return t
}

// breakdown returns what each tag has brought, those with most points first.
func (b *board) breakdown() []TagScore {
	out := []TagScore{}
	for tag, t := range *b.tags.Load() {
		n := t.n.Load()
		out = append(out, TagScore{tag, n, int64(n) * t.worth})
	}
	slices.SortFunc(out, func(x, y TagScore) int {
		return cmp.Or(cmp.Compare(y.Points, x.Points),
			cmp.Compare(x.Tag, y.Tag))
	})
	return out
}
