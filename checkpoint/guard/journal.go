package guard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/mysql"
)

// A Journal is what is changed on one server, and who holds on to it.
type Journal struct {
	Server  mysql.Identity  `json:"server"`
	Epoch   mysql.Epoch     `json:"epoch"`   // the server's life in which the values were changed
	Changes []mysql.Changed `json:"changes"` // in the order in which they were made; first originals
	Holders []Holder        `json:"holders"`
	// Opened are the sessions that began while values were changed that sessions copy.
	Opened []mysql.Span `json:"opened,omitempty"`
	// Last is the recording that ended last while such sessions went on: the way to
	// the server. nil without them.
	Last *Holder `json:"last,omitempty"`
	// Readers are the recordings that read the slow log's table, which had no rows before them.
	Readers []Holder `json:"readers,omitempty"`
}

// pending reports whether a change is still to be put back.
func pending(c *mysql.Changed) bool { return !c.Restored && c.Note == "" }

// Pending returns the changes that are still to be put back.
func (j *Journal) Pending() []mysql.Changed {
	var out []mysql.Changed
	for _, c := range j.Changes {
		if pending(&c) {
			out = append(out, c)
		}
	}
	return out
}

// InUse returns a living holder when living ones need all that is pending, so
// that nothing is to be done; nil otherwise.
func (j *Journal) InUse() *Holder {
	var by *Holder
	for _, c := range j.Pending() {
		if by = j.neededBy(c.Name); by == nil {
			return nil
		}
	}
	return by
}

// find returns the change of a name, nil when there is none.
func (j *Journal) find(name string) *mysql.Changed {
	i := slices.IndexFunc(j.Changes, func(c mysql.Changed) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &j.Changes[i]
}

// neededBy returns the living holder that needs a value, nil when none does.
func (j *Journal) neededBy(name string) *Holder {
	for i := range j.Holders {
		if h := &j.Holders[i]; slices.Contains(h.Needs, name) && h.Alive() {
			return h
		}
	}
	return nil
}

// holder returns a recording's entry, nil when it holds nothing.
func (j *Journal) holder(who *Holder) *Holder {
	i := slices.IndexFunc(j.Holders, func(h Holder) bool { return h.same(who) })
	if i < 0 {
		return nil
	}
	return &j.Holders[i]
}

// join lets a holder need those of the values that are changed, and reports
// whether it holds on to any.
func (j *Journal) join(me Holder, needs []string) bool {
	if have := j.holder(&me); have != nil {
		me.Needs = have.Needs
	}
	for _, name := range needs {
		if c := j.find(name); c != nil && pending(c) && !slices.Contains(me.Needs, name) {
			me.Needs = append(me.Needs, name)
		}
	}
	if len(me.Needs) == 0 {
		return false
	}
	if have := j.holder(&me); have != nil {
		*have = me
	} else {
		j.Holders = append(j.Holders, me)
	}
	return true
}

// of returns the changes that a holder needs; once it is gone with a note where
// they stay for the sake of another one.
func (j *Journal) of(who *Holder) []mysql.Changed {
	var out []mysql.Changed
	for _, c := range j.Changes {
		if !slices.Contains(who.Needs, c.Name) {
			continue
		}
		if by := j.neededBy(c.Name); by != nil && pending(&c) && !who.Alive() {
			c.Note = keptFor(by)
		}
		out = append(out, c)
	}
	return out
}

// keptFor is the note of a change that another recording needs.
func keptFor(by *Holder) string {
	return fmt.Sprintf("kept on for another run (pid %d), which puts it back", by.PID)
}

// renew reports that the server was restarted: what was changed is gone by itself.
func (j *Journal) renew(now mysql.Epoch) {
	j.Epoch, j.Opened = now, nil
	for i := range j.Changes {
		if c := &j.Changes[i]; pending(c) && !c.Lasts() {
			c.Note = mysql.NoteRestarted
		}
	}
}

// merge plans what to change: it adds changes, or renews those of before.
//
// The original of a value that is changed already is the first one, unless
// somebody else has set it since: then that is what is to come back.
func (j *Journal) merge(plan []mysql.Changed) {
	for _, c := range plan {
		have := j.find(c.Name)
		switch {
		case have == nil:
			j.Changes = append(j.Changes, c)
		case !pending(have), !have.Known(c.Before):
			*have = c
		default:
			have.During = c.During
		}
	}
}

// idle reports whether nothing is to be put back, no recording holds on and no session
// goes on with what was changed.
func (j *Journal) idle() bool {
	return len(j.Holders) == 0 && len(j.Opened) == 0 && len(j.Readers) == 0 && !slices.ContainsFunc(j.Changes, func(c mysql.Changed) bool { return pending(&c) })
}

// A file is a journal's file.
type file struct {
	path string
	lock *os.File
}

// name returns the name of a server's journal.
func name(id mysql.Identity) string {
	id.Version = "" // an upgraded server is the same
	b, _ := json.Marshal(id)
	sum := sha256.Sum256(b)
	host := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, id.Host+"-"+id.Port)
	return fmt.Sprintf("%s-%.40s-%s%s", strings.ToLower(string(id.Flavor)), host, hex.EncodeToString(sum[:6]), extension)
}

const (
	extension     = ".json"
	lockExtension = ".lock"
	newExtension  = ".new" // appended to the other, while the file is being written
)

// open locks a journal; close gives it up. The context bounds the wait for
// another process, which holds the lock while it talks to the server.
func open(ctx context.Context, path string) (*file, error) {
	if err := private.State.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, wrap(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		lock, err := tryLock(strings.TrimSuffix(path, extension) + lockExtension)
		if err != nil {
			return nil, wrap(err)
		}
		if lock != nil {
			return &file{path, lock}, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("journal %s: another process holds it: %w", path, ctx.Err())
		}
	}
}

// tryLock returns the locked file, or nil while somebody else has it. The file
// is removed with the journal, so the one that was locked may be gone.
func tryLock(path string) (*os.File, error) {
	f, err := private.State.Open(path, 0)
	if errors.Is(err, unix.EAGAIN) { // others made and removed it each time it was tried
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		var mine, there unix.Stat_t
		err = unix.Fstat(int(f.Fd()), &mine)
		if err == nil && unix.Stat(path, &there) == nil && mine.Ino == there.Ino && mine.Dev == there.Dev {
			return f, nil
		}
	}
	_ = f.Close()
	if err == nil || errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return nil, nil
	}
	return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
}

// close gives the lock up, and removes its file when there is no journal, with
// what is left of one that was never finished.
func (f *file) close() {
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(f.path + newExtension)
		_ = os.Remove(f.lock.Name()) // while it is locked, so that no process holds a namesake
	}
	_ = f.lock.Close()
}

// load reads the journal; nil when there is none.
func (f *file) load() (*Journal, error) {
	b, err := read(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(f.path, b)
}

// save writes the journal so that it is on the disk, whole, when save returns;
// one that says nothing any more is removed.
func (f *file) save(j *Journal) error {
	if j.idle() {
		err := os.Remove(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = syncDir(filepath.Dir(f.path))
		}
		return wrap(err)
	}
	text, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return wrap(err)
	}
	return wrap(replace(f.path, append(text, '\n')))
}

func wrap(err error) error {
	if err != nil {
		return &placeError{err}
	}
	return nil
}

// A placeError is a journal that cannot be kept where it was to be.
type placeError struct{ err error }

func (e *placeError) Error() string { return "journal: " + e.err.Error() }
func (e *placeError) Unwrap() error { return e.err }

// Hint returns how to name another place.
func (e *placeError) Hint() string {
	return "name a directory that you may write to: KASOKU_STATE=/a/directory/of/yours"
}

// replace puts a file in place of another, if there is one.
func replace(path string, text []byte) error {
	if err := private.State.WriteFile(path, text); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a directory last.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
