package lines

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/pathwalk"
)

// Since returns the lines that were written after the mark, up to the end that
// the log has now.
//
//   - The file of the mark still has the log's name: from the mark on. When it
//     is shorter than the mark, or what lies before the mark is not what lay
//     there, it was truncated and is read from its start.
//   - The file of the mark has another name: its rest, then every file that was
//     rotated after it, then the log itself.
//   - The file of the mark is gone (or compressed): the log from its start;
//     [Window.Note] says that lines are lost.
//   - The log's name leads to a file that may not be read, by the rule of
//     [pathwalk.OpenNamed]: as one that is missing, and the note says so.
//   - The log was missing at the mark: from the start. Missing still: no lines,
//     and a note; that is no error.
//
// Close the window after use.
func Since(m Mark) (*Window, error) {
	w := newWindow(nil, 0)
	if err := w.collect(m); err != nil {
		w.Close()
		return nil, fmt.Errorf("read log since mark: %w", err)
	}
	return w, nil
}

func (w *Window) collect(m Mark) error {
	f, info, err := openRegular(m.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	refused := w.isRefused(err)
	if err != nil && !missing && !refused {
		return err
	}
	if missing || refused {
		if missing {
			w.note("%s is missing", m.Path)
		}
		if m.Missing {
			return nil
		}
		_, err := w.addRotated(m, 0, 0)
		return err
	}
	dev, ino := identityOf(info)
	switch {
	case m.Missing:
		w.note("%s appeared during the window", m.Path)
		w.add(f, info, m.Path, 0)
	case dev == m.Device && ino == m.Inode:
		from, err := w.resume(f, info, m)
		if err != nil {
			f.Close()
			return err
		}
		w.add(f, info, m.Path, from)
	default:
		found, err := w.addRotated(m, dev, ino)
		w.add(f, info, m.Path, 0)
		if err != nil {
			return err
		}
		if !found {
			w.note("%s was rotated and the old file is gone: lines before the rotation are lost", m.Path)
		}
	}
	return nil
}

// isRefused reports whether a file may not be read for whose it is, and notes it: a log
// that was put in the place of another is as one that is missing.
func (w *Window) isRefused(err error) bool {
	if !isRefused(err) {
		return false
	}
	w.note("%v", err)
	w.refused = true
	return true
}

// resume returns where to go on in the file of the mark: at the mark, or at the
// start when the file is not what it was.
func (w *Window) resume(f *os.File, info fs.FileInfo, m Mark) (int64, error) {
	if info.Size() < m.Offset {
		w.note("%s was truncated from %d bytes or more: lines before that are lost", m.Path, m.Offset)
		return 0, nil
	}
	tail, err := tailHash(f, m.Offset)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", m.Path, err)
	}
	if m.Tail != 0 && tail != m.Tail {
		w.note("%s was truncated and has grown past the mark: lines before that are lost", m.Path)
		return 0, nil
	}
	return m.Offset, nil
}

// add appends the bytes from the offset to the end that the file has now.
func (w *Window) add(f *os.File, info fs.FileInfo, path string, from int64) {
	seg := &Segment{Path: path, From: from, To: max(info.Size(), from)}
	seg.Device, seg.Inode = identityOf(info)
	in := Input{Path: path, From: seg.From, To: seg.To, file: f}
	w.sources = append(w.sources, source{r: io.NewSectionReader(f, from, seg.To-from), in: in, seg: seg, closer: f})
}

// addRotated finds the file of the mark under its new name, and the files that
// were rotated after it, and adds them oldest first. The device and inode are
// those of the present log, which is none of them.
func (w *Window) addRotated(m Mark, dev, ino uint64) (found bool, err error) {
	dir := filepath.Dir(m.Path)
	entries, err := pathwalk.OpenDir(dir)
	if err != nil {
		return false, err
	}
	defer func() { _ = entries.Close() }() // only read
	names, err := entries.Names()
	if err != nil {
		return false, err
	}
	var old *rotated
	var rest []rotated
	for _, name := range names {
		st, err := entries.Stat(name)
		if err != nil || !pathwalk.IsRegular(&st) {
			continue // it vanished in between, or is no log
		}
		r := rotated{filepath.Join(dir, name), time.Unix(st.Mtim.Unix())}
		switch {
		case st.Dev == dev && st.Ino == ino:
		case st.Dev == m.Device && st.Ino == m.Inode:
			old = &r
		case isRotationOf(name, filepath.Base(m.Path)):
			rest = append(rest, r)
		}
	}
	if old == nil {
		return false, nil
	}
	if err := w.addFile(old.path, m); w.isRefused(err) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	w.note("rotated to %s at %s", filepath.Base(old.path), old.last.Format(time.TimeOnly))
	sort.Slice(rest, func(i, j int) bool { return rest[i].last.Before(rest[j].last) })
	for _, r := range rest {
		if r.last.Before(old.last) {
			continue // an older generation
		}
		if err := w.addFile(r.path, Mark{Path: r.path}); w.isRefused(err) {
			continue
		} else if err != nil {
			return true, err
		}
		w.note("and to %s at %s", filepath.Base(r.path), r.last.Format(time.TimeOnly))
	}
	return true, nil
}

// rotated is a file beside the log and when it was last written.
type rotated struct {
	path string
	last time.Time
}

func (w *Window) addFile(path string, m Mark) error {
	f, info, err := openRegular(path)
	if err != nil {
		return err
	}
	from, err := w.resume(f, info, m)
	if err != nil {
		f.Close()
		return err
	}
	w.add(f, info, path, from)
	return nil
}

// isRotationOf reports whether name is base followed by a generation number or a
// date, as logrotate writes them. Compressed files are not.
func isRotationOf(name, base string) bool {
	suffix, ok := strings.CutPrefix(name, base)
	if !ok || len(suffix) < 2 || !strings.ContainsRune("._-", rune(suffix[0])) {
		return false
	}
	return strings.Trim(suffix[1:], "0123456789.-_:T") == "" && strings.ContainsAny(suffix, "0123456789")
}
