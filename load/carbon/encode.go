package carbon

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/kasoku/kasoku/wire/graphite"
)

// valueCount is how many values there are: 0 to 999, as haggar's.
const valueCount = 1000

// A value in the forms in which it is sent.
type value struct {
	text   [4]byte // " 42"
	n      uint8   // of its bytes
	pickle [10]byte
}

// values are made once: a point's value costs two copies.
var values = func() (all [valueCount]value) {
	for i := range all {
		v := &all[i]
		v.n = uint8(copy(v.text[:], " "+strconv.Itoa(i)))
		binary.BigEndian.PutUint64(v.pickle[:], math.Float64bits(float64(i)))
		v.pickle[8], v.pickle[9] = 0x86, 0x86 // (time, value), and that with the path: two pairs
	}
	return all
}()

// An encoder writes the points of a slot, one series after the other. It holds nothing of
// them: the name and the number of what is left are all of its state.
type encoder struct {
	name   seriesName
	left   int    // series
	random uint64 // never 0

	line, lineOld     []byte // " 1795163619\n": the end of a line; with a time that lies before
	pickle, pickleOld []byte // J, the time, G

	oldShare, oldSum float64 // of points whose time lies before
}

// begin makes the encoder write n series from the number first on, at that time.
func (e *encoder) begin(first, n int, epoch, old int64) {
	e.name.set(first)
	e.left = n
	e.line, e.pickle = stampsOf(e.line[:0], e.pickle[:0], epoch)
	if e.oldShare > 0 {
		e.lineOld, e.pickleOld = stampsOf(e.lineOld[:0], e.pickleOld[:0], old)
	}
}

// stampsOf appends a time in both forms. Carbon's times end in 2106, those of a pickle's
// four bytes in 2038.
func stampsOf(line, pickle []byte, epoch int64) ([]byte, []byte) {
	line = append(strconv.AppendInt(append(line, ' '), epoch, 10), '\n')
	if epoch == int64(int32(epoch)) {
		pickle = binary.LittleEndian.AppendUint32(append(pickle, 'J'), uint32(int32(epoch)))
	} else {
		pickle = binary.LittleEndian.AppendUint64(append(pickle, 0x8a, 8), uint64(epoch))
	}
	return line, append(pickle, 'G')
}

// draw returns the next value, by Marsaglia's xorshift (2003): even enough for a load.
func (e *encoder) draw() *value {
	x := e.random
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	e.random = x
	return &values[(x>>32)*valueCount>>32]
}

// isOld reports whether the time of the next point lies before that of the last one.
func (e *encoder) isOld() bool {
	if e.oldSum += e.oldShare; e.oldSum < 1 {
		return false
	}
	e.oldSum--
	return true
}

// appendLines appends lines until there is no series left or no room for one more below
// limit bytes; at least one.
func (e *encoder) appendLines(dst []byte, limit int) (_ []byte, points int) {
	before := e.left
	for e.left > 0 {
		dst = append(dst, e.name.buf...)
		v := e.draw()
		dst = append(dst, v.text[:v.n]...)
		if e.oldShare > 0 && e.isOld() {
			dst = append(dst, e.lineOld...)
		} else {
			dst = append(dst, e.line...)
		}
		e.name.next()
		e.left--
		if len(dst)+len(e.name.buf)+len(v.text)+len(e.line) > limit {
			break
		}
	}
	return dst, before - e.left
}

// perMessage is how many points a pickled message has at most, as carbon's relay sends
// them (MAX_DATAPOINTS_PER_MESSAGE).
const perMessage = 500

// appendMessage appends one pickled message with its length before it.
func (e *encoder) appendMessage(dst []byte) (_ []byte, points int) {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = append(dst, graphite.PickleHead...)
	n := min(e.left, perMessage,
		(graphite.MaxMessage-64)/(len(e.name.buf)+32)) // of series whose numbers grow by a digit
	for range n {
		dst = append(dst, 'X')
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(e.name.buf)))
		dst = append(dst, e.name.buf...)
		if e.oldShare > 0 && e.isOld() {
			dst = append(dst, e.pickleOld...)
		} else {
			dst = append(dst, e.pickle...)
		}
		dst = append(dst, e.draw().pickle[:]...)
		e.name.next()
	}
	e.left -= n
	dst = append(dst, graphite.PickleTail...)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, n
}

// appendPoints appends as many points as a write takes, about limit bytes.
func (e *encoder) appendPoints(dst []byte, p graphite.Protocol, limit int) (_ []byte, points int) {
	if p != graphite.Pickle {
		return e.appendLines(dst, limit)
	}
	for e.left > 0 && (points == 0 || len(dst) < limit) {
		var n int
		dst, n = e.appendMessage(dst)
		points += n
	}
	return dst, points
}
