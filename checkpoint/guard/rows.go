package guard

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/mysql"
)

// TakeRows lets the recording read the server's table of the slow log, before the log is sent
// there. What comes into a table that had no rows is kasoku's, and goes with the last recording
// that reads it: a recording that joins others must not take their rows for somebody else's. It
// reports whether the table may be used: not where it has rows of somebody else and gets none.
func (h *Hold) TakeRows(ctx context.Context) (free bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	err = h.turn(ctx, func(j *Journal, save func() error) error {
		on, err := j.tableOn(ctx, h.r)
		switch {
		case err != nil:
			return err
		case on && len(j.Readers) == 0: // the user's own, and stays
			free = true
			return nil
		case len(j.Readers) == 0:
			if free, err = mysql.NewSlowTable(h.r).IsEmpty(ctx); !free || err != nil {
				return err
			}
		}
		me := h.me
		me.Since = time.Now().UTC()
		j.Readers = append(j.Readers, me)
		free, h.rows = true, true
		return save()
	})
	return free && err == nil, err
}

// FreeRows reports that the recording has read what it wanted of the table, which is emptied once
// no recording reads it and the log goes there no more.
func (h *Hold) FreeRows(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.rows {
		return nil
	}
	reached := false
	free := func(j *Journal, save func() error) error {
		reached = true
		if j.reader(&h.me) == nil { // the journal is lost
			j.Readers = append(j.Readers, h.me)
		}
		j.reader(&h.me).Gone = true
		if err := j.clearRows(ctx, h.r); err != nil {
			return err
		}
		h.rows = false
		return save()
	}
	err := h.turn(ctx, free)
	if !reached && ctx.Err() == nil { // a server is put back whatever became of the disk
		return free(&Journal{}, func() error { return nil })
	}
	return err
}

// clearRows empties the slow log's table when no recording reads it any more. While the log still goes
// there for another recording, that one's end does it.
func (j *Journal) clearRows(ctx context.Context, r *mysql.Reader) error {
	if len(j.Readers) == 0 {
		return nil
	}
	if slices.ContainsFunc(j.Readers, func(h Holder) bool { return h.Alive() }) {
		j.Readers = slices.DeleteFunc(j.Readers, func(h Holder) bool { return !h.Alive() })
		return nil
	}
	on, err := j.tableOn(ctx, r)
	if err != nil || on || len(j.Readers) == 0 {
		return err
	}
	t := mysql.NewSlowTable(r)
	empty, err := t.IsEmpty(ctx)
	if err == nil && !empty {
		err = t.Clear(ctx)
	}
	if err == nil {
		j.Readers = nil
	}
	return err
}

// tableOn reports whether the slow log goes to its table. Where somebody else sends it there, what
// is in the table is not kasoku's alone any more, and stays.
func (j *Journal) tableOn(ctx context.Context, r *mysql.Reader) (bool, error) {
	vars, err := r.Variables(ctx)
	if err != nil || !strings.Contains(strings.ToUpper(vars[logOutput]), "TABLE") {
		return false, err
	}
	if c := j.find(logOutput); c == nil || !pending(c) {
		j.Readers = nil
	}
	return true, nil
}

// logOutput is the variable that says where a server's logs go.
const logOutput = "log_output"

// reader returns a recording's entry among those that read the slow log's table, nil when there is
// none.
func (j *Journal) reader(who *Holder) *Holder {
	i := slices.IndexFunc(j.Readers, func(h Holder) bool { return h.same(who) })
	if i < 0 {
		return nil
	}
	return &j.Readers[i]
}
