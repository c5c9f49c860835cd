package slowlog

import (
	"encoding/binary"
	"math"
	"slices"
)

// A layout is what a line of a head looks like when its values are left out.
type layout struct {
	slots    []slot
	tail     string     // after the last value
	noSchema bool       // it says that there is no default database
	next     [2]*layout // of the lines that came after one of these, the last first

	// Many lines are the same, letter for letter: those that say Yes and No. Where
	// no field of an event is among the attributes, the last such line is kept with
	// its values.
	free   bool // no field of an event is among them
	line   []byte
	values []value
	misses int // lines in a row that were others
}

// A literal is text that many lines are compared with.
type literal struct {
	text             string
	first, mid, last uint64 // eight bytes each, which may overlap, of one of 8 to 24 bytes
}

func newLiteral(b []byte) literal {
	l := literal{text: string(b)}
	if n := len(b); n >= 8 && n <= 24 {
		l.first, l.last = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
		l.mid = binary.LittleEndian.Uint64(b[(n-8)/2:])
	}
	return l
}

// starts reports whether b starts with the literal and goes on.
func (l *literal) starts(b []byte) bool {
	n := len(l.text)
	if len(b) <= n {
		return false
	}
	b = b[:n]
	if n < 8 || n > 24 {
		return string(b) == l.text
	}
	first, mid, last := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[(n-8)/2:]),
		binary.LittleEndian.Uint64(b[n-8:])
	return (first^l.first)|(mid^l.mid)|(last^l.last) == 0
}

// maxMisses is how often in a row a line may differ from the one before until
// its layout no longer keeps them.
const maxMisses = 32

// A slot is one attribute of a layout.
type slot struct {
	before literal // what stands between the value before and this one
	is     known
	id     uint16 // of a wanted attribute
	wanted bool
	form   form
}

// form defines how a value is read.
type form uint8

const (
	anyForm form = iota
	skipped      // it is not used
	word         // text that is nothing but a field of an Event
	whole        // such a whole number
)

func formOf(is known, wanted bool) form {
	switch {
	case wanted:
		return anyForm
	case is == unknown:
		return skipped
	case is >= rowsSent:
		return whole
	case is >= schema:
		return word
	}
	return anyForm
}

// known defines which field of an Event takes an attribute.
type known uint8

const (
	unknown known = iota
	queryTime
	lockTime
	schema // and those after it are text
	started
	lastErrno
	rowsSent // and those after it are whole numbers
	rowsExamined
	rowsAffected
	bytesSent
	threadID
)

func knownOf(name []byte) known {
	switch string(name) {
	case "Query_time":
		return queryTime
	case "Lock_time":
		return lockTime
	case "Rows_sent":
		return rowsSent
	case "Rows_examined":
		return rowsExamined
	case "Rows_affected":
		return rowsAffected
	case "Bytes_sent":
		return bytesSent
	case "Thread_id", "Id":
		return threadID
	case "Schema":
		return schema
	case "Start":
		return started
	case "Last_errno":
		return lastErrno
	}
	return unknown
}

// maxLayouts bounds the layouts that a parser learns, maxLine the length of their
// lines in bytes. Lines beyond are read the slow way.
const (
	maxLayouts = 64
	maxLine    = 4 << 10
)

// plainLine reads a line of attributes and returns where the next one begins.
func (p *parser) plainLine(e *Event, i int) int {
	values := len(p.b.values)
	if p.last != nil {
		for k := range p.last.next {
			l := p.last.next[k]
			if l == nil {
				break
			}
			if next := p.match(e, l, i); next > 0 {
				p.follow(l)
				return next
			}
			p.b.values = p.b.values[:values]
		}
	}
	for _, l := range p.layouts {
		if next := p.match(e, l, i); next > 0 {
			p.follow(l)
			return next
		}
		p.b.values = p.b.values[:values]
	}
	return p.learn(e, i)
}

// follow notes that a line of the layout came after the one before.
func (p *parser) follow(l *layout) {
	if p.last != nil && p.last.next[0] != l {
		p.last.next[0], p.last.next[1] = l, p.last.next[0]
	}
	p.last = l
}

// learn reads a line that has no layout yet, and makes one of it.
func (p *parser) learn(e *Event, i int) int {
	end, next := lineEnd(e.head, i)
	line := e.head[i:end]
	l, done, usual := &layout{}, 0, true
	eachAttribute(line, func(name, value []byte) bool {
		p.attribute(e, name, value)
		is := knownOf(name)
		if len(value) == 0 {
			l.noSchema = l.noSchema || is == schema
			usual = usual && (is == unknown || is == schema)
			return true
		}
		from := cap(line) - cap(value) // value is a part of line
		s := slot{before: newLiteral(line[done:from]), is: is}
		s.id, s.wanted = p.wanted.id(name)
		s.form = formOf(is, s.wanted)
		l.slots = append(l.slots, s)
		done = from + len(value)
		return true
	})
	l.tail = string(line[done:])
	l.free = !l.noSchema && !slices.ContainsFunc(l.slots, func(s slot) bool { return s.is != unknown })
	if usual && len(p.layouts) < maxLayouts && len(line) < maxLine && len(l.slots) > 0 {
		p.layouts = append(p.layouts, l)
		p.follow(l)
	}
	return next
}

// match reads the line at i when it has that layout, and returns where the next
// line begins, 0 when it has another one.
func (p *parser) match(e *Event, l *layout, i int) int {
	if n := len(l.line); n > 0 && len(e.head)-i >= n && string(e.head[i:i+n]) == string(l.line) {
		if len(l.values) > 0 {
			p.b.values = append(p.b.values, l.values...)
		}
		l.misses = 0
		return i + n
	}
	if !l.free || l.misses >= maxMisses {
		return p.compare(e, l, i)
	}
	first := len(p.b.values)
	next := p.compare(e, l, i)
	if next > 0 {
		l.keep(e.head[i:next], p.b.values[first:])
	}
	return next
}

// keep keeps a line that has the layout, and its values when all are free of text.
func (l *layout) keep(line []byte, values []value) {
	if l.misses++; l.misses == maxMisses || slices.ContainsFunc(values, func(v value) bool { return v.is == isText }) {
		l.line, l.misses = nil, maxMisses
		return
	}
	l.line, l.values = append(l.line[:0], line...), append(l.values[:0], values...)
}

// compare reads the line at i value by value. A value that ends with a colon may
// be a name: such a line has another layout.
func (p *parser) compare(e *Event, l *layout, i int) int {
	b := e.head
	for k := range l.slots {
		s := &l.slots[k]
		if !s.before.starts(b[i:]) {
			return 0
		}
		i += len(s.before.text)
		from := i
		switch s.form {
		case skipped, word:
			for i < len(b) && (b[i] > ' ' || !endsWord(b[i])) {
				i++
			}
			if i == from || b[i-1] == ':' {
				return 0
			}
			if s.form == word {
				p.set(e, s.is, b[from:i], nil)
			}
			continue
		case whole:
			var n uint64
			for i < len(b) && b[i]-'0' <= 9 {
				n = n*10 + uint64(b[i]-'0')
				i++
			}
			if i > from && i-from <= maxDigits && i < len(b) && endsWord(b[i]) {
				e.setWhole(s.is, n, true)
				continue
			}
		}
		if i = p.take(e, s, from); i == 0 {
			return 0
		}
	}
	if len(l.tail) > 0 {
		if len(b)-i < len(l.tail) || string(b[i:i+len(l.tail)]) != l.tail {
			return 0
		}
		i += len(l.tail)
	}
	if i < len(b) && b[i] == '\r' {
		i++
	}
	if i >= len(b) || b[i] != '\n' {
		return 0
	}
	if l.noSchema {
		e.Schema, e.hasSchema = nil, true
	}
	return i + 1
}

// take takes the value at i for the slot and returns where it ends, 0 when it is
// none for it.
func (p *parser) take(e *Event, s *slot, i int) (end int) {
	b := e.head
	var v decimal
	v.read(b, i)
	end = v.end
	if !v.ok {
		for end < len(b) && !endsWord(b[end]) {
			end++
		}
		if end == i || b[end-1] == ':' {
			return 0
		}
	}
	if s.is != unknown && !p.set(e, s.is, b[i:end], &v) {
		return 0
	}
	if !s.wanted {
		return end
	}
	if v.ok && v.places == 0 {
		p.b.values = append(p.b.values, value{id: s.id, is: isNumber, bits: math.Float64bits(float64(v.n))})
	} else {
		p.b.values = append(p.b.values, valueOf(s.id, b, i, end, &v))
	}
	return end
}

// attribute takes an attribute of a line without a layout.
func (p *parser) attribute(e *Event, name, value []byte) {
	var v decimal
	v.read(value, 0)
	v.ok = v.ok && v.end == len(value)
	if is := knownOf(name); is != unknown && !p.set(e, is, value, &v) && e.bad == "" {
		e.bad = "bad " + string(name) + " " + quoteShort(value)
	}
	if id, ok := p.wanted.id(name); ok && len(value) > 0 {
		from := cap(e.head) - cap(value) // value is a part of head
		p.b.values = append(p.b.values, valueOf(id, e.head, from, from+len(value), &v))
	}
}

// set sets the field that an attribute belongs to; v is the value as a number, which
// fields of text do not need. It returns false when the field cannot have that value,
// or is not set here.
func (p *parser) set(e *Event, is known, text []byte, v *decimal) bool {
	switch is {
	case queryTime:
		d, ok := v.duration(text)
		e.QueryTime, e.hasQueryTime = d, ok
		return ok
	case lockTime:
		d, ok := v.duration(text)
		e.LockTime = d
		return ok
	case schema:
		e.Schema, e.hasSchema = text, true
		return true
	case started:
		if t, ok := p.start.utc(text); ok {
			e.started = t
		} else if t, ok := isoTime(text); ok && len(text) > isoSecond+2 && text[isoSecond] == '.' {
			e.started = t // in whole seconds, the end of the entry is more precise
		}
		return true
	case lastErrno:
		e.hasErrno = true
		return true
	}
	n, ok := v.whole(text)
	e.setWhole(is, n, ok)
	return ok
}

// setWhole sets the field of a whole number. It is not ok when the value is none.
func (e *Event) setWhole(is known, n uint64, ok bool) {
	switch is {
	case rowsSent:
		e.RowsSent = n
	case rowsExamined:
		e.RowsExamined = n
	case rowsAffected:
		e.RowsAffected, e.HasAffected = n, ok
	case bytesSent:
		e.BytesSent = n
	case threadID:
		e.ThreadID = n
	}
}

// A value is an attribute of an event. It holds no pointer, so that the garbage
// collector need not scan the many there are.
type value struct {
	id   uint16
	is   valueKind
	size uint32 // of text, bytes
	bits uint64 // of a number, a float64; of text, where it begins in the head
}

type valueKind uint8

const (
	isText valueKind = iota
	isNumber
	isYes
	isNo
)

func (v *value) number() float64      { return math.Float64frombits(v.bits) }
func (v *value) text(e *Event) []byte { return e.head[v.bits:][:v.size] }

// valueOf returns the value of an attribute that lies there in the head.
func valueOf(id uint16, head []byte, from, to int, v *decimal) value {
	if v.ok {
		return value{id: id, is: isNumber, bits: math.Float64bits(v.float())}
	}
	switch string(head[from:to]) {
	case "Yes":
		return value{id: id, is: isYes}
	case "No":
		return value{id: id, is: isNo}
	}
	return value{id: id, size: uint32(to - from), bits: uint64(from)}
}
