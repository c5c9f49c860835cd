package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// A Found is a journal that lies in the directory.
type Found struct {
	Path    string
	Journal *Journal // nil when it cannot be read
	Err     error    // why
}

// Journals returns the journals of a directory, by name. A directory that does
// not exist holds none.
func Journals(dir string) ([]Found, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var out []Found
	for _, path := range paths {
		f := file{path: path}
		j, err := f.load()
		if j != nil || err != nil {
			out = append(out, Found{path, j, err})
		}
	}
	return out, nil
}

// tidyWithin is how long a lock is waited for. A process that was killed has it
// until the kernel has closed its files, one after another.
const tidyWithin = 2 * time.Second

// Tidy removes what a process left in the directory that was killed before it
// had written its journal, and so before it changed anything.
func Tidy(ctx context.Context, dir string) {
	locks, _ := filepath.Glob(filepath.Join(dir, "*"+lockExtension)) // the pattern is good
	for _, path := range locks {
		ctx, cancel := context.WithTimeout(ctx, tidyWithin)
		if f, err := open(ctx, strings.TrimSuffix(path, lockExtension)+extension); err == nil {
			f.close()
		} // else somebody is at work there
		cancel()
	}
	tidyReplaced(ctx, dir)
}

// tidyReplaced removes journals that were being written by a process that was killed,
// and waits for the kernel to be done with it.
func tidyReplaced(ctx context.Context, dir string) {
	ctx, cancel := context.WithTimeout(ctx, tidyWithin)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for private.SweepReplaced(dir) > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Forget removes a journal without putting anything back. What is none is set
// aside.
func Forget(ctx context.Context, path string) error {
	f, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer f.close()
	if _, err := f.load(); errors.Is(err, errForeign) {
		_, err = f.setAside(time.Now())
		return err
	}
	return f.save(&Journal{})
}

// ErrOtherServer means that another server than the journal's answers.
var ErrOtherServer = errors.New("another server answers there")

// connectWithin bounds the connection to a server that hangs.
const connectWithin = 5 * time.Second

// Restore puts back what a journal says is changed and no living recording
// needs, over a connection of its own, and stores with keep what became of the
// changes of each recording that is gone. What could not be put back or stored stays
// in the journal. Sessions that log because of what was changed are a [*HeirsError].
func Restore(ctx context.Context, path, dsn string, keep Keep) error {
	heirs, err := putBack(ctx, path, dsn, keep, nil)
	if err == nil && heirs.Burden() {
		err = &HeirsError{heirs}
	}
	return err
}

// putBack is Restore with one holder that is known to be dead. It returns what
// sessions go on with.
func putBack(ctx context.Context, path, dsn string, keep Keep, dead *Holder) (heirs Heirs, err error) {
	err = onServer(ctx, path, dsn, func(r *mysql.Reader, j *Journal, home string) error {
		if dead != nil {
			for _, h := range []*Holder{j.holder(dead), j.reader(dead)} {
				if h != nil {
					h.Gone = true
				}
			}
		}
		err := j.settle(ctx, r, nil)
		if err == nil {
			err = j.clearRows(ctx, r)
		}
		if err == nil {
			heirs, err = j.inherited(ctx, r, home)
		} else {
			err = stateError{err, now(ctx, r, j.Pending())}
		}
		return errors.Join(err, j.collect(nil, heirs, keep))
	})
	return heirs, err
}

// onServer does something with a journal and its server, over a connection of its
// own, while no other process can, and keeps the journal. One that is gone is no
// error: another process was quicker.
func onServer(ctx context.Context, path, dsn string, do func(*mysql.Reader, *Journal, string) error) (err error) {
	db, err := mysqlflags.OpenBounded(dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	first, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	r, err := mysql.New(first, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	id, err := r.Identity(ctx)
	if err != nil {
		return err
	}
	f, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer f.close()
	j, err := f.load()
	if j == nil || err != nil {
		return err
	}
	if !id.Same(j.Server) {
		return fmt.Errorf("%w: %s, not %s", ErrOtherServer, id, j.Server)
	}
	home, err := homeOf(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = do(r, j, home)
	return errors.Join(err, f.save(j))
}

const (
	// RecoverWithin is how long the guard process tries to reach a server.
	RecoverWithin = time.Minute
	// retryEvery is the time between two attempts.
	retryEvery = 500 * time.Millisecond
)

// Recover does what [Restore] does for each journal that a dead recorder holds
// on to, again and again until the context ends: the server may be away too.
//
// Nothing is sent where another server than the recorded one listens by now.
//
// The recorder's end of the pipe is closed before the kernel is done with its
// process, which may so look alive. The limits of that process that this one cannot
// raise, such as the length of files, delay nothing: what cannot be kept is given up.
func (l *Legacy) Recover(ctx context.Context, keep Keep) error {
	if l.Request.Dir == "" || l.Request.DSN == "" {
		return nil
	}
	keep = keepIfPossible(keep, raiseLimits())
	Tidy(ctx, l.Request.Dir) // a journal that was being written is there afterwards, or is not
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for {
		found, err := Journals(l.Request.Dir)
		for _, f := range found {
			if f.Journal != nil && (f.Journal.holder(&l.Request.Holder) != nil || f.Journal.reader(&l.Request.Holder) != nil) {
				if failed := l.Request.Listener.check(l.Request.DSN); failed != nil {
					err = errors.Join(err, failed)
					continue
				}
				_, failed := putBack(ctx, f.Path, l.Request.DSN, keep, &l.Request.Holder) // sessions that go on are for a person
				err = errors.Join(err, failed)
			}
		}
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}
