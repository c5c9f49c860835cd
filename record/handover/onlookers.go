package handover

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store"
)

// Names of the files by which watchers are found by loads of the same user.
const (
	listenerPrefix = "listen-"
	listenerSuffix = ".load"
)

// meetDir is the directory of these files, which only this user may enter. It is there
// as long as a file is in it.
func meetDir() string {
	return filepath.Join(os.TempDir(), "kasoku-"+strconv.Itoa(os.Getuid()))
}

// own returns an error when somebody else may write into the directory.
func own(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return fmt.Errorf("look at %s: %w", dir, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() || st.Mode&0o077 != 0 {
		return fmt.Errorf("%s: not a directory of this user alone", dir)
	}
	return nil
}

// leave makes a file of this process, and returns its path and what takes it away again.
// It is locked as long as the process lives: its number may be another's soon.
func leave(prefix, suffix, text string) (path string, over func() error, err error) {
	dir := meetDir()
	path = filepath.Join(dir, prefix+strconv.Itoa(os.Getpid())+"-"+rand.Text()[:8]+suffix)
	SweepMeetings()
	var f *os.File
	for range 3 { // who takes the last file away takes the directory too
		if err = os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return "", nil, err
		}
		if err = own(dir); err == nil {
			f, err = lockFile(path, text)
		}
		if !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return "", nil, err
	}
	return path, func() error {
		err := errors.Join(os.Remove(path), f.Close())
		_ = os.Remove(dir) // stays while there is another file in it
		return err
	}, nil
}

// lockFile makes a file that is locked until it is closed. The error is ErrNotExist when
// a sweep was quicker than the lock.
func lockFile(path, text string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX) // not each file system has locks
	if err = unix.Fstat(int(f.Fd()), &st); err == nil && st.Nlink == 0 {
		err = os.ErrNotExist
	}
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweepFile removes a file that no process holds locked any more, and reports whether
// it did.
func sweepFile(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	_ = os.Remove(path)
	_ = os.Remove(filepath.Dir(path)) // stays while there is another file in it
	return true
}

// SweepMeetings removes what listeners and recorders that were killed left. Each start
// of the program does so, and the guard process of one that was killed.
func SweepMeetings() {
	Listeners()
	ofProcesses(recordingPrefix, recordingSuffix)
}

// Listen creates a file to which the loads of this user hand over their seconds when no
// recording asks for them, including loads that have begun before. The function it returns
// removes the file.
func Listen() (path string, over func() error, err error) {
	path, over, err = leave(listenerPrefix, listenerSuffix, "")
	if err != nil {
		return "", nil, fmt.Errorf("listen for loads: %w", err)
	}
	return path, over, nil
}

// Listeners returns the files of processes that listen now, and removes those of processes
// that have ended.
func Listeners() []string { return ofProcesses(listenerPrefix, listenerSuffix) }

// ofProcesses returns the files of living processes whose names begin and end so, and
// removes those of processes that are gone, which hold no lock.
func ofProcesses(prefix, suffix string) []string {
	dir := meetDir()
	if own(dir) != nil {
		return nil // none has been left there
	}
	return slices.DeleteFunc(filesIn(dir, prefix, suffix), sweepFile)
}

// filesIn returns the files of a directory whose names begin and end so, in order. It is
// no pattern: the directory may be called [a].
func filesIn(dir, prefix, suffix string) (paths []string) {
	entries, _ := os.ReadDir(dir) // what cannot be read has none
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), suffix) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// Onlookers are the processes of this user that listen for loads, see [Listen]: those
// that listen when a load begins, and those that begin to meanwhile. Not for
// concurrent use.
type Onlookers struct {
	start time.Time
	hands map[string]*onlooker // by the file of each
	now   func() time.Time
}

// An onlooker gets what is counted in whole seconds from the one on in which it was
// seen first: of those before it could get a part alone.
type onlooker struct {
	*Writer
	from int
}

// NewOnlookers returns the onlookers of a load that begins at start, on the monotonic
// clock.
func NewOnlookers(start time.Time) *Onlookers {
	return &Onlookers{start: start, hands: map[string]*onlooker{}, now: time.Now}
}

// Look looks for processes that listen now, and reports whether there is one. From then on
// the load has to keep what it counts.
func (o *Onlookers) Look() bool {
	listen := Listeners()
	maps.DeleteFunc(o.hands, func(path string, _ *onlooker) bool { return !slices.Contains(listen, path) })
	for _, path := range listen {
		if o.hands[path] != nil {
			continue
		}
		w, err := NewWriter(path, o.start)
		if err != nil {
			continue // without that clock no listener can place a load
		}
		since := o.now().Sub(o.start)
		one := &onlooker{Writer: w}
		if since >= time.Second/2 { // it was not there when the load began
			one.from = int(since/time.Second) + 1
		}
		o.hands[path] = one
	}
	return len(o.hands) > 0
}

// Write hands a report over to the processes that Look found. A process that ends
// meanwhile loses the report; the others get it.
func (o *Onlookers) Write(h Report) {
	for _, one := range o.hands {
		part := h
		part.Seconds = slices.DeleteFunc(slices.Clone(h.Seconds), func(s kasoku.LoadSecond) bool { return s.Second < one.from })
		_ = one.Writer.Write(part)
	}
}

// Names of the files by which runs that are recorded now are found.
const (
	recordingPrefix = "record-"
	recordingSuffix = ".run"
)

// Announce lets others of this user find the run's file while it is recorded, until
// the function that it returns is called. Places are where its load goes, as
// [Report.Places] or URLs, of which hosts and ports are said alone. A run that cannot be announced is recorded
// nevertheless.
func Announce(path string, places []string) (over func()) {
	path, err := filepath.Abs(path)
	if err != nil {
		return func() {}
	}
	_, take, err := leave(recordingPrefix, recordingSuffix, path+"\n"+here()+"\n"+strings.Join(addresses(places), "\t"))
	if err != nil {
		return func() {}
	}
	return func() { _ = take() }
}

// An Ongoing is a run that may be recorded now.
type Ongoing struct {
	Path    string   // of its file
	Project string   // that it is of, see [Project]
	Places  []string // where its load goes, as far as that is known
}

// Recordings returns the runs that may be recorded now: those that this user records,
// wherever they are, and the directory's, which have a log beside them. No directory is
// looked into when dir is empty.
func Recordings(dir string) (out []Ongoing) {
	for _, name := range ofProcesses(recordingPrefix, recordingSuffix) {
		b, err := os.ReadFile(name)
		if err != nil || len(b) == 0 {
			continue
		}
		rest, places := cutLastLine(string(b))
		path, project := cutLastLine(rest)
		out = append(out, Ongoing{Path: path, Project: project, Places: strings.FieldsFunc(places, isTab)})
	}
	if dir != "" {
		for _, log := range slices.Backward(filesIn(dir, "", store.Extension+"-wal")) { // the latest first
			path := strings.TrimSuffix(log, "-wal")
			if !slices.ContainsFunc(out, func(o Ongoing) bool { return o.Path == path }) {
				out = append(out, Ongoing{Path: path, Project: projectOfRun(path)})
			}
		}
	}
	return out
}

// cutLastLine returns a text before its last line, and that.
func cutLastLine(text string) (before, last string) {
	i := strings.LastIndexByte(text, '\n')
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i+1:]
}

func isTab(r rune) bool { return r == '\t' }
