// Package chunk encodes samples as the run file keeps them: a tick of one source while it
// is recorded ([AppendTick]), and afterwards the columns of at most a minute of ticks
// ([Append]). What cannot be read is an error, never a wrong value, and takes no more
// memory than [MaxRaw].
package chunk

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// version is the first byte of a chunk, before compression.
//
// Version 1: version; number of ticks T and of series S, as unsigned varints; the
// time of each tick in nanoseconds, as signed varints: the first as it is, the
// second as difference from the first, each further one as difference of its
// difference. Then for each series, by id: id minus the last one's (the first
// from 0), as unsigned varint; a form byte; when bit 7 of the form is set, T bits
// in ⌈T/8⌉ bytes, lowest first, set where the series has a value at the tick;
// then its values. The low 7 bits of the form say how:
//
//	0..9  decimal: signed varint of v·10^form minus that of the value before
//	32    bits: 8 bytes, little-endian, of float64 XOR that of the value before
//
// The value before the first is 0. A form is used only where it gives back every
// value bit by bit.
const version = 1

const (
	maxDecimal = 9 // the forms up to here are powers of ten
	formBits   = 32
	formMask   = 0x7f
	formSparse = 0x80
)

// MaxRaw is the greatest size of a chunk before compression. The writer keeps to it and
// the reader insists on it, so that a damaged or hostile file cannot ask for much memory. A
// minute of 700 series takes some 150 KiB.
const MaxRaw = 32 << 20

var pow10 = [maxDecimal + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// A Column is the values of one series in a chunk.
type Column struct {
	ID     int64
	Ticks  []uint32 // indices into the times, ascending; parallel to Values
	Values []float64
}

// Append encodes columns, which are sorted by id, over the times of their
// ticks.
func Append(dst []byte, times []time.Duration, columns []Column) []byte {
	dst = append(dst, version)
	dst = binary.AppendUvarint(dst, uint64(len(times)))
	dst = binary.AppendUvarint(dst, uint64(len(columns)))
	var last, diff time.Duration
	for i, t := range times {
		d := t - last
		if i == 0 {
			dst = binary.AppendVarint(dst, int64(d))
		} else {
			dst = binary.AppendVarint(dst, int64(d-diff))
			diff = d
		}
		last = t
	}
	id := int64(0)
	for _, c := range columns {
		dst = binary.AppendUvarint(dst, uint64(c.ID-id))
		id = c.ID
		dst = appendColumn(dst, len(times), c)
	}
	return dst
}

func appendColumn(dst []byte, ticks int, c Column) []byte {
	form := chooseForm(c.Values)
	if len(c.Values) == ticks {
		dst = append(dst, form)
	} else {
		dst = append(dst, form|formSparse)
		at := len(dst)
		dst = append(dst, make([]byte, (ticks+7)/8)...)
		for _, t := range c.Ticks {
			dst[at+int(t/8)] |= 1 << (t % 8)
		}
	}
	if form == formBits {
		last := uint64(0)
		for _, v := range c.Values {
			b := math.Float64bits(v)
			dst = binary.LittleEndian.AppendUint64(dst, b^last)
			last = b
		}
		return dst
	}
	last := int64(0)
	for _, v := range c.Values {
		n, _ := toInt(v, form)
		dst = binary.AppendVarint(dst, n-last)
		last = n
	}
	return dst
}

// chooseForm returns the first form that gives back every value.
func chooseForm(values []float64) byte {
	form := byte(0)
	for i := 0; i < len(values); i++ {
		if _, ok := toInt(values[i], form); ok {
			continue
		}
		if form == maxDecimal {
			return formBits
		}
		form++
		i = -1 // begin again with the next form
	}
	return form
}

// maxExact bounds the integers that every form keeps apart: 2^53.
const maxExact = 1 << 53

// toInt returns the integer that stands for v in a decimal form, and whether
// fromInt gives v back from it.
func toInt(v float64, form byte) (int64, bool) {
	scaled := v * pow10[form]
	if !(scaled > -maxExact && scaled < maxExact) { // NaN, too
		return 0, false
	}
	n := int64(math.RoundToEven(scaled))
	return n, math.Float64bits(fromInt(n, form)) == math.Float64bits(v)
}

func fromInt(n int64, form byte) float64 { return float64(n) / pow10[form] }

// A head is what a chunk says of itself before its series.
type head struct {
	times  []time.Duration
	series int
}

// EachColumn decodes a chunk and calls do for each series in it. The slices of
// the column are valid until do returns; an error of do ends it.
func EachColumn(raw []byte, do func(times []time.Duration, c Column) error) error {
	_, err := eachColumn(raw, do)
	return err
}

func eachColumn(raw []byte, do func(times []time.Duration, c Column) error) (head, error) {
	d := decoder{b: raw}
	var h head
	if v := d.byte(); v != version && d.err == nil {
		return h, fmt.Errorf("chunk has format %d, want %d", v, version)
	}
	ticks := d.uvarint()
	series := d.uvarint()
	if ticks > uint64(len(d.b)) || series > uint64(len(d.b)) {
		d.fail("counts beyond the data")
		return h, d.err
	}
	h.series = int(series)
	h.times = decodeTimes(&d, int(ticks))
	c := Column{}
	for range h.series {
		c.ID += int64(d.uvarint() & math.MaxInt64)
		decodeColumn(&d, len(h.times), &c)
		if d.err != nil {
			return h, d.err
		}
		if err := do(h.times, c); err != nil {
			return h, err
		}
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail("bytes after the last series")
	}
	return h, d.err
}

func decodeTimes(d *decoder, n int) []time.Duration {
	times := make([]time.Duration, 0, n)
	var last, diff time.Duration
	for i := range n {
		v := time.Duration(d.varint())
		if i > 0 {
			diff += v
			v = diff
		}
		last += v
		times = append(times, last)
	}
	return times
}

// decodeColumn takes one column off d, into c's memory.
func decodeColumn(d *decoder, ticks int, c *Column) {
	form := d.byte()
	c.Ticks = c.Ticks[:0]
	if form&formSparse == 0 {
		for t := range ticks {
			c.Ticks = append(c.Ticks, uint32(t))
		}
	} else {
		for i, b := range d.take((ticks + 7) / 8) {
			for ; b != 0; b &= b - 1 {
				c.Ticks = append(c.Ticks, uint32(i*8+bits.TrailingZeros8(b)))
			}
		}
	}
	if n := len(c.Ticks); n > 0 && int(c.Ticks[n-1]) >= ticks || n > len(d.b) {
		d.fail("values beyond the ticks or the data")
		return
	}
	form &= formMask
	c.Values = slices.Grow(c.Values[:0], len(c.Ticks))
	switch {
	case form == formBits:
		last := uint64(0)
		for range c.Ticks {
			last ^= d.uint64()
			c.Values = append(c.Values, math.Float64frombits(last))
		}
	case form <= maxDecimal:
		last := int64(0)
		for range c.Ticks {
			last += d.varint()
			c.Values = append(c.Values, fromInt(last, form))
		}
	default:
		d.fail("unknown form of values")
	}
}

// NewCompressor returns a compressor whose frames carry a checksum of their
// content (RFC 8878, 3.1.1).
func NewCompressor() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdWindow), zstd.WithEncoderCRC(true))
}

// NewDecompressor returns a decompressor that refuses what takes more than [MaxRaw].
func NewDecompressor() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(MaxRaw))
}

// zstdWindow is how far back the compressor looks. Series repeat their own
// pattern within a few hundred bytes; 256 KiB keeps the memory of the recorder
// small.
const zstdWindow = 256 << 10
