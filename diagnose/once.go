package diagnose

import (
	"sync"

	"github.com/kasoku/kasoku"
)

// A memo holds what several rules need and is worked out once.
type memo struct {
	mu   sync.Mutex
	made map[memoKey]any
}

type memoKey struct {
	rec  *kasoku.Recording
	name string
}

// Once returns what work makes of the case's recording, which is done once for all
// rules that ask by the same name; work must depend on nothing else. Cases that
// [NewCase] did not make remember nothing.
func Once[T any](c *Case, name string, work func() T) T {
	if c.memo == nil {
		return work()
	}
	c.memo.mu.Lock()
	defer c.memo.mu.Unlock()
	key := memoKey{c.Recording, name}
	if v, ok := c.memo.made[key]; ok {
		return v.(T)
	}
	v := work()
	c.memo.made[key] = v
	return v
}
