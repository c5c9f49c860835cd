package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku/mysql"
)

// Release lets go: it puts back what no other living recording needs, and stores
// with keepLeft what became of the changes, those of recordings that died too. After
// an error what is left stays in the journal, for whoever comes next.
func (h *Hold) Release(ctx context.Context, keepLeft Keep) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	keep := func(l Left) error {
		if l.Own {
			l.Changes = h.changes // those that were dropped before among them
		}
		return keepLeft(l)
	}
	reached := false
	err := h.turn(ctx, func(j *Journal, save func() error) error {
		reached = true
		me := j.holder(&h.me)
		if me == nil {
			err := h.releaseAlone(ctx, j)
			_ = j.clearRows(ctx, h.r) // of those that ended before; the journal keeps what stays
			h.heirs = j.inheritedOrNot(ctx, h.r, h.place.Home, h.own...)
			if len(j.Opened) > 0 {
				j.Last = &h.me
			}
			return errors.Join(err, keep(h.left()), save())
		}
		me.Gone = true
		err := j.settle(ctx, h.r, &h.me)
		_ = j.clearRows(ctx, h.r) // of those that ended before; the journal keeps what stays
		h.look(j)
		if err != nil { // there is more to come
			err = errors.Join(err, keep(h.left()))
		} else {
			h.heirs = j.inheritedOrNot(ctx, h.r, h.place.Home, h.own...)
		}
		return errors.Join(err, j.collect(&h.me, h.heirs, keep), save())
	})
	if err == nil {
		_ = h.unclaim(ctx) // else it goes with the session
	}
	switch {
	case !reached && len(h.changes) == 0: // whatever the journal says, it is not of this recording
		return keep(h.left())
	case !reached && ctx.Err() == nil: // a server is put back whatever became of the disk
		return errors.Join(err, h.releaseUnlocked(ctx, keep))
	}
	return err
}

// left is what became of the recording's own changes.
func (h *Hold) left() Left { return Left{h.me.Run, true, h.server.Flavor, h.changes, h.heirs} }

// releaseAlone puts back what the recording changed when its journal is lost,
// but for what others hold in a newer one.
func (h *Hold) releaseAlone(ctx context.Context, j *Journal) error {
	var mine []mysql.Changed
	for _, c := range h.changes {
		if j.neededBy(c.Name) == nil {
			mine = append(mine, c)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	sw := mysql.ResumeSwitch(h.r, h.r.Epoch(), mine)
	err := sw.Restore(ctx)
	h.changes = sw.Changes()
	return err
}

// settle puts back what is changed and no living holder needs. me is the holder that
// the caller is; nil when it is none.
func (j *Journal) settle(ctx context.Context, r *mysql.Reader, me *Holder) error {
	var free []mysql.Changed
	for _, c := range j.Changes {
		if pending(&c) && j.neededBy(c.Name) == nil {
			free = append(free, c)
		}
	}
	if len(free) == 0 {
		return nil
	}
	if err := j.awaitDead(ctx, r, me); err != nil {
		return err
	}
	sw := mysql.ResumeSwitch(r, j.Epoch, free)
	err := sw.Restore(ctx)
	for _, c := range sw.Changes() {
		*j.find(c.Name) = c
	}
	return err
}

// sessionLimit is how long the server may take to notice that a session's client
// is gone. Through a proxy that keeps the session it never does.
const sessionLimit = 10 * time.Second

// awaitDead waits until the sessions of dead holders are over: the last change
// that one sent may still be on its way, and would be made after it was put back.
func (j *Journal) awaitDead(ctx context.Context, r *mysql.Reader, me *Holder) error {
	if r.RestartedSince(j.Epoch) {
		return nil
	}
	var sessions []uint64
	for i := range j.Holders {
		if h := &j.Holders[i]; h.Session != 0 && (me == nil || !h.same(me)) && !h.Alive() {
			sessions = append(sessions, h.Session)
		}
	}
	if len(sessions) == 0 {
		return nil
	}
	limit := time.NewTimer(sessionLimit)
	defer limit.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := mysql.NewClients(r).Open(ctx, sessions)
		if err != nil || n == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of a session: %w", ctx.Err())
		}
	}
}

// collect removes the holders that are gone and whose changes are settled, or stay for
// living ones, once keep has stored what became of them. The caller may be one of them.
func (j *Journal) collect(me *Holder, heirs Heirs, keep Keep) error {
	open := func(name string) bool {
		c := j.find(name)
		return c != nil && pending(c) && j.neededBy(name) == nil
	}
	var errs []error
	j.Holders = slices.DeleteFunc(j.Holders, func(h Holder) bool {
		if h.Alive() || slices.ContainsFunc(h.Needs, open) {
			return false
		}
		err := keep(Left{h.Run, me != nil && h.same(me), j.Server.Flavor, j.of(&h), heirs})
		errs = append(errs, err)
		if err == nil && len(j.Opened) > 0 {
			j.Last = &h
		}
		return err == nil
	})
	return errors.Join(errs...)
}

// Leave lets go and leaves the server as it is: the changes that only this recording
// needed are not put back by anyone any more.
func (h *Hold) Leave(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.turn(ctx, func(j *Journal, save func() error) error {
		h.look(j)
		me := h.me
		j.Readers = slices.DeleteFunc(j.Readers, func(x Holder) bool { return x.same(&me) })
		h.rows = false
		j.Holders = slices.DeleteFunc(j.Holders, func(x Holder) bool { return x.same(&me) })
		j.Changes = slices.DeleteFunc(j.Changes, func(c mysql.Changed) bool {
			return j.neededBy(c.Name) == nil && slices.ContainsFunc(h.changes, func(mine mysql.Changed) bool { return mine.Name == c.Name })
		})
		if len(mysql.Copied(j.Changes)) == 0 {
			j.Opened = nil
		}
		return save()
	})
}
