package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A File is what a process names, as the process sees it.
type File struct {
	Data     []byte // empty when it is not regular, or too large
	Size     int64
	Mode     uint32 // permission bits
	UID, GID int
	Regular  bool
	Large    bool // larger than was asked for
}

// ReadFile reads a regular file, at most most bytes long, in the file system of the
// process and with its rights. A pipe, a device or a directory is not opened: the
// result then says that it is not regular. Nothing in /proc is read. It returns when
// ctx ends, and a [*HungError] when the file does not answer.
func (p *Process) ReadFile(ctx context.Context, name string, most int) (File, error) {
	return withWalker(ctx, p, name, func(w *walker) (File, error) {
		f, st, err := w.open(name)
		if err != nil {
			return File{}, err
		}
		out := File{Size: st.Size, Mode: st.Mode & 0o777, UID: int(st.Uid), GID: int(st.Gid), Regular: f != nil}
		if f == nil {
			return out, nil
		}
		defer f.Close()
		out.Data, err = io.ReadAll(io.LimitReader(f, int64(most)+1))
		if err != nil {
			return File{}, err
		}
		if len(out.Data) > most {
			out.Data, out.Large = nil, true
		}
		return out, nil
	})
}

// Read is ReadFile for those who want a text or an error.
func (p *Process) Read(ctx context.Context, name string, most int) ([]byte, error) {
	f, err := p.ReadFile(ctx, name, most)
	switch {
	case err != nil:
		return nil, err
	case !f.Regular:
		return nil, pathError(name, errors.New("not a regular file"))
	case f.Large:
		return nil, pathError(name, fmt.Errorf("larger than %d bytes", most))
	}
	return f.Data, nil
}

// IsDir reports whether a path is a directory for the process; the error is that of a
// path that leads nowhere for it.
func (p *Process) IsDir(ctx context.Context, name string) (bool, error) {
	return withWalker(ctx, p, name, func(w *walker) (bool, error) {
		_, st, err := w.Find(name)
		return st.Mode&unix.S_IFMT == unix.S_IFDIR, err
	})
}

// An Identity is which file it is.
type Identity struct{ Device, Inode uint64 }

// Identify returns which file a path leads to for the process, over anybody's links: who asks
// must already know of a file of that identity, as one that the process has open. What hangs
// here leaves the process to be asked other things.
func (p *Process) Identify(ctx context.Context, name string) (Identity, error) {
	as := p.For(&Writer{})
	as.rights = p.rights
	return withWalker(ctx, as, name, func(w *walker) (Identity, error) {
		w.anyLink = true
		_, st, err := w.Find(name)
		return Identity{st.Dev, st.Ino}, err
	})
}

// mostNames is how many names of a directory are looked at, and how many paths a
// pattern may give.
const mostNames = 10000

// Glob returns the paths that a pattern of package path matches in the file system of
// the process, sorted. Of a pattern without meta characters it is the path itself,
// there or not.
func (p *Process) Glob(ctx context.Context, pattern string) ([]string, error) {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return []string{pattern}, nil
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // who no longer waits for it ends it
	return withWalker(ctx, p, pattern, func(w *walker) ([]string, error) {
		found := []string{"/"}
		for part := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
			var next []string
			for _, dir := range found {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				more, err := w.match(dir, part)
				if err != nil {
					return nil, err
				}
				if next = append(next, more...); len(next) > mostNames {
					return nil, fmt.Errorf("pattern %q: more than %d paths", pattern, mostNames)
				}
			}
			found = next
		}
		slices.Sort(found)
		return found, nil
	})
}

// match returns the paths in a directory that one part of a pattern matches. What is
// not there, or may not be listed, matches nothing.
func (w *walker) match(dir, part string) (out []string, err error) {
	if !strings.ContainsAny(part, `*?[\`) {
		name := path.Join(dir, part)
		if _, _, err := w.Find(name); err != nil {
			return nil, nil
		}
		return []string{name}, nil
	}
	names, err := w.names(dir, mostNames)
	if err != nil {
		return nil, nil
	}
	for _, name := range names {
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".") // as glob(3) has it
		if ok, _ := path.Match(part, name); ok && !hidden {
			out = append(out, path.Join(dir, name))
		}
	}
	return out, nil
}

// withWalker calls fn with a walker on a thread of its own.
func withWalker[T any](ctx context.Context, p *Process, what string, fn func(*walker) (T, error)) (T, error) {
	return within(ctx, p, what, func() (out T, err error) {
		root, err := p.dupRoot()
		if err != nil {
			return out, err
		}
		defer func() { _ = unix.Close(root) }() // only read
		w, err := newWalker(p, root)
		if err != nil {
			return out, err
		}
		defer w.Rewind()
		return fn(w)
	})
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
