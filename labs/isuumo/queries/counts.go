package queries

import "sync"

// maxCounts bounds the counts that are kept; the benchmark asks for a few hundred.
const maxCounts = 10_000

// counts are the numbers of rows that searches have found, kept until the next
// write. They may be used concurrently. A nil one keeps nothing.
type counts struct {
	mu      sync.Mutex
	writes  int // how often forget was called
	byQuery map[string]int64
}

func newCounts() *counts { return &counts{byQuery: map[string]int64{}} }

// of returns the count for a query, asking for it when it is not kept.
//
// A write that is announced while the query runs may have come after what the query
// saw, so its count is then given but not kept.
func (c *counts) of(query string, ask func() (int64, error)) (int64, error) {
	if c == nil {
		return ask()
	}
	c.mu.Lock()
	n, kept := c.byQuery[query]
	writes := c.writes
	c.mu.Unlock()
	if kept {
		return n, nil
	}
	n, err := ask()
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if writes == c.writes && len(c.byQuery) < maxCounts {
		c.byQuery[query] = n
	}
	return n, nil
}

// forget announces a write. It is called when the write can be seen by queries, and
// before its request is answered.
func (c *counts) forget() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	clear(c.byQuery)
}
