package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/kasoku/kasoku/internal/unit"
)

// What callers decide on. Errors of this package wrap them.
var (
	// ErrNotFound means that there is no such run.
	ErrNotFound = errors.New("no such run")
	// ErrNotRun means that a file is not a run file.
	ErrNotRun = errors.New("not a kasoku run file")
	// ErrNewer means that a newer kasoku wrote the file.
	ErrNewer = errors.New("written by a newer kasoku")
	// ErrBusy means that the run is still being recorded.
	ErrBusy = errors.New("still being recorded")
	// ErrInUse means that a run was finished while another program read its file,
	// so that its log still lies beside it. The next Open makes them one file.
	ErrInUse = errors.New("another program reads it")
)

// An Error is a step that went wrong with a run file.
type Error struct {
	Op   string // the step: open run file, write tick …
	Path string
	Err  error
	hint string
}

// Error returns step, file and cause.
func (e *Error) Error() string { return fmt.Sprintf("%s %q: %v", e.Op, e.Path, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns what to do about it, empty when nothing is known.
func (e *Error) Hint() string { return e.hint }

// stepError names the step and the file of an error and adds the hint that its
// cause calls for. It is nil for a nil error and leaves an [Error] as it is.
func stepError(op, path string, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &Error{Op: op, Path: path, Err: err, hint: hintFor(path, err)}
}

func hintFor(path string, err error) string {
	dir := filepath.Dir(path)
	switch {
	case errors.Is(err, ErrNewer):
		return "install a newer kasoku; `kasoku version` reports yours"
	case errors.Is(err, ErrNotRun):
		return "`kasoku list` has all runs of a directory"
	case errors.Is(err, ErrBusy):
		return "wait for its end, or stop it with Ctrl-C: it finishes its file first"
	case errors.Is(err, ErrInUse):
		return fmt.Sprintf("the run is complete; keep %s-wal beside it until `kasoku show` has made them one file",
			filepath.Base(path))
	case errors.Is(err, fs.ErrExist):
		return "name another file, or remove this one first"
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("create the directory first: mkdir -p %s", unit.ShellQuote(dir))
	case IsFull(err):
		return fullHint(dir)
	case isReadOnly(err):
		return fmt.Sprintf("%s cannot be written to by this user; name a file elsewhere", dir)
	}
	return ""
}

// fullHint describes how much room the file system of dir has left.
func fullHint(dir string) string {
	const kept = "what was recorded before is kept and can be read"
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "make room on the disk of " + dir + "; " + kept
	}
	free := st.Bavail * uint64(st.Bsize)
	return fmt.Sprintf("%s has %s free: make room there or record elsewhere; %s", dir, unit.Bytes(free), kept)
}

// code returns SQLite's primary result code, 0 for errors of another kind.
//
// Source: https://sqlite.org/rescode.html; the low byte of an extended code is the primary one.
func code(err error) int { return extendedCode(err) & 0xff }

func extendedCode(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code()
}

// IsFull reports whether an error says that there is no room for what was to be
// stored: a full disk or quota, or a limit on the size of files, which the kernel
// answers with EFBIG and SQLite calls a failed write.
func IsFull(err error) bool {
	x := extendedCode(err)
	return code(err) == sqlite3.SQLITE_FULL || x == sqlite3.SQLITE_IOERR_WRITE || x == sqlite3.SQLITE_IOERR_SHMSIZE ||
		errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// isReadOnly reports whether the file, its directory or the medium cannot be
// written to. SQLite says CANTOPEN where it may not create a log beside the file.
func isReadOnly(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_READONLY || c == sqlite3.SQLITE_CANTOPEN || c == sqlite3.SQLITE_PERM ||
		errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS)
}

func isBusy(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_LOCKED || c == sqlite3.SQLITE_PROTOCOL
}

// errDamaged means that a table cannot be read whole.
var errDamaged = errors.New("damaged")

// isDamage reports whether the bytes of the file are at fault.
func isDamage(err error) bool {
	c := code(err)
	return errors.Is(err, errDamaged) || c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB ||
		c == sqlite3.SQLITE_FORMAT ||
		extendedCode(err) == sqlite3.SQLITE_IOERR_SHORT_READ
}
