package topology

import (
	"bytes"
	"io"
)

// Bounds of what is looked for in a program: those of database servers have tens of
// megabytes, and nginx's configure arguments a few hundred bytes.
const (
	mostProgram = 1 << 30
	mostScanned = 256 << 20
	mostText    = 16 << 10
)

// textIn finds a text that stands in a program and has the mark in it. It returns what
// lies between the zero bytes around the mark, empty when there is none.
func textIn(r io.ReaderAt, size int64, mark string) (string, error) {
	buf := make([]byte, 1<<20+2*mostText)
	for at := int64(0); at < min(size, mostScanned); at += 1 << 20 {
		n, err := r.ReadAt(buf, max(at-mostText, 0))
		if err != nil && err != io.EOF {
			return "", err
		}
		chunk := buf[:n]
		i := bytes.Index(chunk, []byte(mark))
		if i < 0 {
			continue
		}
		from := bytes.LastIndexByte(chunk[:i], 0) + 1
		to := bytes.IndexByte(chunk[i:], 0)
		if to < 0 {
			to = len(chunk) - i
		}
		return string(chunk[max(from, i-mostText):min(i+to, i+mostText)]), nil
	}
	return "", nil
}
