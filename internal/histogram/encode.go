package histogram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// The first byte of an encoding is its version. All numbers after it are
// unsigned varints of least length.
//
// Both versions end in counts: how many buckets are filled; then for each of
// them, from the shortest, 2·skipped + many, where skipped is the number of empty
// buckets since the last filled one and many is 1 when the bucket's count is
// above 1, and in that case also count-2.
//
// Version 1: count of all durations; and when it is not 0: sum (high and low 64
// bits), min, max-min, and the counts of the log-linear buckets.
//
// Version 2, of an exact histogram that is not empty: the unit in ns, and the
// counts of its multiples.
const (
	version      = 1
	versionExact = 2
)

// AppendBinary appends the encoding to dst. It takes about a byte for each
// filled bucket and never fails; the error is there for
// [encoding.BinaryAppender]. A nil histogram is encoded as an empty one, and an
// empty one has no unit.
func (h *Histogram) AppendBinary(dst []byte) ([]byte, error) {
	if h == nil || h.count == 0 {
		return append(dst, version, 0), nil
	}
	if h.exact != nil {
		dst = binary.AppendUvarint(append(dst, versionExact), h.unit)
	} else {
		dst = append(dst, version)
		for _, v := range [...]uint64{h.count, h.sumHi, h.sumLo, h.min, h.max - h.min} {
			dst = binary.AppendUvarint(dst, v)
		}
	}
	var filled uint64
	h.each(func(uint, uint64) bool { filled++; return true })
	dst = binary.AppendUvarint(dst, filled)
	next := uint(0)
	h.each(func(b uint, n uint64) bool {
		token := uint64(b-next) << 1
		if n > 1 {
			token |= 1
		}
		dst = binary.AppendUvarint(dst, token)
		if n > 1 {
			dst = binary.AppendUvarint(dst, n-2)
		}
		next = b + 1
		return true
	})
	return dst, nil
}

// MarshalBinary returns the encoding, for [encoding.BinaryMarshaler].
func (h *Histogram) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

// UnmarshalBinary replaces h by the histogram that was encoded. Bytes that
// AppendBinary would not have written are refused, and h is empty then. Whatever
// the bytes, h takes no more memory than a full histogram, about 60 KiB.
func (h *Histogram) UnmarshalBinary(b []byte) error {
	var out Histogram
	err := out.decode(b)
	if err != nil {
		*h = Histogram{}
		return fmt.Errorf("histogram: %w", err)
	}
	*h = out
	return nil
}

func (h *Histogram) decode(b []byte) error {
	if len(b) == 0 {
		return errors.New("no bytes")
	}
	d := decoder{b: b[1:]}
	switch b[0] {
	case version:
		h.decodeBuckets(&d)
	case versionExact:
		h.decodeExact(&d)
	default:
		return fmt.Errorf("version %d, want %d or %d", b[0], version, versionExact)
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail(fmt.Sprintf("%d bytes too many", len(d.b)))
	}
	return d.err
}

// decodeBuckets reads version 1 and checks that the counts agree with the
// totals.
func (h *Histogram) decodeBuckets(d *decoder) {
	h.count = d.uvarint()
	if h.count == 0 {
		return
	}
	h.sumHi, h.sumLo, h.min = d.uvarint(), d.uvarint(), d.uvarint()
	span := d.uvarint()
	if h.min > math.MaxInt64 || span > math.MaxInt64-h.min {
		d.fail("value beyond 2^63-1 ns")
	}
	h.max = h.min + span
	first, last := uint(buckets), uint(0)
	var least, most wide
	encoded := d.b
	total := d.counts(buckets, func(b uint, n uint64) {
		first, last = min(first, b), b
		lo, width := bounds(b)
		least.add(max(lo, h.min), n)
		most.add(min(lo+width-1, h.max), n)
	})
	if d.err != nil {
		return
	}
	sum := wide{h.sumHi, h.sumLo}
	switch {
	case total != h.count:
		d.fail(fmt.Sprintf("counts add up to %d, not %d", total, h.count))
	case first != bucketOf(h.min) || last != bucketOf(h.max):
		d.fail("least and greatest value lie outside the buckets")
	case sum.less(least) || most.less(sum):
		d.fail("sum does not fit the counts")
	default:
		_, filled := binary.Uvarint(encoded)
		h.packed = packed(encoded[filled : len(encoded)-len(d.b)])
	}
}

// decodeExact reads version 2.
func (h *Histogram) decodeExact(d *decoder) {
	h.unit = d.uvarint()
	if d.err == nil && (h.unit == 0 || h.unit > uint64(maxUnit)) {
		d.fail(fmt.Sprintf("unit of %d ns", h.unit))
	}
	if d.err != nil {
		return
	}
	h.exact = newExact(h.unit)
	d.counts(exactMultiples, func(q uint, n uint64) {
		h.RecordN(time.Duration(uint64(q)*h.unit), n)
	})
	if h.exact == nil {
		d.fail("more multiples than an exact histogram holds")
	}
}

// counts reads counts of buckets below limit and returns their sum.
func (d *decoder) counts(limit uint64, f func(b uint, n uint64)) (total uint64) {
	filled := d.uvarint()
	if filled == 0 || filled > limit {
		d.fail(fmt.Sprintf("%d filled buckets", filled))
	}
	next := uint64(0)
	for i := uint64(0); i < filled && d.err == nil; i++ {
		token := d.uvarint()
		n := uint64(1)
		if token&1 == 1 {
			n = d.uvarint() + 2
		}
		skip := token >> 1
		if skip >= limit-next {
			d.fail("bucket out of range")
			break
		}
		if n == 0 || n == 1 && token&1 == 1 || total+n < total {
			d.fail("count out of range")
			break
		}
		next += skip + 1
		total += n
		f(uint(next-1), n)
	}
	return total
}

// wide is an unsigned number of 128 bits.
type wide struct{ hi, lo uint64 }

// add adds v·n; the total of 2^64 durations below 2^63 stays below 2^127.
func (w *wide) add(v, n uint64) {
	hi, lo := bits.Mul64(v, n)
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi += hi + carry
}

func (w wide) less(o wide) bool { return w.hi < o.hi || w.hi == o.hi && w.lo < o.lo }

// decoder takes varints off b; after the first error it gives zeros.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) uvarint() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.b)
	if n <= 0 || n > 1 && d.b[n-1] == 0 { // cut short, too long, or padded
		d.fail("bad varint")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) fail(text string) {
	if d.err == nil {
		d.err = errors.New(text)
	}
}
