package procfile

import (
	"bytes"
	"encoding/binary"
	"io/fs"

	"golang.org/x/sys/unix"
)

// The head of struct linux_dirent64: inode and offset of 8 bytes each, the
// record's length, the type, then the name up to a zero byte. Source: getdents64
// in getdents(2).
const (
	direntLength = 16
	direntName   = 19
)

// A Dir is a directory that is kept open and listed again and again. It is not
// safe for concurrent use.
type Dir struct {
	path string
	fd   int
	buf  []byte
}

// OpenDir opens a directory. The error wraps fs.ErrNotExist or
// fs.ErrPermission where that is the cause.
func OpenDir(path string) (*Dir, error) {
	fd, err := OpenFD(path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &Dir{path: path, fd: fd}, nil
}

// Close closes the directory. A second Close does nothing.
func (d *Dir) Close() error {
	if d == nil || d.fd < 0 {
		return nil
	}
	err := unix.Close(d.fd)
	d.fd = -1
	return err
}

// AppendNumbers appends those names of the directory that are numbers, such as
// the processes in /proc and the threads in /proc/PID/task, in the order of the
// kernel, and allocates nothing once its buffers have grown.
func (d *Dir) AppendNumbers(dst []uint64) ([]uint64, error) {
	start := len(dst)
	if d.buf == nil {
		d.buf = make([]byte, 4*growBytes)
	}
	if _, err := unix.Seek(d.fd, 0, unix.SEEK_SET); err != nil {
		return dst, &fs.PathError{Op: "list", Path: d.path, Err: err}
	}
	for {
		n, err := unix.ReadDirent(d.fd, d.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return dst[:start], &fs.PathError{Op: "list", Path: d.path, Err: err}
		}
		if n == 0 {
			return dst, nil
		}
		dst = appendNumbers(dst, d.buf[:n])
	}
}

// appendNumbers appends the numeric names of a block of directory entries. It
// stops at an entry that does not fit into the block.
func appendNumbers(dst []uint64, block []byte) []uint64 {
	for len(block) > direntName {
		length := int(binary.NativeEndian.Uint16(block[direntLength:]))
		if length <= direntName || length > len(block) {
			return dst
		}
		name := block[direntName:length]
		if i := bytes.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		if n, ok := Uint(name); ok {
			dst = append(dst, n)
		}
		block = block[length:]
	}
	return dst
}
