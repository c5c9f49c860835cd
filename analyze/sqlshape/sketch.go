package sqlshape

import (
	"encoding/binary"
	"math/bits"
)

// A Sketch tells statements apart without their fingerprint, in a fraction of
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
	k.Key = keyOf(q)
	return k
}

// WithTag returns the key of a statement that is told apart from others of its
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

// mix folds the product of two words, of which one depends on x.
func mix(h, x uint64) uint64 {
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
	return mix(mixRun(h, b), stepB)
}

// mixRun adds bytes to a hash, and their number.
func mixRun(h uint64, b []byte) uint64 {
	n := len(b)
	if n >= 8 {
		last := binary.LittleEndian.Uint64(b[n-8:])
		for len(b) > 8 {
			h = mix(h, binary.LittleEndian.Uint64(b))
			b = b[8:]
		}
		return mix(h+uint64(n)*stepB, last)
	}
	var x uint64
	switch {
	case n >= 4:
		x = uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*uint(n-4))
	case n > 0:
		x = uint64(b[0]) | uint64(b[n/2])<<(8*uint(n/2)) | uint64(b[n-1])<<(8*uint(n-1))
	}
	return mix(h, x^uint64(n)<<56)
}

// keyOf hashes what is left of a prepared statement when strings, numbers and
// lists of them are replaced by marks. All later steps of a fingerprint see of
// those no more than the marks tell, so statements with the same key have the
// same fingerprint:
//
//   - a string becomes one ?, whatever is in it;
//   - so does a number. Whether the words true, false and null next to it are
//     words of their own depends on its first and its last byte being parts of words;
//   - the lists behind in, value and values become (?+).
func keyOf(q []byte) uint64 {
	h := uint64(keySeed)
	lit := literals{more: true}
	for i := 0; i < len(q); {
		from := i
		for i < len(q) && !tab.stop[q[i]] {
			i++
		}
		if i > from {
			h = mixRun(h, q[from:i])
		}
		if i == len(q) {
			break
		}
		if q[i] == '(' {
			if end := lit.lists(q, i); end > 0 {
				h, i = mix(h, listMark), end
				continue
			}
		} else if mark, end := lit.at(q, i); end > 0 {
			h, i = mix(h, mark), end
			continue
		}
		h = mix(h, uint64(q[i])|1<<48)
		i++
	}
	return h
}

// literals finds strings as [Shaper.strings] does, and numbers.
type literals struct {
	from int  // no string opens before the byte behind this one
	more bool // strings may follow
}

// at returns the mark and the end of the literal that starts at i; the end is 0
// when none does.
func (l *literals) at(q []byte, i int) (mark uint64, end int) {
	if q[i] != '\'' {
		end = numberEnd(q, i)
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
	end = stringEnd(q, i)
	if end == 0 {
		l.more = false
		return 0, 0
	}
	l.from = end
	return stringMark, end
}

// lists returns the end of the lists of literals that start with the parenthesis
// at open, 0 when it is none behind in, value or values, or holds more.
func (l *literals) lists(q []byte, open int) int {
	if !behindListWord(q, open) {
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

// behindListWord reports whether the word in, value or values stands before the
// parenthesis, in any case.
func behindListWord(q []byte, open int) bool {
	end := open
	for end > 0 && (isSpace(q[end-1]) || q[end-1] == ',') {
		end--
	}
	for _, w := range [...]string{"in", "values", "value"} {
		start := end - len(w)
		if start >= 0 && tab.lower[q[end-1]] == w[len(w)-1] && hasFold(q[start:], w) && (start == 0 || !isWord(q[start-1])) {
			return true
		}
	}
	return false
}
