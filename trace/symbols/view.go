package symbols

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

const (
	blockSize  = 16 << 10
	mostBlocks = 64
)

// errBounds means that a file points outside of itself.
var errBounds = errors.New("it points outside of itself")

// A view reads a file in blocks, of which it keeps some. Not safe for concurrent use.
type view struct {
	r      io.ReaderAt
	size   uint64
	blocks [mostBlocks]struct {
		number uint64 // of the block plus one; 0: none
		data   []byte
	}
}

func newView(r io.ReaderAt, size int64) *view { return &view{r: r, size: uint64(max(size, 0))} }

// block returns the block that an offset lies in, from the offset on.
func (v *view) block(at uint64) ([]byte, error) {
	if at >= v.size {
		return nil, errBounds
	}
	number := at / blockSize
	b := &v.blocks[number%mostBlocks]
	if b.number != number+1 {
		if b.data == nil {
			b.data = make([]byte, blockSize)
		}
		b.number = 0
		n, err := v.r.ReadAt(b.data[:blockSize], int64(number*blockSize))
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		b.data, b.number = b.data[:n], number+1
	}
	if at-number*blockSize >= uint64(len(b.data)) {
		return nil, io.ErrUnexpectedEOF
	}
	return b.data[at-number*blockSize:], nil
}

// fill reads len(to) bytes.
func (v *view) fill(to []byte, at uint64) error {
	for len(to) > 0 {
		b, err := v.block(at)
		if err != nil {
			return err
		}
		n := copy(to, b)
		to, at = to[n:], at+uint64(n)
	}
	return nil
}

func (v *view) u32(at uint64) (uint32, error) {
	var b [4]byte
	err := v.fill(b[:], at)
	return binary.LittleEndian.Uint32(b[:]), err
}

func (v *view) u64(at uint64) (uint64, error) {
	var b [8]byte
	err := v.fill(b[:], at)
	return binary.LittleEndian.Uint64(b[:]), err
}

// text reads what ends with a zero byte, cut to most bytes; whole reports whether it was not.
func (v *view) text(at uint64, most int) (s string, whole bool) {
	var out []byte
	for len(out) < most {
		b, err := v.block(at)
		if err != nil {
			return string(out), false
		}
		if end := bytes.IndexByte(b, 0); end >= 0 {
			if out = append(out, b[:end]...); len(out) <= most {
				return string(out), true
			}
			break
		}
		out, at = append(out, b...), at+uint64(len(b))
	}
	return string(out[:most]), false
}
