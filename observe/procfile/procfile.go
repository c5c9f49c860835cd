// Package procfile reads the kernel's small text files again and again, cheaply.
//
// The one idea: a file below /proc is opened once and read from offset 0 at
// each tick into a buffer that is kept. That saves the path walk and makes a
// steady state without allocations. A file of a process stays tied to that
// process: when it has gone, reading gives ESRCH even if its number was given
// to another one.
//
// The parsing helpers work on bytes, return pieces of their argument and
// allocate nothing. Nothing here knows what a file means; that is for the
// packages of the sources.
//
// Sources: proc(5); the kernel's Documentation/filesystems/proc.rst and
// seq_file.rst.
package procfile

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// growBytes is by how much a buffer grows at least; a read is given at least half of it. Most
// files of /proc fit into one page.
const growBytes = 4096

// A File is an open file that is read whole from its beginning each time. It is
// not safe for concurrent use.
type File struct {
	path string
	fd   int
}

// Open opens a file for reading. The error wraps fs.ErrNotExist or
// fs.ErrPermission where that is the cause.
func Open(path string) (*File, error) {
	fd, err := OpenFD(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &File{path: path, fd: fd}, nil
}

// Path returns the path that the file was opened with.
func (f *File) Path() string { return f.path }

// Close closes the file. A second Close does nothing.
func (f *File) Close() error {
	if f == nil || f.fd < 0 {
		return nil
	}
	err := unix.Close(f.fd)
	f.fd = -1
	return err
}

// Append appends the whole file to dst and returns the extended slice. On an
// error dst is returned as it was.
//
// It reads until the kernel says that there is no more: many files of /proc
// give at most one page a call.
func (f *File) Append(dst []byte) ([]byte, error) {
	start := len(dst)
	for {
		dst = grow(dst)
		n, err := Pread(f.fd, dst[len(dst):cap(dst)], int64(len(dst)-start))
		if err != nil {
			return dst[:start], &fs.PathError{Op: "read", Path: f.path, Err: err}
		}
		if n == 0 {
			return dst, nil
		}
		dst = dst[:len(dst)+n]
	}
}

// OpenFD opens a path and returns the bare descriptor, for callers that hold
// hundreds of them. It adds O_CLOEXEC.
func OpenFD(path string, flags int) (int, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return -1, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return fd, nil
	}
}

// CloseFD closes a descriptor of OpenFD. Of one that is only read nothing is lost
// when that fails.
func CloseFD(fd int) { _ = unix.Close(fd) }

// Pread reads from the descriptor at an offset, once, and starts again when a
// signal interrupts it. One call is enough for files that the kernel writes as
// one record, such as /proc/PID/stat.
func Pread(fd int, buf []byte, offset int64) (int, error) {
	for {
		n, err := unix.Pread(fd, buf, offset)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, err
		}
		return n, nil
	}
}

// grow makes room for at least half a page past the slice's end.
func grow(b []byte) []byte {
	if cap(b)-len(b) >= growBytes/2 {
		return b
	}
	bigger := make([]byte, len(b), 2*cap(b)+growBytes)
	copy(bigger, b)
	return bigger
}
