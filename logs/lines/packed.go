package lines

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// magicLen is how many first bytes show how a log is compressed.
const magicLen = 10

// zstdWindow is the most memory that a zstd stream may ask for, in bytes: the
// limit of zstd(1) without --long.
const zstdWindow = 128 << 20

// The first bytes of compressed files: RFC 1952 section 2.3.1, RFC 8878
// sections 3.1.1 and 3.1.2, bzip2's file format, xz-file-format.txt section
// 2.1.1.1, the LZ4 frame format.
func isGzip(b []byte) bool { return bytes.HasPrefix(b, []byte{0x1f, 0x8b, 8}) }
func isZstd(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(b) >= 4 && b[0]&0xf0 == 0x50 && bytes.Equal(b[1:4],
			[]byte{0x2a, 0x4d, 0x18}) // a skippable frame, such as pzstd's
}
func isBzip2(b []byte) bool {
	return len(b) >= 10 && string(b[:3]) == "BZh" && b[3] >= '1' && b[3] <= '9' &&
		(string(b[4:10]) == "1AY&SY" || string(b[4:10]) == "\x17rE8P\x90")
}
func isXz(b []byte) bool  { return bytes.HasPrefix(b, []byte("\xfd7zXZ\x00")) }
func isLz4(b []byte) bool { return bytes.HasPrefix(b, []byte{0x04, 0x22, 0x4d, 0x18}) }

// isPacked reports whether these are the first bytes of something compressed.
func isPacked(b []byte) bool { return isGzip(b) || isZstd(b) || isBzip2(b) || isXz(b) || isLz4(b) }

// A plainReader decompresses.
type plainReader struct {
	kind  string
	dec   io.Reader
	raw   *rawReader // beneath dec
	close func() error
}

// unpackContent returns the decompressor for what begins with those bytes, nil when it
// is not compressed, or an error when it is in a way that is not known.
func unpackContent(r *bufio.Reader, magic []byte) (*plainReader, error) {
	nothing := func() error { return nil }
	switch {
	case isGzip(magic):
		dec, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return &plainReader{kind: "gzip", dec: dec, close: dec.Close}, nil
	case isZstd(magic):
		dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		return &plainReader{kind: "zstd", dec: dec, close: func() error { dec.Close(); return nil }}, nil
	case isBzip2(magic):
		return &plainReader{kind: "bzip2", dec: bzip2.NewReader(r), close: nothing}, nil
	case isXz(magic):
		return nil, &inputError{errors.New("xz is not read"), "decompress it on the way: xz -dc FILE | kasoku …"}
	case isLz4(magic):
		return nil, &inputError{errors.New("lz4 is not read"), "decompress it on the way: lz4 -dc FILE | kasoku …"}
	}
	return nil, nil
}

// Read turns an error of the decompressor into a [damage]; one of what is
// beneath stays as it is.
func (p *plainReader) Read(b []byte) (int, error) {
	n, err := p.dec.Read(b)
	if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return n, err
	}
	if p.raw.err != nil && !errors.Is(p.raw.err, io.EOF) {
		return n, p.raw.err
	}
	return n, &damage{p.kind, p.raw.n, err}
}

// A damage is where compressed contents cannot be read on.
type damage struct {
	kind string
	at   int64 // stored bytes that were read until then
	err  error
}

func (d *damage) Error() string {
	if errors.Is(d.err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("the %s data ends in the middle, after %d bytes: what came after is lost", d.kind, d.at)
	}
	return fmt.Sprintf("the %s data is damaged before byte %d: what comes after is lost: %v", d.kind, d.at, d.err)
}

func (d *damage) Unwrap() error { return d.err }

func isDamage(err error) bool {
	var d *damage
	return errors.As(err, &d)
}
