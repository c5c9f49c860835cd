package guard

import (
	"context"
	"slices"

	"github.com/kasoku/kasoku/mysql"
)

// Drop lets go of what one purpose needed, while the recording goes on: it puts
// back what no other living recording needs. The purpose is one that was applied.
// After an error all is held on to as before.
func (h *Hold) Drop(ctx context.Context, p Planner) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := h.needs[p]
	return h.turn(ctx, func(j *Journal, save func() error) error {
		me := j.holder(&h.me)
		if me == nil {
			return h.releaseAlone(ctx, j)
		}
		held := slices.Clone(me.Needs)
		me.Needs = slices.DeleteFunc(slices.Clone(held), func(name string) bool { return slices.Contains(names, name) })
		if err := j.settle(ctx, h.r, &h.me); err != nil {
			me.Needs = held
			return err
		}
		for _, name := range held {
			if c := j.find(name); c != nil && slices.Contains(names, name) {
				h.dropped = append(h.dropped, noted(j, *c))
			}
		}
		h.look(j)
		_ = save() // what was saved before is enough: a value that is back already is found so
		return nil
	})
}

// noted is a change that a holder needs no more.
func noted(j *Journal, c mysql.Changed) mysql.Changed {
	if by := j.neededBy(c.Name); by != nil && pending(&c) {
		c.Note = keptFor(by)
	}
	return c
}
