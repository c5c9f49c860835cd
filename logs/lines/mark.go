package lines

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/pathwalk"
)

// tailLen is how many bytes before a mark are remembered by their hash. It is
// longer than a time stamp, so that a file which was truncated and has grown
// past the mark again is distinguished from one that only grew.
const tailLen = 64

// A Mark is a place in a log: the end that it had when [MarkEnd] looked.
type Mark struct {
	Path    string
	Device  uint64
	Inode   uint64
	Offset  int64  // bytes; the start of the last line when that was not finished yet
	Missing bool   // there was no file
	Tail    uint64 // FNV-1a of up to 64 bytes before Offset; 0 when there are none
}

// MarkEnd returns the present end of the log. A last line without a newline is
// still being written, so the mark is at its start. A file that does not exist
// gives a mark with Missing set and no error; one that cannot be read, or is
// not a regular file, gives an error.
func MarkEnd(path string) (Mark, error) {
	f, info, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{Path: path, Missing: true}, nil
	}
	if err != nil {
		return Mark{}, fmt.Errorf("mark log: %w", err)
	}
	defer f.Close()
	m := Mark{Path: path}
	m.Device, m.Inode = identityOf(info)
	if m.Offset, err = lineStart(f, info.Size()); err == nil {
		m.Tail, err = tailHash(f, m.Offset)
	}
	if err != nil {
		return Mark{}, fmt.Errorf("mark log %s: %w", path, err)
	}
	return m, nil
}

// openRegular opens a regular file for reading, by the rule of [pathwalk.OpenNamed]. It
// does not wait for the other end of a pipe.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	f, err := pathwalk.OpenNamed(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		f.Close()
		return nil, nil, fmt.Errorf("open %s: not a regular file (%s)", path, info.Mode().Type())
	}
	return f, info, nil
}

// isFile reports whether an open file is the one that was looked at.
func isFile(info fs.FileInfo, st *unix.Stat_t) bool {
	device, inode := identityOf(info)
	return device == uint64(st.Dev) && inode == st.Ino
}

// isRefused reports whether a log may not be read, for whose it is or where it lies.
func isRefused(err error) bool {
	var refused *pathwalk.RefusedError
	return errors.As(err, &refused)
}

// identityOf returns device and inode of a file, zeros where the system has none.
func identityOf(info fs.FileInfo) (device, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), uint64(st.Ino)
	}
	return 0, 0
}

// lineStart returns the offset after the last newline before end, or end itself
// when the last line is longer than [DefaultMaxLine] and so has no start worth
// going back to.
func lineStart(r io.ReaderAt, end int64) (int64, error) {
	const chunk = 4096
	var buf [chunk]byte
	for at := end; at > 0 && end-at < DefaultMaxLine; {
		n := min(at, chunk)
		at -= n
		if _, err := io.ReadFull(io.NewSectionReader(r, at, n), buf[:n]); err != nil {
			return 0, err
		}
		for i := n - 1; i >= 0; i-- {
			if buf[i] == '\n' {
				return at + i + 1, nil
			}
		}
		if at == 0 {
			return 0, nil
		}
	}
	return end, nil
}

// tailHash returns the hash of up to tailLen bytes before offset.
func tailHash(r io.ReaderAt, offset int64) (uint64, error) {
	n := min(offset, tailLen)
	if n == 0 {
		return 0, nil
	}
	h := fnv.New64a()
	if _, err := io.CopyN(h, io.NewSectionReader(r, offset-n, n), n); err != nil {
		return 0, err
	}
	return h.Sum64(), nil
}
