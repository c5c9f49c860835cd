package logs

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/kasoku/kasoku"
)

// A Coder carries what a table holds to bytes, or from bytes back: one description of a table
// serves both ways, so that they cannot differ. What it reads may be forged. It is held to the
// same bounds as what is written, takes no more memory than some multiple of the bytes, and is
// refused where it is not what a Coder would write. After the first error all that it reads is
// zero.
//
// Numbers are varints of least length, texts have their length before them.
type Coder struct {
	b     []byte // what was written, or is left to read
	reads bool
	err   error
}

// NewWriter returns a coder that appends to dst.
func NewWriter(dst []byte) *Coder { return &Coder{b: dst} }

// NewReader returns a coder that reads b. What it reads shares nothing with b.
func NewReader(b []byte) *Coder { return &Coder{b: b, reads: true} }

// Reads reports whether values are read.
func (c *Coder) Reads() bool { return c.reads }

// Fail notes an error, if it is the first.
func (c *Coder) Fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// Failed reports whether there was an error.
func (c *Coder) Failed() bool { return c.err != nil }

// Written returns what was written, or why it cannot be.
func (c *Coder) Written() ([]byte, error) { return c.b, c.err }

// End returns the first error of what was read, which has to end here.
func (c *Coder) End() error {
	if c.err == nil && len(c.b) > 0 {
		c.Fail("%d bytes too many", len(c.b))
	}
	return c.err
}

// Uint carries a number of at most most.
func (c *Coder) Uint(v *uint64, most uint64) {
	if !c.reads {
		c.b = binary.AppendUvarint(c.b, *v)
	} else {
		*v = c.uvarint()
	}
	if *v > most {
		c.Fail("a number of %d, at most %d", *v, most)
		c.zero(func() { *v = 0 })
	}
}

// zero lets a value that is read be none after an error.
func (c *Coder) zero(set func()) {
	if c.reads {
		set()
	}
}

func (c *Coder) uvarint() uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.b)
	if n <= 0 || n > 1 && c.b[n-1] == 0 { // cut short, too long, or padded
		c.err = errors.New("bad varint")
		return 0
	}
	c.b = c.b[n:]
	return v
}

// Int carries a signed number.
func (c *Coder) Int(v *int64) {
	u := uint64(*v)<<1 ^ uint64(*v>>63)
	c.Uint(&u, 1<<64-1)
	if c.reads {
		*v = int64(u>>1) ^ -int64(u&1)
	}
}

// Flag carries a yes or no.
func (c *Coder) Flag(v *bool) {
	var u uint64
	if *v {
		u = 1
	}
	c.Uint(&u, 1)
	c.zero(func() { *v = u == 1 })
}

// Len carries how many values follow, at most most, each of which takes a byte at least.
func (c *Coder) Len(n, most int) int {
	u := uint64(n)
	c.Uint(&u, uint64(most))
	if c.reads && u > uint64(len(c.b)) {
		c.Fail("%d values in %d bytes", u, len(c.b))
		u = 0
	}
	return int(u)
}

// Bytes carries a text of at most most bytes.
func (c *Coder) Bytes(v *[]byte, most int) {
	n := c.Len(len(*v), most)
	if !c.reads {
		c.b = append(c.b, *v...)
		return
	}
	*v, c.b = append([]byte(nil), c.b[:n]...), c.b[n:]
}

// Text is [Coder.Bytes] of a string.
func (c *Coder) Text(v *string, most int) {
	b := []byte(*v)
	c.Bytes(&b, most)
	c.zero(func() { *v = string(b) })
}

// Bounds of what a [kasoku.LogWindow] says that comes from elsewhere, in bytes and as a number.
const (
	maxWords = 8 << 10
	maxLines = 1 << 50
)

// Window carries what was read of one log. Texts are without what acts on a terminal when they
// are read.
func (c *Coder) Window(w *kasoku.LogWindow) {
	for _, text := range []*string{&w.Kind, &w.Path, &w.Format, &w.Note} {
		c.words(text)
	}
	for _, n := range []*uint64{&w.Device, &w.Inode} {
		c.Uint(n, 1<<64-1)
	}
	c.Int(&w.From)
	c.Int(&w.To)
	for _, n := range []*uint64{&w.Lines, &w.Records, &w.Continued, &w.Blank, &w.Dropped} {
		c.Uint(n, maxLines)
	}
	n := c.Len(len(w.BadSample), MaxBad)
	if c.reads {
		w.Files, w.BadSample = 1, make([]kasoku.BadLine, n)
		if n == 0 {
			w.BadSample = nil
		}
	}
	for i := range w.BadSample {
		c.Int(&w.BadSample[i].Line)
		c.words(&w.BadSample[i].Text)
		c.words(&w.BadSample[i].Why)
	}
	if c.reads && (w.From < 0 || w.To < w.From || w.Lines != w.Records+w.Continued+w.Blank+w.Dropped) {
		c.Fail("lines of a log that do not add up")
	}
}

// words carries a text for people.
func (c *Coder) words(v *string) {
	c.Text(v, maxWords)
	if c.reads && Printable(*v) != *v {
		c.Fail("a text that acts on a terminal")
	}
}
