package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku/mysql"
)

// Options configure where a hold is journalled and for whom. The zero value journals
// nothing: the changes are put back by Release alone.
type Options struct {
	Dir          string // of the journals; it is made when it is missing
	Run          string // the run file, an absolute path
	DSN          string // that the server was reached by; its password is not kept
	DefaultsFile string // the option file that it came from, an absolute path; empty without one
}

// A Planner reports what has to be changed for a purpose: [mysql.SlowLog] and
// [mysql.Consumers] do. It is remembered by its identity, so it is a pointer.
type Planner interface {
	Plan(ctx context.Context) (mysql.Plan, error)
}

// A Hold is what one recording holds on to on one server. It is safe for
// concurrent use; its methods take turns.
type Hold struct {
	r      *mysql.Reader
	server mysql.Identity
	dir    string // of the journals; empty without one
	path   string // of the journal; empty without one

	mu      sync.Mutex // guards the fields below
	me      Holder
	memory  *Journal             // instead of a file
	changes []mysql.Changed      // what the recording rests on, as of the last look
	needs   map[Planner][]string // names of the values that each purpose rests on
	dropped []mysql.Changed      // what it rested on, with what became of it
	aside   []Aside
	place   Place    // among those who change the server
	own     []uint64 // sessions of the recorder's other connections
	heirs   Heirs    // sessions that copied what was changed, once it is put back
}

// Left is what became of the changes that a recording needed, once it is gone.
type Left struct {
	Run     string // its file; empty when it had none
	Own     bool   // it is the recording that lets go
	Flavor  mysql.Flavor
	Changes []mysql.Changed
	Heirs   Heirs // sessions that go on with what was changed
}

// A Keep stores what a recording left in its run file. Until it has, the journal
// keeps it.
type Keep func(Left) error

// New returns a hold on the reader's server that holds on to nothing yet.
func New(ctx context.Context, r *mysql.Reader, o Options) (*Hold, error) {
	id, err := r.Identity(ctx)
	if err != nil {
		return nil, err
	}
	h := &Hold{r: r, server: id, me: ThisProcess(o.Run), needs: map[Planner][]string{}}
	h.me.DSN, h.me.Defaults = withoutPassword(o.DSN), o.DefaultsFile
	if o.Dir != "" {
		h.dir, h.path = o.Dir, filepath.Join(o.Dir, name(id))
	}
	return h, nil
}

// Changes returns the changes that the recording rests on, those that another
// one made for it too, and after Release what became of them.
func (h *Hold) Changes() []mysql.Changed {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.changes)
}

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
			h.heirs = j.inheritedOrNot(ctx, h.r, h.place.Home, h.own...)
			if len(j.Opened) > 0 {
				j.Last = &h.me
			}
			return errors.Join(err, keep(h.left()), save())
		}
		me.Gone = true
		err := j.settle(ctx, h.r, &h.me)
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

// look remembers the changes that the recording rests on.
func (h *Hold) look(j *Journal) {
	h.changes = slices.Clone(h.dropped)
	if me := j.holder(&h.me); me != nil {
		h.changes = append(h.changes, j.of(me)...)
	}
}

// turn does something with the journal while no other process can.
func (h *Hold) turn(ctx context.Context, do func(j *Journal, save func() error) error) error {
	fresh := func() *Journal { return &Journal{Server: h.server, Epoch: h.r.Epoch()} }
	if h.path == "" {
		if h.memory == nil {
			h.memory = fresh()
		}
		return do(h.memory, func() error { return nil })
	}
	f, err := open(ctx, h.path)
	if err != nil {
		return err
	}
	defer f.close()
	j, err := f.load()
	if errors.Is(err, errForeign) {
		err = h.setAside(f, err)
	}
	if err != nil {
		return err
	}
	if j == nil {
		j = fresh()
	}
	return do(j, func() error { return f.save(j) })
}

func names(changes []mysql.Changed) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.Name
	}
	return out
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
