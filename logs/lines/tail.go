package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/pathwalk"
)

// A Tail yields the lines that a log gains, each time it is asked. It goes on
// over rotations and truncations, and with the last lines that a server writes
// to a file after it was renamed.
//
// It is not safe for concurrent use.
type Tail struct {
	path  string
	files []*tailed // oldest first; the last one has or had the log's name
	buf   []byte
	notes []string
	asked time.Time // when it was looked last whether the log's name had passed on
}

// A tailed is one file of a [Tail].
type tailed struct {
	*os.File
	at    int64     // end of what was read
	seen  []byte    // the last bytes before it, up to tailLen
	part  []byte    // start of a line that is not finished
	skip  bool      // the rest of a line that was given cut
	quiet time.Time // when it gained a byte last, or its name passed to another file
}

// A renamed file is given up when it gained nothing for patience: servers are asked to
// open their log anew soon after it was renamed, and finish what they had begun. At most
// maxTailed files are read at a time.
const (
	patience  = 10 * time.Second
	maxTailed = 8
)

// NewTail begins at the present end of the log, which need not exist yet.
func NewTail(path string) (*Tail, error) {
	m, err := MarkEnd(path)
	if err != nil {
		return nil, err
	}
	return TailFrom(m)
}

// TailFrom begins at the mark; at the start of the log when the mark has only a
// path and Missing set.
func TailFrom(m Mark) (*Tail, error) {
	t := &Tail{path: m.Path, buf: make([]byte, fullBuffer)}
	if err := t.follow(m); err != nil {
		t.Close()
		return nil, fmt.Errorf("follow log: %w", err)
	}
	return t, nil
}

// follow adds the files of the log since the mark, but for those it has.
func (t *Tail) follow(m Mark) error {
	w, err := Since(m)
	if err != nil {
		return err
	}
	defer w.Close()
	if w.refused {
		t.notes = append(t.notes, w.Note())
	}
	now := time.Now()
	if n := len(t.files); n > 0 {
		t.files[n-1].quiet = now // it may not have been looked at for long
	}
	for i := range w.sources {
		s := &w.sources[i]
		f := &tailed{File: s.in.file, at: s.seg.From, quiet: now}
		if t.has(f) || i < len(w.sources)-1 && f.before(t.asked) {
			continue
		}
		if err := f.remember(); err != nil {
			return err
		}
		s.closer = nil // the file is the tail's
		t.files = append(t.files, f)
	}
	return nil
}

// coarse is how much older than it is a file may look.
const coarse = time.Second

// before reports whether the file was written last before a moment: then it is of an
// earlier rotation, and was read or was there before the tail.
func (f *tailed) before(t time.Time) bool {
	info, err := f.Stat()
	return err == nil && info.ModTime().Before(t.Add(-coarse))
}

// has reports whether the file is among those that are read.
func (t *Tail) has(f *tailed) bool {
	info, err := f.Stat()
	for _, g := range t.files {
		if old, oldErr := g.Stat(); err == nil && oldErr == nil && os.SameFile(info, old) {
			return true
		}
	}
	return false
}

// Next calls f for each line that was finished since the last call, without its
// newline, or CR and newline, cut to [DefaultMaxLine]; the line is valid until f
// returns. It returns how many lines those were. A log that is missing for the
// moment has none. After an error one may go on.
func (t *Tail) Next(f func(line []byte)) (n int, err error) {
	n, _, err = t.NextWithin(math.MaxInt64, f)
	return n, err
}

// NextWithin is Next with a limit: it reads at most the first most bytes that the log
// gained, skips the rest, and returns how many bytes it skipped. The call after it begins
// with the next whole line.
func (t *Tail) NextWithin(most int64, f func(line []byte)) (n int, skipped int64, err error) {
	t.notes = t.notes[:0]
	give := func(line []byte) {
		n++
		f(line)
	}
	now := time.Now()
	if err := t.turn(now); err != nil {
		return 0, 0, fmt.Errorf("follow log: %w", err)
	}
	for i, file := range t.files {
		before := file.at
		beyond, err := t.read(file, most, give)
		if skipped += beyond; err != nil {
			return n, skipped, fmt.Errorf("follow log %s: %w", t.path, err)
		}
		most -= max(file.at-beyond-before, 0)
		if file.at != before || i == len(t.files)-1 {
			file.quiet = now
		}
	}
	for len(t.files) > 0 && (now.Sub(t.files[0].quiet) >= patience || len(t.files) > maxTailed) {
		t.files[0].flush(give)
		t.files[0].Close()
		t.files = t.files[1:]
	}
	return n, skipped, nil
}

// turn goes over to a new file when the log's name has passed to one.
func (t *Tail) turn(at time.Time) error {
	defer func() { t.asked = at }()
	now, err := pathwalk.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // between rename and create, or missing
	}
	if isRefused(err) {
		t.notes = append(t.notes, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	m := Mark{Path: t.path, Missing: true}
	if len(t.files) > 0 {
		last := t.files[len(t.files)-1]
		old, err := last.Stat()
		if err != nil {
			return err
		}
		if isFile(old, &now) {
			return nil
		}
		m = Mark{Path: t.path}
		m.Device, m.Inode = identityOf(old)
	}
	return t.follow(m)
}

// read gives the lines that a file gained, in the first most bytes of that, and skips
// the rest.
func (t *Tail) read(f *tailed, most int64, give func([]byte)) (skipped int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if grown, err := f.onlyGrew(info.Size()); err != nil {
		return 0, err
	} else if !grown {
		t.notes = append(t.notes, fmt.Sprintf("%s was truncated: lines before that may be lost", t.path))
		f.flush(give)
		f.at, f.seen = 0, f.seen[:0]
	}
	end := f.at + min(info.Size()-f.at, most)
	for f.at < end {
		n, err := f.ReadAt(t.buf[:min(int64(len(t.buf)), end-f.at)], f.at)
		f.take(t.buf[:n], give)
		if errors.Is(err, io.EOF) && n == 0 {
			return 0, nil // it was truncated just now
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
	}
	if skipped = info.Size() - f.at; skipped > 0 {
		err = f.jump(info.Size())
	}
	return skipped, err
}

// jump goes on at a place further on, with the line that begins there or after it.
func (f *tailed) jump(to int64) error {
	f.at, f.part = to, f.part[:0]
	if err := f.remember(); err != nil {
		return err
	}
	f.skip = !bytes.HasSuffix(f.seen, []byte("\n"))
	return nil
}

// onlyGrew reports whether what was read is still there, as far as its last
// bytes show.
func (f *tailed) onlyGrew(size int64) (bool, error) {
	if size < f.at {
		return false, nil
	}
	var now [tailLen]byte
	n, err := f.ReadAt(now[:len(f.seen)], f.at-int64(len(f.seen)))
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.Equal(now[:n], f.seen), nil
}

// remember reads the last bytes before where the file is read from.
func (f *tailed) remember() error {
	f.seen = make([]byte, min(f.at, tailLen), tailLen)
	if len(f.seen) == 0 {
		return nil
	}
	_, err := f.ReadAt(f.seen, f.at-int64(len(f.seen)))
	return err
}

// take gives the lines that end in b, which comes next in the file, and keeps
// its unfinished end.
func (f *tailed) take(b []byte, give func([]byte)) {
	f.at += int64(len(b))
	if len(b) >= tailLen {
		f.seen = append(f.seen[:0], b[len(b)-tailLen:]...)
	} else {
		keep := min(len(f.seen), tailLen-len(b))
		f.seen = append(f.seen[:copy(f.seen, f.seen[len(f.seen)-keep:])], b...)
	}
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break
		}
		f.line(b[:i], give)
		b = b[i+1:]
	}
	if f.skip {
		return
	}
	f.part = append(f.part, b...)
	if len(f.part) > DefaultMaxLine+1 { // a \r may go
		f.flush(give)
		f.skip = true
	}
}

// line gives a line that ends in rest.
func (f *tailed) line(rest []byte, give func([]byte)) {
	if f.skip {
		f.skip = false
		return
	}
	line := rest
	if len(f.part) > 0 {
		f.part = append(f.part, rest...)
		line, f.part = f.part, f.part[:0]
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	give(line[:min(len(line), DefaultMaxLine)])
}

// flush gives an unfinished line.
func (f *tailed) flush(give func([]byte)) {
	if len(f.part) > 0 {
		f.line(nil, give)
	}
	f.skip = false
}

// Note describes in a few words what was unusual about the log in the last call of
// Next; empty when nothing was.
func (t *Tail) Note() string { return strings.Join(t.notes, "; ") }

// Close closes the files.
func (t *Tail) Close() error {
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.Close())
	}
	t.files = nil
	return errors.Join(errs...)
}
