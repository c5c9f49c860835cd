// Package ownlog is a file system of SQLite's that opens no journal and no log of strangers.
//
// SQLite takes a file that is named like a journal or a log beside a run file for part of
// it: it plays it back, and deletes the file that the journal's tail names as the one of
// several databases. Who may make names in the directory could so change a run, or let
// whoever opens it delete any of his files. This file system is the system's own, but a
// journal or a log of another user than the run's or the caller's cannot be opened, and
// none of several databases, which no run has ever had.
//
// Source: sqlite.org/vfs.html; sqlite.org/fileformat.html, "The Rollback Journal";
// sqlite.org/atomiccommit.html, section 5.3.
package ownlog

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// FileSystem is its name, for the parameter vfs of a file's URI.
const FileSystem = "kasoku"

// Register makes the file system known to SQLite, once. It is safe for concurrent use.
var Register = sync.OnceValue(registerFileSystem)

func registerFileSystem() error {
	tls := libc.NewTLS()
	defer tls.Close()
	system := sqlite3.Xsqlite3_vfs_find(tls, 0)
	if system == 0 {
		return errors.New("SQLite has no file system")
	}
	own := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{}))) // SQLite's for good
	name, err := libc.CString(FileSystem)
	if own == 0 || err != nil {
		return errors.Join(errors.New("no memory for the file system of SQLite"), err)
	}
	v := valueAt[sqlite3.Tsqlite3_vfs](own)
	*v = *valueAt[sqlite3.Tsqlite3_vfs](system)
	systemOpen = functionAt[openFile](v.FxOpen)
	v.FpNext, v.FzName, v.FxOpen = 0, name, pointerTo(openOwn)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, own, 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("register the file system of SQLite: code %d", rc)
	}
	return nil
}

type (
	openFile  = func(tls *libc.TLS, vfs, path, file uintptr, flags int32, outFlags uintptr) int32
	closeFile = func(tls *libc.TLS, file uintptr) int32
)

// systemOpen is xOpen of the system's file system; set once, before anything is opened.
var systemOpen openFile

// openOwn is xOpen: as the system's, for logs of this user and of the run's owner.
func openOwn(tls *libc.TLS, vfs, path, file uintptr, flags int32, outFlags uintptr) int32 {
	switch {
	case flags&sqlite3.SQLITE_OPEN_SUPER_JOURNAL != 0:
		return sqlite3.SQLITE_CANTOPEN
	case flags&(sqlite3.SQLITE_OPEN_MAIN_JOURNAL|sqlite3.SQLITE_OPEN_WAL) == 0:
		return systemOpen(tls, vfs, path, file, flags, outFlags)
	}
	// As root the system's makes what it opens the run's owner's: it is looked at before.
	log, own := statOwn(libc.GoString(path), flags&sqlite3.SQLITE_OPEN_CREATE != 0)
	if !own {
		return sqlite3.SQLITE_CANTOPEN
	}
	rc := systemOpen(tls, vfs, path, file, flags, outFlags)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	f := valueAt[sqlite3.TunixFile](file)
	var opened unix.Stat_t
	if unix.Fstat(int(f.Fh), &opened) == nil && opened.Dev == log.Dev && opened.Ino == log.Ino {
		return rc
	}
	functionAt[closeFile](valueAt[sqlite3.Tsqlite3_io_methods](f.FpMethod).FxClose)(tls, file)
	f.FpMethod = 0 // SQLite closes what has methods
	return sqlite3.SQLITE_CANTOPEN
}

// attempts is how often a log is looked for that others make and remove meanwhile.
const attempts = 8

// statOwn describes a journal or a log that SQLite is about to open, and reports whether
// it is the run's. One that is not there is made: who else makes it then is refused.
func statOwn(path string, create bool) (log unix.Stat_t, own bool) {
	const flags = unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	var fd int
	var err error
	for range attempts {
		if fd, err = unix.Open(path, unix.O_RDONLY|flags, 0); !create || !errors.Is(err, unix.ENOENT) {
			break
		}
		fd, err = unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|flags, 0o600) // SQLite sets the run's mode
		if !errors.Is(err, unix.EEXIST) {
			break
		} // whoever reads the run, or records it, was quicker: it is looked at
	}
	if err != nil {
		return log, false
	}
	defer unix.Close(fd) //nolint:errcheck // opened to look
	own = unix.Fstat(fd, &log) == nil && IsOwn(path, &log)
	return log, own
}

// IsOwn reports whether a journal or log belongs to this user, or to the owner of the
// run file that it lies beside, under no second name.
func IsOwn(path string, log *unix.Stat_t) bool {
	if log.Mode&unix.S_IFMT != unix.S_IFREG || log.Nlink > 1 {
		return false
	}
	if int(log.Uid) == unix.Geteuid() {
		return true
	}
	var run unix.Stat_t
	return unix.Stat(strings.TrimSuffix(strings.TrimSuffix(path, JournalSuffix), WALSuffix), &run) == nil && run.Uid == log.Uid
}

// Suffixes of the names of what SQLite plays back.
const (
	JournalSuffix = "-journal"
	WALSuffix     = "-wal"
)

// Is reports whether a path is named like a journal or a write-ahead log.
func Is(path string) bool {
	return strings.HasSuffix(path, JournalSuffix) || strings.HasSuffix(path, WALSuffix)
}

// valueAt returns the value at an address of SQLite's memory, which Go does not move.
func valueAt[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// pointerTo returns a declared function as SQLite, translated to Go, keeps functions: the
// address of what a function value points to (golang.org/s/go11func).
func pointerTo(f openFile) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// functionAt is the inverse of [pointerTo].
func functionAt[F any](pointer uintptr) F { return *(*F)(unsafe.Pointer(&pointer)) }
