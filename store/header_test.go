package store

import (
	"bytes"
	"testing"
)

// FuzzHeader checks that only what carries our mark is taken for a run file.
func FuzzHeader(f *testing.F) {
	head := make([]byte, headerBytes)
	copy(head, "SQLite format 3\x00")
	f.Add([]byte{})
	f.Add([]byte("SQLite format 3\x00"))
	f.Add(bytes.Clone(head))
	copy(head[68:], "kaso")
	f.Add(head)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHeader(b)
		if err != nil && h != (header{}) {
			t.Fatalf("%+v with an error", h)
		}
		if err == nil && !bytes.Contains(b, []byte("kaso")) {
			t.Fatal("accepted without our mark")
		}
	})
}
