package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/kasoku/kasoku/internal/command"
)

// A Mapping is a part of a file that a process has mapped, as /proc/PID/maps names it.
type Mapping struct {
	Start, End uint64
	Inode      uint64
	Path       string // in its own file system
}

// ReadMapped reads the file of a mapping, as data: read gets it, at most most bytes long. The
// kernel leads to the very file that is mapped, also when its name is another file's by now.
// Where it refuses to, the file is opened by its name, with the rights of the process, and
// must have the inode of the mapping.
func ReadMapped[T any](ctx context.Context, p *Process, m Mapping, most int64, read func(io.ReaderAt, int64) (T, error)) (out T, err error) {
	refused := false
	out, err = within(ctx, p, "a mapped file", func() (out T, err error) {
		f, err := openMapped(p, m)
		if err != nil {
			refused = true
			return out, err
		}
		defer f.Close()
		return readRegular(f, most, read)
	})
	var hung *HungError
	if err == nil || errors.As(err, &hung) || ctx.Err() != nil || !refused {
		return out, err
	}
	return withWalker(ctx, p, m.Path, func(w *walker) (out T, err error) {
		f, st, err := w.open(m.Path)
		switch {
		case err != nil:
			return out, err
		case f == nil:
			return out, pathError(m.Path, errors.New("not a regular file"))
		}
		defer f.Close()
		if st.Ino != m.Inode {
			return out, pathError(m.Path, errors.New("it was replaced since it was mapped"))
		}
		return readRegular(f, most, read)
	})
}

// openMapped opens a mapping's file by the link that the kernel has of it; this takes
// CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE.
func openMapped(p *Process, m Mapping) (*os.File, error) {
	name := fmt.Sprintf("map_files/%x-%x", m.Start, m.End)
	f, err := p.openLink(name)
	if err != nil {
		return nil, fmt.Errorf("open %s/%s: %w", p.dir(), name, err)
	}
	if now, ok := command.StartOf(p.PID); !ok || now != p.start {
		return nil, errors.Join(ErrGone, f.Close())
	}
	return f, nil
}

// ReadOwn reads a file that the process's own user, or root, has made, at most most bytes
// long, in the file system of the process and with its rights. It is for files of a known
// name in directories that all may write to.
func ReadOwn[T any](ctx context.Context, p *Process, name string, most int64, read func(io.ReaderAt, int64) (T, error)) (T, error) {
	return withWalker(ctx, p, name, func(w *walker) (out T, err error) {
		f, st, err := w.open(name)
		switch {
		case err != nil:
			return out, err
		case f == nil:
			return out, pathError(name, errors.New("not a regular file"))
		}
		defer f.Close()
		if int(st.Uid) != p.UID() && st.Uid != 0 {
			return out, pathError(name, errors.New("it belongs to uid "+strconv.Itoa(int(st.Uid))))
		}
		return readRegular(f, most, read)
	})
}

// readRegular hands a regular file of a bounded size on.
func readRegular[T any](f *os.File, most int64, read func(io.ReaderAt, int64) (T, error)) (out T, err error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return out, fmt.Errorf("look at a file: %w", err)
	case !info.Mode().IsRegular():
		return out, pathError(f.Name(), errors.New("not a regular file"))
	case info.Size() > most:
		return out, pathError(f.Name(), fmt.Errorf("larger than %d bytes", most))
	}
	return read(f, info.Size())
}
