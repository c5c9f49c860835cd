package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysqlread"
	"github.com/kasoku/kasoku/observe"
)

// A Live is what a run of the same options would sample, for who looks on without
// making a run. Nothing is changed on a server: statements are counted by what it
// counts anyway.
type Live struct {
	Host     kasoku.Host
	Sources  []observe.Source // to be closed by the sampler that they are given to
	Settings []kasoku.Setting // in force, those of the database among them

	db *database // nil without one
}

// NewLive opens what is to be sampled. Path, load and what concerns a run file are
// not looked at.
func NewLive(ctx context.Context, o Options) (_ *Live, err error) {
	o.Guard, o.SlowLog, o.Digests = nil, false, false
	s := &session{o: o}
	l := &Live{Host: hostInfo(), Settings: safeSettings(o.Settings)}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if o.MySQL != "" {
		if s.db, err = openDatabase(ctx, o); err != nil {
			return nil, err
		}
		l.db = s.db
		vars, err := s.db.settings(ctx, l.Host.Name)
		if err != nil {
			return nil, err
		}
		l.Settings = append(l.Settings, vars...)
	}
	l.Sources, _, err = s.sources()
	return l, err
}

// HasDatabase reports whether a database is watched.
func (l *Live) HasDatabase() bool { return l.db != nil }

// Digests reads what the database counted of each class of statements, over a
// connection of its own. Not for concurrent use.
func (l *Live) Digests(ctx context.Context) (*mysqlread.Digests, error) {
	if l.db == nil {
		return nil, errors.New("no database is watched")
	}
	return l.db.reader.Digests(ctx)
}

// Close gives the connections to the database up. The sampler must have ended.
func (l *Live) Close() error {
	if l.db == nil {
		return nil
	}
	return l.db.close()
}

// Loads follows the loads that other processes of this host hand over.
type Loads struct {
	handed handedLoads
	began  time.Duration
}

// NewLoads reads from the file, which may not be there yet; the loads' times are
// told since start, which must have a monotonic reading.
func NewLoads(path string, start time.Time) (*Loads, error) {
	began, err := monotonic(start)
	if err != nil {
		return nil, err
	}
	return &Loads{handed: handedLoads{reader: handoverReader{path: path}}, began: began}, nil
}

// Take returns the seconds that were counted since it was called last, beside an
// error of what could not be read.
func (l *Loads) Take() ([]kasoku.LoadSecond, error) {
	seconds, err := l.handed.take(l.began)
	return safeSeconds(seconds), err
}

// Steps returns the steps of all loads so far, in the order of their beginning.
func (l *Loads) Steps() (steps []kasoku.Step) {
	for _, one := range l.handed.loads {
		steps = append(steps, one.steps...)
	}
	return steps
}

// Names of the files by which watchers are found by loads of the same user.
const (
	listenerPrefix = "listen-"
	listenerSuffix = ".load"
)

// listenDir returns the directory of these files, which only this user may enter.
func listenDir() (string, error) {
	dir := filepath.Join(os.TempDir(), "kasoku-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return "", fmt.Errorf("look at %s: %w", dir, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() || st.Mode&0o077 != 0 {
		return "", fmt.Errorf("%s: not a directory of this user alone", dir)
	}
	return dir, nil
}

// Listen makes a file into which loads that begin from now on hand their seconds
// over when no recording asks for them. It is to be removed at the end.
func Listen() (path string, err error) {
	dir, err := listenDir()
	if err != nil {
		return "", fmt.Errorf("listen for loads: %w", err)
	}
	path = filepath.Join(dir, listenerPrefix+strconv.Itoa(os.Getpid())+listenerSuffix)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return "", fmt.Errorf("listen for loads: %w", err)
	}
	return path, nil
}

// Listeners returns the files of processes that listen now, and removes those of
// processes that are gone.
func Listeners() []string {
	dir, err := listenDir()
	if err != nil {
		return nil // nobody can listen there
	}
	found, _ := filepath.Glob(filepath.Join(dir, listenerPrefix+"*"+listenerSuffix))
	return slices.DeleteFunc(found, func(path string) bool {
		name := filepath.Base(path)
		pid, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, listenerPrefix), listenerSuffix))
		if err == nil && !errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			return false
		}
		_ = os.Remove(path) // left by a process that was killed
		return true
	})
}
