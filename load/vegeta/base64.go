package vegeta

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
)

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// A base64Encoder writes what base64.StdEncoding writes, about three times as
// fast: a table has the two letters of each 12 bits. It is empty until first
// used.
type base64Encoder struct{ pairs []uint16 }

func (e *base64Encoder) init() {
	e.pairs = make([]uint16, 1<<12)
	for i := range e.pairs {
		e.pairs[i] = uint16(letters[i>>6]) | uint16(letters[i&63])<<8
	}
}

// append appends src, six bytes to eight letters at a time as long as it can
// read eight.
func (e *base64Encoder) append(dst, src []byte) []byte {
	if e.pairs == nil {
		e.init()
	}
	n := base64.StdEncoding.EncodedLen(len(src))
	dst = slices.Grow(dst, n)
	out := dst[len(dst) : len(dst)+n]
	dst = dst[:len(dst)+n]
	t := (*[1 << 12]uint16)(e.pairs)
	for len(src) >= 8 && len(out) >= 8 {
		x := binary.BigEndian.Uint64(src)
		binary.LittleEndian.PutUint64(out,
			uint64(t[x>>52])|uint64(t[x>>40&0xfff])<<16|uint64(t[x>>28&0xfff])<<32|uint64(t[x>>16&0xfff])<<48)
		src, out = src[6:], out[8:]
	}
	base64.StdEncoding.Encode(out, src)
	return dst
}

// A base64Decoder reads what base64.StdEncoding reads, about twice as fast: a
// table for each of four letters has their bits in place. It is empty until
// first used.
type base64Decoder struct{ places *[4][256]uint32 }

const noLetter = 1 << 24 // above the bits of four letters

func (d *base64Decoder) init() {
	d.places = &[4][256]uint32{}
	for i := range d.places {
		for c := range d.places[i] {
			d.places[i][c] = noLetter
		}
		for n := range uint32(64) {
			d.places[i][letters[n]] = n << (18 - 6*i)
		}
	}
}

// append appends what src stands for. From the first eight bytes on that are
// not all letters, such as the last ones, it leaves the work to encoding/base64.
func (d *base64Decoder) append(dst, src []byte) ([]byte, error) {
	if d.places == nil {
		d.init()
	}
	dst = slices.Grow(dst, base64.StdEncoding.DecodedLen(len(src))+8)
	out := dst[len(dst):cap(dst)]
	n := 0
	t := d.places
	for len(src) >= 8 && len(out) >= n+8 {
		a := t[0][src[0]] | t[1][src[1]] | t[2][src[2]] | t[3][src[3]]
		b := t[0][src[4]] | t[1][src[5]] | t[2][src[6]] | t[3][src[7]]
		if a|b >= noLetter {
			break
		}
		binary.BigEndian.PutUint64(out[n:], uint64(a)<<40|uint64(b)<<16)
		src = src[8:]
		n += 6
	}
	return base64.StdEncoding.AppendDecode(dst[:len(dst)+n], src)
}
