package guard

import (
	"context"
	"slices"

	"github.com/kasoku/kasoku/mysql"
)

// Relax gives the server back, in mid-recording, the values that sessions copy when
// they begin: those that are open have theirs. The journal goes on to hold them, as
// values that are as before need nothing. While another recording needs them, or the
// server was restarted, nothing is done; relaxed says whether they are back.
func (h *Hold) Relax(ctx context.Context) (relaxed bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	err = h.turn(ctx, func(j *Journal, save func() error) error {
		mine := j.copiedBy(&h.me)
		if len(mine) == 0 {
			return nil
		}
		if err := mysql.ResumeSwitch(h.r, j.Epoch, mine).Restore(ctx); err != nil {
			return err
		}
		if h.r.RestartedSince(j.Epoch) {
			return nil
		}
		relaxed = true
		if err := j.closes(ctx, h.r); err != nil {
			return err
		}
		return save()
	})
	return relaxed, err
}

// Tighten makes those changes again. What somebody else has set meanwhile stays.
func (h *Hold) Tighten(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.turn(ctx, func(j *Journal, save func() error) error {
		mine := j.copiedBy(&h.me)
		now, err := mysql.CurrentValues(ctx, h.r, mine)
		if err != nil || h.r.RestartedSince(j.Epoch) {
			return err
		}
		mine = slices.DeleteFunc(mine, func(c mysql.Changed) bool { return !c.Known(now[c.Name]) })
		if err := j.opens(ctx, h.r, mine); err != nil {
			return err
		}
		if err := save(); err != nil {
			return err
		}
		return mysql.NewSwitch(h.r).Apply(ctx, mine)
	})
}

// copiedBy returns the changes of values that sessions copy and that one recording
// alone needs; none when another living one needs any.
func (j *Journal) copiedBy(me *Holder) []mysql.Changed {
	mine := j.holder(me)
	if mine == nil {
		return nil
	}
	var out []mysql.Changed
	for _, c := range mysql.Copied(j.Changes) {
		if !pending(&c) || !slices.Contains(mine.Needs, c.Name) {
			continue
		}
		for i := range j.Holders {
			if h := &j.Holders[i]; !h.same(me) && h.Alive() && slices.Contains(h.Needs, c.Name) {
				return nil
			}
		}
		out = append(out, c)
	}
	return out
}

// Before returns the server's variables as they were before any recording that shares
// the journal changed them.
func (h *Hold) Before(ctx context.Context) (map[string]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	vars, err := h.r.Variables(ctx)
	if err != nil {
		return nil, err
	}
	err = h.turn(ctx, func(j *Journal, _ func() error) error {
		if !h.r.RestartedSince(j.Epoch) {
			mysql.Originals(vars, j.Pending())
		}
		return nil
	})
	return vars, err
}
