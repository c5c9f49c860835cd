package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// DefaultMaxLine is the longest line that is kept, in bytes: longer than any
// statement or stack trace that one reads, short enough to hold in memory.
const DefaultMaxLine = 1 << 20

// A window's buffer, in bytes, starts small, since most windows are, and grows
// while reads fill it: at fullBuffer a read call brings hundreds of lines.
// Longer lines make it grow further.
const (
	firstBuffer = 16 << 10
	fullBuffer  = 256 << 10
)

// A Segment is the part of one file that a window reads: [From, To) in bytes.
type Segment struct {
	Path          string
	Device, Inode uint64
	From, To      int64
}

// A source is one reader of a window; its segment is nil for a plain reader.
type source struct {
	r      io.Reader // nil: the input is opened when its turn comes
	in     Input
	seg    *Segment
	closer io.Closer
}

// A Window yields lines, in the shape of bufio.Scanner:
//
//	for w.Scan() {
//		use(w.Bytes())
//	}
//	if err := w.Err(); err != nil { … }
//
// It is not safe for concurrent use.
type Window struct {
	maxLine int
	sources []source
	next    int // index of the source after the present one
	cur     *source

	buf        []byte
	start, end int  // unread bytes of buf
	filled     bool // the last read filled buf
	eof        bool
	read       int64 // bytes read from the present source

	line      []byte
	offset    int64 // of line
	nextOff   int64 // of the line after it
	number    int64
	truncated bool

	err     error
	notes   []string
	refused bool // a file may not be read, and the notes say so
}

// NewReader returns a window over all that r yields. A maxLine of 0 means
// [DefaultMaxLine].
func NewReader(r io.Reader, maxLine int) *Window {
	return newWindow([]source{{r: r, in: Input{R: r}}}, maxLine)
}

// Open returns a window over the inputs, one after another. A file is opened,
// and its end fixed, when its turn comes; one that cannot be opened now is an
// error already. Close the window after use.
func Open(in []Input, maxLine int) (*Window, error) {
	w := newWindow(nil, maxLine)
	for i := range in {
		if err := in[i].check(); err != nil {
			return nil, err
		}
		w.sources = append(w.sources, source{in: in[i]})
	}
	return w, nil
}

// Inputs returns what the window was made of, whole, however much of it was
// read: to be read by [Split] instead, while the window is open. Streams must
// not have been read.
func (w *Window) Inputs() []Input {
	out := make([]Input, len(w.sources))
	for i := range out {
		out[i] = w.sources[i].in
	}
	return out
}

func newWindow(s []source, maxLine int) *Window {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	return &Window{maxLine: maxLine, sources: s}
}

// Scan goes on to the next line. It returns false at the end and on an error;
// [Window.Err] returns the error. A last line without a newline is a line.
func (w *Window) Scan() bool {
	w.offset = w.nextOff
	for w.err == nil {
		if w.cur == nil && !w.open() {
			break
		}
		if w.scanLine() {
			w.number++
			return true
		}
		if w.cur.in.file == nil { // else Inputs may still be asked for
			w.cur.close()
		}
		w.cur = nil
	}
	w.line, w.truncated = nil, false
	return false
}

// open goes on to the next source.
func (w *Window) open() bool {
	if w.next >= len(w.sources) {
		return false
	}
	w.cur = &w.sources[w.next]
	w.next++
	w.eof, w.start, w.end, w.read = false, 0, 0, 0
	if w.cur.r == nil {
		w.err = w.cur.open()
	}
	return w.err == nil
}

// open opens the source's input.
func (s *source) open() error {
	c, err := s.in.open(context.Background())
	if err != nil {
		return err
	}
	s.closer, s.r = c, c.r
	if c.file != nil {
		s.seg = &Segment{Path: c.name, From: c.from, To: c.to}
		if info, err := c.file.Stat(); err == nil {
			s.seg.Device, s.seg.Inode = identityOf(info)
		}
		s.r = io.NewSectionReader(c.file, c.from, c.to-c.from)
	}
	return nil
}

func (s *source) close() error {
	if s.closer == nil {
		return nil
	}
	err := s.closer.Close()
	s.closer = nil
	return err
}

// scanLine finds the next line of the present source.
func (w *Window) scanLine() bool {
	searched := 0
	for {
		if i := bytes.IndexByte(w.buf[w.start+searched:w.end], '\n'); i >= 0 {
			return w.take(searched+i, 1)
		}
		searched = w.end - w.start
		if searched > w.maxLine+1 { // one more than the limit: a \r may go
			return w.takeLong()
		}
		if w.eof {
			if searched == 0 {
				return false
			}
			return w.take(searched, 0)
		}
		w.fill()
		if w.err != nil {
			return false
		}
	}
}

// take makes the next n bytes the line and skips newline bytes after them.
func (w *Window) take(n, newline int) bool {
	w.line = w.buf[w.start : w.start+n]
	w.start += n + newline
	w.nextOff += int64(n + newline)
	if n > 0 && w.line[n-1] == '\r' {
		w.line = w.line[:n-1]
	}
	if w.truncated = len(w.line) > w.maxLine; w.truncated {
		w.line = w.line[:w.maxLine]
	}
	return true
}

// takeLong keeps the first bytes of a line that is too long and skips the rest
// of it. The kept bytes move to the front of the buffer, where skipping does
// not overwrite them.
func (w *Window) takeLong() bool {
	buf := w.buf
	if len(buf) < w.maxLine+firstBuffer { // room to skip by
		buf = make([]byte, w.maxLine+firstBuffer)
	}
	w.end = copy(buf, w.buf[w.start:w.end])
	w.buf, w.start = buf, w.maxLine
	w.nextOff += int64(w.maxLine)
	for {
		if i := bytes.IndexByte(w.buf[w.start:w.end], '\n'); i >= 0 {
			w.start += i + 1
			w.nextOff += int64(i + 1)
			break
		}
		w.nextOff += int64(w.end - w.start)
		w.start, w.end = w.maxLine, w.maxLine
		if w.eof || w.err != nil {
			break
		}
		w.readMore()
	}
	w.line, w.truncated = w.buf[:w.maxLine], true
	return true
}

// fill reads more bytes after the unread ones, which move to the front of the
// buffer, or to a larger one when they fill it.
func (w *Window) fill() {
	if w.start > 0 {
		w.end = copy(w.buf, w.buf[w.start:w.end])
		w.start = 0
	}
	if w.end == len(w.buf) || w.filled && len(w.buf) < fullBuffer {
		grown := make([]byte, max(2*len(w.buf), firstBuffer))
		copy(grown, w.buf[:w.end])
		w.buf = grown
	}
	w.readMore()
	w.filled = w.end == len(w.buf)
}

// readMore reads into the free end of the buffer.
func (w *Window) readMore() {
	for range 100 { // as bufio: readers that return nothing for ever are broken
		n, err := w.cur.r.Read(w.buf[w.end:])
		w.end += n
		w.read += int64(n)
		if errors.Is(err, io.EOF) {
			w.eof = true
			w.endOfSource()
			return
		}
		if isDamage(err) && w.read > 0 {
			w.eof = true
			w.note("%s: %v", w.cur.in.name(), err)
			return
		}
		if err != nil {
			w.err = w.readError(err)
			return
		}
		if n > 0 {
			return
		}
	}
	w.err = w.readError(io.ErrNoProgress)
}

// endOfSource notices a file that became shorter while it was read.
func (w *Window) endOfSource() {
	s := w.cur.seg
	if s == nil || s.From+w.read >= s.To {
		return
	}
	w.note("%s was truncated while it was read: %d bytes are lost", s.Path, s.To-s.From-w.read)
	s.To = s.From + w.read
}

func (w *Window) readError(err error) error {
	if s := w.cur.seg; s != nil {
		return fmt.Errorf("read log %s at byte %d: %w", s.Path, s.From+w.read, err)
	}
	if w.cur.in.Path == "" {
		return fmt.Errorf("read log at byte %d: %w", w.read, err)
	}
	return fmt.Errorf("read log %s at byte %d: %w", w.cur.in.name(), w.read, err)
}

func (w *Window) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// Bytes returns the line without its newline, or CR and newline. It is valid
// until the next Scan. The caller may change it.
func (w *Window) Bytes() []byte { return w.line }

// Offset returns how many bytes of the window come before the line.
func (w *Window) Offset() int64 { return w.offset }

// Width returns how many bytes of the log the line takes: with its newline, and
// with what was skipped of a long line.
func (w *Window) Width() int64 { return w.nextOff - w.offset }

// Line returns the number of the line in the window; the first is 1.
func (w *Window) Line() int64 { return w.number }

// Truncated reports whether the line was longer than the limit, so that Bytes
// returns only its start.
func (w *Window) Truncated() bool { return w.truncated }

// Err returns the error that ended the lines, nil at the end of the window.
func (w *Window) Err() error { return w.err }

// Files returns the parts of files that the window reads, oldest first; of those
// that [Open] was given, the ones that were reached. It is empty for a window
// over a stream and for a log that is missing.
func (w *Window) Files() []Segment {
	var out []Segment
	for _, s := range w.sources {
		if s.seg != nil {
			out = append(out, *s.seg)
		}
	}
	return out
}

// Note describes in a few words what was unusual about the log: missing, rotated,
// truncated. It is empty when nothing was. It can gain words while the window
// is read.
func (w *Window) Note() string { return strings.Join(w.notes, "; ") }

// Close closes the files. The line of the last Scan stays valid.
func (w *Window) Close() error {
	var errs []error
	for i := range w.sources {
		errs = append(errs, w.sources[i].close())
	}
	w.next, w.cur = len(w.sources), nil
	return errors.Join(errs...)
}
