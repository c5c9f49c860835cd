package logs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/kasoku/kasoku"
)

// A Part is what was read of one log by a reader elsewhere, as it travels: what there was to read,
// and the table that was made of it, in the encoding of its kind.
type Part struct {
	Window kasoku.LogWindow
	Table  []byte
}

// MaxPart is the most bytes that a part takes.
const MaxPart = 64 << 20

// AppendPart appends a part as [PartReader] reads it.
func AppendPart(dst []byte, p *Part) ([]byte, error) {
	c := NewWriter(nil)
	p.code(c)
	b, err := c.Written()
	if err == nil && len(b) > MaxPart {
		err = fmt.Errorf("a table of %d bytes, at most %d", len(b), MaxPart)
	}
	if err != nil {
		return nil, fmt.Errorf("write what was read of a log: %w", err)
	}
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...), nil
}

func (p *Part) code(c *Coder) {
	c.Window(&p.Window)
	c.Bytes(&p.Table, MaxPart)
}

// A PartReader reads parts one after another. They may be forged: what contradicts itself is an
// error, and a part takes no more memory than its bytes.
type PartReader struct{ r *bufio.Reader }

// NewPartReader reads parts from r.
func NewPartReader(r io.Reader) *PartReader { return &PartReader{bufio.NewReader(r)} }

// Next returns the next part; io.EOF when there is none.
func (r *PartReader) Next() (*Part, error) {
	n, err := r.size()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, fmt.Errorf("read what was read of a log: %w", err)
	case n > MaxPart:
		return nil, fmt.Errorf("read what was read of a log: %d bytes, at most %d", n, MaxPart)
	}
	b, err := io.ReadAll(io.LimitReader(r.r, int64(n)))
	if err == nil && uint64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	var p Part
	if err == nil {
		c := NewReader(b)
		p.code(c)
		err = c.End()
	}
	if err != nil {
		return nil, fmt.Errorf("read what was read of a log: %w", err)
	}
	return &p, nil
}

// size returns how many bytes the next part takes.
func (r *PartReader) size() (uint64, error) {
	var b []byte
	for len(b) < binary.MaxVarintLen64 && (len(b) == 0 || b[len(b)-1] >= 0x80) {
		c, err := r.r.ReadByte()
		if errors.Is(err, io.EOF) && len(b) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		b = append(b, c)
	}
	c := NewReader(b)
	n := c.uvarint()
	return n, c.End()
}
