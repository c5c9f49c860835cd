package clock

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku/store"
)

// heed gives up when the sink has taken nothing for too long; at once when there
// is no room: what is left of it is for the end of the run.
func (c *Clock) heed(at time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.failed = 0
	case store.IsFull(err) && c.GiveUp != nil:
		c.GiveUp(fmt.Errorf("the disk is full: %w", err))
	case c.failed == 0:
		c.failed = at
	case at-c.failed >= patience && c.GiveUp != nil:
		c.GiveUp(fmt.Errorf("nothing can be stored any more: %w", err))
	}
}
