package guard

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kasoku/kasoku/mysql"
)

// Apply makes the changes that a purpose needs, and holds on to them. The
// originals are on the disk before the server is touched. When one fails, what
// was done for this purpose is undone.
func (h *Hold) Apply(ctx context.Context, p Planner) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.turn(ctx, func(j *Journal, save func() error) error {
		if h.r.RestartedSince(j.Epoch) {
			j.renew(h.r.Epoch())
		}
		plan, err := p.Plan(ctx)
		if err != nil {
			return err
		}
		if err := j.agrees(&h.me, plan); err != nil {
			return err
		}
		h.needs[p] = plan.Needs
		before, holders, opened := slices.Clone(j.Changes), slices.Clone(j.Holders), slices.Clone(j.Opened)
		j.merge(plan.Changes)
		h.me.Since, h.me.Session = time.Now().UTC(), h.r.Epoch().Session
		if !j.join(h.me, plan.Needs) {
			return nil // the server is as wanted, and not by one of us
		}
		err = h.takePlace(ctx)
		if err == nil {
			err = j.opens(ctx, h.r, plan.Changes)
		}
		if err != nil {
			j.Changes, j.Holders = before, holders
			return err
		}
		if err := save(); err != nil {
			return err
		}
		sw := mysql.NewSwitch(h.r)
		if err := sw.Apply(ctx, plan.Changes); err != nil {
			j.Changes, j.Holders = before, holders
			if len(mysql.Copied(sw.Changes())) == 0 {
				j.Opened = opened
			}
			j.merge(sw.Changes()) // what could not be undone
			j.join(h.me, names(sw.Changes()))
			h.look(j)
			return errors.Join(err, save())
		}
		_ = j.settle(ctx, h.r, &h.me) // what only the dead needed; what stays is reported at the end
		h.look(j)
		// What was saved before the change is enough to put it back, should there be
		// no room for more: a value that is back already is found so.
		_ = save()
		return nil
	})
}
