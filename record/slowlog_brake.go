package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/freespace"
	"github.com/kasoku/kasoku/store"
)

// MinFree returns the room that a disk keeps free while the slow log is on, unless the
// configuration says otherwise: the smaller of a share of the disk and a number of bytes.
func MinFree() unit.Least { return unit.Least{Ratio: 0.05, Bytes: 1e9} }

// brakeWithin bounds the way back of the slow log in mid-run; the next tick tries
// again.
const brakeWithin = 10 * time.Second

// brakeDirs are the directories whose file systems a run fills: that of its own file
// and, on this host, those that the server writes the slow log to.
func (c *changes) brakeDirs() []string {
	var dirs []string
	if log := c.db.slow.File(); log != "" && !c.db.elsewhere {
		// A server elsewhere has its path, but not its file. One in a directory that
		// may not be entered can be there.
		if _, err := pathwalk.Stat(log); !errors.Is(err, fs.ErrNotExist) {
			dirs = append(dirs, filepath.Dir(log))
		}
	}
	if path, err := filepath.Abs(c.o.Path); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	return dirs
}

// roomForSlowLog describes why the slow log is not to be switched on at all; empty when
// it may.
func (c *changes) roomForSlowLog(ctx context.Context) []kasoku.Warning {
	if _, err := c.db.slow.Plan(ctx); err != nil {
		return nil // who switches it on says so
	}
	for _, dir := range c.brakeDirs() {
		if r, ok := freespace.Of(dir, c.o.minFree()); ok && r.Low() {
			return []kasoku.Warning{{Code: "no-slow-log", Text: "no slow log: " + leftOf(r), Hint: brakeHint}}
		}
	}
	return nil
}

func (o *Options) minFree() unit.Least {
	if o.MinFree == nil {
		return MinFree()
	}
	return *o.MinFree
}

// leftOf reports that there is too little room.
func leftOf(r freespace.Room) string {
	return fmt.Sprintf("the disk of %s has %s free, and %s are to "+
		"stay free", r.Dir, unit.Bytes(r.Free), unit.Bytes(r.Least))
}

const brakeHint = "make room, or say what is to stay free: `--min-free 500MB`, or min_free in [mysql] of kasoku.toml"

// brake is the source that puts the slow log back when a disk runs full.
func (c *changes) brake() *freespace.Source {
	log := c.db.slow.File()
	if c.db.elsewhere {
		log = ""
	}
	return freespace.New(freespace.Options{Dirs: c.brakeDirs(), Log: log, Least: c.o.minFree(),
		Low: c.pullBrake})
}

// pullBrake puts the slow log back in mid-run. The recording goes on.
func (c *changes) pullBrake(ctx context.Context, r freespace.Room) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, brakeWithin)
	defer cancel()
	why := leftOf(r)
	if r.PerSec > 0 {
		why += fmt.Sprintf("; it grew by %s a second", unit.Bytes(uint64(r.PerSec)))
	}
	if err := c.db.hold.Drop(ctx, c.db.slow); err != nil {
		return "", fmt.Errorf("%s, and the slow log could not be put back: %w", why, err)
	}
	c.db.braked.Store(&braking{at: time.Now(), why: why})
	if !c.waits() { // there is a file
		// For that of a run that is killed later; at the end it is stored again.
		_ = store.Save(c.store, c.db.changes())
	}
	return "the slow log was put back: " + why, nil
}

// A braking is that the slow log was put back before the end of the run.
type braking struct {
	at  time.Time
	why string
}

// warning describes which part of the run has no statements.
func (b *braking) warning(start time.Time) kasoku.Warning {
	return kasoku.Warning{Code: "slow-log-braked",
		Text: fmt.Sprintf("the slow log was put back %s after the beginning: %s. Statements of later are missing, but "+
			"those of sessions that keep the setting they began with", unit.Duration(max(b.at.Sub(start), 0)), b.why),
		Hint: brakeHint}
}
