package chunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// castagnoli is the polynomial of CRC-32C (RFC 3720, appendix B.4), for which
// processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns CRC-32C.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// tickVersion is the first byte of a tail row's data.
//
// Version 1: version; number of samples, as unsigned varint; for each sample, in
// the order of the source, the difference of its series' id from the last one's
// (the first from 0), as signed varint, and 8 bytes of float64, little-endian;
// then CRC-32C of all that, 4 bytes, little-endian.
const tickVersion = 1

// AppendTick encodes one tick of one source. ids and values are parallel.
func AppendTick(dst []byte, ids []int64, values []float64) []byte {
	start := len(dst)
	dst = append(dst, tickVersion)
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	last := int64(0)
	for i, id := range ids {
		dst = binary.AppendVarint(dst, id-last)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(values[i]))
		last = id
	}
	return binary.LittleEndian.AppendUint32(dst, Checksum(dst[start:]))
}

// EachSample calls do for each sample of a tail row. It refuses data whose
// checksum does not hold, before the first call.
func EachSample(data []byte, do func(id int64, value float64)) error {
	if len(data) < 4 {
		return errors.New("tick is cut short")
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if Checksum(body) != sum {
		return errors.New("tick has a wrong checksum")
	}
	d := decoder{b: body}
	if v := d.byte(); v != tickVersion && d.err == nil {
		return fmt.Errorf("tick has format %d, want %d", v, tickVersion)
	}
	n := d.count(9)
	id := int64(0)
	for range n {
		id += d.varint()
		v := math.Float64frombits(d.uint64())
		if d.err != nil {
			break
		}
		do(id, v)
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail("bytes after the last sample")
	}
	return d.err
}

// A decoder takes numbers off b. After the first error it gives zeros.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(text string) {
	if d.err == nil {
		d.err = errors.New(text)
	}
	d.b = nil
}

func (d *decoder) take(n int) []byte {
	if n > len(d.b) {
		d.fail("cut short")
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("bad varint")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail("bad varint")
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count takes a number of things of which each takes at least least bytes, and
// refuses one that the rest cannot hold, so that nothing is allocated for it.
func (d *decoder) count(least int) int {
	n := d.uvarint()
	if n > uint64(len(d.b)/least) {
		d.fail("count beyond the data")
		return 0
	}
	return int(n)
}
