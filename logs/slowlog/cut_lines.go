package slowlog

import "bytes"

// openLines are the lines of a log that are in no finished entry: those of the entry under
// way, and those after them that are still to be looked at. They lie in the buffer of a
// batch, and move to that of the next one.
type openLines struct {
	b       *batch
	offset  int64    // in the log of what is fed next
	anchors []anchor // where the bytes of the buffer lie in the log
	spare   []anchor // for those of the next batch
	ends    []int32  // where the lines from start on end
	start   int32    // where the first of them begins
	cuts    []int32  // where lines end that were longer than the bound
	number  int64    // of the first of them, from 1
	next    int      // the line that is looked at, an index of ends
	final   bool     // no more lines follow
}

// An anchor is a place of the buffer whose offset in the log is known. Bytes up
// to the next anchor follow one another in the log as in the buffer.
type anchor struct {
	at     int32
	offset int64
}

// add adds whole lines and returns their number. cut is how many bytes of the last one
// were left out.
func (l *openLines) add(data []byte, offset, cut int64) (n int) {
	l.anchor(offset)
	b := l.b
	from := len(b.buf)
	b.buf = append(b.buf, data...)
	if n := len(b.buf); n > from && b.buf[n-1] != '\n' {
		b.buf = append(b.buf, '\n')
	}
	before, ends, buf := len(l.ends), l.ends, b.buf
	for p := from; p < len(buf); p++ {
		p += bytes.IndexByte(buf[p:], '\n')
		ends = append(ends, int32(p))
	}
	l.ends = ends
	l.offset = offset + int64(len(data)) + cut
	if cut > 0 {
		l.cuts = append(l.cuts, int32(len(b.buf)-1))
	}
	return len(ends) - before
}

// anchor remembers where in the log the next byte of the buffer lies.
func (l *openLines) anchor(offset int64) {
	at := int32(len(l.b.buf))
	if n := len(l.anchors); n > 0 {
		if last := l.anchors[n-1]; last.offset+int64(at-last.at) == offset {
			return
		}
	}
	l.anchors = append(l.anchors, anchor{at, offset})
}

func (l *openLines) offsetOf(at int32) int64 {
	for i := len(l.anchors) - 1; i >= 0; i-- {
		if a := l.anchors[i]; a.at <= at {
			return a.offset + int64(at-a.at)
		}
	}
	return 0
}

// lineStart returns where the line i begins.
func (l *openLines) lineStart(i int) int32 {
	if i == 0 {
		return l.start
	}
	return l.ends[i-1] + 1
}

// text returns the line i without its newline, or CR and newline.
func (l *openLines) text(i int) []byte {
	line := l.b.buf[l.lineStart(i):l.ends[i]]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// isCut reports whether the line i was longer than the bound.
func (l *openLines) isCut(i int) bool {
	for _, at := range l.cuts {
		if at == l.ends[i] {
			return true
		}
	}
	return false
}

// useRange returns where the database lies in the use line i.
func (l *openLines) useRange(i int) (from, to int32) {
	db, _ := useLine(l.text(i))
	from = l.lineStart(i) + int32(len("use "))
	if l.b.buf[from] == '`' && int(from)+len(db)+2 <= int(l.ends[i]) && l.b.buf[int(from)+len(db)+1] == '`' &&
		db[0] != '`' {
		from++
	}
	return from, from + int32(len(db))
}

// headFollows reports whether the lines with # from the one on that is looked at
// hold a Query_time: the head of a server that writes neither time nor user first.
func (l *openLines) headFollows() (follows, known bool) {
	for i := l.next; i <= l.next+maxAhead; i++ {
		if i >= len(l.ends) {
			return false, l.final
		}
		line := l.text(i)
		if len(line) == 0 || line[0] != '#' || len(line) > maxHead/16 {
			return false, true
		}
		if hasQueryTime(line) {
			return true, true
		}
	}
	return false, true
}

// knowsQuery reports whether one of the head's lines from one index to another
// holds a Query_time.
func (l *openLines) knowsQuery(known bool, from, to int) bool {
	for i := from; i < to && !known; i++ {
		line := l.text(i)
		known = len(line) > 0 && line[0] == '#' && bytes.Contains(line, []byte("Query_time: "))
	}
	return known
}

// move moves the bytes of the buffer between two places, which are those of the entry under
// way, and the lines that are still to be looked at to the batch to. It may be the present
// one.
func (l *openLines) move(to *batch, from, keep int32) {
	rest := l.lineStart(l.next)
	b := l.b
	anchors := append(l.spare[:0], anchor{0, l.offsetOf(from)})
	for _, a := range l.anchors {
		if a.at > from && a.at < keep {
			anchors = append(anchors, anchor{a.at - from, a.offset})
		}
	}
	shift := rest - (keep - from)
	if int(rest) < len(b.buf) {
		anchors = append(anchors, anchor{keep - from, l.offsetOf(rest)})
	}
	for _, a := range l.anchors {
		if a.at > rest {
			anchors = append(anchors, anchor{a.at - shift, a.offset})
		}
	}
	cr := b.cr
	to.buf = append(append(to.buf[:0], b.buf[from:keep]...), b.buf[rest:]...)
	to.cr, to.input = cr, b.input
	l.anchors, l.spare = anchors, l.anchors
	l.start = keep - from
	l.number += int64(l.next)
	left := copy(l.ends, l.ends[l.next:])
	l.ends, l.next = l.ends[:left], 0
	for i := range l.ends {
		l.ends[i] -= shift
	}
	cuts := l.cuts[:0]
	for _, at := range l.cuts {
		if at >= rest {
			cuts = append(cuts, at-shift)
		}
	}
	l.cuts = cuts
	l.b = to
}
