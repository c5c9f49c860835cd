package applog

import (
	"bytes"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// Options define whose log it is and how it is placed in a run.
type Options struct {
	Host, Path string // kept in the messages

	// Clock returns when the byte at an offset of the window was written, on
	// the run's clock. Without one, messages have no seconds and span the
	// whole interval.
	Clock func(offset int64) time.Duration

	// Interval is the run; lines beyond it by more than a second, which is
	// how exact the clock is, are counted but make no message. An empty one has
	// no bounds.
	Interval kasoku.Interval
}

// maxText is how many bytes of a line are looked at: longer than any message
// and than all but bulk inserts, whose first rows are enough.
const maxText = 64 << 10

// maxJoined bounds an entry that several lines make up, in bytes. Statements of
// several lines are short.
const maxJoined = 8 << 10

// Read reads all lines of the window into a table. It fails when the lines
// cannot be read; the table then holds those that could.
func Read(w *lines.Window, o Options) (*Table, error) {
	r := reader{src: w, o: o, table: newTable(o), seen: map[string]*kasoku.Message{}}
	for w.Scan() {
		r.lineContained(w.Bytes())
	}
	_ = contain.Run(appPart, r.flush)
	if err := w.Err(); err != nil {
		return r.table, fmt.Errorf("application log %s: %w", o.Path, err)
	}
	return r.table, nil
}

var appPart = contain.Part{Kind: contain.Log, Name: "application log"}

// lineContained takes the next line; one that makes the parser panic is dropped, and so
// is the entry before it, which may be half done.
func (r *reader) lineContained(line []byte) {
	a := &r.table.account
	before, offset := *a, r.src.Offset()
	if contain.RunAt(appPart, &offset, func() { r.line(line) }) == nil {
		return
	}
	r.cur.active = false
	*a = before
	a.Lines++
	if r.src.Truncated() {
		a.Cut++
	}
	a.Drop(1, r.src.Line(), line, logs.Bug)
}

// An entry is a message in the making: its first line and what follows of it.
type entry struct {
	active bool
	text   []byte // without time and level; joined with further lines where they matter
	level  level
	code   [4]byte // of further lines
	bytes  uint64  // of the log
	offset int64
	verb   int   // where a statement may start in text, -1 for nowhere
	trace  trace // the lines that follow may be frames
	nginx  bool  // of nginx's error log
	source bool  // the text is only a place in a source file; the message follows
}

// A trace is the language of the stack trace that an entry has.
type trace uint8

const (
	noTrace trace = iota
	goTrace
	pythonTrace
)

type reader struct {
	src   *lines.Window
	o     Options
	table *Table
	cur   entry
	plain []byte // a line without escape sequences
	inner []byte // a line within a line
	parse fields

	shaper  sqlshape.Shaper
	masked  []byte
	pattern []byte
	seen    map[string]*kasoku.Message // by the pattern before secrets are masked
}

// line takes the next line of the log.
func (r *reader) line(line []byte) {
	a := &r.table.account
	a.Lines++
	if r.src.Truncated() {
		a.Cut++
	}
	line = bytes.TrimLeft(line[:min(len(line), maxText)], "\x00") // truncated in place, a log starts with a hole
	if isBinary(line) {
		a.Drop(1, r.src.Line(), line, "not text")
		return
	}
	if bytes.IndexByte(line, 0x1b) >= 0 {
		r.plain = logs.AppendWithoutEscapes(r.plain[:0], line)
		line = r.plain
	}
	if len(bytes.TrimSpace(line)) == 0 {
		a.Blank++
		return
	}
	if level, text, ok := nginxLine(r.inner[:0], line); ok {
		r.inner = text
		r.table.forms[nginxErrors]++
		r.startNginx(level, text)
		return
	}
	form := plainText
	var level level
	if r.parse.json(line) {
		form, level = jsonLines, r.parse.levelOf()
		line = r.parse.text()
	} else if r.parse.logfmt(line) {
		form, level = logfmt, r.parse.levelOf()
		line = r.parse.text()
	}
	r.table.forms[form]++
	if (form == plainText || r.parse.nested) && r.goesOn(line) {
		a.Continued++
		return
	}
	r.start(line, level, form)
}

// start begins a new entry with the line.
func (r *reader) start(line []byte, stated level, form form) {
	r.flush()
	r.table.account.Records++
	e := &r.cur
	*e = entry{active: true, text: e.text[:0], offset: r.src.Offset(), bytes: uint64(r.src.Width()), verb: -1}
	rest, level, _ := stripHead(line)
	if form == plainText || r.parse.nested { // fields after a time, or inside of Docker's
		r.inner = append(r.inner[:0], rest...)
		if r.parse.json(r.inner) || r.parse.logfmt(r.inner) {
			stated, rest = r.parse.levelOf(), r.parse.text()
		}
	}
	if stated == unknown {
		stated = level
	}
	e.level = stated
	e.text = append(e.text, rest...)
	e.source = isSource(rest)
	e.verb = findVerb(rest, 0)
	switch {
	case bytes.HasPrefix(rest, []byte("Traceback (")):
		e.trace = pythonTrace
	case bytes.Contains(rest[:min(len(rest), 200)], []byte("panic")) || bytes.HasPrefix(rest, []byte("fatal error: ")):
		e.trace = goTrace
	}
}

// flush adds the entry to the table.
func (r *reader) flush() {
	e := &r.cur
	if !e.active {
		return
	}
	e.active = false
	at, inside := r.place(e.offset)
	if !inside {
		r.table.outside++
		return
	}
	m := r.message()
	m.Count++
	m.Bytes += e.bytes
	if r.o.Clock == nil {
		m.First, m.Last = r.o.Interval.From, max(r.o.Interval.From, r.o.Interval.To-1)
		return
	}
	if m.Count == 1 || at < m.First {
		m.First = at
	}
	m.Last = max(m.Last, at)
	if m.Seconds == nil {
		m.Seconds = map[int]uint64{}
	}
	m.Seconds[int(at/time.Second)]++
}

// place returns when the byte at the offset was written, and whether that was
// in the run.
func (r *reader) place(offset int64) (time.Duration, bool) {
	if r.o.Clock == nil {
		return 0, true
	}
	at, iv := r.o.Clock(offset), r.o.Interval
	if !iv.Empty() && at >= iv.To && at < iv.To+time.Second {
		at = iv.To - 1
	}
	return logs.Place(iv, at, time.Second)
}

// message returns the message that the entry belongs to.
func (r *reader) message() *kasoku.Message {
	e := &r.cur
	if e.nginx {
		return r.nginxMessage()
	}
	start, end := len(e.text), len(e.text)
	isSQL := false
	if e.verb >= 0 {
		if from, to, ok := findSQL(e.text, e.verb); ok {
			start, end, isSQL = from, to, true
		}
	}
	head, sql, tail := e.text[:start], e.text[start:end], e.text[end:]
	if start > 0 && end < len(e.text) && e.text[start-1] == '"' && e.text[end] == '"' {
		r.inner = appendUnescaped(r.inner[:0], sql)
		sql = r.inner
	}
	code, stated := findCode(head)
	if !stated {
		code, stated = findCode(tail)
	}
	if !stated && e.code[0] != 0 {
		code, stated = e.code, true
	}
	level := e.level
	if level == unknown {
		level = guessLevel(head, stated)
	}
	key := append(r.pattern[:0], byte(level), 0)
	if isSQL {
		key[1] = 1
	}
	key = append(key, code[:]...)
	body := len(key)
	switch {
	case isSQL && !stated && level != failure: // one pattern for each shape
		key = append(key, r.fingerprint(sql)...)
	case isSQL:
		key = append(appendPattern(key, head), ' ')
		key = append(append(key, r.fingerprint(sql)...), ' ')
		key = appendPattern(key, withoutArguments(tail))
	default:
		key = appendPattern(key, head)
	}
	r.pattern = key
	if m := r.seen[string(key)]; m != nil {
		return m
	}
	k := id{host: r.o.Host, path: r.o.Path, level: level.String(), sql: isSQL, pattern: safeText(key[body:], maxPattern)}
	if stated {
		k.code = string(code[:])
	}
	return r.remember(key, k, head, sql, tail)
}

// remember finds or makes the message in the table, and keeps it under its raw
// pattern.
func (r *reader) remember(raw []byte, k id, head, sql, tail []byte) *kasoku.Message {
	m, folded := r.table.message(k)
	if m.Sample == "" {
		r.masked = append(r.masked[:0], head...)
		if len(sql) > 0 {
			r.masked = sqlshape.AppendMasked(r.masked, sql, maxSample)
			r.masked = appendPattern(r.masked, withoutArguments(tail))
		}
		m.Sample = safeText(r.masked, maxSample)
	}
	if folded || len(r.seen) >= maxSeen {
		clear(r.seen)
	}
	r.seen[string(raw)] = m
	return m
}

// maxSeen bounds the raw patterns that are remembered.
const maxSeen = 8 * maxPatterns

// fingerprint returns the statement's shape, which holds no part of a literal:
// where the fingerprint may misread a quote, the literals are masked first.
func (r *reader) fingerprint(sql []byte) []byte {
	if bytes.IndexByte(sql, '\\') < 0 && !bytes.Contains(sql, []byte("''")) && !bytes.Contains(sql, []byte(`""`)) {
		if fp := r.shaper.Fingerprint(sql); !bytes.ContainsAny(fp, `'"`) {
			return bytes.TrimSpace(fp[:min(len(fp), 4*maxPattern)])
		}
	}
	r.masked = sqlshape.AppendMasked(r.masked[:0], sql, 4*maxPattern)
	plain := bytes.ReplaceAll(r.masked, []byte("), …"), []byte("), (?)")) // rows, as the fingerprint knows them
	plain = bytes.ReplaceAll(plain, []byte(", …"), nil)
	return bytes.TrimSpace(r.shaper.Fingerprint(plain))
}

// isBinary reports whether a line is no text: at least a tenth of its start are
// control bytes.
func isBinary(line []byte) bool {
	line = line[:min(len(line), 512)]
	bad := 0
	for _, c := range line {
		if c < ' ' && c != '\t' && c != '\r' && c != '\f' && c != 0x1b {
			bad++
		}
	}
	return bad*10 > len(line)
}
