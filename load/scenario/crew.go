package scenario

import (
	"sync"

	"github.com/kasoku/kasoku/internal/contain"
)

// A crew counts the goroutines of a phase. They may start others until the last one
// has ended, and none after that.
type crew struct {
	mu   sync.Mutex
	n    int
	over bool
	idle chan struct{} // closed when the last one has ended
}

func newCrew() *crew { return &crew{idle: make(chan struct{})} }

// start runs do on a goroutine of its own. It does nothing once the crew is over.
func (c *crew) start(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.n++
	go func() {
		defer c.leave()
		_ = contain.Run(contain.Part{Kind: contain.Engine, Name: "scenario"}, do)
	}()
}

func (c *crew) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
	if c.n == 0 && !c.over {
		c.over = true
		close(c.idle)
	}
}

// dismiss lets no worker start any more, and returns how many are still at work.
func (c *crew) dismiss() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	return c.n
}
