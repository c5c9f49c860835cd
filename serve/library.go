package serve

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/store"
)

const (
	// mostOpen is how many runs are kept in memory, for the next question of the same reader.
	mostOpen = 4
	// share is the part of the time that reading one run again and again may take of a core: one that is being
	// recorded is asked for each second, and takes the longer to read the longer it is.
	share = 100
	// keepOpen is how long one that no one asks for is kept.
	keepOpen = 2 * time.Minute
)

// A library is the runs of some directories. What it has read it keeps until the file changes.
type library struct {
	dirs []string
	open func(path string) (*kasoku.Recording, error)
	now  func() time.Time

	mu        sync.Mutex
	described map[string]described
	opened    map[string]*opened
}

// A version says which state of a file something was read from: of the file, and of the log that lies beside it
// while it is recorded.
type version struct {
	size, wal   int64
	time, moved time.Time
}

type described struct {
	version version
	info    store.Info
}

type opened struct {
	version version
	rec     *kasoku.Recording
	err     error
	last    time.Time // when it was asked for
	read    time.Time // when it was read, and how long that took
	took    time.Duration
	ready   chan struct{} // closed when it is read

	rendering sync.Mutex
	page      []byte // of the whole run, once it was asked for
}

func newLibrary(dirs []string, open func(string) (*kasoku.Recording, error), now func() time.Time) *library {
	return &library{dirs: dirs, open: open, now: now, described: map[string]described{}, opened: map[string]*opened{}}
}

// versionOf looks at a file; a missing one has none.
func versionOf(path string) (v version, ok bool) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return version{}, false
	}
	v = version{size: st.Size(), time: st.ModTime()}
	if wal, err := os.Stat(path + "-wal"); err == nil {
		v.wal, v.moved = wal.Size(), wal.ModTime()
	}
	return v, true
}

// NameOf is how pages and addresses call a run: its file without directory and extension.
func NameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), store.Extension) }

// isName reports whether an address can name a file so: commas set names apart in it, and what does not print, or
// is a directory to a browser, leads elsewhere.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.Contains(name, ",") && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, logs.ActsOnTerminal)
}

// paths are the files of all runs by name. A name in several directories is the file in the first of them.
func (l *library) paths() (map[string]string, error) {
	out := map[string]string{}
	for _, dir := range l.dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list runs: %w", err)
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) != store.Extension || e.IsDir() {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if !isName(NameOf(path)) {
				continue
			}
			if _, taken := out[NameOf(path)]; !taken {
				out[NameOf(path)] = path
			}
		}
	}
	return out, nil
}

// list describes all runs, the newest first.
func (l *library) list() ([]store.Info, error) {
	paths, err := l.paths()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := map[string]described{}
	var stale []string
	for _, path := range paths {
		v, ok := versionOf(path)
		if !ok {
			continue
		}
		d, known := l.described[path]
		if !known || d.version != v || changes(d.info) { // who records may be gone
			d.version = v
			stale = append(stale, path)
		}
		now[path] = d
	}
	for i, info := range store.DescribeAll(stale) {
		now[stale[i]] = described{now[stale[i]].version, info}
	}
	l.described = now
	var out []store.Info
	for _, d := range now {
		out = append(out, d.info)
	}
	slices.SortStableFunc(out, func(a, b store.Info) int {
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(b.ID, a.ID), strings.Compare(a.Path, b.Path))
	})
	return out, nil
}

// A missingError is of a name that no run has.
type missingError struct {
	name string
	near []string
}

func (e *missingError) Error() string { return fmt.Sprintf("no run is called %q", e.name) }

// find returns the file of a run. Only names of files that lie in the directories lead to one.
func (l *library) find(name string) (string, error) {
	paths, err := l.paths()
	if err != nil {
		return "", err
	}
	path, ok := paths[name]
	if !ok {
		e := &missingError{name: name}
		for n := range paths {
			e.near = append(e.near, n)
		}
		slices.Sort(e.near)
		return "", e
	}
	return path, nil
}

// run reads the run of a name, which several readers share: it is not to be changed.
func (l *library) run(name string) (rec *kasoku.Recording, path string, err error) {
	if path, err = l.find(name); err != nil {
		return nil, "", err
	}
	v, _ := versionOf(path)
	l.mu.Lock()
	o := l.opened[path]
	// A run that has ended has no log beside its file: it is read once more, whatever that takes.
	if o == nil || o.version != v && (v.wal == 0 || l.now().Sub(o.read) >= share*o.took) {
		o = &opened{version: v, ready: make(chan struct{})}
		l.opened[path] = o
		l.forget(path)
		l.mu.Unlock()
		began := l.now()
		func() {
			defer close(o.ready)
			o.err = errors.New("the run could not be read") // where reading panics
			o.rec, o.err = l.open(path)
		}()
		l.mu.Lock()
		o.took, o.read = l.now().Sub(began), l.now()
	}
	o.last = l.now()
	l.mu.Unlock()
	<-o.ready
	return o.rec, path, o.err
}

// page returns the page of a run, which is made once for each state of its file.
func (l *library) page(name string, make func(rec *kasoku.Recording, path string) ([]byte, error)) ([]byte, error) {
	rec, path, err := l.run(name)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	o := l.opened[path]
	l.mu.Unlock()
	if o == nil || o.rec != rec { // forgotten by now, or another state
		return make(rec, path)
	}
	o.rendering.Lock()
	defer o.rendering.Unlock()
	if o.page == nil {
		o.page, err = make(rec, path)
	}
	return o.page, err
}

// unread reports whether a run that is kept is of an older state of its file than this one.
func (l *library) unread(path string, v version) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.opened[path]
	return o != nil && o.version != v
}

// forget drops what is kept for too long, and all but the last ones asked for. The caller holds the lock.
func (l *library) forget(but string) {
	for path, o := range l.opened {
		if path != but && l.now().Sub(o.last) > keepOpen {
			delete(l.opened, path)
		}
	}
	for len(l.opened) > mostOpen {
		oldest := ""
		for path, o := range l.opened {
			if path != but && (oldest == "" || o.last.Before(l.opened[oldest].last)) {
				oldest = path
			}
		}
		delete(l.opened, oldest)
	}
}

// sweep drops what no one asks for any more.
func (l *library) sweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget("")
}

// changes reports whether anything of a run may still change: it is being recorded.
func changes(i store.Info) bool { return i.State == kasoku.Running }

// recording describes the runs that are being recorded, the newest first.
func (l *library) recording() ([]store.Info, error) {
	all, err := l.list()
	return slices.DeleteFunc(all, func(i store.Info) bool { return !changes(i) }), err
}
