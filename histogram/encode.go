package histogram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// version is the first byte of the encoding.
//
// Version 1: version, count; and when count is not 0: sum (high and low 64
// bits), min, max-min, number of filled buckets; then for each filled bucket,
// from the shortest, 2·skipped + many, where skipped is the number of empty
// buckets since the last filled one and many is 1 when the bucket's count is
// above 1, and in that case also count-2. All numbers are unsigned varints of least length.
const version = 1

// AppendBinary appends the encoding to dst. It takes about a byte for each
// filled bucket and never fails; the error is there for
// [encoding.BinaryAppender]. A nil histogram is encoded as an empty one.
func (h *Histogram) AppendBinary(dst []byte) ([]byte, error) {
	dst = append(dst, version)
	if h == nil || h.count == 0 {
		return append(dst, 0), nil
	}
	var filled uint64
	h.each(func(uint, uint64) bool { filled++; return true })
	for _, v := range [...]uint64{h.count, h.sumHi, h.sumLo, h.min, h.max - h.min, filled} {
		dst = binary.AppendUvarint(dst, v)
	}
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
	if b[0] != version {
		return fmt.Errorf("version %d, want %d", b[0], version)
	}
	d := decoder{b: b[1:]}
	h.count = d.uvarint()
	if h.count > 0 {
		h.sumHi, h.sumLo, h.min = d.uvarint(), d.uvarint(), d.uvarint()
		span, filled := d.uvarint(), d.uvarint()
		if h.min > math.MaxInt64 || span > math.MaxInt64-h.min {
			d.fail("value beyond 2^63-1 ns")
		}
		h.max = h.min + span
		h.decodeBuckets(&d, filled)
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail(fmt.Sprintf("%d bytes too many", len(d.b)))
	}
	return d.err
}

// decodeBuckets reads the counts and checks that they agree with the totals.
func (h *Histogram) decodeBuckets(d *decoder, filled uint64) {
	if filled == 0 || filled > buckets {
		d.fail(fmt.Sprintf("%d filled buckets", filled))
	}
	var first, next uint
	var total uint64
	var least, most wide
	for i := uint64(0); i < filled && d.err == nil; i++ {
		token := d.uvarint()
		n := uint64(1)
		if token&1 == 1 {
			n = d.uvarint() + 2
		}
		skip := token >> 1
		if skip >= buckets-uint64(next) {
			d.fail("bucket out of range")
			break
		}
		if n == 0 || n == 1 && token&1 == 1 || total+n < total {
			d.fail("count out of range")
			break
		}
		bkt := next + uint(skip)
		if i == 0 {
			first = bkt
		}
		next = bkt + 1
		total += n
		h.addBucket(bkt, n)
		lo, width := bounds(bkt)
		least.add(max(lo, h.min), n)
		most.add(min(lo+width-1, h.max), n)
	}
	if d.err != nil {
		return
	}
	sum := wide{h.sumHi, h.sumLo}
	switch {
	case total != h.count:
		d.fail(fmt.Sprintf("counts add up to %d, not %d", total, h.count))
	case first != bucketOf(h.min) || next-1 != bucketOf(h.max):
		d.fail("least and greatest value lie outside the buckets")
	case sum.less(least) || most.less(sum):
		d.fail("sum does not fit the counts")
	}
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
