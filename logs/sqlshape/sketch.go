package sqlshape

import (
	"encoding/binary"
	"math/bits"
)

// A Sketch distinguishes statements without their fingerprint, in a fraction of
// its time.
type Sketch struct {
	// Key is the same for statements of which only the literals differ. Those
	// with the same key have the same fingerprint; one fingerprint can have many
	// keys, as there are ways to write it.
	Key uint64
	// Text is the same for the same text, block comments aside, from one run of
	// the program to the next.
	Text uint64
	// Rows means that the statement writes several rows.
	Rows bool
	// Commented means that the statement holds a block comment or what looks
	// like one.
	Commented bool
}

// Sketch returns the sketch of a statement.
func (s *Shaper) Sketch(sql []byte) Sketch {
	if k, ok := plainSketch(sql); ok {
		return k
	}
	if k, ok := s.commentedSketch(sql); ok {
		return k
	}
	q, whole := s.prepare(sql)
	k := Sketch{Rows: s.cut, Commented: s.commented}
	if s.commented && !s.cut && !whole {
		k.Text = hashOf(q, textSeed)
	} else {
		k.Text = hashOf(sql, textSeed)
	}
	if whole {
		k.Key = hashOf(q, wholeSeed)
		return k
	}
	k.Key, _ = keyOf(q, false)
	return k
}

// plainSketch is the sketch of a statement of which nothing goes before its
// strings do: no comment, no escape, no double quote.
func plainSketch(sql []byte) (k Sketch, ok bool) {
	if !isPlain(sql) {
		return k, false
	}
	q := sql
	if c := tab.lower[sql[0]]; c == 'i' || c == 'r' { // INSERT, REPLACE
		if q = firstRow(sql); len(q) < len(sql) {
			if hasPair(sql[len(q):], '/', '*') {
				return k, false
			}
			k.Rows = true
		}
	}
	if k.Key, ok = keyOf(q, true); ok {
		k.Text = hashOf(sql, textSeed)
	}
	return k, ok
}

// isPlain reports whether the statement starts so that its fingerprint is no
// special case: it is no administrator command, USE or CALL.
func isPlain(sql []byte) bool {
	if len(sql) < 2 || isSpace(sql[0]) {
		return false
	}
	switch tab.lower[sql[0]] {
	case 'a', 'u', 'c':
		second := tab.lower[sql[1]]
		return second == 'p' || second == 'o' // UPDATE, COMMIT
	}
	return true
}

// commentedSketch is the sketch of a statement of which nothing but block comments
// goes before its strings do. As they may stand in front of its first word, it has
// to start with one.
func (s *Shaper) commentedSketch(sql []byte) (k Sketch, ok bool) {
	if !isPlain(sql) || !hasPair(sql, '/', '*') || specialCase(sql) != "" {
		return k, false
	}
	q := firstRow(sql)
	k.Commented, k.Rows = true, len(q) < len(sql)
	q = s.stripBlockComments(q)
	if k.Key, ok = keyOf(q, true); !ok || !isPlain(q) {
		return k, false
	}
	if k.Rows {
		q = sql
	}
	k.Text = hashOf(q, textSeed)
	return k, true
}

// WithTag returns the key of a statement that is distinguished from others of its
// shape by a tag.
func WithTag(key uint64, tag []byte) uint64 { return hashOf(tag, key) }

// Odd constants with as many ones as zeros, and one for each mark of a sketch.
const (
	textSeed  = 0x9e3779b97f4a7c15
	wholeSeed = 0xa0761d6478bd642f
	keySeed   = 0xe7037ed1a0b428db
	stepA     = 0x8ebc6af09c88c6e3
	stepB     = 0x589965cc75374cc3

	stringMark = 0x1d8e4e27c47d124f
	listMark   = 0xeb44accab455d165
	numberMark = 0x3c6ef372fe94f82b // and the next three
)

// mixHash folds the product of two words, of which one depends on x.
func mixHash(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x, stepA)
	return hi ^ lo
}

// hashOf is a hash of bytes after wyhash (Wang Yi, 2019): a product of two words
// at a time.
func hashOf(b []byte, h uint64) uint64 {
	h ^= uint64(len(b)) * stepB
	for len(b) >= 16 {
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(b)^stepA, binary.LittleEndian.Uint64(b[8:])^h)
		h = hi ^ lo
		b = b[16:]
	}
	return mixHash(mixRun(h, b), stepB)
}

// mixRun adds bytes to a hash, and their number.
func mixRun(h uint64, b []byte) uint64 {
	n := len(b)
	if n >= 8 {
		last := binary.LittleEndian.Uint64(b[n-8:])
		for len(b) > 8 {
			h = mixHash(h, binary.LittleEndian.Uint64(b))
			b = b[8:]
		}
		return mixHash(h+uint64(n)*stepB, last)
	}
	var x uint64
	switch {
	case n >= 4:
		x = uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*uint(n-4))
	case n > 0:
		x = uint64(b[0]) | uint64(b[n/2])<<(8*uint(n/2)) | uint64(b[n-1])<<(8*uint(n-1))
	}
	return mixHash(h, x^uint64(n)<<56)
}

// keyOf hashes what is left of a prepared statement when strings, numbers and
// lists of them are replaced by marks. All later steps of a fingerprint see of
// those no more than the marks say, so statements with the same key have the
// same fingerprint:
//
//   - a string becomes one ?, whatever is in it;
//   - so does a number. Whether the words true, false and null next to it are
//     words of their own depends on its first and its last byte being parts of words;
//   - the lists after in, value and values become (?+).
//
// Raw means that the statement was not prepared: ok is false when it would have
// to be.
func keyOf(q []byte, raw bool) (key uint64, ok bool) {
	h := uint64(keySeed)
	lit := literals{more: true, raw: raw}
	stop := &tab.stop
	for i := 0; i < len(q); {
		from := i
		for i+4 <= len(q) && stop[q[i]]|stop[q[i+1]]|stop[q[i+2]]|stop[q[i+3]] == 0 {
			i += 4
		}
		for i < len(q) && stop[q[i]] == 0 {
			i++
		}
		if i > from {
			h = mixRun(h, q[from:i])
		}
		if i == len(q) {
			break
		}
		switch c := q[i]; {
		case c == '(':
			if end := lit.lists(q, i); end > 0 {
				h, i = mixHash(h, listMark), end
				continue
			}
		case tab.class[c] == number || c == '\'':
			if mark, end := lit.at(q, i); end > 0 {
				h, i = mixHash(h, mark), end
				continue
			}
		case raw && (c != '/' || i+1 < len(q) && q[i+1] == '*'):
			return 0, false
		}
		if lit.failed {
			return 0, false
		}
		h = mixHash(h, uint64(q[i])|1<<48)
		i++
	}
	return h, !lit.failed
}

// literals finds strings as [Shaper.strings] does, and numbers.
type literals struct {
	from   int  // no string opens before the byte after this one
	more   bool // strings may follow
	raw    bool // the statement is not prepared
	failed bool // it holds a literal that has to be
}

// at returns the mark and the end of the literal that starts at i; the end is 0
// when none does.
func (l *literals) at(q []byte, i int) (mark uint64, end int) {
	if q[i] != '\'' {
		end = numberEnd(q, i)
		for p := i + 1; l.raw && p < end; p++ {
			l.failed = l.failed || q[p] == '-' && q[p-1] == '-'
		}
		mark = numberMark
		if isDigit(q[i]) {
			mark++
		}
		if isWord(q[end-1]) {
			mark += 2
		}
		return mark, end
	}
	if !l.more || i <= l.from || q[i-1] == '\\' {
		return 0, 0
	}
	if l.raw {
		end = l.plainString(q, i)
	} else {
		end = stringEnd(q, i)
	}
	if end == 0 {
		l.more = false
		return 0, 0
	}
	l.from = end
	return stringMark, end
}

// plainString returns the end of the string at i when nothing but escapes in it
// would have gone before, and fails otherwise. Escapes go in pairs, from the left,
// and none may stand outside of strings; so what is left of the string without
// them ends at the same quote. What looks like a line comment is none when a quote
// stands before the end of its line.
func (l *literals) plainString(q []byte, i int) int {
	inside := &tab.inside
	empty, line := true, i
	for end := i + 1; end < len(q); end++ {
		from := end
		for end+4 <= len(q) && inside[q[end]]|inside[q[end+1]]|inside[q[end+2]]|inside[q[end+3]] == 0 {
			end += 4
		}
		for end < len(q) && inside[q[end]] == 0 {
			end++
		}
		if end == len(q) {
			return 0
		}
		empty = empty && end == from
		c := q[end]
		next := byte(0)
		if end+1 < len(q) {
			next = q[end+1]
		}
		switch {
		case c == '\'':
			if empty && next == '\'' {
				end++
			}
			return end + 1
		case c == '\\' && (next == '\\' || next == '\'' || next == '"'):
			end++
			continue
		case c == '#' || c == '-' && next == '-':
			if end < line { // looked at
				break
			}
			if line = quoteInLine(q, end); line < 0 {
				l.failed = true
				return 0
			}
		case c == '/' && next == '*', c == '"':
			l.failed = true
			return 0
		}
		empty = false
	}
	return 0
}

// quoteInLine returns where the first quote at i or later stands, -1 when the line
// ends before.
func quoteInLine(q []byte, i int) int {
	for ; i < len(q); i++ {
		switch q[i] {
		case '\'', '"':
			return i
		case '\n', '\r':
			return -1
		}
	}
	return -1
}

// lists returns the end of the lists of literals that start with the parenthesis
// at open, 0 when it is none after in, value or values, or holds more.
func (l *literals) lists(q []byte, open int) int {
	if !followsListWord(q, open) {
		return 0
	}
	keep := *l
	end := 0
	for p := open; p < len(q) && q[p] == '('; {
		next := l.list(q, p+1)
		if next == 0 {
			break
		}
		end, keep = next, *l
		for p = end; p < len(q) && (isSpace(q[p]) || q[p] == ','); p++ {
		}
	}
	keep.failed = l.failed
	*l = keep
	return end
}

// list returns the end of the list whose first byte is at i, 0 when it holds
// more than literals.
func (l *literals) list(q []byte, i int) int {
	for i < len(q) {
		switch c := q[i]; {
		case c == ')':
			return i + 1
		case c == ',' || c == '?' || isSpace(c):
			i++
		case isDigit(c):
			from := i
			for i++; i < len(q) && isDigit(q[i]); i++ {
			}
			if i < len(q) && tab.digitish[q[i]] { // as in 1.5 or 0xff
				_, i = l.at(q, from)
			}
		case c == '\'' || tab.class[c] == number:
			_, end := l.at(q, i)
			if end == 0 {
				return 0
			}
			i = end
		default:
			return 0
		}
	}
	return 0
}

// followsListWord reports whether the word in, value or values stands before the
// parenthesis, in any case.
func followsListWord(q []byte, open int) bool {
	end := open
	for end > 0 && (isSpace(q[end-1]) || q[end-1] == ',') {
		end--
	}
	for _, w := range [...]string{"in", "values", "value"} {
		start := end - len(w)
		if start >= 0 && tab.lower[q[end-1]] == w[len(w)-1] && hasFold(q[start:], w) &&
			(start == 0 || !isWord(q[start-1])) {
			return true
		}
	}
	return false
}
