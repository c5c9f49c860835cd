package record

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/store"
)

// Guard configures how changes on servers are put back when the recorder is killed.
type Guard struct {
	// Dir holds the journals of what is changed on servers. Empty: what is
	// changed is put back at the end of the run, but not when that never comes.
	Dir string
	// DefaultsFile is the option file that the DSN came from, which `kasoku
	// restore` reads again; empty without one.
	DefaultsFile string
	// Program starts a guard process, which calls [guard.Watch] with its
	// standard input. Without a Path there is none, and only the journals help.
	Program command.Spec
}

// holdFor returns what a run holds on to its changes of the server with.
func holdFor(ctx context.Context, r *mysql.Reader, o Options) (*guard.Hold, error) {
	g := guard.Options{DSN: o.MySQL}
	if o.Guard != nil {
		path, err := filepath.Abs(o.Path)
		if err != nil {
			return nil, err
		}
		g.Dir, g.DefaultsFile, g.Run = o.Guard.Dir, o.Guard.DefaultsFile, path
	}
	return guard.New(ctx, r, g)
}

// startGuard starts the guard process before there is anything to put back. A
// run without one goes on: the journal is there. It does not go on where descriptors are
// lacking: the journal could not be cleared at the end.
func (c *changes) startGuard(ctx context.Context) error {
	g := c.o.Guard
	if g == nil || g.Program.Path == "" || len(c.o.Command) == 0 && !c.o.SlowLog && !c.o.Digests {
		return nil
	}
	path, err := filepath.Abs(c.o.Path)
	if err != nil {
		return err
	}
	c.guard, err = guard.Start(g.Program, guard.Request{Dir: g.Dir, DSN: c.o.MySQL, Holder: guard.ThisProcess(path),
		Place: c.place(), Listener: c.listener()})
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if err != nil {
		c.warn(kasoku.Warning{Code: "no-guard", Text: err.Error(),
			Hint: "should the recorder be killed with -9, `kasoku restore` puts back what was changed on the database server"})
		return nil
	}
	if c.db != nil {
		_ = c.db.hold.AwaitGuard(ctx) // one that is slow comes to its place later
	}
	return nil
}

// ownPIDs returns the guard process, where there is one.
func (c *changes) ownPIDs() []int {
	if c.guard == nil {
		return nil
	}
	return []int{c.guard.PID()}
}

// place is where the run stands among those who change the server.
func (c *changes) place() guard.Place {
	if c.db == nil {
		return guard.Place{}
	}
	return c.db.hold.Place()
}

// listener is the server that is recorded, as this host sees it.
func (c *changes) listener() guard.Listener {
	if c.db == nil {
		return guard.Listener{}
	}
	return c.db.hold.Listener()
}

// endWithin is how long the guard process may take to end.
const endWithin = 5 * time.Second

// endGuard ends the guard process. What could not be put back is left to it, as it
// tries for longer: then it is not ended.
func (c *changes) endGuard() {
	if c.guard == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	orderly := c.db == nil || c.db.restored
	restarts, err := c.guard.Restarts()
	c.eventRestarts(restarts)
	if n := len(restarts); n > 0 && err == nil {
		c.warn(kasoku.Warning{Code: "guard-restarted", Text: fmt.Sprintf("the guard process was ended by somebody %s "+
			"and started again", countTimes(n)),
			Hint: "it puts back what was changed should the recorder be killed: let it live; is the machine short of memory?"})
	}
	if err := c.guard.Done(ctx, orderly); err != nil && orderly {
		c.warn(kasoku.Warning{Code: "no-guard", Text: err.Error(), Hint: "the recorder itself put all back; nothing is " +
			"to be done"})
	}
	c.guard = nil
}

// eventRestarts stores restarts of the guard process as events.
func (c *changes) eventRestarts(at []time.Time) {
	for _, t := range at {
		if c.store != nil { // a run file that takes no more lacks the event; the warning is elsewhere
			_ = c.store.Event(kasoku.Event{At: t.Sub(c.start), Host: c.host(), Kind: "guard", Text: "the guard process was ended by somebody and started again"})
		}
	}
}

func countTimes(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// changesOf words a server's changes as a run keeps them.
func changesOf(flavor mysql.Flavor, changes []mysql.Changed) []kasoku.Change {
	var out []kasoku.Change
	for _, c := range changes {
		out = append(out, kasoku.Change{Object: strings.ToLower(string(flavor)), Name: c.Name, Before: c.Before,
			During: c.During, Restored: c.Restored, Note: c.Note})
	}
	return out
}

// busyLimit is how long a run file may be in use: a killed recorder still counts
// as alive until the kernel is done with it.
const busyLimit = 10 * time.Second

// KeepLeft stores what became of a run's changes in its file, after its recorder died. A
// file that no longer exists is no error.
func KeepLeft(left guard.Left) error {
	if left.Run == "" {
		return nil
	}
	limit := time.NewTimer(busyLimit)
	defer limit.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := keepLeft(left)
		if !errors.Is(err, store.ErrBusy) && !errors.Is(err, store.ErrInUse) {
			return err
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return err
		}
	}
}

// keepChanges stores what became of the run's own changes, or of those of a run
// that died and that has not been put right since.
func (c *changes) keepChanges(left guard.Left) error {
	switch {
	case !left.Own:
		return KeepLeft(left)
	case c.store == nil:
		return nil
	}
	changes := append(changesOf(left.Flavor, left.Changes), heirsChange(left.Flavor, left.Heirs)...)
	return store.Save(c.store, append(changes, c.db.recycledChange()...))
}

func keepLeft(left guard.Left) error {
	ed, err := store.Edit(left.Run)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	changes := changesOf(left.Flavor, left.Changes)
	if left.Heirs.Burden() {
		changes = append(changes, heirsChange(left.Flavor, left.Heirs)...)
	}
	return errors.Join(ed.SaveChanges(changes), ed.Close())
}
