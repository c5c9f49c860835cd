package lines

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kasoku/kasoku/internal/pathwalk"
)

// A Growth reports, while a log is written, how many bytes it gained since a
// mark: the same count that [Window.Offset] gives to the lines later. Asked at
// every tick of a clock it shows when each line was written, within a tick, of
// a log that has no times.
//
// It keeps the log open, so that the end of a rotated file is known. It is not
// safe for concurrent use.
type Growth struct {
	path string
	file *os.File // the file that had the log's name when last asked; nil when missing
	base int64    // what Bytes is at the start of that file; negative by the mark's offset in the first one
	last int64    // size of that file when last asked
}

// Follow begins to count at the mark.
func Follow(m Mark) *Growth {
	g := &Growth{path: m.Path, base: -m.Offset, last: m.Offset}
	if m.Missing {
		return g
	}
	f, info, err := openRegular(m.Path)
	if err != nil {
		return g // Bytes will say it
	}
	if d, i := identityOf(info); d != m.Device || i != m.Inode {
		f.Close()
		g.base, g.last = 0, 0
		return g
	}
	g.file = f
	return g
}

// Bytes returns how much the log has grown. The count falls when the log was
// truncated: the bytes before that cannot be read any more, and those after it
// are counted from 0, as [Since] does.
func (g *Growth) Bytes() (int64, error) {
	if err := g.turn(); err != nil {
		return 0, fmt.Errorf("follow log: %w", err)
	}
	if g.file == nil {
		return max(g.base+g.last, 0), nil
	}
	info, err := g.file.Stat()
	if err != nil {
		return 0, fmt.Errorf("follow log: %w", err)
	}
	if info.Size() < g.last {
		g.base = 0
	}
	g.last = info.Size()
	return max(g.base+g.last, 0), nil
}

// turn goes over to a new file when the log's name has passed to one.
func (g *Growth) turn() error {
	now, err := pathwalk.Stat(g.path)
	if errors.Is(err, fs.ErrNotExist) || isRefused(err) {
		return nil // between rename and create, or missing; Since says why it is refused
	}
	if err != nil {
		return err
	}
	if g.file != nil {
		old, err := g.file.Stat()
		if err != nil {
			return err
		}
		if isFile(old, &now) {
			return nil
		}
		g.base += old.Size()
		g.file.Close()
		g.file, g.last = nil, 0
	}
	f, _, err := openRegular(g.path)
	if isRefused(err) {
		return nil
	}
	if err != nil {
		return err
	}
	g.file, g.last = f, 0
	return nil
}

// Close closes the log.
func (g *Growth) Close() error {
	if g.file == nil {
		return nil
	}
	err := g.file.Close()
	g.file = nil
	return err
}
