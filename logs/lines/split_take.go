package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// probeSize is how many bytes before the end of a block are looked at first for
// its last newline, and how many at a time when that is far away.
const (
	probeSize = 4 << 10
	farSize   = 64 << 10
)

// takeFile finds where the next block of a plain file ends: after the last
// newline that a whole block can hold, or, when it holds none, after its only
// line.
func (s *splitter) takeFile() (stretch, bool) {
	for {
		left := s.cur.to - s.cur.from - s.pos
		if left <= 0 {
			return stretch{}, false
		}
		n := left
		cut := int64(0)
		if size := int64(s.o.BlockSize); left > size {
			n = s.lastLine(size)
			if n == 0 {
				n, cut = s.longLine(size, left)
			}
			if s.err != nil {
				return stretch{}, false
			}
			if n < 0 { // the file became shorter
				continue
			}
		}
		todo := stretch{s.file, s.cur.from + s.pos, int(n)}
		s.file.users.Add(1)
		s.pos += n + cut
		s.block.Cut = cut
		return todo, true
	}
}

// lastLine returns where the last line ends that ends within the next size
// bytes; 0 when none does, and -1 when the file became shorter.
func (s *splitter) lastLine(size int64) int64 {
	for step, end := int64(probeSize), size; end > 0; step = farSize {
		step = min(step, end)
		b := s.look(end-step, step)
		if b == nil {
			return -1
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return end - step + int64(i) + 1
		}
		end -= step
	}
	return 0
}

// longLine returns how many bytes to read of the next line, which has no end in
// its first from bytes, and how many to skip after them. It returns -1 when the
// file became shorter.
func (s *splitter) longLine(from, left int64) (n, skip int64) {
	most := int64(s.o.MaxLine)
	for at := from; ; {
		step := min(farSize, left-at)
		if step == 0 {
			return s.fit(left, left, most)
		}
		b := s.look(at, step)
		if b == nil {
			return -1, 0
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			end := at + int64(i)
			return s.fit(end, end+1, most)
		}
		at += step
	}
}

// fit returns what to read and what to skip of a line whose newline is at end
// and that takes width bytes. A carriage return before the newline does not
// count.
func (s *splitter) fit(end, width, most int64) (n, skip int64) {
	if end == most+1 {
		b := s.look(most, 1)
		if b == nil {
			return -1, 0
		}
		if b[0] == '\r' {
			return width, 0
		}
	}
	if end > most {
		return most, width - most
	}
	return width, 0
}

// look reads n bytes from offset at of the unread part. When the file has not
// as many any more it returns nil and the end moves to where the file ends now.
func (s *splitter) look(at, n int64) []byte {
	s.probe = makeRoom(s.probe, int(n))
	c := s.cur
	got, err := c.file.ReadAt(s.probe[:n], c.from+s.pos+at)
	if int64(got) == n {
		return s.probe[:n]
	}
	if err == nil || !errors.Is(err, io.EOF) {
		s.err = fmt.Errorf("read log %s at byte %d: %w", c.name, c.from+s.pos+at, err)
		return nil
	}
	end := max(c.from+s.pos, c.from+s.pos+at+int64(got))
	s.notes[s.block.Input].lost += c.to - end
	c.to = end
	return nil
}

// takeStream reads the next block of a stream into the buffer: as many whole
// lines as a block holds, or one that is longer.
func (s *splitter) takeStream(buf *[]byte) ([]byte, bool) {
	*buf = makeRoom(*buf, s.o.BlockSize)
	b := s.fill((*buf)[:s.o.BlockSize], 0)
	if s.ended() {
		s.pos += int64(len(b))
		return b, s.endStream(len(b) > 0)
	}
	i := bytes.LastIndexByte(b, '\n')
	if i < 0 {
		return s.takeLong(buf, b), true
	}
	s.unread(b[i+1:])
	s.pos += int64(i) + 1
	return b[:i+1], true
}

// takeLong takes a line that begins with b, which is a whole block.
func (s *splitter) takeLong(buf *[]byte, b []byte) []byte {
	most := s.o.MaxLine
	newline := -1
	for newline < 0 && !s.ended() && len(b) < most+2 { // two more than the limit: \r\n may go
		from, size := len(b), min(2*len(b), most+2)
		grown := makeRoom(*buf, size)
		copy(grown, b)
		*buf = grown
		b = s.fill(grown[:size], from)
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			newline = from + i
		}
	}
	text, width := len(b), int64(len(b))
	switch {
	case newline >= 0:
		text, width = newline, int64(newline)+1
		s.unread(b[width:])
	case !s.ended():
		width += s.skipLine()
	}
	if text > 0 && b[text-1] == '\r' {
		text--
	}
	s.pos += width
	if text <= most {
		return b[:width]
	}
	s.block.Cut = width - int64(most)
	return b[:most]
}

// skipLine skips up to the next newline of a stream and returns how many bytes
// that were.
func (s *splitter) skipLine() (n int64) {
	s.probe = makeRoom(s.probe, farSize)
	for !s.ended() {
		b := s.fill(s.probe[:farSize], 0)
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			s.unread(b[i+1:])
			return n + int64(i) + 1
		}
		n += int64(len(b))
	}
	return n
}

// ended reports whether all of the stream was taken.
func (s *splitter) ended() bool { return s.eof && len(s.rest) == 0 }

// unread puts bytes back before those that are still to come.
func (s *splitter) unread(b []byte) {
	if len(s.rest) > 0 {
		b = append(bytes.Clone(b), s.rest...)
	}
	s.back = append(s.back[:0], b...)
	s.rest = s.back
}

// fill reads until the buffer, which holds n bytes, is full or the stream ends.
func (s *splitter) fill(b []byte, n int) []byte {
	put := copy(b[n:], s.rest)
	s.rest = s.rest[put:]
	n += put
	for empty := 0; n < len(b) && !s.eof; {
		got, err := s.cur.r.Read(b[n:])
		n += got
		switch {
		case err != nil:
			s.eof = true
			if !errors.Is(err, io.EOF) {
				s.fail = err
			}
		case got > 0:
			empty = 0
		default:
			if empty++; empty == 100 { // as bufio
				s.eof, s.fail = true, io.ErrNoProgress
			}
		}
	}
	return b[:n]
}

// endStream reports whether there is a last block, and notes or fails with what
// ended the stream. Bytes read before an error of the reader are no block, as
// they are no line of a [Window].
func (s *splitter) endStream(some bool) bool {
	switch {
	case s.fail == nil:
	case isDamage(s.fail) && s.pos > 0:
		s.notes[s.block.Input].text = fmt.Sprintf("%s: %v", s.cur.name, s.fail)
		s.fail = nil
	default:
		s.err = fmt.Errorf("read log %s at byte %d: %w", s.cur.name, s.cur.raw.n, s.fail)
	}
	return some
}
