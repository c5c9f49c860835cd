package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/store/chunk"
)

// A Writer records one run into its file. It is safe for concurrent use.
//
// Frame, Gap and Event are committed before they return. [Save] and the Save
// methods replace what was saved before; they may be called while the run goes on.
// An error of any method leaves what was written before as it was, and later
// calls may succeed: a disk that was full may have been cleared. Save of changes or
// warnings, and Finish, succeed when there is no more room for anything else.
type Writer struct {
	path string

	mu      sync.Mutex // guards all below, and orders the writes
	db      *sql.DB    // nil once closed
	host    string     // of the generator, which counts the load
	sources map[sourceKey]*source
	nextID  int64 // of the next series
	folder  *folder
	tail    []byte // memory of the last tail row
	room    *room  // for the end of the run
}

type sourceKey struct{ host, source string }

// A source is what the writer remembers of one source of one host: which id
// each of its series has, and how much of it lies in the tail.
type source struct {
	key     sourceKey
	ids     map[seriesName]int64
	forgot  bool       // ids lacks series that the file has
	series  int        // that it has brought up so far
	refused bool       // there are too many, or one has a name that is too long
	full    bool       // a gap says so
	last    []seriesID // of the last frame, in its order; frames are mostly alike
	values  []float64  // memory
	rowIDs  []int64    // memory

	rows      int           // in the tail
	tailBytes int           // of them
	foldAt    time.Duration // when the minute of the oldest of them is over
}

type seriesName struct{ name, instance string }

type seriesID struct {
	seriesName
	id int64
}

// A newSeries is a series that a frame brought up for the first time.
type newSeries struct {
	seriesID
	unit string
	kind kasoku.Kind
}

// foldEvery is how much time one chunk covers.
const foldEvery = time.Minute

// ErrClosed is what a Writer returns once it was finished or closed.
var ErrClosed = errors.New("run file is closed")

// Create makes the file of a new run. The file must not exist. An empty run.ID
// is filled as [kasoku.NewRunID] does; the first host of the run is taken to be the one
// that makes the load.
func Create(path string, run kasoku.Run) (*Writer, error) {
	w, err := create(path, run, thisProcess(), 0)
	return w, stepError("create run file", path, err)
}

// create makes a run file for a recorder. testOnlyMaxPages, when not 0, is the
// number of pages at which the disk counts as full.
func create(path string, run kasoku.Run, by recorder, testOnlyMaxPages int) (_ *Writer, err error) {
	// SQLite would take what lies in a log of this name for part of the run.
	for _, name := range withLogs(path) {
		if _, err := os.Lstat(name); err == nil {
			return nil, &fs.PathError{Op: "create", Path: name, Err: unix.EEXIST}
		}
	}
	// It has its name only when it is a run file: whoever is killed before leaves
	// none that does not open. The directory in which it is made is this process's.
	temp, err := private.MakeTempDir(filepath.Dir(path), ".kasoku-new-")
	if err != nil {
		return nil, err
	}
	defer temp.Close() //nolint:errcheck // the next recording removes it
	made := temp.File(filepath.Base(path))
	// SQLite opens it by its name, and gives its log the same mode and owner.
	f, err := private.Output.CreateNew(made)
	if err != nil {
		return nil, err
	}
	own, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if run.State == "" {
		run.State = kasoku.Running
	}
	if err := build(made, run, by); err != nil {
		return nil, err
	}
	if err := private.Rename(made, path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && !errors.Is(err, errForeign) {
			for _, name := range withLogs(path) {
				_ = os.Remove(name) // there may be none; the cause is what matters
			}
		}
	}()
	db, err := connect(path, recording)
	if err != nil {
		return nil, err
	}
	// From here on the log is not empty, which makes everybody keep off the file.
	_, err = db.Exec("UPDATE run SET state = state")
	if err == nil && testOnlyMaxPages > 0 {
		_, err = db.Exec(fmt.Sprintf("PRAGMA max_page_count=%d", testOnlyMaxPages))
	}
	if err == nil {
		err = checkOwn(path, own)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	w := &Writer{path: path, db: db, sources: map[sourceKey]*source{}, nextID: 1, folder: &folder{},
		room: openRoom(path)}
	w.host = firstHost(&run)
	return w, nil
}

// withLogs returns the names of a run file and of what SQLite keeps beside it.
func withLogs(path string) []string {
	return []string{path, path + "-wal", path + "-shm", path + "-journal"}
}

// errForeign means that somebody else has put a file where one of a run was made.
var errForeign = errors.New("another user's file has taken its name")

// checkOwn returns an error when a run file that was just made, or its log, is not
// this process's: SQLite opens both by name, and others may write into the directory.
func checkOwn(path string, own os.FileInfo) error {
	there, err := os.Lstat(path)
	if err != nil || !os.SameFile(own, there) {
		return errors.Join(fmt.Errorf("%s: %w", path, errForeign), err)
	}
	for _, name := range withLogs(path)[1:] {
		st, err := os.Lstat(name)
		if err == nil && !private.Mine(st) {
			return fmt.Errorf("%s: %w", name, errForeign)
		}
	}
	return nil
}

// build writes the schema and the run's row with a rollback journal, so that
// the file itself holds them from the start, whatever happens to the log.
func build(path string, run kasoku.Run, by recorder) error {
	s, err := currentSchema()
	if err != nil {
		return err
	}
	db, err := connect(path, building)
	if err != nil {
		return err
	}
	defer db.Close()
	// Properties of the file rather than of a connection, fixed by its first page.
	if _, err := db.Exec(fmt.Sprintf("PRAGMA page_size=%d; PRAGMA auto_vacuum=incremental", pageBytes)); err != nil {
		return fmt.Errorf("set page size: %w", err)
	}
	err = inTx(db, func(tx *sql.Tx) error {
		if err := (migration{s.version(), wholeSchema}).run(tx); err != nil {
			return fmt.Errorf("make the tables: %w", err)
		}
		return insertRun(tx, run, by)
	})
	if err != nil {
		return err
	}
	return db.Close()
}

func firstHost(run *kasoku.Run) string {
	if len(run.Hosts) == 0 {
		return ""
	}
	return run.Hosts[0].Name
}

// Path returns the path of the file.
func (w *Writer) Path() string { return w.path }

// write runs one step of the writer, alone, and names it in the error.
func (w *Writer) write(op string, do func(db *sql.DB) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.db == nil {
		return stepError(op, w.path, ErrClosed)
	}
	return stepError(op, w.path, do(w.db))
}

// record is write for all but the end of a run: it fails while there is room for
// that still.
func (w *Writer) record(op string, do func(db *sql.DB) error) error {
	return w.write(op, func(db *sql.DB) error {
		if err := w.room.keep(); err != nil {
			return err
		}
		return do(db)
	})
}

// maxFrameSamples bounds one frame, and so one tail row, to about 2 MiB.
const maxFrameSamples = 100_000

// Frame adds one tick of one source. The frame is not kept. It is in the file,
// safe from the death of the recorder, when Frame returns nil. Of two samples of
// one series in a frame the last counts; unit and kind of a series are those of
// its first sample.
func (w *Writer) Frame(f *kasoku.Frame) error {
	return w.record("write tick", func(db *sql.DB) error {
		if len(f.Samples) == 0 {
			return nil
		}
		if len(f.Samples) > maxFrameSamples {
			return fmt.Errorf("%d samples of %s/%s at once, at most %d are kept", len(f.Samples), f.Host, f.Source,
				maxFrameSamples)
		}
		src := w.source(sourceKey{f.Host, f.Source})
		var foldErr error
		if src.rows > 0 && (f.At >= src.foldAt || src.tailBytes > foldBytes) {
			foldErr = w.fold(db, src)
			src.forget()
			src.foldAt = f.At.Truncate(foldEvery) + foldEvery // after an error: not each tick anew
		}
		if src.rows == 0 {
			src.foldAt = f.At.Truncate(foldEvery) + foldEvery
		}
		if err := w.append(db, src, f); err != nil {
			return err
		}
		return foldErr
	})
}

func (w *Writer) source(key sourceKey) *source {
	src := w.sources[key]
	if src == nil {
		key = sourceKey{strings.Clone(key.host), strings.Clone(key.source)}
		src = &source{key: key, ids: map[seriesName]int64{}}
		w.sources[key] = src
	}
	return src
}

const insertTail = "INSERT INTO tail (host, source, at_ns, data) VALUES (?, ?, ?, ?)"

// append writes a frame's tail row, and the series that it brings up, in one
// transaction.
func (w *Writer) append(db *sql.DB, src *source, f *kasoku.Frame) error {
	fresh, err := w.resolve(db, src, f)
	if err != nil {
		return err
	}
	if err := src.overflow(db, f.At); err != nil {
		return err
	}
	w.tail = chunk.AppendTick(w.tail[:0], src.rowIDs, src.values)
	if len(fresh) == 0 {
		_, err = db.Exec(insertTail, src.key.host, src.key.source, ns(f.At), w.tail)
	} else {
		err = inTx(db, func(tx *sql.Tx) error {
			if err := insertSeries(tx, src.key, fresh); err != nil {
				return err
			}
			_, err := tx.Exec(insertTail, src.key.host, src.key.source, ns(f.At), w.tail)
			return err
		})
	}
	if err != nil {
		for _, s := range fresh {
			delete(src.ids, s.seriesName)
			src.series--
		}
		src.last = src.last[:0]
		return err
	}
	src.rows++
	src.tailBytes += len(w.tail)
	return nil
}

// resolve fills src.rowIDs and src.values from a frame and returns the series
// that have no row yet; their ids are taken already.
func (w *Writer) resolve(db *sql.DB, src *source, f *kasoku.Frame) (fresh []newSeries, err error) {
	src.rowIDs, src.values = src.rowIDs[:0], src.values[:0]
	for i := range f.Samples {
		s := &f.Samples[i]
		var id int64
		if i < len(src.last) && src.last[i].name == s.Name && src.last[i].instance == s.Instance {
			id = src.last[i].id
		} else {
			key := seriesName{s.Name, s.Instance}
			known := false
			if id, known = src.ids[key]; !known && src.forgot {
				if id, known, err = src.recall(db, key); err != nil {
					return nil, err
				}
			}
			if !known && (src.series >= mostSeries || len(s.Name)+len(s.Instance) > mostSeriesName) {
				src.refused = true
				continue
			}
			if !known {
				src.series++
				key = seriesName{strings.Clone(s.Name), strings.Clone(s.Instance)}
				id = w.nextID
				w.nextID++
				src.ids[key] = id
				fresh = append(fresh, newSeries{seriesID{key, id}, s.Unit, s.Kind})
			}
			if i < len(src.last) {
				src.last[i] = seriesID{key, id}
			} else {
				src.last = append(src.last, seriesID{key, id})
			}
		}
		src.rowIDs = append(src.rowIDs, id)
		src.values = append(src.values, s.Value)
	}
	return fresh, nil
}

func insertSeries(tx *sql.Tx, key sourceKey, fresh []newSeries) error {
	const one = "INSERT INTO series (id, host, source, name, instance, unit, kind) VALUES "
	// The driver looks up each argument among all of them, so a statement of many
	// rows costs more than it saves.
	const most = 8
	args := make([]any, 0, most*7)
	for len(fresh) > 0 {
		n := min(most, len(fresh))
		args = args[:0]
		for _, s := range fresh[:n] {
			args = append(args, s.id, key.host, key.source, s.name, s.instance, s.unit, kindName(s.kind))
		}
		q := one + strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?,?),", n), ",")
		if _, err := tx.Exec(q, args...); err != nil {
			return fmt.Errorf("table series: %w", err)
		}
		fresh = fresh[n:]
	}
	return nil
}

// Bounds of what a source may bring up in one run: names come from servers, which need
// not be honest. Those of short-lived processes and cgroups are bounded by their sources.
const (
	mostSeries     = 50_000
	mostSeriesName = 1 << 10 // bytes
)

// overflow notes, once, that series of a source are not kept.
func (s *source) overflow(db *sql.DB, at time.Duration) error {
	if !s.refused || s.full {
		return nil
	}
	g := kasoku.Gap{Host: s.key.host, Source: s.key.source, Interval: kasoku.Interval{From: at, To: at},
		Reason: fmt.Sprintf("series beyond %d, or with names of more than %d bytes, are not kept", mostSeries,
			mostSeriesName)}
	if err := gapTable().add(db, &g); err != nil {
		return err
	}
	s.full = true
	return nil
}

// Gap records that a source gave nothing for a while, and why.
func (w *Writer) Gap(g kasoku.Gap) error {
	return w.record("write gap", func(db *sql.DB) error {
		return gapTable().add(db, &g)
	})
}

// Event records a moment.
func (w *Writer) Event(e kasoku.Event) error {
	return w.record("write event", func(db *sql.DB) error {
		return eventTable().add(db, &e)
	})
}

// Close lets go of the file without finishing the run; [Open] will find it
// incomplete. After Finish it does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.db == nil {
		return nil
	}
	w.room.close()
	err := w.db.Close()
	w.db = nil
	return stepError("close run file", w.path, err)
}
