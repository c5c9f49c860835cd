package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/store/ownlog"
)

// Extension is that of run files.
const Extension = ".kasoku"

// Open reads a run file.
//
// A finished file is never written to, nor anything beside it. The file of a
// killed recorder is recovered: what lies in its log is moved into it, and the
// run is marked incomplete; where the file cannot be written to, the same is done
// in a private copy. The file of a run that is being recorded is read as it is
// at this moment, with state Running.
//
// The error is [ErrNotFound], [ErrNotRun], [ErrNewer] or one of the file system; a
// damaged file gives what can be read of it, and Recording.Damage names the rest.
func Open(path string) (*kasoku.Recording, error) {
	s, err := currentSchema()
	if err != nil {
		return nil, stepError("open run file", path, err)
	}
	rec, err := opener{s}.open(path)
	return rec, stepError("open run file", path, err)
}

// An opener opens files with what a schema knows.
type opener struct{ schema schema }

func (o opener) open(path string) (*kasoku.Recording, error) {
	path = target(path)
	f, err := look(path)
	if err != nil {
		return nil, err
	}
	if !f.left {
		return o.read(path, f)
	}
	return o.openLeft(path, f)
}

// target follows symbolic links: the log lies beside the file that they lead to.
func target(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// A found is what can be known of a run file before SQLite opens it.
type found struct {
	left    bool  // not closed as it should: a log or a journal lies beside it, or is missing
	version int64 // of the schema; 0 when not looked at
}

// look examines a file. It reads it only where no log lies beside it: closing a
// file gives up all locks that this process holds on it (fcntl(2), "Record
// locks"), and this process may be recording into it.
func look(path string) (found, error) {
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return found{}, &Error{Op: "open run file", Path: path, Err: ErrNotFound,
			hint: "`kasoku list` has all runs of a directory"}
	}
	if err != nil {
		return found{}, err
	}
	if !st.Mode().IsRegular() {
		return found{}, fmt.Errorf("%w: it is no regular file", ErrNotRun)
	}
	if lies(path+"-wal") || lies(path+"-journal") {
		return found{left: true}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return found{}, err
	}
	defer f.Close()
	head := make([]byte, headerBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return found{}, err
	}
	h, err := parseHeader(head[:n])
	return found{left: h.log, version: h.version}, err
}

// lies reports whether a file is there and is not empty.
func lies(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Size() > 0
}

// openLeft opens a file that was not closed: one that is being recorded, or one
// whose recorder was killed.
func (o opener) openLeft(path string, f found) (*kasoku.Recording, error) {
	if by, err := recorderOf(path); err == nil && by.alive() {
		rec, err := o.readWith(path, reading, live)
		if err != nil {
			return o.readCopy(path, err)
		}
		if rec.Run.State != kasoku.Running {
			_ = o.repair(path) // finished while it was read; should this fail, the next Open may do it
		}
		return rec, nil
	}
	switch err := o.repair(path); {
	case err == nil:
		return o.read(path, f)
	case isBusy(err): // in use after all, by a recorder of another process namespace
		return o.readWith(path, reading, live)
	case errors.Is(err, ErrNotRun), errors.Is(err, ErrNewer):
		return nil, err
	case code(err) == sqlite3.SQLITE_NOTADB:
		return nil, fmt.Errorf("%w: %w", ErrNotRun, err)
	default: // it may not be written to, there is no room, or it is damaged
		return o.readCopy(path, err)
	}
}

// recorderOf reads who records into a file. That was written before there was a
// log.
func recorderOf(path string) (recorder, error) {
	db, err := connect(path, immutable)
	if err != nil {
		return recorder{}, err
	}
	defer db.Close()
	if err := checkShape(db, immutable); err != nil {
		return recorder{}, err
	}
	var by recorder
	var state string
	err = db.QueryRow("SELECT recorder_pid, recorder_start, recorder_boot_id, state FROM run LIMIT 1").
		Scan(&by.pid, &by.start, &by.bootID, &state)
	if err == nil && state != string(kasoku.Running) {
		err = sql.ErrNoRows
	}
	return by, err
}

// read reads a closed file.
func (o opener) read(path string, f found) (*kasoku.Recording, error) {
	if f.version > 0 && f.version < o.schema.version() {
		return o.readCopy(path, nil)
	}
	rec, err := o.readWith(path, reading, closed)
	if err == nil || errors.Is(err, ErrNotRun) || errors.Is(err, ErrNewer) {
		return rec, err
	}
	if isDamage(err) {
		return o.salvage(path, path, err)
	}
	return o.readWith(path, immutable, closed) // a medium without locks
}

// A condition is whether somebody is recording into a file.
type condition bool

const (
	closed condition = false // no process has it open, or none that the lock shows
	live   condition = true
)

// readWith reads a file through one connection, in one transaction.
func (o opener) readWith(path string, m mode, c condition) (*kasoku.Recording, error) {
	db, err := connect(path, m)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var rec *kasoku.Recording
	err = inView(db, func(tx *sql.Tx) error {
		if _, err := o.schema.check(tx, m); err != nil {
			return err
		}
		rd, err := newReader(tx)
		if err != nil {
			return err
		}
		defer rd.close()
		rec = rd.recording(path, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rec, nil
}

// salvage reads what is left of the damaged file at path from a copy of it, or
// from the file itself.
func (o opener) salvage(path, from string, cause error) (*kasoku.Recording, error) {
	rec, err := o.readWith(from, salvaging, closed)
	if err != nil {
		if isDamage(err) {
			return nil, &Error{Op: "open run file", Path: path, Err: fmt.Errorf("damaged beyond reading: %w", err),
				hint: "fetch it again from where it was recorded, if it was copied"}
		}
		return nil, err
	}
	rec.Damage = append([]string{"the file: " + cause.Error()}, rec.Damage...)
	return rec, nil
}

// readCopy reads a private copy of a file and its log, brought up to date and
// repaired. cause is why the file itself could not be, nil when that was not
// tried.
func (o opener) readCopy(path string, cause error) (rec *kasoku.Recording, err error) {
	err = inCopy(path, func(to string) error {
		switch err := o.repair(to); {
		case err == nil:
			rec, err = o.readWith(to, reading, closed)
			return err
		case isDamage(err):
			if err := flatten(to); err != nil {
				cause = errors.Join(err, cause)
			}
			rec, err = o.salvage(path, to, cmp.Or(cause, err))
			return err
		default:
			return fmt.Errorf("repair copy: %w", err)
		}
	})
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	return rec, nil
}

// inCopy runs do on a private copy of a file and its log.
func inCopy(path string, do func(to string) error) error {
	dir, err := private.MakeTempDir("", "kasoku-open-")
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	defer dir.Close() //nolint:errcheck // the next one removes it
	to := dir.File(filepath.Base(path))
	for _, suffix := range []string{"", "-wal", "-journal"} {
		err := copyFile(to+suffix, path+suffix)
		if err != nil && (suffix == "" || !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errForeign)) {
			return fmt.Errorf("copy: %w", err)
		}
	}
	return do(to)
}

func copyFile(to, from string) (err error) {
	// A link or a pipe beside a run file is none of its files.
	src, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(src.Fd()), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return cmp.Or(err, fmt.Errorf("%s: no regular file", from))
	}
	if ownlog.Is(from) && !ownlog.IsOwn(from, &st) {
		return fmt.Errorf("%s: %w", from, errForeign)
	}
	dst, err := private.Output.CreateNew(to)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := dst.Close(); err == nil {
			err = closeErr
		}
	}()
	_, err = io.Copy(dst, src)
	return err
}

// flatten moves the log of a file into it and looks at nothing else, so that it
// works on a damaged one.
func flatten(path string) error {
	db, err := connect(path, repairing)
	if err != nil {
		return err
	}
	defer db.Close()
	return drain(db, "PRAGMA journal_mode=DELETE")
}

// repair makes a plain, closed file of the current version out of one that was
// left over. It fails when somebody else has the file open.
func (o opener) repair(path string) error {
	db, err := connect(path, repairing)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := o.schema.check(db, repairing); err != nil {
		return err
	}
	if err := o.schema.upgrade(db); err != nil {
		return err
	}
	if err := inTx(db, closeRun); err != nil {
		return err
	}
	if err := seal(db, path); err != nil {
		return err
	}
	return db.Close()
}

// closeRun does for a killed recorder what it would have done at the end.
func closeRun(tx *sql.Tx) error {
	var run runRow
	rd, err := newReader(tx)
	if err != nil {
		return err
	}
	defer rd.close()
	if r := one(runTable().read(rd)); r != nil {
		run = *r
	}
	if run.State != kasoku.Running || run.recorder.alive() {
		return nil
	}
	if err := new(folder).foldAll(tx); err != nil {
		return err
	}
	var last sql.NullInt64
	err = tx.QueryRow(`SELECT max(t) FROM (
		SELECT max(to_ns) AS t FROM chunk UNION ALL SELECT max(at_ns) FROM event UNION ALL
		SELECT max(to_ns) FROM gap UNION ALL SELECT max(second) * 1000000000 FROM load_second)`).Scan(&last)
	if err != nil {
		return fmt.Errorf("look for the last second: %w", err)
	}
	end := time.Duration(last.Int64)
	_, err = tx.Exec("UPDATE run SET state = ?, stop_reason = ?, length_ns = ?", string(kasoku.Incomplete),
		killedAt(end), ns(end))
	if err != nil {
		return fmt.Errorf("table run: %w", err)
	}
	return sumUp(tx)
}

// fileID is the id that a file's name suggests.
func fileID(path string) string { return strings.TrimSuffix(filepath.Base(path), Extension) }
