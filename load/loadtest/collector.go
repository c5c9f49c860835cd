package loadtest

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kasoku/kasoku/load"
)

// A Collector is a [load.Sink] that keeps all hits. The zero value has none.
type Collector struct {
	mu   sync.Mutex
	hits []load.Hit
}

// Hits implements [load.Sink].
func (c *Collector) Hits(hits []load.Hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hits = append(c.hits, hits...)
}

// All returns the hits by their numbers. The load must be over.
func (c *Collector) All() []load.Hit {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.hits, func(a, b load.Hit) int { return cmp.Compare(a.N, b.N) })
	return c.hits
}
