package vegeta

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// sourceSize is the first size of a source's buffer. 128 KiB stay in a core's
// second cache, and the system call for them costs nothing per result.
const sourceSize = 128 << 10

// A source is input that is parsed where it lies in the buffer. What it hands
// out is valid until the next call.
type source struct {
	r    io.Reader
	buf  []byte // input that was read lies in buf[pos:end]
	pos  int
	end  int
	err  error // why there is no more to read
	most int   // the buffer does not grow above it
}

func newSource(r io.Reader, most int) *source {
	return &source{r: r, buf: make([]byte, min(sourceSize, most)), most: most}
}

// peek returns the next n bytes, fewer before the end of the input or when they
// do not fit. It does not take them.
func (s *source) peek(n int) []byte {
	for s.end-s.pos < n && s.fill() {
	}
	return s.buf[s.pos:min(s.end, s.pos+n)]
}

// take drops n bytes that were peeked at.
func (s *source) take(n int) { s.pos += n }

// fill reads once. It returns false when nothing came: at the end, after an
// error, or when the buffer is full at its largest.
func (s *source) fill() bool {
	if s.err != nil {
		return false
	}
	switch {
	case s.pos == s.end:
		s.pos, s.end = 0, 0
	case s.end == len(s.buf) && s.pos > 0:
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= s.most {
			return false
		}
		s.buf = append(s.buf, make([]byte, min(len(s.buf), s.most-len(s.buf)))...)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		s.err = err
		if n > 0 || err != nil {
			return n > 0
		}
	}
	s.err = io.ErrNoProgress
	return false
}

// line returns the next line without its newline, and how many bytes to take to
// be past it. The last line needs no newline. It does not take the line.
func (s *source) line() (line []byte, size int, err error) {
	for seen := 0; ; {
		b := s.buf[s.pos:s.end]
		if i := bytes.IndexByte(b[seen:], '\n'); i >= 0 {
			return b[:seen+i], seen + i + 1, nil
		}
		seen = len(b)
		switch {
		case s.fill():
		case s.err == nil:
			return nil, 0, fmt.Errorf("line longer than %d MiB", s.most>>20)
		case !errors.Is(s.err, io.EOF) || seen == 0:
			return nil, 0, s.err
		default:
			return s.buf[s.pos:s.end], seen, nil
		}
	}
}

// Read implements io.Reader, for those who parse the rest by other means.
func (s *source) Read(p []byte) (int, error) {
	if s.pos < s.end {
		n := copy(p, s.buf[s.pos:s.end])
		s.pos += n
		return n, nil
	}
	if s.err != nil {
		return 0, s.err
	}
	return s.r.Read(p)
}
